"""Words for those who wait longer than one should: another program has the books, say."""

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

PATIENCE_SECONDS = 3  # who waits so long is told why


@contextmanager
def patience(clock: Clock, say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if what is done inside is not done after `PATIENCE_SECONDS`."""
    timer = clock.call_later(PATIENCE_SECONDS, say)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def at_the_door(console: Console) -> Iterator[None]:
    """Tell a caller who is not on a call yet, with no clock of theirs, that they have to wait."""
    with patience(console.clock, lambda: _say_busy(console)):
        yield


@dataclass(slots=True, eq=False)
class Patience:
    """A caller's waits for the books: `with patience:` around each."""

    console: Console
    _unanswered: int = 0  # operations that the books have under way
    _since: float = 0.0
    _is_told: bool = False
    _is_told_of_doubt: bool = False

    def __enter__(self) -> None:
        if not self._unanswered:
            self._since = self.console.clock.monotonic()
        self._unanswered += 1

    def __exit__(self, *_: object) -> None:
        self._unanswered -= 1
        self._is_told_of_doubt = False

    def tell_doubt(self) -> None:
        """Say that nobody knows yet whether what the caller did counts, while it is found out."""
        if not self._is_told_of_doubt:
            self._is_told_of_doubt = True
            self.console.screen.say(f"|12{wording.IN_DOUBT}")

    def look(self) -> None:
        """Say once why nothing goes on: another program has the books, or the disk hangs."""
        waited = self.console.clock.monotonic() - self._since
        waits = self._unanswered > 0 and waited >= PATIENCE_SECONDS
        if waits and not (self._is_told or self._is_told_of_doubt):
            _say_busy(self.console)
        self._is_told = waits


def _say_busy(console: Console) -> None:
    console.screen.say(f"|14{_('The board is busy. Please wait.')}")
