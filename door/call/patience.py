"""What a caller is told while the books keep them waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.call.console import PATIENCE_SECONDS

if TYPE_CHECKING:
    from door.call.console import Console


class Patience:
    """A caller's waits for the books: `with patience:` around each."""

    __slots__ = ("_console", "_is_told", "_is_told_of_doubt", "_since", "_unanswered")

    def __init__(self, console: Console) -> None:
        self._console = console
        self._unanswered = 0  # operations that the books have under way
        self._since = 0.0
        self._is_told = self._is_told_of_doubt = False

    def __enter__(self) -> None:
        if not self._unanswered:
            self._since = self._console.clock.monotonic()
        self._unanswered += 1

    def __exit__(self, *_: object) -> None:
        self._unanswered -= 1
        self._is_told_of_doubt = False

    def tell_doubt(self) -> None:
        """Say that nobody knows yet whether what the caller did counts, while it is found out."""
        if not self._is_told_of_doubt:
            self._is_told_of_doubt = True
            self._console.say(f"|12{wording.IN_DOUBT}")

    def look(self) -> None:
        """Say once why nothing goes on: another program has the books, or the disk hangs."""
        waited = self._console.clock.monotonic() - self._since
        waits = self._unanswered > 0 and waited >= PATIENCE_SECONDS
        if waits and not (self._is_told or self._is_told_of_doubt):
            self._console.say("|14The books are busy just now; please wait.")
        self._is_told = waits
