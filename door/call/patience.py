"""What a caller is told while the books keep them waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from door import wording
from door.call.console import PATIENCE_SECONDS

if TYPE_CHECKING:
    from door.call.console import Console


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
            self.console.say(f"|12{wording.IN_DOUBT}")

    def look(self) -> None:
        """Say once why nothing goes on: another program has the books, or the disk hangs."""
        waited = self.console.clock.monotonic() - self._since
        waits = self._unanswered > 0 and waited >= PATIENCE_SECONDS
        if waits and not (self._is_told or self._is_told_of_doubt):
            self.console.say("|14The books are busy just now; please wait.")
        self._is_told = waits
