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
    UNIX_BJ,
    VEGAS,
    BlackjackRules,
    rules_from_mapping,
)
from door.games.blackjack.tutor.dealer import Counts
from door.games.blackjack.tutor.hands import values
from door.games.blackjack.tutor.tutor import advice, spot_of
from door.games.engine.cards import Card, is_natural, parse_cards
from tests.door.games.blackjack.chances import houses
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    HIT,
    INSURE,
    SPLIT,
    STAKE,
    STAY,
    house,
    stacked,
)
from tests.door.odds.every_deal import FACES, NoSuchRound, World, after, best, without

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


SINGLE = replace(VEGAS, double_after_split=False)
HIT_21 = replace(VEGAS, hit_on_21=True, split="never")
MEANWHILE = [
    (BLACK_JACK_FOR_TIME, "5H 6D", "9S 2S", "", (), "A 2 5 8 9 T T T"),
    (BLACK_JACK_FOR_TIME, "TH 6D", "TS 7S", "", (), "A 4 5 5 8 9 T T"),
    (BLACK_JACK_FOR_TIME, "2H 3D", "6S 7S", "4S 5S", (HIT, HIT), "A 2 3 5 6 8 9 T T"),
    (BLACK_JACK_FOR_TIME, "AH 2D", "2S 7S", "", (), "2 3 4 6 8 9 T"),
    (
        house(ties="push", charlie_paid="after dealer"),
        "2H 3D",
        "3S 2D",
        "4S",
        (HIT,),
        "A A 2 4 6 T",
    ),
    (house(peek_under_ace=False), "TH 2D", "AS 5S", "", (DECLINE,), "2 6 7 8 9 T T T"),
    (house(twenty_one_paid="at once"), "TH 5D", "7S 5S", "", (), "A 3 4 6 6 8 T T"),
    (house(five_card_21="charlie", dealer_over="push"), "2H 3D", "5S 5C", "", (), "A 2 2 6 9 T T"),
    (VEGAS, "8H 3D", "6S TS", "", (), "A 2 4 7 9 9 T T T"),
    (VEGAS, "AH 7D", "9S TS", "", (), "A 3 4 5 8 9 T T"),
    (replace(VEGAS, dealer="hit soft 17"), "TH 8D", "AS 5S", "", (DECLINE,), "A 2 6 6 7 8 T T T"),
    (replace(VEGAS, dealer="hit 17"), "TH 8D", "7S 5S", "", (), "A 2 3 4 6 9 T T T"),
    (replace(VEGAS, double="10-11"), "6H 4D", "5S 5C", "", (), "A 2 6 7 8 9 T T T"),
    (HIT_21, "TH 5D", "TS 7S", "6S", (HIT,), "A 2 4 8 9 T T"),
    (HIT_21, "AH 5D", "8S 7S", "5S", (HIT,), "A A 4 8 9 T T T"),
    (UNIX_BJ, "9H 3D", "4S 7S", "", (), "A 2 5 8 9 9 T T T"),
    (UNIX_BJ, "8H 8D", "4S 7S", "9C TC 3S", (SPLIT, HIT), "A 2 5 8 9 9 T T T"),
    (VEGAS, "8H 8D", "4S 7S", "9C TC 3S", (SPLIT, HIT), "A 2 5 8 9 9 T T T"),
    (house(twenty_one_beats="all totals"), "TH 5D", "6S 5S", "", (), "A 5 6 6 6 T T T"),
    (replace(VEGAS, dealer="hit 17 with an ace"), "TH 2D", "6S TS", "", (), "A A 2 7 9 T T"),
    (SINGLE, "8H 8D", "4S 7S", "9C TC 3S", (SPLIT, HIT), "A 2 5 8 9 9 T T T"),
]


@pytest.mark.parametrize(("rules", "player", "dealer", "rest", "actions", "unseen"), MEANWHILE)
def test_every_action_is_worth_what_all_orders_of_the_cards_make_it(
    rules: BlackjackRules,
    player: str,
    dealer: str,
    rest: str,
    actions: tuple[BlackjackAction, ...],
    unseen: str,
) -> None:
    compare(met(rules, player, dealer, rest, *actions), counts(unseen))


@pytest.mark.parametrize("after_split", ["twenty-one", "natural"])
def test_a_split_is_exact_where_its_hands_have_nothing_to_decide(after_split: str) -> None:
    rules = rules_from_mapping({"split_aces": "one card", "split_21": after_split}, VEGAS)
    game = met(rules, "AH AD", "6S TS", "")
    unseen = counts("A 2 4 6 9 T T T")
    told = values(replace(spot_of(game), unseen=unseen))
    assert told[SPLIT] == pytest.approx(exact(game, unseen)[SPLIT], abs=1e-12)


def test_heeding_the_other_hand_of_a_split_gains_little_even_in_a_shoe_of_seven_cards() -> None:
    game = met(replace(VEGAS, double_after_split=False), "8H 8D", "9S TS", "")
    unseen = counts("A 3 6 8 T T T")
    told = values(replace(spot_of(game), unseen=unseen))[SPLIT]
    assert told < exact(game, unseen)[SPLIT] < told + 0.05


INSURING = [
    (BLACK_JACK_FOR_TIME, "TH 6D", "2 4 5 9 T T T"),
    (BLACK_JACK_FOR_TIME, "TH AD", "2 4 5 9 T T"),
    (house(natural_paid="after dealer"), "TH AD", "2 2 2 3 3 4 9 T"),
    (house(peek_under_ace=False), "TH 6D", "2 4 5 9 T T T"),
    (house(peek_under_ace=False), "TH AD", "2 4 5 9 T T"),
    (VEGAS, "TH 6D", "2 4 5 9 T T T"),
    (VEGAS, "TH AD", "2 4 5 9 T T"),
    (house(insurance_pays=3), "TH 8D", "2 4 5 6 9 9 T T"),
]


@pytest.mark.parametrize(("rules", "player", "unseen"), INSURING)
def test_insurance_is_worth_what_all_orders_of_the_cards_make_it(
    rules: BlackjackRules, player: str, unseen: str
) -> None:
    game = met(rules, player, "AS 7S", "")
    assert game.legal() == (INSURE, DECLINE)
    compare(game, counts(unseen))


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


def test_the_odds_in_a_whole_deck_are_those_of_every_order_of_it() -> None:
    game = met(BLACK_JACK_FOR_TIME, "9H 2D", "9S 2S", "3S 2H", HIT, HIT)
    told = advice(game, game.legal())
    played = exact(game, spot_of(game).unseen)
    assert sum(spot_of(game).unseen) == 47
    assert set(told.values) == {HIT, STAY}
    for action, value in told.values.items():
        assert value == pytest.approx(played[action], abs=1e-12)
