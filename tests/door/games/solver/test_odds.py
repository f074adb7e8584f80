"""The computed odds of the tables against published and known values."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from door.games.baccarat import odds as baccarat
from door.games.baccarat.rules import BACCARAT
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS, BlackjackRules
from door.games.engine.cards import Card, deck
from door.games.red_dog import odds as red_dog
from door.games.red_dog import round as red_dog_round
from door.games.red_dog.round import RedDogAction
from door.games.red_dog.rules import RED_DOG, RedDogRules
from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.odds import STRATEGIES, Odds

CLOSE = 1e-10
NATURALS_WAIT = replace(BLACK_JACK_FOR_TIME, natural_paid="after dealer", twenty_one_paid="at once")


def odds_for(rules: BlackjackRules) -> Odds:
    """The odds of a table, worked out once for all tests of a run."""
    game = next(
        game for game in GAMES.values() if getattr(game.kind.base, "keys", ()) == rules.keys
    )
    return odds_of(game, rules)


@pytest.mark.parametrize(
    ("rules", "percent"),
    [
        (BLACK_JACK_FOR_TIME, 0.970),
        (replace(BLACK_JACK_FOR_TIME, ties="push"), 8.763),
        (replace(BLACK_JACK_FOR_TIME, charlie_pays=Fraction(2)), -1.189),
        (NATURALS_WAIT, 2.2969),
        (replace(NATURALS_WAIT, twenty_one_pays=Fraction(9, 2)), 13.189),
    ],
    ids=["default", "ties push", "a Charlie pays like any win", "naturals wait", "21 pays more"],
)
def test_a_careful_caller_of_black_jack_for_time(rules: BlackjackRules, percent: float) -> None:
    """Measured before there was a calculator, by another program."""
    assert odds_for(rules).strategies["perfect"].mean * 100 == pytest.approx(percent, abs=0.0005)


@pytest.mark.long
def test_six_decks_as_they_are_published() -> None:
    """Six decks, the dealer hits soft 17, doubling after a split, one split, one card to each ace.

    The house wins 0.67 % against basic strategy, and 5.7 % against play like a dealer who stands
    on it.
    """
    house = replace(VEGAS, dealer="hit soft 17", split_aces="one card")
    strategies = odds_for(house).strategies
    assert strategies["totals"].mean * 100 == pytest.approx(-0.67, abs=0.005)
    assert 0 <= strategies["perfect"].mean - strategies["totals"].mean < 0.0001
    assert odds_for(VEGAS).strategies["dealer"].mean * 100 == pytest.approx(-5.68, abs=0.01)


@pytest.mark.parametrize("name", GAMES)
def test_every_table_has_its_odds(name: str) -> None:
    odds = odds_of(GAMES[name], GAMES[name].kind.base)
    assert odds.game == name
    assert tuple(odds.strategies) == STRATEGIES
    for figures in odds.strategies.values():
        assert sum(figures.outcomes.values()) == pytest.approx(1, abs=CLOSE)
        assert sum(figures.net.values()) == pytest.approx(1, abs=CLOSE)
        assert figures.mean <= odds.strategies["perfect"].mean + CLOSE
        assert figures.sd > 0
        assert figures.staked >= 1 - CLOSE
    assert json.loads(json.dumps(odds.plain()))["game"] == name


def test_baccarat_matches_published_odds() -> None:
    """Eight decks, the player always draws on 5: punto banco."""
    figures = baccarat.odds("baccarat", replace(BACCARAT, decks=8)).strategies["dealer"]
    player, bank, tie = (figures.outcomes[word] for word in ("player", "bank", "stand-off"))
    assert (player, bank, tie) == pytest.approx((0.446247, 0.458597, 0.095156), abs=5e-7)
    assert figures.mean == pytest.approx(-0.012351, abs=5e-7)
    assert 0.95 * bank - player == pytest.approx(-0.010579, abs=5e-7)
    assert 8 * tie - (1 - tie) == pytest.approx(-0.143596, abs=5e-7)


def test_a_toss_is_worth_the_mean_of_a_card_and_none() -> None:
    means = [
        baccarat.odds("baccarat", replace(BACCARAT, bank_option_3v9=option)).strategies["dealer"]
        for option in ("draw", "toss", "stand")
    ]
    drawn, tossed, stood = (figures.mean for figures in means)
    assert drawn != stood
    assert tossed == pytest.approx((drawn + stood) / 2, abs=1e-15)


@pytest.mark.parametrize("decks", [1, 2])
def test_red_dog_card_by_card(decks: int) -> None:
    """Through the game itself: each rank thrice, raised and not, the better of both counting."""
    rules = RedDogRules(decks=decks)
    copies = 4 * decks
    ranks = [card for card in deck(1) if card.suit == "H"]
    cards = len(ranks) * copies
    mean = 0.0
    for first, second in product(ranks, repeat=2):
        gains = dict.fromkeys(RedDogAction, 0.0)
        for action, third in product(RedDogAction, ranks):
            left = copies - (third == first) - (third == second)
            gain = _net(rules, [first, second, third], action)
            gains[action] += left / (cards - 2) * gain
        two = copies * (copies - (first == second)) / (cards * (cards - 1))
        mean += two * max(gains.values())
    assert red_dog.odds("red-dog", rules).strategies["perfect"].mean == pytest.approx(
        mean, abs=CLOSE
    )
    if rules == RED_DOG:
        assert mean * 100 == pytest.approx(-3.2, abs=0.05)  # docs/rules.md


def _net(rules: RedDogRules, cards: list[Card], action: RedDogAction) -> float:
    game, _ = red_dog_round.start(rules, cards, 1)
    if not game.over:
        game, _ = game.apply(action)
    return game.totals.won - game.totals.lost


def test_insurance_is_listed_separately() -> None:
    plain, paid = (
        odds_for(BLACK_JACK_FOR_TIME),
        odds_for(replace(BLACK_JACK_FOR_TIME, insurance_pays=3)),
    )
    assert plain.strategies == paid.strategies
    assert plain.insurance is not None
    assert paid.insurance is not None
    assert plain.insurance.offered == pytest.approx(4 / 52)
    # Of the 51 other cards 16 count ten, whatever the caller holds of them.
    assert plain.insurance.mean == pytest.approx(3 * 16 / 51 - 1)
    assert plain.insurance.adds == 0
    assert paid.insurance.adds > 0


def test_a_split_says_how_far_it_may_be_wrong() -> None:
    figures = odds_for(replace(UNIX_BJ, decks=1)).strategies
    assert figures["perfect"].mean_within > 0
    assert 0 < figures["perfect"].sd_within < 0.05
    assert figures["dealer"].mean_within == figures["dealer"].sd_within == 0
