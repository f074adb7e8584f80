"""Keeps track of whether a caller has seen the end of their last hand.

If they have not, the next log-on shows it.

The books keep an ended hand as unseen (`timebank.callers.notices`) until a call notes otherwise. It
counts as seen if a key has come since it was on the screen, or if it came soon after a key. Without
either, the end of the call decides: after a broken line, a take-over or an idle caller the hand may
have been shown to nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.errors import CarrierLost, IdledOut, TakenOver
from door.lines.line import CALLER_HUNG_UP

if TYPE_CHECKING:
    from door.call.console import Console

ANSWER_SECONDS = 3.0  # output this soon after a key counts as seen by the caller who pressed it


class LastHand:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._number = 0  # of an ended round that the books have as unseen, 0 for none
        self._keys: int | None = None  # received before its end was shown; None if not shown yet
        self._is_answer = False

    def note_end(self, number: int) -> None:
        """Note that round `number` has ended in the books and has not been shown yet."""
        self._number, self._keys = number, None

    def mark_shown(self) -> None:
        """Note that the end of the hand is on the screen, unless the line is lost."""
        keyboard, clock = self._console.keyboard, self._console.clock
        if self._number and self._keys is None and not keyboard.is_lost:
            self._keys = keyboard.keys_received
            self._is_answer = clock.monotonic() - keyboard.last_key <= ANSWER_SECONDS

    def seen_round(self, *, call_ends: bool = False) -> int:
        """Return the round whose end was seen but is not yet noted as seen in the books, else 0.

        With `call_ends` the way in which the call ends decides a doubtful case.
        """
        if self._keys is None:
            return 0
        if self._is_answer or self._console.keyboard.keys_received > self._keys:
            return self._number
        return self._number if call_ends and not is_doubtful(self._console) else 0

    def mark_noted(self, number: int) -> None:
        """Note that the books have this round as seen."""
        if number == self._number:
            self._number = 0


def is_doubtful(console: Console) -> bool:
    """Return whether the call ends in a way that leaves open if the caller saw the last screen."""
    why = console.keyboard.interruption
    if isinstance(why, CarrierLost):
        return str(why) != CALLER_HUNG_UP
    return isinstance(why, TakenOver | IdledOut)
