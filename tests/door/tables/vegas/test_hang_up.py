"""Calls that end at the Vegas table or go on without time: hand, others, minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from door.games.blackjack.round import BlackjackAction, BlackjackRound
from tests.door.seated import everybody_plays, shoe
from tests.door.vegas_callers import Player, player, table_toml, vegas_callers
from tests.door.visiting import MENU, MINUTE, event
from tests.terminal import Terminal
from tests.world import log_on, world

FEW = table_toml(minutes=10)  # so that time runs out sooner

HALF_PAST = event("Mail hour", "12:30")


def all_stand(wanted: Callable[[int], bool]) -> Callable[[BlackjackRound], bool]:
    """Return a predicate: all seats stand, and the first one's net is `wanted`."""

    def deals(dealt: BlackjackRound) -> bool:
        if not everybody_plays(dealt):
            return False
        while not dealt.over:
            dealt, _ = dealt.apply(BlackjackAction.STAY)
        totals = dealt.totals_of(0)
        return wanted(totals.won - totals.lost)

    return deals


def everybody_wins(dealt: BlackjackRound) -> bool:
    """Every seat that stands wins."""
    if not everybody_plays(dealt):
        return False
    while not dealt.over:
        dealt, _ = dealt.apply(BlackjackAction.STAY)
    return all(dealt.totals_of(seat).won for seat in range(len(dealt.seats)))


WINS, LOSES = all_stand(lambda net: net > 0), all_stand(lambda net: net < 0)

# The carrier


@pytest.mark.parametrize("hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"])
async def test_a_lost_line_at_a_turn_stands_the_hand_and_the_others_play_on(
    tmp_path: Path, hang_up: Callable[[Terminal], None]
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, LOSES)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(3)
        await ada.has_the_turn()
        caller = ada.caller
        await ada.board.pass_time(20)
        hang_up(ada.terminal)
        await caller.ended.wait()
        await bob.sees("Ada is away: 10 s")
        await ada.board.pass_time(10)
        await bob.has_the_turn()
        await bob.sees_at(1, "stands")
        await bob.stands()
        # Two minutes are lost, and 20 seconds went by.
        assert (ada.has["online"], ada.has["stake"]) == (58 * MINUTE - 20, 0)
        await ada.calls()
        await ada.reads_that("Your hand of 20 November at Vegas was left open; the dealer stood it")
        await ada.is_asked(MENU)


async def test_a_second_call_takes_the_seat_over_with_hand_and_turn(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.has_the_turn()
        first = ada.terminal
        ada.terminal = await ada.board.call()
        await log_on(ada.terminal, "Ada")
        await ada.terminal.until("You're already on, at node 1.")
        ada.presses("y")
        await first.until_closed()
        await ada.has_the_turn()
        assert len(ada.round.seats[0].hands[0].cards) == 2
        lines = [
            row.strip() for row in ada.terminal.lines if "our hand is " in row or "back" in row
        ]
        assert lines == ["You're back at your hand."], ada.terminal.picture
        await ada.stands()
        await bob.has_the_turn()
        await bob.stands()
        assert ada.caller.purse.posted.online == ada.has["online"]


# Time


async def test_time_running_out_stands_the_hand_and_a_win_extends_the_call(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, WINS), toml=FEW) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        await ada.board.pass_time(8 * MINUTE - 1)
        await ada.board.clock.advance(1)  # and no wait: the next screen takes its place
        await ada.sees("Your time is up. The dealer stands your hand.")
        await ada.is_asked("<B>et")
        assert ada.has["online"] == 4 * MINUTE
        await ada.board.pass_time(30)
        await ada.sees_time_left(4 * MINUTE - 30)


async def with_her_last_minutes_on_the_table(ada: Player) -> Player:
    """Ada has bet, stood, and one minute left; Bob is at turn."""
    await ada.board.pass_time(7 * MINUTE)
    bob = await player(ada.board, "Bob")
    await ada.is_ready(2)
    await bob.is_ready(2)
    await ada.stands()
    await bob.has_the_turn()
    return bob


async def test_a_caller_out_of_time_watches_the_others_finish(tmp_path: Path) -> None:
    toml = table_toml(turn_seconds=600, minutes=10)
    async with vegas_callers(tmp_path, "Ada", seed=shoe(2, WINS), toml=toml) as (ada,):
        bob = await with_her_last_minutes_on_the_table(ada)
        await ada.board.pass_time(MINUTE)
        await ada.sees("Your time is up. The dealer stands your hand.")
        await bob.stands()
        await ada.is_asked("<B>et")
        assert ada.has["online"] == 4 * MINUTE
        await ada.sees_time_left(4 * MINUTE)


async def test_a_caller_out_of_time_cannot_stay_as_long_as_the_others(tmp_path: Path) -> None:
    toml = table_toml(turn_seconds=600, minutes=10)
    async with vegas_callers(tmp_path, "Ada", seed=shoe(2, WINS), toml=toml) as (ada,):
        bob = await with_her_last_minutes_on_the_table(ada)
        await ada.board.pass_time(3 * MINUTE)
        message = "The dealer stands your hand. You'll hear how it ended."
        await ada.is_sent_off(message, "You're out of time. Fresh minutes at midnight.")
        assert ada.has["stake"] == 2 * MINUTE
        await bob.stands()
        assert (ada.has["online"], ada.has["stake"]) == (4 * MINUTE, 0)
        await ada.calls()
        await ada.reads_that("the dealer stood it for you: you won 2 minutes")
        await ada.is_asked(MENU)


async def test_an_event_stands_open_hands_and_banks_finished_ones(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=table_toml(events=HALF_PAST, turn_seconds=600)) as board:
        board.seeds = [shoe(2, everybody_wins)]
        ada, bob = await player(board, "Ada"), await player(board, "Bob")
        await board.pass_time(25 * MINUTE)
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.has_the_turn()
        await board.pass_time(3 * MINUTE)
        for guest in (ada, bob):
            await guest.is_asked("<B>et")
            assert (guest.has["online"], guest.has["bank"]) == (2 * MINUTE, 2 * MINUTE)
        await board.pass_time(2 * MINUTE)
        for guest in (ada, bob):
            await guest.is_sent_off("Mail hour has begun.")
