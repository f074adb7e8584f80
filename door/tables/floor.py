"""The floor of the house: what callers share at its tables, and their open hands."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from door.call.shared import Shared
from door.games.engine.descriptor import Game
from door.games.registry import GAMES
from door.lobby.pulse import MenuPulse
from door.tables.registry import TABLES, Table
from timebank.errors import JournalDamaged
from timebank.wagers import journal

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller

log = logging.getLogger("door.tables")


def make_shared(board: Board, existing: Mapping[str, Shared] | None = None) -> dict[str, Shared]:
    """Make, by name, the objects that callers of a board share; keep those in `existing`."""
    shared: dict[str, Shared] = {
        "pulse": MenuPulse(board),
        **(existing or {}),
    }
    for table in TABLES.values():
        for name, make in table.shared.items():
            if name not in shared:
                shared[name] = make(board)
    return shared


async def table_with_open_hand(board: Board, caller: Caller) -> tuple[Game, Table] | None:
    """Return the game of the caller's open hand and a visit to its table, `None` without one.

    A hand whose journal is damaged stays open, and the log names it.
    """
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
        log.error(
            "hand %d of %s belongs to an unknown game: %s", stored.id, stored.caller, stored.game
        )
        return None
    table = TABLES[game.name].sit_down(board, caller)
    return (game, table) if await table.has_open_hand() else None
