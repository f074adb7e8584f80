"""The grace of a caller who is out of time: how long their call goes on uncharged.

The books count each piece as used before it begins (timebank/calls/grace.py). The monotonic clock
measures it, which cannot be set.
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

NEXT_PIECE_SECONDS = 10  # the next piece is asked for so long before the end of one


@dataclass(slots=True, eq=False)
class Grace:
    """One use of the grace of a day.

    `until` is the monotonic instant at which the pieces are used up; after them the `day` has
    `more` seconds. `seconds_to_end` returns None if no event and no host ends the call.
    `to_look_around` chooses between the two kinds of grace (`timebank.calls.grace.take_piece`).
    """

    clock: Clock
    seconds_to_end: Callable[[], int | None]
    until: float
    to_look_around: bool
    day: str = ""
    more: int = 0

    def add(self, given: GracePiece) -> None:
        """Add a piece."""
        self.until = max(self.until, self.clock.monotonic()) + given.seconds
        self.day, self.more = given.day, given.left

    def unused(self) -> int:
        """Return the whole seconds of the pieces that have not begun."""
        return max(0, math.floor(self.until - self.clock.monotonic() + ROUNDING))

    def left(self) -> int:
        """Return the seconds that the caller may go on, as far as is known."""
        whole_day, to_end = self.unused() + self.more, self.seconds_to_end()
        return whole_day if to_end is None else min(whole_day, to_end)

    def is_over(self) -> bool:
        return self.clock.monotonic() >= self.until - ROUNDING

    def wants_more(self) -> bool:
        return self.more > 0 and self.unused() <= NEXT_PIECE_SECONDS
