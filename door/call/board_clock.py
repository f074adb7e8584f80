"""The clock of a board: the machine's, as far as the books believe it.

It is apart from `door.clock`, as it needs `timebank`, which a door loads after its first screen.
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
        # Called ten times for each key, so bound directly.
        self.monotonic: Callable[[], float] = machine.monotonic
        self.call_later: Callable[[float, Callable[[], None]], Timer] = machine.call_later
