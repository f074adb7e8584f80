"""What is told in plain lines, where a painted screen would show it."""

from __future__ import annotations

from pathlib import Path

from door.call.markup import plain
from door.lobby.pulse import EVERY_SECONDS
from door.session import menu
from tests.door.visiting import MENU, seated, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import world
from timebank.language import Viewer, speaking_to

OPEN = sysop_toml(events="")
ANY_KEY = "Press any key"
NEVER_TOLD = ("Time  ", "Seed  ")
OF_A_SITTING = ("Sitting  ", "W-L-push  ")


async def test_the_help_of_a_table_explains_what_lines_tell_and_no_more(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await seated(board, "Ada", profile=REFUSING)
        await ada.presses("?").is_asked(ANY_KEY)
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
        ada = await seated(board, "Ada", profile=REFUSING)
        await ada.bets(1)
        await ada.stays()
        await ada.presses("?").sees("W-L-push  Hands won")
        for field in (*OF_A_SITTING, "Bet  What"):
            assert field in ada.screen, field
        for field in NEVER_TOLD:
            assert field not in ada.terminal.transcript, field


async def test_help_that_is_asked_for_again_explains_the_same(tmp_path: Path) -> None:
    """The page of the help itself was what was explained next, which has no fields."""
    async with world(tmp_path, toml=OPEN) as board:
        ada = await seated(board, "Ada", profile=REFUSING)
        for _ in range(2):
            await ada.presses("?").is_asked(ANY_KEY)
            assert "Pot  Your time left in coins." in ada.screen
            await ada.presses(" ").is_asked("<B>et")


async def test_a_menu_that_is_known_is_told_in_short(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        await ada.presses("moShuffle up\r").is_asked("<W>rite")
        await board.pass_time(EVERY_SECONDS)
        await ada.presses("q").is_asked(MENU)
        assert "Ada: Shuffle up" in ada.screen
        first = ada.terminal.transcript
        assert first.count("Beat the dealer, win minutes") == 1
        assert "<V> Vegas: nobody at the table; 0 of 20 turns today" in ada.screen
        await ada.presses("n").is_asked(ANY_KEY)
        await ada.presses(" ").is_asked(MENU)
        again = ada.terminal.transcript[len(first) :]
        assert "<B> Black Jack For Time (Enter): 0 of 20 turns today" in again
        assert "Time left" in again
        for told in ("Beat the dealer", "Ada: Shuffle up"):  # they have heard it
            assert told not in again, told


def test_a_short_menu_puts_a_colon_as_its_language_does() -> None:
    offer = menu.Offer("C", "Baccarat", "", "0", is_default=False)
    assert plain(offer.row()) == "<C> Baccarat: 0"
    with speaking_to(Viewer("fr")):
        assert plain(offer.row()) == "<C> Baccarat : 0"


async def test_the_help_of_baccarat_explains_the_scoreboard_that_lines_have(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        ada.presses("c")
        await ada.terminal.until("<Q>uit")
        ada.presses("t")
        await ada.terminal.until("<R>ules")
        await ada.presses("?").is_asked("<N>ext")
        await ada.presses(">").sees("Scoreboard  The last coups, the latest last:")
        assert "at the right" not in ada.screen
