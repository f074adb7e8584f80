"""The tutor at Black Jack For Time: what the book says, and what it would have done."""

from __future__ import annotations

from pathlib import Path

from door.games import tutor
from door.games.blackjack import Action, Round
from tests.door.playing import Table, at_the_table, house
from tests.world import seed_of


async def turn_tutor_on(ada: Table) -> None:
    await ada.prompt("T<u>tor is off")
    ada.terminal.send("u")
    await ada.message("From now on the tutor says what the book would do")
    await ada.prompt("T<u>tor is on")


def standing_is_wrong(dealt: Round) -> bool:
    """A hand in play that the book would not stand on, and that is not over by one card."""
    if dealt.over or Action.STAY not in dealt.legal():
        return False
    return tutor.judge(tutor.advice(dealt, dealt.legal()), Action.STAY) is not None


def standing_is_right(dealt: Round) -> bool:
    if dealt.over or Action.STAY not in dealt.legal():
        return False
    return tutor.advice(dealt, dealt.legal()).best is Action.STAY


async def test_before_a_move_the_tutor_says_what_the_book_says(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(standing_is_wrong))
        await ada.message(tutor.advice(ada.round, ada.round.legal()).sentence)


async def test_after_a_worse_move_it_says_what_the_book_would_have_done(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(standing_is_wrong))
        verdict = tutor.judge(tutor.advice(ada.round, ada.round.legal()), Action.STAY)
        assert verdict is not None
        await ada.does("stay")
        await ada.message(verdict)


async def test_after_the_book_s_own_move_it_says_no_more(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await turn_tutor_on(ada)
        await ada.bets(2, seed_of(standing_is_right))
        await ada.does("stay")
        await ada.prompt("<P>lace Bet")
        assert "The book would have" not in ada.terminal.transcript


async def test_without_being_asked_it_is_silent(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(2, seed_of(standing_is_wrong))
        await ada.does("stay")
        await ada.prompt("<P>lace Bet")
        assert "The book" not in ada.terminal.transcript


async def test_it_speaks_of_nothing_that_the_pot_cannot_pay(tmp_path: Path) -> None:
    """With most of the pot on the table, doubling is not among what is weighed."""
    async with at_the_table(tmp_path, toml=house(largest_bet=50)) as ada:
        await turn_tutor_on(ada)
        await ada.bets(40, seed_of(standing_is_wrong))
        open_to_him = [action for action in ada.round.legal() if action is not Action.DOUBLE]
        await ada.message(tutor.advice(ada.round, open_to_him).sentence)


async def test_it_is_remembered_for_the_next_call(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await turn_tutor_on(ada)
        await ada.logs_off()
        await ada.returns()
        await ada.prompt("T<u>tor is on")
