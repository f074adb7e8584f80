"""Watching another caller's table, from behind their chair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.call.markup import literal, plain
from door.call.page import Page
from timebank.language import N_, Phrase, _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.chair import CallersChair
    from door.call.scene import Area, Scene

PLACE = N_("Watching")
AFTERWARDS = N_("Who is on")  # where they are once it is over


class _View:
    """The table as it was seen last, or a word about why it is not."""

    def __init__(self, chair: CallersChair) -> None:
        self._name = chair.caller.record.name
        self.seen: Scene | None = None

    def paint(self, canvas: Canvas, area: Area) -> None:
        self._scene.paint(canvas, area)

    def lines(self) -> Sequence[str]:
        return self._scene.lines()

    @property
    def _scene(self) -> Scene:
        return self.seen or Page(_(PLACE), [f"|07{self.away_words()}"])

    def away_words(self) -> str:
        words = _("{name} looks at something else. The table comes back when they do.")
        return words.format(name=literal(self._name))


class Watcher:
    """One caller behind another's chair."""

    def __init__(self, caller: Caller, chair: CallersChair) -> None:
        self._console = caller.console
        self._caller = caller
        self._chair = chair
        self._view = _View(chair)
        self._told: Sequence[str] = ()  # lines of the table that were told last

    async def stay(self) -> None:
        """Watch until they have seen enough; raises `NotNow` where they may not."""
        console, chair = self._console, self._chair
        behind = chair.watch(self._caller, self._look, self._is_over)
        try:
            self._caller.place = PLACE
            self._view.seen = chair.seen(self._caller)
            self._told = self._view.lines()
            console.stage(self._view)
            behind_whom = _("Behind {name}, at {game}.").format(
                name=literal(chair.caller.record.name), game=_(chair.title)
            )
            if not console.is_painted:  # where it is asked again below each card
                console.say(f"|15{behind_whom}")
            await console.ask(
                {"Q": _("Quit")},
                question=behind_whom if console.is_painted else "",
                default="Q",
                cancel="Q",
                meanings={"Q": _("Get up, and go back to who is on.")},
            )
        finally:
            behind.end()

    def _look(self) -> None:
        self._view.seen = self._chair.seen(self._caller)
        if self._console.is_painted:
            self._console.display.refresh()
            return
        lines = self._view.lines()
        if news := _news(self._told, lines):
            self._console.say("\n".join(news))
        self._told = lines

    def _is_over(self, why: Phrase) -> None:
        self._caller.place = AFTERWARDS
        self._console.say(f"|14{why}")


def _news(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return which lines of a table are new, each below the one that it belongs to.

    >>> _news(["Seat 1", "  4 5", "Seat 2"], ["Seat 1", "  4 5 9", "Seat 2"])
    ['Seat 1', '  4 5 9']
    """
    told: list[str] = []
    heading = ""
    for line in now:
        is_below = plain(line).startswith(" ")
        if line not in before:
            if is_below and heading:
                told.append(heading)
            told.append(line)
        if not is_below:
            heading = "" if line not in before else line
        elif line not in before:
            heading = ""
    return told
