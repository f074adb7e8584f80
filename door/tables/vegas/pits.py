"""Which server deals at which tables of Vegas: each at those of its pit, `MOST_TABLES` tables.

Books in a file have one server, by the lock beside them: it deals at all tables. Books on a server
have several. Each takes the lowest pit that is free: a lease in the books, with a fence, a number
that grows with each new holder. Every write of a dealer asks for both in its own transaction: a
server that was stopped, and has lost its pit meanwhile, writes nothing more. The rounds of a pit
whose lease has run out are stood by the server that leads.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from door.games.vegas.game import MOST_TABLES
from door.tables import overdue
from door.tables.vegas.table_round import GAME, enter_action
from timebank.servers import leases
from timebank.wagers import journal
from timebank.wagers.wagers import Sitter

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound

# By the clock of the books. A server that is back 30 seconds after its last renewal, or sooner,
# finds its rounds; those of one that is not are stood.
LEASE_SECONDS = 35


def lease_of(pit: int) -> str:
    """Return the name of a pit's lease in the books."""
    return f"vegas/{pit}"


def pit_of(table: int) -> int:
    """Return the pit of a table, whose number is that in the books.

    >>> pit_of(1), pit_of(50), pit_of(51)
    (1, 1, 2)
    """
    return (table - 1) // MOST_TABLES + 1


def place_of(table: int) -> int:
    """Return which table of its pit a table is, from 1.

    >>> place_of(2), place_of(52)
    (2, 2)
    """
    return (table - 1) % MOST_TABLES + 1


class Hold(NamedTuple):
    """A pit that is held, and the fence of its lease; the fence is 0 with books in a file."""

    pit: int = 1
    fence: int = 0

    def guard(self, desk: Desk) -> None:
        """Have the open transaction count only while the pit is held so; raises `LeaseLost`."""
        if self.fence:
            leases.hold(desk, lease_of(self.pit), self.fence)

    def table_at(self, place: int) -> int:
        """Return the number in the books of a table of this pit."""
        return (self.pit - 1) * MOST_TABLES + place

    def has(self, table: int) -> bool:
        """Return whether the rounds of a table, by its number in the books, are dealt here."""
        return not self.fence or pit_of(table) == self.pit

    def place_of_round(self, stored: StoredRound) -> int | None:
        """Return at which table of this server a round goes on, None at another server's. A round
        that an earlier release dealt to one alone goes on wherever its caller comes."""
        shoe = stored.shoe
        if shoe is None or shoe.caller_id is not None:
            return journal.FIRST_TABLE
        return place_of(shoe.table) if self.has(shoe.table) else None


def take_lowest(desk: Desk, server_id: int) -> Hold:
    """Take the lowest pit that no other server holds."""
    if not server_id:
        return Hold()
    each = ((pit, leases.take(desk, lease_of(pit), server_id, LEASE_SECONDS)) for pit in count(1))
    return next(Hold(pit, fence) for pit, fence in each if fence is not None)


def renew(desk: Desk, hold: Hold, server_id: int) -> bool:
    """Renew the lease of a pit; return False if another server has had the pit meanwhile."""
    return leases.take(desk, lease_of(hold.pit), server_id, LEASE_SECONDS) == hold.fence


def left(desk: Desk, unreadable: Collection[int]) -> dict[int, int]:
    """Return the rounds of the pits whose lease has run out, each with its pit."""
    rounds = {lead: pit_of(table) for lead, table in journal.shared_rounds(desk, GAME).items()}
    return {
        lead: pit
        for lead, pit in rounds.items()
        if lead not in unreadable and leases.has_run_out(desk, lease_of(pit))
    }


def stand(desk: Desk, lead: int, pit: int) -> bool:
    """Stand every seat of a round that was left; return False if its server is back. Raises
    `JournalDamaged`."""
    if not leases.end(desk, lease_of(pit)):
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
