"""Plots: the end of each day, the sources of minutes, and balances of the past."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from tests.timebank.books import won
from timebank.ledger.sql import NO_BOUND
from timebank.ledger.transfers import balances
from timebank.reports import plots
from timebank.window import corrections

MINUTE = 60


@pytest.fixture
def played(books):
    """Play three days as Ann and Bob; note all balances after each."""
    books.ann, books.bob = books.caller("Ann"), books.caller("Bob")
    books.known = []
    for number in range(3):
        books.do(corrections.adjust, books.ann, (number + 3) * MINUTE, "a gift", "test")
        books.do(corrections.sysop_transfer, books.ann, books.bob, MINUTE, "a debt", "test")
        books.known.append((books.now, books.do(balances)))
        books.wait_until(books.now + timedelta(days=1))
    return books


def seconds(held) -> dict[int, int]:
    return {each.account_id: each.amount for each in held if each.amount}


def test_balances_at_any_moment_are_right(played):
    for at, held in played.known:
        assert seconds(played.do(plots.balances_at, at)) == seconds(held)
    before = played.known[0][0] - timedelta(seconds=1)
    assert seconds(played.do(plots.balances_at, before)) == {}


def days_back(books, count, given=None):
    """The sums of so many days, today first."""
    today, end, days = books.settings.schedule.day_of(books.now), NO_BOUND, []
    for number in range(count):
        day = today - timedelta(days=number)
        days.append(books.do(plots.day_sums, day, end, given))
        end = days[-1].first
    return days


def test_each_day_ends_with_the_balances_of_then(played):
    days = days_back(played, 5)
    ends = played.do(plots.day_ends, days)
    assert [each.day for each in days] == list(ends)
    for at, held in played.known:
        kinds = Counter()
        for each in held:
            kinds[each.kind] += each.amount
        assert +ends[played.settings.schedule.day_of(at)] == +kinds
    assert ends[days[0].day] == ends[days[1].day], "nothing was moved since"
    assert +ends[days[4].day] == Counter()


def given(hand):
    return -0.1 * hand.bet, float(hand.bet)


def test_a_day_has_its_own_hands_alone_with_those_that_ended_after_midnight(books):
    ann = books.call(books.caller("Ann"))
    ann.lose(600)
    books.wait_until(datetime(2026, 6, 1, 23, 58, tzinfo=UTC))
    bob = books.call(books.caller("Bob"), node=2)
    books.wait(60)
    bob.bet(300)
    books.wait_until(datetime(2026, 6, 2, 0, 1, tzinfo=UTC))
    bob.act(won(300, 300))
    after, before, empty = days_back(books, 3, given)
    assert [each.bets for each in (after, before, empty)] == [{}, {12: 1, 23: 1}, {}]
    for each, caller, result in ((before, ann, 600), (after, bob, -300)):
        assert [luck.house for luck in each.tables] == [result]
        assert [(luck.caller_id, luck.house) for luck in each.people] == [
            (caller.caller_id, result)
        ]
    (game,) = before.period.games.values()
    assert (game.lost, game.won) == (600, 0)
    assert before.period.flows["used"] > 0
    assert not empty.tables
    today = after.day
    assert books.do(plots.calls_by_hour, today, today) == {}
    assert books.do(plots.calls_by_hour, before.day, today) == {12: 1, 23: 1}
