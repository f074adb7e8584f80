"""The tables of the house: how callers meet each game."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from door.call.shared import Shared
from door.games.baccarat.game import GAME as BACCARAT
from door.games.black_jack_for_time.game import GAME as BLACK_JACK_FOR_TIME
from door.games.engine.descriptor import Game
from door.games.red_dog.game import GAME as RED_DOG
from door.games.unix_bj.game import GAME as UNIX_BJ
from door.games.vegas.game import GAME as VEGAS
from door.lobby import sums
from door.tables.baccarat import film as baccarat_film
from door.tables.baccarat import table as baccarat
from door.tables.black_jack_for_time import table as black_jack
from door.tables.red_dog import table as red_dog
from door.tables.tutor import tutor_process
from door.tables.unix_bj import table as unix_bj
from door.tables.vegas import film as vegas_film
from door.tables.vegas import room

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.reel import Reel, ReplayedHand


class Table(Protocol):
    """A caller's visit to a game."""

    async def visit(self) -> None:
        """Run the visit until the caller leaves or the call ends."""

    async def has_open_hand(self) -> bool:
        """Return whether the caller has an open hand here; put it on the table."""

    async def stand_open_hand(self) -> None:
        """Stand the hand that `has_open_hand` found, when the caller's time is up."""


@dataclass(frozen=True)
class GameTable:
    """How callers meet one game.

    `menu_words` returns a few words for the main menu. `film` replays a hand on a reel. `shared`
    has the makers of the objects that callers of a board share, by name. Games that use the same
    name share one object.
    """

    game: Game
    sit_down: Callable[[Board, Caller], Table]
    menu_words: Callable[[Board, Caller], Awaitable[str]]
    film: Callable[[Reel, ReplayedHand], None]
    shared: Mapping[str, Callable[[Board], Shared]] = field(default_factory=dict)


_SUMS = {"sums": lambda _board: sums.Sums()}
_TUTOR = {**_SUMS, "tutor": lambda _board: tutor_process.TutorProcess()}
_VEGAS = {**_TUTOR, "vegas": room.VegasRoom}

TABLES: Mapping[str, GameTable] = {
    table.game.name: table
    for table in (
        GameTable(
            BLACK_JACK_FOR_TIME,
            black_jack.BlackJackForTimeTable,
            black_jack.menu_words,
            black_jack.film,
            _TUTOR,
        ),
        GameTable(BACCARAT, baccarat.BaccaratTable, baccarat.menu_words, baccarat_film.film, _SUMS),
        GameTable(UNIX_BJ, unix_bj.UnixBjTable, unix_bj.menu_words, unix_bj.film, _TUTOR),
        GameTable(VEGAS, room.RoomVisit, room.menu_words, vegas_film.film, _VEGAS),
        GameTable(RED_DOG, red_dog.RedDogTable, red_dog.menu_words, red_dog.film, _SUMS),
    )
}
"""Each table under the name of its game."""
