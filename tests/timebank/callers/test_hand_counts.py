"""The rules by which hands count, without any books."""

from __future__ import annotations

import pytest

from timebank.callers.award_names import COMEBACK
from timebank.callers.hand_counts import (
    FULL_TABLE,
    EndedHand,
    GameTotals,
    HandSums,
    Streaks,
    TotalsByGame,
    recount,
    settle,
)

GAME, KEY = "faro", ("faro", "second")


def hand(net: int = 0, outcome: str = "", number: int = 1, **more) -> EndedHand:
    """A hand of a minute that was settled at a moment by its number."""
    usual = {
        "caller_id": 1,
        "game": GAME,
        "unit": "second",
        "day": "2026-06-01",
        "at": 100 + number,
        "bet": 60,
        "lost": max(-net, 0),
        "won": max(net, 0),
        "together": 1,
    }
    return EndedHand(number, outcome=outcome, **{**usual, **more})


def after(*nets: int) -> TotalsByGame:
    totals = {}
    for net in nets:
        totals = settle(totals, hand(net)).totals_after
    return totals


def played(hands: int) -> TotalsByGame:
    return {KEY: GameTotals(HandSums(hands))}


def earned(before: TotalsByGame, settled: EndedHand) -> list[str]:
    return settle(before, settled).deserved


@pytest.mark.parametrize(
    ("before", "settled", "award"),
    [
        ({}, hand(90, "natural"), "natural"),
        ({}, hand(60, "win charlie"), "charlie"),
        ({}, hand(120, "win win"), "split"),
        ({}, hand(120, "win twenty-one"), "split"),
        ({}, hand(150, "natural charlie"), "split"),
        ({}, hand(-60, together=FULL_TABLE), "company"),
        (played(99), hand(game="other"), "hundred"),
        (played(999), hand(-60), "thousand"),
        ({}, hand(1800, bet=600), "half"),
        ({}, hand(2400, bet=600, unit="usd-cent"), "fourfold"),
        (after(60, 60, 0, 60, 60), hand(60), "streak"),
        (after(*[-60] * 5, 0), hand(60), COMEBACK),
    ],
)
def test_an_award_is_earned_by_the_hand_that_deserves_it(before, settled, award):
    assert award in earned(before, settled)


@pytest.mark.parametrize(
    ("before", "settled"),
    [
        ({}, hand(-60, "bust dealer-natural")),
        ({}, hand(-60, "bust dealer-charlie")),
        ({}, hand(60, "win lose")),
        ({}, hand(60, "twenty-one push")),
        ({}, hand(60, "twenty-one")),
        ({}, hand(60, together=FULL_TABLE - 1)),
        (played(98), hand(60)),
        ({}, hand(1799, bet=600)),
        ({}, hand(1800, bet=600, unit="usd-cent")),
        (after(60, 60, 60), hand(60)),
        (after(60, 60, 60, 60), hand()),
        (after(60, 60, 60, 60), hand(60, game="poker")),
        (after(*[-60] * 4), hand(60)),
        (after(*[-60] * 5), hand(-60)),
    ],
)
def test_it_is_not_earned_by_less(before, settled):
    assert set(earned(before, settled)) <= {"hand", f"won {settled.game}"}


def test_the_first_hand_and_the_first_win_at_each_game_earn_theirs():
    totals, _, first = settle({}, hand(-60))
    assert first == ["hand"]
    totals, _, second = settle(totals, hand(60))
    assert second == [f"won {GAME}"]
    assert earned(totals, hand(60, unit="usd-cent")) == []
    assert earned(totals, hand(60, game="poker")) == ["won poker"]


def streaks(*nets: int) -> Streaks:
    return after(*nets)[KEY].streaks


def test_a_hand_that_comes_out_even_neither_counts_in_a_row_nor_ends_one():
    assert streaks(60, 60, 0, 60) == Streaks(3, 3, 0)
    assert streaks(60, 60, -60, 0, -60) == Streaks(-2, 2, 2)
    assert streaks(-60, 60) == Streaks(1, 1, 1)
    assert streaks(0) == Streaks(0, 0, 0)


def test_streaks_are_of_one_game_in_one_unit():
    totals = after(60)
    for other in (hand(60, game="poker"), hand(60, unit="usd-cent")):
        totals = settle(totals, other).totals_after
    assert [record.streaks for record in totals.values()] == [Streaks(1, 1, 0)] * 3


def test_a_standing_before_stays_as_it_was():
    totals = after(60)
    settle(totals, hand(60))
    assert totals == after(60)


def test_hands_add_up():
    totals = {}
    for each in (hand(90, "natural"), hand(-60), hand(), hand(180, "charlie win")):
        totals, sums, _ = settle(totals, each)
    assert sums == HandSums(1, 0, 180, 1, 0, 0, 1, 180)
    assert totals[KEY].sums == HandSums(4, 60, 270, 2, 1, 1, 1, 180)


def test_a_recount_goes_through_hands_one_after_the_other():
    """By day, ever, and with the first hand that deserved each award."""
    hands = (
        hand(60, "natural", number=1),
        hand(-60, number=2, caller_id=2),
        hand(-60, number=4, day="2026-06-02"),
        hand(120, "natural", number=5, day="2026-06-02", unit="usd-cent"),
    )
    counts = recount(hands)
    assert counts.by_day == {
        ("2026-06-01", 1, GAME, "second"): HandSums(1, 0, 60, 1, 0, 1, 0, 60),
        ("2026-06-01", 2, GAME, "second"): HandSums(1, 60, 0, 0, 0, 0, 0, 0),
        ("2026-06-02", 1, GAME, "second"): HandSums(1, 60, 0, 0, 0, 0, 0, 0),
        ("2026-06-02", 1, GAME, "usd-cent"): HandSums(1, 0, 120, 1, 0, 1, 0, 120),
    }
    assert counts.ever == {
        (1, GAME, "second"): (2, 60, 60, 1, 0, 1, 0, 60, -1, 1, 1),
        (2, GAME, "second"): (1, 60, 0, 0, 0, 0, 0, 0, -1, 0, 1),
        (1, GAME, "usd-cent"): (1, 0, 120, 1, 0, 1, 0, 120, 1, 1, 0),
    }
    assert counts.awards == {
        (1, "hand"): (101, 1),
        (1, "natural"): (101, 1),
        (1, f"won {GAME}"): (101, 1),
        (2, "hand"): (102, 2),
    }
