"""The base of all who see a caller's screen: the sysop, and watchers behind the chair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timebank.language import Phrase, speaking_to

if TYPE_CHECKING:
    from door.call.console import Console

LOOK_SECONDS = 0.2  # between two looks at a caller's screen


class Bystander:
    """One person who sees a caller's screen from now until `end`; the caller reads both."""

    def __init__(self, console: Console, came: Phrase, left: Phrase) -> None:
        self._console = console
        self._left = left
        self._console.screen.onlookers = (*self._console.screen.onlookers, self.on_text)
        self._tell(came)

    def on_text(self, text: str) -> None:
        """Called with each text that is sent to the caller's screen."""
        raise NotImplementedError

    def detach(self) -> None:
        """Receive no more text."""
        others = tuple(each for each in self._console.screen.onlookers if each != self.on_text)
        self._console.screen.onlookers = others

    def end(self) -> None:
        self.detach()
        self._tell(self._left)

    def _tell(self, words: Phrase) -> None:
        with speaking_to(self._console.viewer):
            self._console.screen.say(f"|14{words}")
