"""Awards are announced at the table or on the next call; others see them in the menu."""

from __future__ import annotations

from dataclasses import replace

from tests.door.visiting import MENU, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING
from tests.world import World

TOML = sysop_toml(events="")


async def test_an_award_is_shown_once_at_the_table_and_to_others_in_the_menu(board: World) -> None:
    bob = await visitor(board, "Bob")
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(5, ends="natural", asked=TABLE)
    assert "Award" not in ada.terminal.transcript
    await board.pass_time(2)
    # Plain lines do not interrupt the open question, which they would have to repeat.
    assert "Award" not in ada.terminal.transcript
    await ada.bets(5, ends="natural", asked=TABLE)
    await ada.sees("Awards: First hand, A blackjack, A win at Black Jack For Time!")
    await board.pass_time(5)
    assert ada.terminal.transcript.count("Award") == 1
    while "Ada has earned an award: " not in bob.screen:
        await board.pass_time(1)


async def test_a_caller_who_hung_up_reads_the_award_on_the_next_call(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(5, ends="push", asked=TABLE)
    await ada.drops_carrier()
    await board.pass_time(5)
    ada = Guest(board, "Ada")
    await ada.calls(REFUSING)
    await ada.goes_on_to(MENU)
    await board.pass_time(2)
    await ada.presses("y").sees("Award: First hand!")
    with board.books() as desk:
        untold = desk.connection.exec_driver_sql("SELECT * FROM awards WHERE told IS NULL")
        assert untold.all() == []


async def test_an_award_that_waits_for_an_answer_is_shown_by_a_window_that_grows(
    board: World,
) -> None:
    ada = await seated(board, "Ada", profile=replace(MODERN, columns=60, rows=20))
    await ada.bets(5, ends="push", asked=TABLE)
    await board.pass_time(2)
    assert "Award" not in ada.terminal.transcript
    ada.terminal.resize(80, 24)
    await ada.sees("Award: First hand!")
