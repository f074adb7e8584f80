"""The clock of a board: what is believed of the machine's.

Apart from `door.clock`, for it needs the books, and a door shows its first screen before those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from timebank.calls.clock import BelievedClock

if TYPE_CHECKING:
    from door.clock import MachineClock, Timer


class BoardClock(BelievedClock):
    def __init__(self, machine: MachineClock) -> None:
        super().__init__(machine)
        # Asked ten times for each key: not one call more than it takes.
        self.monotonic: Callable[[], float] = machine.monotonic
        self.call_later: Callable[[float, Callable[[], None]], Timer] = machine.call_later
