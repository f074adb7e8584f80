"""The first thing that anybody sees here: the sysop's welcome screen, or ours.

It knows no books, so that a door process shows it before they are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ansi.cards import paint_hand
from door.lobby import texts

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.console import Console
    from door.config.config import Config


def show(console: Console, config: Config, news: Sequence[str]) -> None:
    """Greet whoever has connected; `news` are lines for our own screen, pipe codes allowed."""
    if texts.show(console, config.board.texts, "welcome"):
        return
    greeting = (f"|15{config.board.name}", "", f"|07Sysop |15{config.board.sysop}", *news)
    if not console.can_paint:
        for line in ("", *greeting, ""):
            console.say(line)
        return

    def paint(canvas: Canvas) -> None:
        column = paint_hand(canvas, 1, 2, ("AS", "AH", "AD", None), 32)
        for row, line in enumerate(greeting, 1):
            canvas.put_pipe(row, column + 3, line)
        canvas.put_pipe(len(greeting) + 1, column + 3, "|02Your minutes against the house")

    texts.paint_once(console, paint)
