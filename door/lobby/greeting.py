"""The first thing that a caller sees: the sysop's welcome screen, or ours.

It does not read the books, so it never waits for them.
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


MOST_CHAMPIONS = 3  # named


def show(
    console: Console,
    config: Config,
    news: Sequence[str],
    champion: Champion | None = None,
    above: str = "",
) -> None:
    """Greet a caller who has connected; `news` are lines for our own screen, with pipe codes.

    The line `above` comes first, even above a picture, because screen readers begin there. The
    champion is named below if the sysop lets the world see names.
    """
    _greet(console, config, news, above)
    if champion is not None and config.public.has_names:
        console.screen.say(f"|14{literal(champion_words(champion.names))}")


def _greet(console: Console, config: Config, news: Sequence[str], above: str) -> None:
    board = config.board
    values = fields(board.name, board.sysop_shown, plain(", ".join(news)))
    if texts.show(console, board.texts, "welcome", values, above):
        return
    name = board.sysop_shown
    sysop = ("", f"|07{run_by(f'|15{name}')}") if name else ("",)
    for line in (*([above] if above else ()), "", f"|15{board.name}", *sysop, *news, ""):
        console.screen.say(line)


def fields(board: str, sysop: str, news: str) -> dict[str, str]:
    """Return the fields of the drawing; RUNBY is empty if the sysop's name is not shown."""
    run = run_by(sysop) if sysop else ""
    return {"BOARD": board, "SYSOP": sysop, "RUNBY": run, "NEWS": news}


def champion_words(names: Sequence[str]) -> str:
    """Name the winners of the tournament.

    >>> champion_words(["Ann"]), champion_words(["Ann", "Bob"])
    ('Champion: Ann', 'Champions: Ann, Bob')
    >>> champion_words(["Ann", "Bob", "Cyd", "Dan"])
    'Champions: Ann, Bob, Cyd, ...'
    """
    named = list(names[:MOST_CHAMPIONS])
    more = ["..."] if len(names) > len(named) else []
    words = ngettext("Champion: {names}", "Champions: {names}", len(names))
    return words.format(names=", ".join([*named, *more]))


def run_by(name: str) -> str:
    return _("Sysop {name}").format(name=name)
