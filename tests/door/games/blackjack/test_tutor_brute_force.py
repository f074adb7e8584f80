"""The tutor's numbers against every order in which a few cards can come, played by the engine.

Nothing of the tutor's arithmetic is used here. A decision is all the worlds that look alike to the
caller: the same cards in sight, another hole card or another shoe behind them. Every open action is
applied to each of them by the engine, card by card, and the best mean of what is settled counts.
"""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound, start
from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    VEGAS,
    BlackjackRules,
    rules_from_mapping,
)
from door.games.engine.cards import Card, is_natural, parse_cards
from door.games.solver.tutor.dealer import Counts
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.tutor import spot_of
from tests.door.games.blackjack.chances import houses
from tests.door.games.blackjack.tabletop import (
    SPLIT,
    STAKE,
    stacked,
)
from tests.door.games.solver.every_deal import FACES, NoSuchRound, World, after, best, without

pytestmark = pytest.mark.long


def worlds(game: BlackjackRound, unseen: Counts) -> list[World]:
    """Every hole card that the dealer may have; the caller knows no more."""
    if all(is_natural((game.dealer_hand[0], FACES[place])) for place in range(10) if unseen[place]):
        raise NoSuchRound  # a natural is certain, and the round would be over
    up = game.dealer_hand[0]
    looked = up.value == 10 or (up.is_ace and game.rules.peek_under_ace)
    found = []
    for place, copies in enumerate(unseen):
        hole = FACES[place]
        excluded = looked and game.phase is BlackjackPhase.PLAY and is_natural((up, hole))
        if copies and not excluded:
            dealt = game.shoe[: game.cards_used]
            world = replace(game, dealer_hand=(up, hole), shoe=dealt)
            found.append(World(copies, world, without(unseen, place)))
    every = sum(world.chance for world in found)
    return [replace(world, chance=world.chance / every) for world in found]


def exact(game: BlackjackRound, unseen: Counts) -> dict[BlackjackAction, float]:
    """The gain of every open action, for one that was bet, besides what is settled already."""
    alike = worlds(game, unseen)
    before = (game.totals.won - game.totals.lost) / game.seats[0].bet
    return {
        action: best(later for world in alike for later in after(world, action)) - before
        for action in game.legal()
    }


def counts(text: str) -> Counts:
    """The counts of cards by value: "A 5 9 9 T" has two nines."""
    return tuple(text.split().count(value) for value in "A23456789T")


def met(
    rules: BlackjackRules, player: str, dealer: str, rest: str, *actions: BlackjackAction
) -> BlackjackRound:
    """A round of these rules after these actions, the caller at turn."""
    cards = parse_cards(f"{dealer} {player} {rest}")
    shoe = cards if rules.deal == "dealer first" else stacked(player, dealer, rest)
    game, _ = start(rules, shoe, [STAKE])
    for action in actions:
        game, _ = game.apply(action)
    return game


def compare(game: BlackjackRound, unseen: Counts) -> None:
    """The tutor's numbers are the exact ones. So are those of a split unless the cards of one hand
    tell something about the other: then they are what less attention gains."""
    played = exact(game, unseen)
    told = values(replace(spot_of(game), unseen=unseen))
    assert list(told) == list(played) == list(game.legal())
    for action in told:
        if action is SPLIT:
            assert told[action] <= played[action] + 1e-12
        else:
            assert told[action] == pytest.approx(played[action], abs=1e-12)


@pytest.mark.parametrize("after_split", ["twenty-one", "natural"])
def test_a_split_is_exact_where_its_hands_have_nothing_to_decide(after_split: str) -> None:
    rules = rules_from_mapping({"split_aces": "one card", "split_21": after_split}, VEGAS)
    game = met(rules, "AH AD", "6S TS", "")
    unseen = counts("A 2 4 6 9 T T T")
    told = values(replace(spot_of(game), unseen=unseen))
    assert told[SPLIT] == pytest.approx(exact(game, unseen)[SPLIT], abs=1e-12)


few_cards = st.lists(
    st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]), min_size=7, max_size=7
).map(lambda drawn: tuple(drawn.count(value) for value in range(1, 11)))
two_cards = st.tuples(st.sampled_from(FACES), st.sampled_from(FACES)).map(" ".join)


games = st.fixed_dictionaries(
    {
        "charlie": st.booleans(),
        "dealer": st.sampled_from(["stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"]),
        "double": st.sampled_from(["always", "10-11"]),
        "deal": st.sampled_from(["seats first", "dealer first"]),
    }
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(houses, games, two_cards, st.sampled_from(FACES), few_cards)
def test_whatever_the_house_the_numbers_are_those_of_every_order(
    keys: dict[str, object], game: dict[str, object], player: str, up: Card, unseen: Counts
) -> None:
    rules = replace(rules_from_mapping(keys, BLACK_JACK_FOR_TIME), **game)
    asked = met(rules, player, f"{up} 7S", "TS TC TD")
    assume(not asked.over)
    try:
        compare(asked, unseen)
    except NoSuchRound:
        assume(False)
