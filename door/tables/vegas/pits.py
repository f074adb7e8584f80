"""Pits of Vegas: `MAX_TABLES` tables each, dealt by one server.

Books in a file have one server, which deals at all tables. Books in PostgreSQL may have several
servers. Each server takes the lowest free pit by a lease in the books. The lease has a fence, a
number that grows with each new holder. Every write of a dealer checks lease and fence in its own
transaction, so a paused server that has lost its pit writes nothing. When a lease runs out, the
leading server stands the rounds of that pit.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from door.games.vegas.game import MAX_TABLES
from door.tables import overdue
from door.tables.vegas.table_round import GAME, enter_action
from timebank.servers import leases
from timebank.wagers import journal
from timebank.wagers.wagers import Sitter

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound

# Seconds by the database's clock. A server that is back within 30 seconds of its last renewal
# finds its rounds. After the lease, another server stands all open hands.
LEASE_SECONDS = 35


def lease_of(pit: int) -> str:
    """Return the name of a pit's lease in the books."""
    return f"vegas/{pit}"


def pit_of(table: int) -> int:
    """Return the pit of a table, given the table's number in the books.

    >>> pit_of(1), pit_of(50), pit_of(51)
    (1, 1, 2)
    """
    return (table - 1) // MAX_TABLES + 1


def place_of(table: int) -> int:
    """Return a table's number within its pit, from 1, given its number in the books.

    >>> place_of(2), place_of(52)
    (2, 2)
    """
    return (table - 1) % MAX_TABLES + 1


class Hold(NamedTuple):
    """The pit of this server, and the fence of its lease; the fence is 0 for books in a file."""

    pit: int = 1
    fence: int = 0

    def guard(self, desk: Desk) -> None:
        """Raise `LeaseLost`, and so undo the open transaction, unless this server holds the pit."""
        if self.fence:
            leases.require(desk, lease_of(self.pit), self.fence)

    def table_at(self, place: int) -> int:
        """Return a table's number in the books, given its number within this pit."""
        return (self.pit - 1) * MAX_TABLES + place

    def has(self, table: int) -> bool:
        """Return whether this server deals at a table, given the table's number in the books."""
        return not self.fence or pit_of(table) == self.pit

    def place_of_round(self, stored: StoredRound) -> int | None:
        """Return the table of this pit at which a round goes on; None for another server's round.

        Earlier releases dealt rounds to a single caller, who goes on at the first table.
        """
        shoe = stored.shoe
        if shoe is None or shoe.caller_id is not None:
            return journal.FIRST_TABLE
        return place_of(shoe.table) if self.has(shoe.table) else None


def take_lowest(desk: Desk, server_id: int) -> Hold:
    """Take the lowest free pit; books in a file have a single pit without a lease."""
    if not server_id:
        return Hold()
    fences = ((pit, leases.take(desk, lease_of(pit), server_id, LEASE_SECONDS)) for pit in count(1))
    return next(Hold(pit, fence) for pit, fence in fences if fence is not None)


def renew(desk: Desk, hold: Hold, server_id: int) -> bool:
    """Renew the lease of a pit; return False if another server has held the pit since."""
    return leases.take(desk, lease_of(hold.pit), server_id, LEASE_SECONDS) == hold.fence


def abandoned_rounds(desk: Desk, unreadable: Collection[int]) -> dict[int, int]:
    """Return the rounds whose pit has no lease left, each with its pit, but the unreadable."""
    rounds = {lead: pit_of(table) for lead, table in journal.shared_rounds(desk, GAME).items()}
    return {
        lead: pit
        for lead, pit in rounds.items()
        if lead not in unreadable and leases.has_expired(desk, lease_of(pit))
    }


def stand(desk: Desk, lead: int, pit: int) -> bool:
    """Stand every seat of an abandoned round; return False if the server of its pit is back.

    Raises `JournalDamaged`.
    """
    if not leases.end_expired(desk, lease_of(pit)):
        return False
    stored = journal.stored_round(desk, lead)
    if stored is None or all(seat.settled for seat in stored.seats):
        return False
    enter_action(
        desk,
        lambda desk, _: overdue.stand(desk, stored, can_return=False),
        {seat.seat: Sitter(seat.caller_id) for seat in stored.seats},
    )
    return True
