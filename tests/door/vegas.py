"""The Vegas tables of a board, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.tables.vegas.room import VegasRoom
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.call.board import Board
    from door.tables.vegas.table import VegasTable


def table_of(board: Board, number: int = FIRST_TABLE) -> VegasTable:
    return VegasRoom.among(board.shared).table(number)
