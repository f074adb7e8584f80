"""Limits of callers' own: no bet passes them, and looser ones hold a day later."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.timebank.books import NOON, lost, pushed, won
from tests.timebank.calls.test_clock import Machines
from timebank.callers import own_limits
from timebank.callers.own_limits import MOST_DAYS, MOST_MINUTES
from timebank.calls.clock import TRIAL_SECONDS
from timebank.errors import NotEnough, OwnLimit, Refused

A_DAY = 86_400


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def limit(books, caller, minutes):
    return books.do(own_limits.limit_loss, caller, minutes)


def test_no_bet_passes_the_most_that_may_be_lost_in_a_day(books, ann, call):
    limit(books, ann, 10)
    call.touch()
    assert call.purse.stake_left == 600
    with pytest.raises(OwnLimit, match="Your own limit of 10 minutes a day lets you bet 10 min"):
        call.bet(601)
    call.lose(240)
    call.bet(300, game="baccarat")
    assert call.purse.stake_left == 60
    with pytest.raises(OwnLimit):
        call.act(stake=61, kind="double")
    call.act(stake=60, kind="double")
    call.act(lost(360))
    assert call.purse.stake_left == 0
    with pytest.raises(OwnLimit, match="lets you bet 0 seconds more"):
        call.bet(1)
    assert books.audit() == []


def test_wins_count_against_losses_and_a_push_counts_as_neither(books, ann, call):
    limit(books, ann, 10)
    call.lose(600)
    with pytest.raises(OwnLimit):
        call.bet(60)
    limit(books, ann, None)
    books.wait(A_DAY)
    call.close()
    again = books.call(ann)
    limit(books, ann, 10)
    again.lose(300)
    again.win(120, 120)
    again.bet(60, pushed(60))
    assert again.purse.stake_left == 420
    again.bet(60)
    again.act(lost(20, final=False))
    assert again.purse.stake_left == 360  # of the stake on the table, 40 may still be lost


def test_a_win_raises_the_remaining_loss_limit_at_once(ann, books, call):
    limit(books, ann, 10)
    call.lose(300)
    call.win(120, 180)
    assert call.purse.stake_left == 480


def test_losses_before_the_limit_was_set_count(books, ann, call):
    call.lose(600)
    limit(books, ann, 5)
    with pytest.raises(OwnLimit):
        call.bet(1)


def test_a_new_day_begins_with_nothing_lost(books, ann, call):
    limit(books, ann, 10)
    call.lose(600)
    books.wait(A_DAY)
    call.touch()
    assert call.purse.stake_left == 600


def test_the_limit_of_one_is_not_that_of_another_at_the_table(books, table):
    second = books.sql("SELECT id FROM callers ORDER BY id")[1][0]
    limit(books, second, 1)
    with pytest.raises(OwnLimit) as refused:
        table.bet({1: 60, 2: 61, 3: 60})
    assert refused.value.seat == 2
    assert table.stakes() == [0, 0, 0]
    table.bet({1: 120, 2: 60})
    assert books.audit() == []


def test_stricter_holds_at_once_and_looser_a_day_later(books, ann, call):
    assert limit(books, ann, 20).most_lost == 1200
    assert limit(books, ann, 10).most_lost == 600
    later = limit(books, ann, 30)
    assert (later.most_lost, later.later_lost) == (600, 1800)
    books.wait(A_DAY - 1)
    assert books.do(own_limits.current, ann).most_lost == 600
    books.wait(1)
    assert books.do(own_limits.current, ann).most_lost == 1800
    limit(books, ann, None)
    limit(books, ann, 30)  # thought better of it
    books.wait(A_DAY)
    assert books.do(own_limits.current, ann).most_lost == 1800


def test_a_pause_stops_every_bet_of_time_and_of_play_money(books, ann, call):
    call.sit_down()
    call.bet(60)
    books.do(own_limits.pause, ann, 3)
    with pytest.raises(OwnLimit, match="you can bet again on 4 June 2026 at 12:00"):
        call.act(stake=60, kind="double")
    call.act(won(60, 60))  # an open hand is played to its end
    for bet in (call.bet, call.coup, lambda _: call.hand_of_bj()):
        with pytest.raises(OwnLimit):
            bet(60)
    assert call.purse.paused_until == NOON + timedelta(days=3)
    assert books.do(own_limits.pause, ann, 0).paused_until == own_limits.stamp(NOON) + A_DAY
    books.wait(A_DAY)
    call.touch()
    assert call.purse.paused_until is None
    call.bet(60)


def test_a_longer_pause_holds_at_once(books, ann):
    books.do(own_limits.pause, ann, 1)
    assert books.do(own_limits.pause, ann, 9).paused_until == own_limits.stamp(NOON) + 9 * A_DAY
    assert books.do(own_limits.pause, ann, 2).paused_until == own_limits.stamp(NOON) + 2 * A_DAY


def test_a_clock_that_is_ahead_loosens_nothing_before_it_is_sure(books, ann):
    here = Machines(books)
    call = books.call(ann)
    limit(books, ann, 10)
    call.lose(600)
    books.do(own_limits.pause, ann, 2)
    limit(books, ann, None)
    call.close()
    here.step(9.0 * A_DAY)  # a leap is not believed at all
    assert books.do(own_limits.current, ann).paused_until is not None
    here.boot(NOON + timedelta(days=9))  # after a boot it is, with a doubt
    own = books.do(own_limits.current, ann)
    assert (own.most_lost, own.paused_until is not None) == (600, True)
    call = books.call(ann)
    with pytest.raises(OwnLimit, match="until the board is sure what time it is"):
        call.bet(60)
    books.sql("UPDATE own_limits SET paused_until = NULL")
    with pytest.raises(OwnLimit, match="lets you bet 0 seconds more"):
        call.bet(60)  # losses of the last known day still count
    here.wait(TRIAL_SECONDS)
    books.call(ann, take_over=True).bet(60)


def test_in_doubt_of_the_clock_winnings_do_not_raise_the_loss_limit(books, ann):
    here = Machines(books)
    call = books.call(ann)
    call.win(600, 600)
    limit(books, ann, 10)
    call.close()
    here.boot(NOON + timedelta(days=9))
    call = books.call(ann)
    with pytest.raises(OwnLimit, match="lets you bet 10 minutes more"):
        call.bet(660)
    call.lose(300)
    call.bet(300)
    with pytest.raises(OwnLimit):
        call.act(stake=60, kind="double")


def test_the_hourly_summary_has_stakes_and_losses(books, ann, call):
    books.do(own_limits.set_hourly_summary, ann, True)
    books.wait(600)
    call.lose(120)
    call.win(60, 30)
    call.bet(90)
    assert books.do(own_limits.take_summary, ann) is None
    books.wait(3000)
    call.touch()
    assert call.purse.summary_is_due
    assert books.do(own_limits.take_summary, ann) == (NOON, 270, -90)
    call.touch()
    assert not call.purse.summary_is_due
    books.do(own_limits.set_hourly_summary, ann, False)
    books.wait(3600)
    assert books.do(own_limits.take_summary, ann).staked == 0
    books.wait(A_DAY)
    assert books.do(own_limits.take_summary, ann) is None


@pytest.mark.parametrize("number", [-1, 0, MOST_MINUTES + 1])
def test_invalid_limits_are_refused(books, ann, number):
    with pytest.raises(Refused):
        limit(books, ann, number)
    with pytest.raises(Refused):
        books.do(own_limits.pause, ann, MOST_DAYS + 1)
    assert books.do(own_limits.current, ann) == own_limits.OwnLimits()


def test_without_limits_only_the_pot_bounds_a_bet(books, ann, call):
    limit(books, ann, None)
    with pytest.raises(NotEnough):
        call.bet(3600)
