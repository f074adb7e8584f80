"""The Red Dog table on narrow and on large screens, and as it is staged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.door.games.red_dog.playing import at_red_dog, ends
from tests.door.games.test_staged import LARGE, SMALL, STAGED, is_played_at, sits_at
from tests.world import world


@pytest.mark.parametrize("rows", [22, 25])
async def test_forty_columns_show_cards_and_figures(tmp_path: Path, rows: int) -> None:
    async with world(tmp_path) as board:
        await is_played_at(board, "r", ends("win", 3), replace(SMALL, rows=rows))


async def test_a_large_screen_shows_large_cards(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await sits_at("r", board, LARGE)
        ada.send("b")
        await ada.until("Coins to bet")
        ada.send("5\r")
        await ada.until("┌─────────┐")


async def test_cards_come_one_by_one_and_the_third_after_a_moment(tmp_path: Path) -> None:
    async with at_red_dog(tmp_path, toml=STAGED) as ada:
        ada.board.seeds = [ends("win", 3)]
        await ada.asks_to_bet()
        ada.terminal.send("5\r")
        seen = []
        for question in ("<R>aise", "<B>et"):
            while question not in ada.prompt_row:
                seen.append(len(ada.on_the_table))
                await ada.board.clock.advance(0.05)
                await ada.board.settled()
            ada.terminal.send("s" if question == "<R>aise" else "")
            await ada.board.at_rest()
        assert sorted(set(seen)) == sorted({0, 1, 2, 3} & set(seen))
        assert {1, 2, 3} <= set(seen)
