"""The floor of the house: sitting down at a table, and hands that wait at one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from door.call.shared import Shared
from door.games.engine.descriptor import Game, find
from door.games.registry import GAMES
from door.lobby.pulse import MenuPulse
from timebank.errors import JournalDamaged
from timebank.wagers import journal

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller

log = logging.getLogger("door.tables")


class Table(Protocol):
    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends the call."""

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""

    async def stand_open_hand(self) -> None:
        """Stand the hand that `has_open_hand` found, for a caller who has no time left."""


def sit_down(game: Game, board: Board, caller: Caller) -> Table:
    begin: Callable[[Board, Caller], Table] = game.find_at_the_table(game.table_at)
    return begin(board, caller)


async def menu_words(game: Game, board: Board, caller: Caller) -> str:
    """Return what the caller should know before sitting down, in a few words."""
    words: Callable[[Board, Caller], Awaitable[str]] = game.find_at_the_table(game.words_at)
    return await words(board, caller)


def lay_tables(board: Board, given: Mapping[str, Shared] | None = None) -> dict[str, Shared]:
    """Make what the callers of a board share at its games, by name; `given` are there already."""
    shared: dict[str, Shared] = {
        "pulse": MenuPulse(board),
        **(given or {}),
    }
    for game in GAMES.values():
        for name, where in game.shares.items():
            if name not in shared:
                shared[name] = find(where)(board)
    return shared


async def table_with_open_hand(board: Board, caller: Caller) -> tuple[Game, Table] | None:
    """Return where a hand of the caller was left open and a visit there, `None` without one. One
    whose journal cannot be read stays where it is, and is named in the log."""
    caller_id = caller.record.id
    try:
        stored = await caller.ask_books(lambda desk: journal.round_in_play(desk, caller_id))
    except JournalDamaged as damaged:
        log.error("hand %d of %s: %s", damaged.number, caller.record.name, damaged)
        return None
    if stored is None:
        return None
    game = GAMES.get(stored.game)
    if game is None:
        log.error("hand %d of %s is of no game here: %s", stored.id, stored.caller, stored.game)
        return None
    table = sit_down(game, board, caller)
    return (game, table) if await table.has_open_hand() else None
