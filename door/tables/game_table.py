"""How callers meet a game: one `GameTable` for each in door/tables/registry.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from door.call.shared import Shared
from door.games.engine.descriptor import Game

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.reel import Filmed, Reel


class Table(Protocol):
    """A caller's visit to a game."""

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends the call."""

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""

    async def stand_open_hand(self) -> None:
        """Stand the hand that `has_open_hand` found, for a caller who has no time left."""


@dataclass(frozen=True)
class GameTable:
    """`menu_words` returns what a caller should know before sitting down, in a few words. `film`
    shows a hand again. `shared` makes what the callers of a board have together at the game, by
    name; games with the same name in it have one thing together."""

    game: Game
    sit_down: Callable[[Board, Caller], Table]
    menu_words: Callable[[Board, Caller], Awaitable[str]]
    film: Callable[[Reel, Filmed], None]
    shared: Mapping[str, Callable[[Board], Shared]] = field(default_factory=dict)
