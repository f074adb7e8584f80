"""Plain lines in place of a painted screen."""

from __future__ import annotations

from door.lobby.pulse import EVERY_SECONDS
from tests.door.visiting import MENU, seated, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import World

TOML = sysop_toml(events="")
ANY_KEY = "Press any key"
NEVER_TOLD = ("Time  ", "Seed  ")
OF_A_SITTING = ("Sitting  ", "W-L-push  ")


async def test_a_tables_help_in_plain_lines_explains_only_plain_lines(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.presses("?").is_asked(ANY_KEY)
    for line in (
        "Pot  Your time left in coins.",
        "A coin  What a coin is worth.",
        "Turns today",
    ):
        assert line in ada.screen
    for field in (*NEVER_TOLD, *OF_A_SITTING, "Bet  What"):
        assert field not in ada.terminal.transcript, field


async def test_a_tables_help_explains_additions_of_the_current_hand(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(1)
    await ada.stays()
    await ada.presses("?").sees("=  Show or read this screen again.")
    await ada.presses("n").sees("W-L-push  Hands won")
    for field in (*OF_A_SITTING, "Bet  What"):
        assert field in ada.screen, field
    for field in NEVER_TOLD:
        assert field not in ada.terminal.transcript, field


async def test_a_menu_shown_before_is_short_in_plain_lines(board: World) -> None:
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
    for line in ("Beat the dealer", "Ada: Shuffle up"):  # they have read it
        assert line not in again, line


async def test_the_help_of_baccarat_explains_the_scoreboard_that_lines_have(
    board: World,
) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    ada.presses("c")
    await ada.terminal.until("<Q>uit")
    ada.presses("t")
    await ada.terminal.until("<R>ules")
    await ada.presses("?").is_asked("<N>ext")
    await ada.presses(">").sees("Scoreboard  The last coups, the latest last:")
    assert "at the right" not in ada.screen
