"""What is told in plain lines, where a painted screen would show it."""

from __future__ import annotations

from pathlib import Path

from tests.door.visiting import sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import world

OPEN = sysop_toml(events="")
ANY_KEY = "Press any key"
NEVER_TOLD = ("Time  ", "Seed  ")
OF_A_SITTING = ("Sitting  ", "W-L-push  ")


async def test_the_help_of_a_table_explains_what_lines_tell_and_no_more(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        await ada.sits_down()
        ada.presses("?")
        await ada.is_asked(ANY_KEY)
        for told in (
            "Pot  Your time left in coins.",
            "A coin  What a coin is worth.",
            "Turns today",
        ):
            assert told in ada.screen
        for field in (*NEVER_TOLD, *OF_A_SITTING, "Bet  What"):
            assert field not in ada.terminal.transcript, field


async def test_the_help_of_a_table_explains_what_a_hand_brings_to_it(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        await ada.sits_down()
        await ada.bets(1)
        await ada.stays()
        ada.presses("?")
        await ada.sees("W-L-push  Hands won")
        for field in (*OF_A_SITTING, "Bet  What"):
            assert field in ada.screen, field
        for field in NEVER_TOLD:
            assert field not in ada.terminal.transcript, field


async def test_the_help_of_baccarat_explains_the_scoreboard_that_lines_have(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        ada.presses("c")
        await ada.terminal.until("<Q>uit")
        ada.presses("t")
        await ada.terminal.until("<R>ules")
        ada.presses("?")
        await ada.is_asked("<N>ext")
        ada.presses(">")
        await ada.sees("Scoreboard  The last coups, the latest last:")
        assert "at the right" not in ada.screen
