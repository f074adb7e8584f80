"""The grace of a caller who is out of time: how long their call goes on uncharged.

The books have counted what is used here already, a piece at a time (timebank/calls/grace.py). All
of it is told by the monotonic clock, which nobody can set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from door.clock import ROUNDING

if TYPE_CHECKING:
    from door.clock import Clock
    from timebank.calls.grace import GracePiece

NEXT_PIECE_SECONDS = 10  # before the end of one piece the next is asked for


@dataclass(slots=True, eq=False)
class Grace:
    """`until` is the monotonic instant at which the pieces are used up; `more` seconds are left of
    the `day` behind them. `seconds_to_end` is None where no event and no host ends the call.
    `to_look_around` says which of the seconds of a day they are (`timebank.calls.grace.take`)."""

    clock: Clock
    seconds_to_end: Callable[[], int | None]
    until: float
    to_look_around: bool
    day: str = ""
    more: int = 0

    def add(self, given: GracePiece) -> None:
        """Go on for another piece."""
        self.until = max(self.until, self.clock.monotonic()) + given.seconds
        self.day, self.more = given.day, given.left

    def unused(self) -> int:
        """Return the whole seconds of the pieces that have not begun."""
        return max(0, math.floor(self.until - self.clock.monotonic() + ROUNDING))

    def left(self) -> int:
        """Return the seconds that a caller may go on, as far as is known."""
        of_day, to_end = self.unused() + self.more, self.seconds_to_end()
        return of_day if to_end is None else min(of_day, to_end)

    def is_over(self) -> bool:
        return self.clock.monotonic() >= self.until - ROUNDING

    def wants_more(self) -> bool:
        return self.more > 0 and self.unused() <= NEXT_PIECE_SECONDS
