"""The games of the house, each under the name that journals, ledgers and sysop.toml know it by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from door.games.baccarat.kind import BACCARAT_KIND
from door.games.blackjack.kind import BLACK_JACK_FOR_TIME_KIND, UNIX_BJ_KIND, VEGAS_KIND
from door.games.engine.game import Kind

# What the tables are called where there is no room for a title: in menus, and by other boards.
#
# Light, because a door process looks here before its first screen.


class Code(NamedTuple):
    """The letter of a table in the main menu, and its code: at most 16 characters (Synchronet)."""

    letter: str
    code: str


CODES = {
    "black-jack-for-time": Code("B", "BJFT"),
    "baccarat": Code("C", "BACCARAT"),
    "unix-bj": Code("U", "UNIXBJ"),
    "vegas": Code("V", "VEGAS"),
}


def game_named(asked: str) -> str | None:
    """Find a game by its name, letter or code, however it is written; None when it is none.

    >>> game_named("bjft"), game_named("Unix_BJ"), game_named("craps")
    ('black-jack-for-time', 'unix-bj', None)
    """
    wanted = _plain(asked)
    for game, code in CODES.items():
        if wanted in map(_plain, (game, *code)):
            return game
    return None


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


_KINDS: tuple[Kind, ...] = (BLACK_JACK_FOR_TIME_KIND, BACCARAT_KIND, UNIX_BJ_KIND, VEGAS_KIND)

GAMES: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
