"""The odds of black jack against a calculation that goes through every order of the cards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, VEGAS, rules_from_mapping
from door.odds.blackjack import odds
from door.odds.odds import Figures
from tests.door.odds.by_hand import Found, House, Shoe, count, worked_out

SHOES = {
    "low": (3, 2, 2, 3, 0, 0, 0, 0, 0, 4),
    "high": (2, 0, 0, 0, 2, 2, 3, 0, 0, 6),
    "even": (3, 0, 0, 3, 0, 3, 0, 3, 0, 5),
}
# The default in every shoe; other houses each in one in which what they change comes up often.
HOUSES: dict[str, tuple[str, dict[str, Any]]] = {
    "default, low": ("low", {}),
    "default, high": ("high", {}),
    "default, even": ("even", {}),
    "ties push": ("high", {"ties": "push"}),
    "21 beats 21": ("even", {"twenty_one_beats": "all totals", "peek_under_ace": False}),
    "no peek": ("high", {"peek_under_ace": False, "natural_paid": "after dealer"}),
    "no peek, at once": ("even", {"peek_under_ace": False, "twenty_one_paid": "at once"}),
    "21 may hit": ("low", {"hit_on_21": True, "charlie_paid": "after dealer"}),
    "five card 21": (
        "low",
        {"five_card_21": "charlie", "charlie_pays": 2.5, "dealer_over": "push"},
    ),
    "other pays": (
        "even",
        {"win_pays": 1.5, "natural_pays": 2, "twenty_one_pays": 4, "doubled_21_pays": 3},
    ),
}
CLOSE = 1e-10


def shoe_of(counts: tuple[int, ...]) -> Shoe:
    return {value: copies for value, copies in enumerate(counts, 1) if copies}


def agree(figures: Figures, found: Found) -> None:
    assert figures.mean == pytest.approx(found.mean, abs=CLOSE)
    assert figures.sd == pytest.approx((found.square - found.mean**2) ** 0.5, abs=CLOSE)


def same_outcomes(figures: Figures, found: Found) -> None:
    expected = {word: chance for word, chance in found.outcomes.items() if chance > CLOSE}
    assert figures.outcomes == pytest.approx(expected, abs=CLOSE)
    net = {gain: chance for gain, chance in found.net.items() if chance > CLOSE}
    assert figures.net == pytest.approx(net, abs=CLOSE)


def as_dealer(cards: tuple[int, ...]) -> bool:
    return count(cards)[0] < 17


@pytest.mark.parametrize(("shoe", "keys"), HOUSES.values(), ids=HOUSES)
def test_black_jack_for_time(shoe: str, keys: dict[str, Any]) -> None:
    counts = SHOES[shoe]
    rules = rules_from_mapping(keys, BLACK_JACK_FOR_TIME)
    strategies = odds("black-jack-for-time", rules, counts).strategies
    house = House(**keys)
    agree(strategies["perfect"], worked_out(house, shoe_of(counts)))
    found = worked_out(house, shoe_of(counts), as_dealer)
    agree(strategies["dealer"], found)
    same_outcomes(strategies["dealer"], found)
    totals, perfect = strategies["totals"].mean, strategies["perfect"].mean
    assert strategies["dealer"].mean <= totals + CLOSE <= perfect + 2 * CLOSE
    assert strategies["never-bust"].mean <= perfect + CLOSE


@pytest.mark.parametrize(
    ("dealer", "double"),
    [
        ("stand 17", "always"),
        ("hit soft 17", "10-11"),
        ("hit 17 with an ace", "always"),
        ("hit 17", "10-11"),
    ],
)
def test_a_table_without_charlies(dealer: Any, double: Any) -> None:
    """Vegas, but for splits."""
    rules = replace(VEGAS, dealer=dealer, double=double, split="never")
    counts = SHOES["high"]
    strategies = odds("vegas", rules, counts).strategies
    house = House(
        ties="push", natural_paid="after dealer", natural_pays=2.5, twenty_one_pays=2,
        charlies=False, dealer=dealer, double=double,
    )  # fmt: skip
    found = worked_out(house, shoe_of(counts))
    agree(strategies["perfect"], found)
