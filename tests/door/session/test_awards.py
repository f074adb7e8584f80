"""Awards are announced at the table or on the next call; others see them in the menu."""

from __future__ import annotations

from tests.door.visiting import MENU, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING
from tests.world import World

TOML = sysop_toml(events="")


async def test_an_award_is_shown_with_its_hand_and_once(board: World) -> None:
    bob = await visitor(board, "Bob")
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(5, ends="natural", asked=TABLE)
    _bets, _asked, result = ada.terminal.transcript.rpartition("BLACKJACK!")
    award = "Awards: First hand, A blackjack, A win at Black Jack For Time!"
    assert result.index(award) < result.index("Bet (B, Enter)"), (
        "the award comes before the next question"
    )
    await board.pass_time(5)
    await ada.bets(5, ends="natural", asked=TABLE)
    await ada.presses("q").goes_on_to(MENU)
    await board.pass_time(5)
    assert ada.terminal.transcript.count("Award") == 1
    assert "Ada has earned" not in ada.terminal.transcript
    while "Ada has earned an award: " not in bob.screen:
        await board.pass_time(1)


async def test_a_painted_award_is_there_with_the_result_and_not_over_the_next_hand(
    board: World,
) -> None:
    ada = await seated(board, "Ada", profile=MODERN)
    await ada.bets(5, ends="natural", asked=TABLE)
    await ada.sees("Awards: First hand, A blackjack")
    await board.pass_time(5)
    await ada.bets(5)
    await board.pass_time(5)
    assert "Award" not in ada.screen


async def test_a_caller_who_hung_up_reads_the_award_on_the_next_call(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(5, ends="push", asked=TABLE)
    await ada.drops_carrier()
    await board.pass_time(5)
    ada = Guest(board, "Ada")
    await ada.calls(REFUSING)
    await ada.sees("Award: First hand!")
    await ada.goes_on_to(MENU)
    with board.books() as desk:
        untold = desk.connection.exec_driver_sql("SELECT * FROM awards WHERE told IS NULL")
        assert untold.all() == []
