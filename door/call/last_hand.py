"""Whether a caller has seen how their last hand ended; what nobody saw is told at the next log-on.

The books keep a hand that has ended as untold (`timebank.callers.notices`) until a call says that
it was seen. It was seen when its end stood on the screen of a line that was alive: a key has come
since, or the end was the answer to a key. Without one the way in which the call ends decides: a
line that broke, a call that was taken over and a caller who did not stir may have shown it to
nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.errors import CarrierLost, IdledOut, TakenOver
from door.lines.line import CALLER_HUNG_UP

if TYPE_CHECKING:
    from door.call.console import Console

ANSWER_SECONDS = 3.0  # what is shown so soon after a key was shown to the one who pressed it


class LastHand:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._number = 0  # of a round that the books have as untold, as far as is known here
        self._keys: int | None = None  # that had come when its end was shown, None before that
        self._is_answer = False

    def ends(self, number: int) -> None:
        """Learn that round `number` has ended in the books, and was not shown yet."""
        self._number, self._keys = number, None

    def shown(self) -> None:
        """Learn that all that is to be told of it stands on the screen, unless the line is lost."""
        keyboard, clock = self._console.keyboard, self._console.clock
        if self._number and self._keys is None and not keyboard.is_lost:
            self._keys = keyboard.keys_heard
            self._is_answer = clock.monotonic() - keyboard.last_key <= ANSWER_SECONDS

    def seen(self, *, call_ends: bool = False) -> int:
        """Return the round whose end is known to have been seen, and not to the books; 0 for none.

        `call_ends` says that nothing more will be known of it.
        """
        if self._keys is None:
            return 0
        if self._is_answer or self._console.keyboard.keys_heard > self._keys:
            return self._number
        return self._number if call_ends and not is_doubtful(self._console) else 0

    def noted(self, number: int) -> None:
        """Learn that the books know of this round that it was seen."""
        if number == self._number:
            self._number = 0


def is_doubtful(console: Console) -> bool:
    """Tell whether a call ends in a way that leaves open what the caller saw of the last screen."""
    why = console.keyboard.interruption
    if isinstance(why, CarrierLost):
        return str(why) != CALLER_HUNG_UP
    return isinstance(why, TakenOver | IdledOut)
