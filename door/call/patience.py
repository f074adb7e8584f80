"""Words for callers who wait long for an answer, such as while another program has the books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from door import wording
from timebank.language import _

if TYPE_CHECKING:
    from door.call.console import Console
    from door.clock import Clock

PATIENCE_SECONDS = 3  # of waiting, before a caller reads why


@contextmanager
def patience(clock: Clock, say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if the block takes longer than `PATIENCE_SECONDS`."""
    timer = clock.call_later(PATIENCE_SECONDS, say)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def at_the_door(console: Console) -> Iterator[None]:
    """Tell a caller who is not on a call yet, and has no clock, that the board is busy."""
    with patience(console.clock, lambda: _say_busy(console)):
        yield


@dataclass(slots=True, eq=False)
class Patience:
    """A caller's waits for the books: `with patience:` around each."""

    console: Console
    _unanswered: int = 0  # operations under way in the books
    _since: float = 0.0
    _has_shown_busy: bool = False
    _has_shown_doubt: bool = False

    def __enter__(self) -> None:
        if not self._unanswered:
            self._since = self.console.clock.monotonic()
        self._unanswered += 1

    def __exit__(self, *_: object) -> None:
        self._unanswered -= 1
        self._has_shown_doubt = False

    def tell_doubt(self) -> None:
        """Say once that it is not known yet whether the caller's last act counts."""
        if not self._has_shown_doubt:
            self._has_shown_doubt = True
            self.console.screen.say(f"|12{wording.IN_DOUBT}")

    def look(self) -> None:
        """Say once that the board is busy: another program has the books, or the disk hangs."""
        waited = self.console.clock.monotonic() - self._since
        waits = self._unanswered > 0 and waited >= PATIENCE_SECONDS
        if waits and not (self._has_shown_busy or self._has_shown_doubt):
            _say_busy(self.console)
        self._has_shown_busy = waits


def _say_busy(console: Console) -> None:
    console.screen.say(f"|14{_('The board is busy. Please wait.')}")
