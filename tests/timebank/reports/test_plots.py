"""Plots: the end of each day, and balances of the past."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

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


def test_each_day_ends_with_the_balances_of_then(played):
    days = [played.settings.schedule.day_of(at) for at, _ in played.known]
    ends = played.do(plots.day_ends, days[0])
    assert [end.day for end in ends] == [*days, days[-1] + timedelta(days=1)]
    for end, (_, held) in zip(ends, played.known, strict=False):
        kinds = Counter()
        for each in held:
            kinds[each.kind] += each.amount
        assert +end.held == +kinds
        assert end.in_circulation == sum(kinds[kind] for kind in plots.IN_CIRCULATION)
    assert ends[-1].held == ends[-2].held
