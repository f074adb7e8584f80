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
    values = fields(board.name, board.sysop_shown, plain(", ".join(news)))
    if texts.show(console, board.texts, "welcome", values):
        return
    name = board.sysop_shown
    sysop = ("", f"|07{run_by(f'|15{name}')}") if name else ("",)
    for line in ("", f"|15{board.name}", *sysop, *news, ""):
        console.say(line)


def fields(board: str, sysop: str, news: str) -> dict[str, str]:
    """Give the fields of the drawing; of a sysop without a name there is nothing to be said."""
    run = run_by(sysop) if sysop else ""
    return {"BOARD": board, "SYSOP": sysop, "RUNBY": run, "NEWS": news}


def run_by(name: str) -> str:
    return _("Sysop {name}").format(name=name)
