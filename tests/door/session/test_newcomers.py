"""New callers who need the sysop's approval, or must know the answer to a question."""

from __future__ import annotations

import pytest

from door.server.leadership import LOOK_SECONDS
from tests.door.visiting import MENU, TABLE, Guest, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import PASSWORD, World
from timebank.callers import callers
from timebank.errors import Unchanged
from timebank.keeping import caller_acts
from timebank.keeping.warnings import warnings

LONG = "the game of twenty-one " * 8  # as long as sysop.toml takes an answer
CALLERS = f"""
[callers]
approval = true
question = "Which game is this board named for?"
answers = ["Black Jack", "blackjack", "{LONG}"]
"""
TOML = sysop_toml(events="") + CALLERS
QUESTION = "Which game is this board named for?"
WAITS = "You can play the daily deal. Bets, loans and transfers wait until"


async def begins(board: World) -> Guest:
    ada = Guest(board, "Ada")
    await ada.dials(REFUSING)
    ada.presses("new\r")
    await ada.sees(QUESTION)
    await ada.is_asked("Your answer:")
    return ada


async def test_a_caller_who_waits_for_approval_cannot_bet_but_play_the_daily_deal(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("b").is_asked(TABLE)
    await ada.presses("b").sees(WAITS)
    assert ada.has["stake"] == 0
    await ada.presses("q").is_asked(MENU)
    await ada.presses("dp").sees("1 of 10")


async def test_the_sysop_lets_a_caller_bet_while_they_are_on(board: World) -> None:
    ada = await visitor(board, "Ada")
    number = ada.caller.record.id
    with board.books() as desk:
        assert "Ada waits for your approval: `door callers approve Ada`." in warnings(desk)
        assert caller_acts.approve(desk, number, "Sysop").endswith("may bet now.")
        with pytest.raises(Unchanged, match=r"does not wait for approval\."):
            caller_acts.approve(desk, number, "Sysop")
        assert callers.waiting(desk) == []
    await board.pass_time(LOOK_SECONDS + 1)
    await ada.sees("The sysop has let you in: you can bet now.")
    await ada.sits_down()
    await ada.bets(1, "stay", ends="lose")


@pytest.mark.parametrize("answer", ["black jack", "BLACKJACK ", LONG])
async def test_a_new_caller_answers_the_sysops_question(board: World, answer: str) -> None:
    ada = await begins(board)
    ada.presses("bridge\r")
    await ada.sees("That is not the answer.")
    ada.presses(f"{answer}\r")
    await ada.is_asked("The name you want:")
    ada.presses("Ada\r")
    await ada.is_asked("A password")
    await ada.presses(f"{PASSWORD}\r").is_asked("Once more:")


async def test_one_who_cannot_answer_is_not_registered(board: World) -> None:
    ada = await begins(board)
    for _ in range(3):
        ada.presses("bridge\r")
    await ada.sees("That was your third try. Goodbye.")
    with board.books() as desk:
        assert callers.count(desk) == 0


async def test_going_back_gives_no_more_tries(board: World) -> None:
    ada = await begins(board)
    for _ in range(2):
        ada.presses("bridge\r")
        await ada.sees("That is not the answer.")
    ada.presses("\x1b")
    await board.pass_time(1)
    await ada.is_asked("Name:")
    ada.presses("new\r")
    await ada.is_asked("Your answer:")
    ada.presses("bridge\r")
    await ada.sees("That was your third try. Goodbye.")


async def test_escape_at_the_question_goes_back_to_the_name(board: World) -> None:
    ada = await begins(board)
    ada.presses("\x1b")
    await board.pass_time(1)
    await ada.is_asked("Name:")
