"""Who sees what a caller does: the sysop over their shoulder, other callers behind their chair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timebank.language import Phrase, speaking_to

if TYPE_CHECKING:
    from door.call.console import Console

LOOK_SECONDS = 0.2  # between two looks at a caller's screen


class Bystander:
    """Somebody who sees what a caller does, from now until `end`. The caller is told of both."""

    def __init__(self, console: Console, came: Phrase, left: Phrase) -> None:
        self._console = console
        self._left = left
        self._console.screen.onlookers = (*self._console.screen.onlookers, self.hear)
        self._tell(came)

    def hear(self, text: str) -> None:
        """Know that this was sent to the caller's screen."""
        raise NotImplementedError

    def unhear(self) -> None:
        """Know of nothing more."""
        others = tuple(each for each in self._console.screen.onlookers if each != self.hear)
        self._console.screen.onlookers = others

    def end(self) -> None:
        self.unhear()
        self._tell(self._left)

    def _tell(self, words: Phrase) -> None:
        with speaking_to(self._console.viewer):
            self._console.screen.say(f"|14{words}")
