"""Odds, tutor, luck and strategy card against every deal of a few cards, played by the engine.

Each seed draws a house from all keys of all black jack tables, and a shoe. More are tried by
`BJFT_HOUSES=2000 pytest -n 0 tests/door/games/solver/test_every_deal.py`.
"""

from __future__ import annotations

import math
import os
import random
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any

import pytest

from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.round import BlackjackRound
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules
from door.games.registry import GAMES
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from door.games.solver.odds import Odds
from door.games.solver.tutor.dealer import Counts
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.tutor import Decision, advised, spot_of
from tests.door.games.blackjack.tabletop import DECLINE, DOUBLE, HIT, INSURE, SPLIT, STAKE, STAY
from tests.door.games.solver.every_deal import (
    CHOICES,
    Decide,
    World,
    best,
    deals,
    ends,
    finished,
    without,
)

HOUSES = int(os.environ.get("BJFT_HOUSES", "8"))
CLOSE = 1e-10
CARDS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10")  # as the strategy card names them

OF_THE_SHOE = {"decks", "shuffle", "penetration", "insurance_unit", "keys"}


def test_every_rule_is_drawn() -> None:
    assert CHOICES.keys() | OF_THE_SHOE == {field.name for field in fields(BlackjackRules)}


@dataclass
class House:
    rules: BlackjackRules
    shoe: Counts

    @property
    def suffices(self) -> bool:
        """Return whether the shoe can finish each round, whatever cards come.

        The dealer must also have a possible hole card that makes no natural.
        """
        hands = 1 if self.rules.split == "never" else 2
        pips = sum(value * copies for value, copies in enumerate(self.shoe, 1))
        of_charlies = self.rules.charlie and sum(self.shoe) >= self.rules.most_cards(1)
        is_enough = of_charlies or pips >= hands * (20 + 10) + 16 + 10
        return is_enough and sum(self.shoe[1:9]) >= 3

    @cached_property
    def deals(self) -> list[World]:
        return list(deals(self.rules, self.shoe))

    @cached_property
    def odds(self) -> Odds:
        return odds("any", self.rules, self.shoe)


@cache
def house_of(seed: int) -> House:
    lot = random.Random(seed)
    while True:
        keys: Any = {
            key: lot.choice(figures) for key, figures in CHOICES.items() if lot.random() < 0.5
        }
        shoe = [0] * 10
        shoe[0], shoe[9] = lot.randint(1, 3), lot.randint(3, 4)
        for place in lot.sample(range(1, 9), 2):
            shoe[place] = lot.randint(1, 3)
        house = House(replace(BLACK_JACK_FOR_TIME, **keys), tuple(shoe))
        refused = house.rules.hit_on_21 and house.rules.twenty_one_paid == "at once"
        if house.suffices and not refused:
            return house


seeds = pytest.mark.parametrize("seed", range(8, 8 + HOUSES))


def hand_seen(game: BlackjackRound) -> tuple[object, ...]:
    """Return the caller's view of the hand at turn: its cards, its history, and the up card."""
    hand = game.hand
    assert hand is not None
    cards = tuple(sorted(card.value for card in hand.cards))
    pair = hand.cards[0].value if hand.from_split else None
    return cards, pair, game.dealer_hand[0].value, game.legal()


def as_the_tutor_says(house: House) -> Decide:
    """Decide by the visible cards without regard to the other hand of a split."""

    def decide(game: BlackjackRound) -> BlackjackAction:
        hand = game.hand
        assert hand is not None
        unseen = without(house.shoe, game.dealer_hand[0].value - 1)
        for each in hand.cards:
            unseen = without(unseen, each.value - 1)
        if hand.from_split:
            unseen = without(unseen, hand.cards[0].value - 1)
        spot = replace(spot_of(game), unseen=unseen)
        return advised(Decision(spot, game.legal()), values(spot)).best

    return remembered(decide)


def by_lot(lot: random.Random) -> Decide:
    return remembered(lambda game: lot.choice(game.legal()))


def as_the_dealer(game: BlackjackRound) -> BlackjackAction:
    assert game.hand is not None
    if INSURE in game.legal():
        return DECLINE
    return HIT if game.rules.dealer_draws(game.hand.cards) else STAY


