"""The Red Dog table on narrow and large screens, and its staging."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.door.tables.red_dog.playing import ends
from tests.door.tables.test_staged import SMALL, is_played_at
from tests.world import world


@pytest.mark.parametrize("rows", [22, 25])
async def test_forty_columns_show_cards_and_figures(tmp_path: Path, rows: int) -> None:
    async with world(tmp_path) as board:
        await is_played_at(board, "r", ends("win", 3), replace(SMALL, rows=rows))
