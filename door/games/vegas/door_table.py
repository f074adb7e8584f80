"""The Vegas table of a door process that serves its caller by itself: nobody else can sit there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from door.games.vegas.tenure import Hold, Tenure, lease_of, pit_of
from timebank.errors import LeaseLost
from timebank.language import N_
from timebank.servers import leases

if TYPE_CHECKING:
    from door.call.board import Board
    from door.games.vegas.state import SeatedGuest
    from timebank.ledger.database import Desk

ALONE = N_(
    "The shared table can't be reached, so nobody else can sit here. You play alone against the "
    "dealer, from a shoe of your own."
)


class DoorTenure(Tenure):
    """A table without a lease, which deals from its caller's own shoe.

    A round from a shared shoe is gone on with while no server holds its pit.
    """

    def __init__(self, board: Board) -> None:
        super().__init__(board)
        self.hold = Hold(1, 0)

    def lose(self) -> None:
        """Go on: a server plays the round, and the next one is from the caller's own shoe."""

    async def let_go(self) -> None:
        """Nothing is held."""

    def has(self, desk: Desk, table: int) -> bool:
        return not _is_held(desk, pit_of(table))

    def guard(self, hold: Hold, *, is_shared: bool) -> Callable[[Desk], None]:
        return partial(_refuse_held, pit=hold.pit) if is_shared else _allow

    def shoe_owner(self, guests: Sequence[SeatedGuest]) -> int | None:
        return guests[0].caller.record.id if guests else None


def _is_held(desk: Desk, pit: int) -> bool:
    holder = leases.holder(desk, lease_of(pit))
    return holder is not None and holder.live


def _refuse_held(desk: Desk, pit: int) -> None:
    if _is_held(desk, pit):
        raise LeaseLost(f"a server holds pit {pit}")


def _allow(desk: Desk) -> None:
    """Let a caller play from a shoe of their own."""
