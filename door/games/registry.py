"""The games of the house, a line each; the order is that of the main menu."""

from __future__ import annotations

from collections.abc import Mapping

from door.games.baccarat.game import GAME as BACCARAT
from door.games.black_jack_for_time.game import GAME as BLACK_JACK_FOR_TIME
from door.games.engine.descriptor import Game
from door.games.red_dog.game import GAME as RED_DOG
from door.games.unix_bj.game import GAME as UNIX_BJ
from door.games.vegas.game import GAME as VEGAS

_ALL = (
    BLACK_JACK_FOR_TIME,
    BACCARAT,
    UNIX_BJ,
    VEGAS,
    RED_DOG,
)

GAMES: Mapping[str, Game] = {game.name: game for game in _ALL}
"""Each game under the name that journals, ledgers and sysop.toml know it by."""


def game_named(asked: str) -> Game | None:
    """Return a game by its name, letter or code in any spelling; None for no game.

    >>> [game and game.name for game in map(game_named, ("bjft", "Unix_BJ", "craps"))]
    ['black-jack-for-time', 'unix-bj', None]
    """
    wanted = _plain(asked)
    for game in GAMES.values():
        if wanted in map(_plain, (game.name, game.letter, game.code)):
            return game
    return None


def title(name: str) -> str:
    """Return the title of a game by its name, "" for an unknown one.

    >>> title("unix-bj"), title("craps")
    ('UNIX bj', '')
    """
    game = GAMES.get(name)
    return "" if game is None else game.title


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
