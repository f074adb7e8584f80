"""The games of the house, each a folder beside this file; the order is that of the main menu.

Light: commands look here without the books.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from door.games.engine.descriptor import Game

_FOLDERS = (
    "black_jack_for_time",
    "baccarat",
    "unix_bj",
    "vegas",
    "red_dog",
)

_ALL: tuple[Game, ...] = tuple(
    import_module(f"door.games.{folder}.game").GAME for folder in _FOLDERS
)

GAMES: Mapping[str, Game] = {game.name: game for game in _ALL}
"""Each game under the name that journals, ledgers and sysop.toml know it by."""


def game_named(asked: str) -> Game | None:
    """Find a game by its name, letter or code, however it is written; None when it is none.

    >>> [game and game.name for game in map(game_named, ("bjft", "Unix_BJ", "craps"))]
    ['black-jack-for-time', 'unix-bj', None]
    """
    wanted = _plain(asked)
    for game in GAMES.values():
        if wanted in map(_plain, (game.name, game.letter, game.code)):
            return game
    return None


def title(name: str) -> str:
    """Return what the game of a name is called, "" for one that is none of ours.

    >>> title("unix-bj"), title("craps")
    ('UNIX bj', '')
    """
    game = GAMES.get(name)
    return "" if game is None else game.title


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
