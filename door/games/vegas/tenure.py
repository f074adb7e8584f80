"""Which server deals at which tables of Vegas: each at those of its pit.

A pit is `MOST_TABLES` tables, and a lease in the books. A server takes the lowest pit that is free
with the first caller who comes. The lease has a fence, a number that grows with each new holder.
Every write of a dealer asks for both in its own transaction: a server that was stopped, and has
lost its pit meanwhile, writes nothing more.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from door.games.vegas.game import MOST_TABLES
from timebank.errors import BooksFailed
from timebank.servers import leases

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk

# By the clock of the books. A server that is back 30 seconds after its last renewal, or sooner,
# finds its rounds; those of one that is not are stood (`standing.py`).
LEASE_SECONDS = 35
RENEW_SECONDS = 5.0


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
    """A pit that is held, and the fence of its lease."""

    pit: int
    fence: int

    def guard(self, desk: Desk) -> None:
        """Have the open transaction count only while the pit is held so; raises `LeaseLost`."""
        leases.hold(desk, lease_of(self.pit), self.fence)

    def table_at(self, place: int) -> int:
        """Return the number in the books of a table of this pit."""
        return (self.pit - 1) * MOST_TABLES + place


def take_lowest(desk: Desk, server_id: int) -> Hold:
    """Take the lowest pit that no other server holds."""
    each = ((pit, leases.take(desk, lease_of(pit), server_id, LEASE_SECONDS)) for pit in count(1))
    return next(Hold(pit, fence) for pit, fence in each if fence is not None)


class Tenure:
    """The pit of this server, while it has one."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.hold: Hold | None = None

    def renew(self, desk: Desk) -> bool:
        """Renew the lease; return False if another server has had the pit meanwhile."""
        assert self.hold is not None  # there is something to renew
        name, server = lease_of(self.hold.pit), self._board.server_id
        fence = leases.take(desk, name, server, LEASE_SECONDS)
        if fence not in (None, self.hold.fence):
            leases.let_go(desk, name, server)
        return fence == self.hold.fence

    def lose(self) -> None:
        """Note that another server has had the pit."""
        self.hold = None

    async def let_go(self) -> None:
        """Leave the pit to the next server; the lease runs out if the books cannot be written."""
        if self.hold is None:
            return
        name, server, self.hold = lease_of(self.hold.pit), self._board.server_id, None
        try:
            await self._board.books.run(lambda desk: leases.let_go(desk, name, server))
        except BooksFailed:
            return

    def has(self, table: int) -> bool:
        """Return whether the rounds of a table, by its number in the books, are dealt here."""
        return self.hold is not None and self.hold.pit == pit_of(table)
