"""The first thing that anybody sees here: the sysop's welcome screen, or ours.

It knows no books, so that a door process shows it before they are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from door.call.display import plain
from door.lobby import texts
from timebank.language import _

if TYPE_CHECKING:
    from door.call.console import Console
    from door.config.config import Config


def show(console: Console, config: Config, news: Sequence[str]) -> None:
    """Greet whoever has connected; `news` are lines for our own screen, pipe codes allowed."""
    board = config.board
    values = {"BOARD": board.name, "SYSOP": board.sysop, "NEWS": plain(", ".join(news))}
    if texts.show(console, board.texts, "welcome", values):
        return
    sysop = _("Sysop {name}").format(name=f"|15{board.sysop}")
    for line in ("", f"|15{board.name}", "", f"|07{sysop}", *news, ""):
        console.say(line)