def remembered(decide: Decide) -> Decide:
    """Return a strategy that decides equally wherever a hand looks the same."""
    known: dict[object, BlackjackAction] = {}

    def again(game: BlackjackRound) -> BlackjackAction:
        view = hand_seen(game)
        if view not in known:
            known[view] = decide(game)
        return known[view]

    return again


def played(house: House, decide: Decide) -> list[World]:
    return list(ends(house.deals, decide))


def mean(worlds: list[World]) -> float:
    return math.fsum(world.chance * world.net for world in worlds)


@seeds
def test_no_play_is_better_than_perfect_play(seed: int) -> None:
    house = house_of(seed)
    if house.rules.split == "never":  # else it is not exact, and slow to go through
        exact = best(house.deals)
        assert house.odds.strategies["perfect"].mean == pytest.approx(exact, abs=CLOSE)


@seeds
def test_play_by_the_tutor_has_the_odds_of_perfect_play(seed: int) -> None:
    house = house_of(seed)
    perfect = house.odds.strategies["perfect"]
    assert house.odds.insurance is not None
    gained = mean(played(house, as_the_tutor_says(house)))
    assert gained == pytest.approx(perfect.mean + house.odds.insurance.adds, abs=CLOSE)


@seeds
def test_play_as_the_dealer_ends_as_often_as_the_odds_say(seed: int) -> None:
    house = house_of(seed)
    figures = house.odds.strategies["dealer"]
    net: dict[float, float] = defaultdict(float)
    outcomes: dict[str, float] = defaultdict(float)
    for world in played(house, as_the_dealer):
        net[world.net] += world.chance
        outcomes[str(world.round.outcomes[0])] += world.chance
    assert figures.mean == pytest.approx(sum(won * often for won, often in net.items()), abs=CLOSE)
    assert figures.net == pytest.approx(net, abs=CLOSE)
    assert figures.outcomes == pytest.approx(outcomes, abs=CLOSE)


@seeds
def test_luck_is_zero_on_average_for_random_play(seed: int) -> None:
    house = house_of(seed)
    costs = BlackjackCosts(house.rules, house.shoe)
    result = GAMES["vegas"].kind.result
    luck = 0.0
    for world in played(house, by_lot(random.Random(seed))):
        words = tuple(map(str, world.actions))
        staked = world.round.totals.staked
        hand = finished("any", "{}", 1, STAKE, staked, "{}", words)
        cost = costs(hand, result(world.round, 0))
        luck += world.chance * (world.net - house.odds.strategies["perfect"].mean + cost)
    assert luck == pytest.approx(0, abs=CLOSE)


@seeds
def test_play_by_the_card_has_the_odds_of_totals(seed: int) -> None:
    house = house_of(seed)
    shown = card("Any", house.rules, house.odds, house.shoe)
    moves = {
        (name, column): move
        for section in shown.sections
        for label, row in section.rows
        for name in labels(label)
        for column, move in zip(section.columns, row, strict=True)
    }

    def decide(game: BlackjackRound) -> BlackjackAction:
        legal = game.legal()
        if INSURE in legal:
            return DECLINE
        assert game.hand is not None
        up = CARDS[game.dealer_hand[0].value - 1]
        total, soft = game.hand.count
        first = CARDS[game.hand.cards[0].value - 1]
        move = moves[f"{first} {first}", up] if SPLIT in legal else "P?"
        if move != "P":
            move = moves[f"soft {total}" if soft else str(total), up]
        wanted = {"P": SPLIT, "H": HIT, "S": STAY, "D": DOUBLE, "Ds": DOUBLE}[move]
        if wanted in legal:
            return wanted
        return STAY if move == "Ds" else HIT

    assert house.odds.strategies["totals"].mean == pytest.approx(
        mean(played(house, decide)), abs=CLOSE
    )


def labels(label: str) -> list[str]:
    """The totals of a row: "5-8" is four of them."""
    if "-" not in label:
        return [label]
    first, last = map(int, label.split("-"))
    return [str(total) for total in range(first, last + 1)]
