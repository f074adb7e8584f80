"""Who deals at a table: the server that has its lease in the books.

A lease has a fence, a number that grows with each new holder. Every write of a dealer asks for both
in its own transaction, so that whoever has lost the table, and does not know it yet, has nothing
entered any more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from timebank.errors import BooksFailed, LeaseLost
from timebank.servers import leases

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk
    from timebank.servers.leases import Holder

# By the clock of the books: how long a table is a server's, and how often that is renewed.
LEASE_SECONDS = 12
RENEW_SECONDS = 5.0
# A lease with less than this to run should have been renewed.
LATE_SECONDS = 5


_LEASES = "vegas/"


def lease_of(number: int) -> str:
    """Return what the lease of a table is called in the books."""
    return f"{_LEASES}{number}"


def is_of_a_table(lease: object) -> bool:
    """Tell whether a lease is called so."""
    return isinstance(lease, str) and lease.startswith(_LEASES)


def holders(desk: Desk) -> dict[int, Holder]:
    """Tell who has, or had, the lease of which table."""
    found = leases.holders(desk)
    return {
        int(name.removeprefix(_LEASES)): holder
        for name, holder in found.items()
        if is_of_a_table(name)
    }


class Tenure:
    """The lease of one table, as far as this process has it."""

    def __init__(self, board: Board, number: int) -> None:
        self._board = board
        self._name = lease_of(number)
        self._fence: int | None = None  # None while it is not ours
        self._last: int | None = None  # the fence under which it was ours last

    @property
    def is_held(self) -> bool:
        """Whether the table is ours, for all that is known here. The process of one caller has no
        lease: what it may do is asked of the books each time."""
        return self._fence is not None or self._board.serves_one

    @property
    def is_new(self) -> bool:
        """Whether the table was never ours."""
        return self._last is None

    async def take(self) -> bool:
        """Take the lease or renew it; tell whether the table is ours, and as we left it."""
        return self.adopt(await self._board.books.run(self.renew))

    def renew(self, desk: Desk) -> int | None:
        """Take the lease or renew it, in a transaction of several; return what `adopt` needs."""
        return leases.take(desk, self._name, self._board.server_id, LEASE_SECONDS)

    def adopt(self, fence: int | None) -> bool:
        """Note what `renew` has given; tell whether the table is ours, and as we left it: nobody
        has had it in between."""
        before, self._fence = self._last, fence
        if fence is None:
            return False
        self._last = fence
        return before is None or fence - before <= 1

    async def let_go(self) -> None:
        """Leave the table to whoever wants it; where the books cannot be written it runs out."""
        if self._fence is None:
            return
        self._fence = None
        name, server = self._name, self._board.server_id
        try:
            await self._board.books.run(lambda desk: leases.let_go(desk, name, server))
        except BooksFailed:
            return

    def guard(self, *, is_shared: bool) -> Callable[[Desk], None]:
        """Return what makes sure in a transaction that the table is ours; `LeaseLost`. For the
        process of one caller: that no server has it, where the shoe is not the caller's own."""
        if not self._board.serves_one:
            return partial(leases.hold, name=self._name, fence=self._fence or 0)
        return self._refuse_served if is_shared else _allow

    def _refuse_served(self, desk: Desk) -> None:
        if is_served(desk, self._name):
            raise LeaseLost(f"a server deals at the table {self._name}")


def _allow(desk: Desk) -> None:
    """Let a caller play from a shoe of their own."""


def is_served(desk: Desk, lease: str) -> bool:
    holder = leases.holder(desk, lease)
    return holder is not None and holder.live
