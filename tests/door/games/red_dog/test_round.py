"""Red Dog by its rules: every spread, pairs, neighbours, aces, and the total over a deck."""

from __future__ import annotations

import doctest
import importlib
from dataclasses import asdict
from itertools import pairwise, product

import pytest

from door.games.engine.cards import parse_cards
from door.games.engine.errors import IllegalAction, ReplayError, RoundRefused, ShoeTooShort
from door.games.engine.game import Act
from door.games.json_replay import replay
from door.games.red_dog.events import (
    RedDogDealt,
    RedDogDrew,
    RedDogOutcome,
    RedDogRaised,
    RedDogSettled,
    Spread,
    Stayed,
)
from door.games.red_dog.game import RED_DOG_KIND
from door.games.red_dog.round import RedDogAction, RedDogPhase, RedDogRound, start
from door.games.red_dog.rules import (
    RED_DOG,
    RedDogRules,
    pays,
    rank_of,
)

RANKS = "23456789TJQKA"
ODDS = {1: 5, 2: 4, 3: 2, **dict.fromkeys(range(4, 12), 1)}


def dealt(cards: str, bet: int = 10) -> RedDogRound:
    return start(RED_DOG, parse_cards(cards), bet)[0]


@pytest.mark.parametrize(
    "module", ["games.red_dog.rules", "games.red_dog.round", "tables.red_dog.words"]
)
def test_the_examples_in_docstrings_hold(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"door.{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("action", list(RedDogAction))
def test_every_third_card_after_every_two(action: RedDogAction) -> None:
    """All ranks against all: a third card in between wins by the spread, any other loses the
    stake.
    """
    for low, high, third in product(range(13), repeat=3):
        for first, second in ((low, high), (high, low)):
            if abs(first - second) < 2:
                continue
            round_ = dealt(f"{RANKS[first]}H {RANKS[second]}S {RANKS[third]}D")
            assert round_.spread == abs(first - second) - 1
            assert round_.legal() == (RedDogAction.RAISE, RedDogAction.STAY)
            after, _ = round_.apply(action)
            stake = 20 if action is RedDogAction.RAISE else 10
            won = stake * ODDS[round_.spread]
            is_between = min(first, second) < third < max(first, second)
            expected = (
                (RedDogOutcome.WIN, 0, stake, won)
                if is_between
                else (RedDogOutcome.LOSE, stake, 0, 0)
            )
            assert after.settled is not None
            settled = after.settled
            assert (settled.outcome, settled.lost, settled.returned, settled.won) == expected
            assert (after.over, after.cards_used, after.legal()) == (True, 3, ())


@pytest.mark.parametrize("rank", RANKS)
def test_a_pair_draws_by_itself(rank: str) -> None:
    for third in RANKS:
        after, events = start(RED_DOG, parse_cards(f"{rank}H {rank}S {third}D"), 10)
        assert (after.over, after.cards_used, after.legal()) == (True, 3, ())
        three = third == rank
        assert after.outcome is (RedDogOutcome.THREE_OF_A_KIND if three else RedDogOutcome.PUSH)
        assert after.totals.won == (110 if three else 0)
        assert after.totals.returned == 10
        assert after.totals.lost == 0
        assert isinstance(events[-2], RedDogDrew)


def test_neighbours_push_without_a_third_card() -> None:
    for low, high in pairwise(RANKS):
        for first, second in ((low, high), (high, low)):
            after, events = start(RED_DOG, parse_cards(f"{first}H {second}S"), 10)
            assert (after.over, after.cards_used, after.outcome) == (True, 2, RedDogOutcome.PUSH)
            assert (after.totals.returned, after.totals.won, after.totals.lost) == (10, 0, 0)
            assert events[-1] == RedDogSettled(RedDogOutcome.PUSH, lost=0, returned=10, won=0)


def test_an_ace_is_high_only() -> None:
    assert [rank_of(card) for card in parse_cards("2H TH JH QH KH AH")] == [2, 10, 11, 12, 13, 14]
    assert dealt("KH AS").outcome is RedDogOutcome.PUSH
    assert dealt("AH 2S 3D").spread == 11
    for third in RANKS[1:-1]:
        assert dealt(f"AH 2S {third}D").apply(RedDogAction.STAY)[0].outcome is RedDogOutcome.WIN
    assert dealt("2H 4S AD").apply(RedDogAction.STAY)[0].outcome is RedDogOutcome.LOSE
    assert dealt("QH AS KD").apply(RedDogAction.RAISE)[0].totals.won == 100


def test_events_are_reported_in_order() -> None:
    cards = parse_cards("5H 9S 7D")
    round_, events = start(RED_DOG, cards, 10)
    assert events == (RedDogDealt(cards[0]), RedDogDealt(cards[1]), Spread(3, 2))
    assert round_.phase is RedDogPhase.RAISE
    win = RedDogSettled(RedDogOutcome.WIN, lost=0, returned=20, won=40)
    assert round_.apply(RedDogAction.RAISE)[1] == (RedDogRaised(10), RedDogDrew(cards[2]), win)
    win = RedDogSettled(RedDogOutcome.WIN, lost=0, returned=10, won=20)
    assert round_.apply(RedDogAction.STAY)[1] == (Stayed(), RedDogDrew(cards[2]), win)


def test_the_shoe_does_not_show() -> None:
    assert "7D" not in repr(dealt("5H 9S 7D"))


# Refusals


def test_an_unavailable_action_is_refused_and_changes_nothing() -> None:
    over = dealt("5H 9S 7D").apply(RedDogAction.STAY)[0]
    with pytest.raises(IllegalAction, match="raise is not open: the round is over"):
        over.apply(RedDogAction.RAISE)
    short = dealt("5H 9S")
    with pytest.raises(ShoeTooShort, match="its 2 cards are not enough"):
        short.apply(RedDogAction.STAY)
    assert short == dealt("5H 9S")
    with pytest.raises(ShoeTooShort):
        dealt("5H")
    with pytest.raises(ShoeTooShort):
        dealt("5H 5S")
    with pytest.raises(ValueError, match="more than 0"):
        dealt("5H 9S 7D", bet=0)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (Act("hit"), 'must be raise or stay, is "hit"'),
        (Act("stay", seat=2), "takes neither a seat nor an amount"),
        (Act("raise", amount=5), "takes neither a seat nor an amount"),
    ],
)
def test_a_kind_refuses_an_unknown_action(act: Act, words: str) -> None:
    with pytest.raises(RoundRefused, match=words):
        RED_DOG_KIND.act(dealt("5H 9S 7D"), act)


