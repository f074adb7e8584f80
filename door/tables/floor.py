"""The floor of the house: what callers share at its tables, and hands that wait at one."""

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


def lay_tables(board: Board, given: Mapping[str, Shared] | None = None) -> dict[str, Shared]:
    """Make what the callers of a board share at its games, by name; `given` are there already."""
    shared: dict[str, Shared] = {
        "pulse": MenuPulse(board),
        **(given or {}),
    }
    for table in TABLES.values():
        for name, make in table.shared.items():
            if name not in shared:
                shared[name] = make(board)
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
    table = TABLES[game.name].sit_down(board, caller)
    return (game, table) if await table.has_open_hand() else None
