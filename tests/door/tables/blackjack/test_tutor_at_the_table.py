"""The tutor at Black Jack For Time: the book's move before and after the player's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from door.errors import HelperUnavailable
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.solver.tutor import tutor
from door.games.solver.tutor.hand_value import values
from door.tables.tutor.advice import UNAVAILABLE
from tests.door.games.solver.advised import advice_on
from tests.door.playing import PLACE_BET, Table, at_the_table, house
from tests.door.seated import everybody_plays, shoe
from tests.door.vegas_callers import player, table_toml
from tests.terminal import PATIENCE
from tests.thinking import AtOurWord
from tests.world import seed_of, world


async def turn_tutor_on(ada: Table) -> None:
    assert ada.figure("Tutor") == "off"
    ada.terminal.send("u")
    await ada.message("Tutor is on: it tells you what the book would do.")
    assert ada.figure("Tutor") == "on"


def is_stand_wrong(dealt: BlackjackRound) -> bool:
    """Return whether the book would not stand on this hand and one card does not end it."""
    if dealt.over or BlackjackAction.STAY not in dealt.legal():
        return False
    return tutor.judge(advice_on(dealt, dealt.legal()), BlackjackAction.STAY) is not None


async def test_the_tutor_says_the_books_move_and_judges_a_worse_one(
    ada: Table,
) -> None:
    await turn_tutor_on(ada)
    await ada.bets(2, seed_of(is_stand_wrong))
    advice = advice_on(ada.round, ada.round.legal())
    await ada.message(advice.sentence)
    verdict = tutor.judge(advice, BlackjackAction.STAY)
    assert verdict is not None
    await ada.does("stay")
    await ada.message(verdict)


async def test_without_being_asked_it_is_silent(ada: Table) -> None:
    await ada.bets(2, seed_of(is_stand_wrong))
    await ada.does("stay")
    await ada.prompt("<B>et")
    assert "Book" not in ada.terminal.transcript


async def test_it_speaks_of_nothing_that_the_pot_cannot_pay(tmp_path: Path) -> None:
    """With most of the pot on the table, doubling is not weighed."""
    async with at_the_table(tmp_path, toml=house(largest_bet=50)) as ada:
        await turn_tutor_on(ada)
        await ada.bets(40, seed_of(is_stand_wrong))
        open_to_ada = [
            action for action in ada.round.legal() if action is not BlackjackAction.DOUBLE
        ]
        await ada.message(advice_on(ada.round, open_to_ada).sentence)


# While the book is looked up


def hitting_is_wrong(dealt: BlackjackRound) -> bool:
    """A hand in play that the book would not hit, and that one card more does not end."""
    if (
        dealt.over
        or BlackjackAction.HIT not in dealt.legal()
        or dealt.apply(BlackjackAction.HIT)[0].over
    ):
        return False
    return tutor.judge(advice_on(dealt, dealt.legal()), BlackjackAction.HIT) is not None


async def test_nothing_is_worked_out_where_callers_are_served(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with at_the_table(tmp_path, thinking=thinking) as ada:
        await turn_tutor_on(ada)
        seed = seed_of(is_stand_wrong)
        values.cache_clear()
        await ada.bets(2, seed)
        ((spot, answer),) = thinking.asked
        answer.set_result(dict.fromkeys(BlackjackAction, 0.25))
        await ada.message("Book: STAND (+25% of your bet")
        assert replace(spot, rules=ada.round.rules) == tutor.spot_of(ada.round)
        assert values.cache_info().misses == 0


async def test_a_key_is_obeyed_at_once_and_judged_when_the_book_has_an_answer(
    tmp_path: Path,
) -> None:
    thinking = AtOurWord()
    async with at_the_table(tmp_path, thinking=thinking) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(hitting_is_wrong))
        before = ada.round
        verdict = tutor.judge(advice_on(before, before.legal()), BlackjackAction.HIT)
        assert verdict is not None
        await ada.does("hit")
        assert not ada.round.over
        assert len(thinking.asked) == 2
        thinking.answers()
        await ada.message(verdict)
        assert advice_on(before, before.legal()).sentence not in ada.terminal.transcript
        thinking.answers()
        await ada.message(advice_on(ada.round, ada.round.legal()).words(is_next=True))


async def test_a_verdict_after_the_hand_is_shown_in_the_menu(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with at_the_table(tmp_path, thinking=thinking) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(is_stand_wrong))
        verdict = tutor.judge(advice_on(ada.round, ada.round.legal()), BlackjackAction.STAY)
        assert verdict is not None
        await ada.does("stay")
        await ada.prompt(PLACE_BET)
        thinking.answers()
        await ada.message(verdict)
        assert PLACE_BET in ada.prompt_row
        await ada.bets(1, seed_of(is_stand_wrong))


async def test_a_hang_up_cancels_the_question(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with at_the_table(tmp_path, thinking=thinking) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(is_stand_wrong))
        ((_, answer),) = thinking.asked
        await ada.terminal.close()
        async with asyncio.timeout(PATIENCE):
            while not answer.done():
                await ada.board.settled()
        assert answer.cancelled()


@pytest.mark.parametrize(
    "problem", [HelperUnavailable("it is gone"), RuntimeError("something else")]
)
async def test_a_hand_continues_without_the_book(
    tmp_path: Path, problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    thinking = AtOurWord()
    async with at_the_table(tmp_path, thinking=thinking) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(hitting_is_wrong))
        thinking.fails(problem)
        if isinstance(problem, HelperUnavailable):
            await ada.message(UNAVAILABLE)
        await ada.does("hit")
        thinking.answers()
        await ada.message(advice_on(ada.round, ada.round.legal()).sentence)
        assert ("the tutor has no advice" in caplog.text) is isinstance(problem, RuntimeError)
        assert "In the long run" not in ada.terminal.transcript


async def test_advice_goes_with_its_decision_and_a_result_with_the_next_bet(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(hitting_is_wrong))
        await ada.message(advice_now := advice_on(ada.round, ada.round.legal()).sentence)
        await ada.does("hit")
        await ada.terminal.until_gone(advice_now)
        await ada.message("In the long run hitting costs about")
        if not ada.round.over:
            await ada.does("stay")
        await ada.terminal.send("b").until("Coins to bet")
        assert "In the long run" not in ada.terminal.picture


async def test_a_hand_that_is_stood_meanwhile_gets_no_advice(tmp_path: Path) -> None:
    """At Vegas the table stands a hand after the time of a turn."""
    thinking = AtOurWord()
    async with world(tmp_path, toml=table_toml(turn_seconds=5), thinking=thinking) as board:
        board.seeds = [shoe(2, everybody_plays)]
        ada, bob = await player(board, "Ada"), await player(board, "Bob")
        await ada.presses("u").sees("Tutor is on")
        for each in (ada, bob):
            await each.is_ready()
        await ada.has_the_turn()
        assert len(thinking.asked) == 1
        await board.pass_time(6)
        await bob.has_the_turn()
        thinking.answers()
        await bob.stands()
        await ada.is_asked("<B>et")
        assert "Book" not in ada.terminal.transcript