# The shoe


def test_cards_are_shuffled_when_the_house_says() -> None:
    assert [RedDogRules().shuffle_due(dealt) for dealt in (0, 2, 3)] == [False, True, True]
    shoe = RedDogRules(decks=2, shuffle="shoe", penetration=50)
    assert [shoe.shuffle_due(dealt) for dealt in (0, 51, 52)] == [False, False, True]
    deep = RedDogRules(shuffle="shoe", penetration=100)
    assert [deep.shuffle_due(dealt) for dealt in (49, 50)] == [False, True]
    assert RED_DOG_KIND.is_used_up(asdict(deep), 1, 50, 1)
    assert not RED_DOG_KIND.is_used_up(asdict(deep), 2, 50, 1)


def test_rules_come_out_of_a_mapping_as_they_went_in() -> None:
    rules = RedDogRules(decks=8, shuffle="shoe", penetration=1)
    assert RED_DOG_KIND.vary(asdict(rules), RED_DOG) == rules
    assert [pays(spread) for spread in range(1, 12)] == [ODDS[spread] for spread in range(1, 12)]


# Replays


@pytest.mark.parametrize(
    ("shoe", "actions", "outcome", "net", "spread"),
    [
        ("5H 9S 7D", ["raise"], "win", 40, 3),
        ("5H 9S 7D", ["stay"], "win", 20, 3),
        ("7H 7S 7D", [], "three-of-a-kind", 110, -1),
        ("KH AS", [], "push", 0, 0),
    ],
)
def test_a_hand_is_replayed(
    shoe: str, actions: list[str], outcome: str, net: int, spread: int
) -> None:
    hand = {"game": "red-dog", "stake": 10, "shoe": shoe, "actions": actions}
    assert replay(hand) == {
        "outcome": outcome,
        "net": net,
        "cards": shoe.split(),
        "spread": spread,
        "cards_used": len(shoe.split()),
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"actions": []}, "the hand is not finished: raise or stay must follow"),
        ({"actions": ["double"]}, 'action 1 must be raise or stay, is "double"'),
        ({"actions": ["stay", "stay"]}, "the hand was over before action 2"),
        ({"shoe": "KH AS 2D"}, "the hand was over before action 1; left over: stay"),
        ({"shoe": "5H 5H 5H"}, "5H is in it 3 times, 1 deck holds it 1"),
        ({"rules": {"ties": "push"}}, "ties: is not a rule of this game"),
        ({"rules": {"open": 3}}, "open: must be true or false, is 3"),
        ({"shoe": "5H 9S"}, "the shoe is too short"),
    ],
)
def test_a_mistake_is_a_sentence(changes: dict[str, object], words: str) -> None:
    hand = {"game": "red-dog", "stake": 10, "shoe": "5H 9S 7D", "actions": ["stay"]}
    with pytest.raises(ReplayError) as refused:
        replay({**hand, **changes})
    assert words in str(refused.value)
