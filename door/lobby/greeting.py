"""The first thing that anybody sees here: the sysop's welcome screen, or ours.

It knows no books: nobody waits for them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from door.call.markup import literal, plain
from door.lobby import texts
from timebank.language import _, ngettext

if TYPE_CHECKING:
    from door.call.console import Console
    from door.config.config import Config
    from timebank.wagers.tournaments import Champion


MOST_CHAMPIONS = 3  # that are named


def show(
    console: Console, config: Config, news: Sequence[str], champion: Champion | None = None
) -> None:
    """Greet whoever has connected; `news` are lines for our own screen, pipe codes allowed. The
    champion is named below it, unless the sysop lets no names be shown to the world."""
    _greet(console, config, news)
    if champion is not None and config.public.has_names:
        console.screen.say(f"|14{literal(champion_words(champion.names))}")


def _greet(console: Console, config: Config, news: Sequence[str]) -> None:
    board = config.board
    values = fields(board.name, board.sysop_shown, plain(", ".join(news)))
    if texts.show(console, board.texts, "welcome", values):
        return
    name = board.sysop_shown
    sysop = ("", f"|07{run_by(f'|15{name}')}") if name else ("",)
    for line in ("", f"|15{board.name}", *sysop, *news, ""):
        console.screen.say(line)


def fields(board: str, sysop: str, news: str) -> dict[str, str]:
    """Give the fields of the drawing; of a sysop without a name there is nothing to be said."""
    run = run_by(sysop) if sysop else ""
    return {"BOARD": board, "SYSOP": sysop, "RUNBY": run, "NEWS": news}


def champion_words(names: Sequence[str]) -> str:
    """Name who won the tournament, one or several.

    >>> champion_words(["Ann"]), champion_words(["Ann", "Bob"])
    ('Champion: Ann', 'Champions: Ann, Bob')
    >>> champion_words(["Ann", "Bob", "Cyd", "Dan"])
    'Champions: Ann, Bob, Cyd, ...'
    """
    named = list(names[:MOST_CHAMPIONS])
    more = ["..."] if len(names) > len(named) else []
    told = ngettext("Champion: {names}", "Champions: {names}", len(names))
    return told.format(names=", ".join([*named, *more]))


def run_by(name: str) -> str:
    return _("Sysop {name}").format(name=name)
