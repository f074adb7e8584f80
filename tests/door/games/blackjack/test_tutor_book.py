"""The tutor reproduces known results of black jack, and unpublished ones by simple reasons."""

from dataclasses import replace

import pytest

from door.games.blackjack.round import BlackjackAction
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, VEGAS, BlackjackRules
from door.games.engine.cards import RANKS, parse_card, parse_cards
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.spot import Spot
from door.games.solver.tutor.tutor import Advice
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    SPLIT,
    STAY,
    house,
    lead,
    play,
    stacked,
)
from tests.door.games.solver.advised import advice_on

SOFT_17_HIT = replace(VEGAS, dealer="hit soft 17")


def book(
    rules: BlackjackRules, player: str, up: str, *actions: BlackjackAction, rest: str = ""
) -> Advice:
    """The advice for a hand, after these actions, under an up card; ranks are enough."""
    cards = [f"{rank}{suit}" for rank, suit in zip(player.split(), "HD", strict=True)]
    hole = "6C" if up in "AT" else "TC"
    game = play(stacked(" ".join(cards), f"{up}S {hole}", rest), *actions, rules=rules).round
    return advice_on(game, game.legal())


def values_of(
    rules: BlackjackRules, player: str, up: str, *, looked: bool = True, shoes: int = 1
) -> dict[BlackjackAction, float]:
    """Return the values of a hand, with or without the dealer's peek, for this number of shoes."""
    value_of = {rank: parse_card(rank + "S").value for rank in RANKS}
    hand = [value_of[rank] for rank in player.split()]
    unseen = [4 * rules.decks * shoes] * 9 + [16 * rules.decks * shoes]
    for value in (*hand, value_of[up]):
        unseen[value - 1] -= 1
    spot = Spot(
        rules=rules,
        unseen=tuple(unseen),
        up=value_of[up],
        looked=looked and up in "AT",
        hand=tuple(hand.count(value) for value in range(1, 11)),
        from_split=False,
        insurance=None,
    )
    return dict(values(spot))


# Strategy for six decks, double after split, as every book gives it.

SIX_DECKS = [
    ("9 3", "4", STAY),
    ("9 3", "3", HIT),
    ("T 2", "6", STAY),
    ("T 3", "2", STAY),
    ("T 6", "7", HIT),
    ("T 7", "A", STAY),
    ("6 5", "6", DOUBLE),
    ("6 5", "T", DOUBLE),
    ("6 5", "A", HIT),
    ("6 4", "9", DOUBLE),
    ("6 4", "T", HIT),
    ("5 4", "2", HIT),
    ("5 4", "3", DOUBLE),
    ("5 3", "6", HIT),
    ("A 7", "9", HIT),
    ("A 7", "2", STAY),
    ("A 7", "3", DOUBLE),
    ("A 7", "8", STAY),
    ("A 6", "2", HIT),
    ("A 6", "3", DOUBLE),
    ("A 2", "5", DOUBLE),
    ("A 2", "4", HIT),
    ("A 8", "6", STAY),
    ("8 8", "T", SPLIT),
    ("8 8", "9", SPLIT),
    ("A A", "6", SPLIT),
    ("9 9", "7", STAY),
    ("9 9", "9", SPLIT),
    ("7 7", "7", SPLIT),
    ("7 7", "8", HIT),
    ("5 5", "9", DOUBLE),
    ("4 4", "4", HIT),
    ("4 4", "5", SPLIT),
    ("2 2", "3", SPLIT),
    ("T T", "6", STAY),
]


@pytest.mark.parametrize(("player", "up", "best"), SIX_DECKS)
def test_the_book_of_six_decks(player: str, up: str, best: BlackjackAction) -> None:
    asked = (DECLINE,) if up == "A" else ()
    assert book(VEGAS, player, up, *asked).best is best


def test_sixteen_against_a_ten_is_hit_unless_a_helpful_small_card_is_gone() -> None:
    assert book(VEGAS, "T 6", "T").best is HIT
    assert lead(book(VEGAS, "T 6", "T")) < 0.01
    assert book(VEGAS, "T 4", "T", HIT, rest="2C").best is STAY
    assert lead(book(VEGAS, "T 4", "T", HIT, rest="2C")) < 0.01


def test_a_ten_in_twelve_is_one_that_cannot_come_any_more() -> None:
    assert book(VEGAS, "9 3", "4").best is STAY
    assert book(VEGAS, "T 2", "4").best is HIT


@pytest.mark.parametrize(
    ("player", "up", "expected", "drawing"),
    [("6 5", "A", HIT, DOUBLE), ("A 8", "6", STAY, DOUBLE), ("A 7", "2", STAY, DOUBLE)],
)
def test_a_dealer_who_draws_on_soft_17_changes_the_book(
    player: str, up: str, expected: BlackjackAction, drawing: BlackjackAction
) -> None:
    asked = (DECLINE,) if up == "A" else ()
    assert book(VEGAS, player, up, *asked).best is expected
    assert book(SOFT_17_HIT, player, up, *asked).best is drawing


def test_a_pair_of_fours_is_split_only_where_its_hands_may_double() -> None:
    assert book(VEGAS, "4 4", "6").best is SPLIT
    assert book(replace(VEGAS, double_after_split=False), "4 4", "6").best is HIT


def test_the_book_doubles_nine_only_where_the_house_allows_it() -> None:
    given = book(replace(VEGAS, double="10-11"), "5 4", "6")
    assert (given.best, set(given.values)) == (HIT, {HIT, STAY})


@pytest.mark.parametrize("decks", range(1, 9))
@pytest.mark.parametrize("player", ["T 6", "A T"])
def test_insurance_is_never_taken_from_full_decks(decks: int, player: str) -> None:
    assert book(replace(VEGAS, decks=decks), player, "A").best is DECLINE


def test_insurance_is_taken_when_enough_other_cards_lie_open() -> None:
    low = parse_cards("2H 3H 4H 5H 6H 7H 8H AS 2D 3D 4D 5D 6D 7D 8D TS")
    game = play(low, rules=replace(VEGAS, decks=1), stakes=(2,) * 7).round
    given = advice_on(game, game.legal())
    assert given.best is INSURE  # 16 tens in 37 cards
    assert lead(given) == pytest.approx((16 * 3 - 37) / 37 / 2)


# Numbers: Michael Shackleford, "Blackjack Appendix 9" and "Expected Returns in Infinite-Deck
# Blackjack" (wizardofodds.com). The first weighs every card, as the tutor does.

ONE_DECK = replace(VEGAS, decks=1)
PUBLISHED = [
    (ONE_DECK, "2 A", (-0.661732, -0.067808, -0.593281)),
    (ONE_DECK, "6 A", (-0.482815, -0.199899, -0.527213)),
    (ONE_DECK, "6 5", (-0.634013, 0.172946, 0.240259)),
    (ONE_DECK, "7 A", (-0.101015, -0.108386, -0.357778)),
    (replace(SOFT_17_HIT, decks=2), "6 4", (-0.587412, 0.038312, -0.003909)),
    (replace(SOFT_17_HIT, decks=2), "6 5", (-0.587564, 0.121079, 0.166650)),
    (replace(SOFT_17_HIT, decks=5), "7 A", (-0.225295, -0.160941, -0.417747)),
    (replace(SOFT_17_HIT, decks=5), "4 3", (-0.595297, -0.354238, -1.084254)),
]


@pytest.mark.parametrize(("rules", "player", "published"), PUBLISHED)
def test_the_published_odds_under_an_ace(
    rules: BlackjackRules, player: str, published: tuple[float, float, float]
) -> None:
    given = values_of(rules, player, "A")
    assert [given[STAY], given[HIT], given[DOUBLE]] == pytest.approx(published, abs=6e-7)


def test_the_published_odds_under_an_ace_that_is_not_looked_under() -> None:
    rules = replace(SOFT_17_HIT, peek_under_ace=False)
    given = values_of(rules, "6 5", "A", looked=False)
    published = (-0.720879, -0.235772, -0.535879)
    assert [given[STAY], given[HIT], given[DOUBLE]] == pytest.approx(published, abs=6e-7)


ENDLESS = {
    "T 6": "-0.292784 -0.252250 -0.211063 -0.167193 -0.153699 "
    "-0.475375 -0.510518 -0.543150 -0.540430 -0.666951",
    "T 7": "-0.152975 -0.117216 -0.080573 -0.044941 0.011739 "
    "-0.106809 -0.381951 -0.423154 -0.419721 -0.478033",
    "T 9": "0.386305 0.404363 0.423179 0.439512 0.495977 "
    "0.615976 0.593854 0.287597 0.063118 0.277636",
}


@pytest.mark.parametrize("player", ENDLESS)
def test_the_published_odds_of_standing_when_no_card_is_missed(player: str) -> None:
    given = [values_of(VEGAS, player, up, shoes=10**7)[STAY] for up in "23456789TA"]
    assert given == pytest.approx([float(word) for word in ENDLESS[player].split()], abs=6e-7)


# Black Jack For Time.


@pytest.mark.parametrize("up", list("23456789T"))
def test_four_cards_that_cannot_go_over_become_a_charlie(up: str) -> None:
    """Nine and any card are five cards under 21, paid 3 to 1 before the dealer plays."""
    given = book(BLACK_JACK_FOR_TIME, "2 2", up, HIT, HIT, rest="2C 3C")
    assert given.best is HIT
    assert given.values[HIT] == pytest.approx(2)
    assert given.values[STAY] < 1


def test_a_charlie_near_at_hand_is_drawn_for_where_others_stand() -> None:
    given = book(BLACK_JACK_FOR_TIME, "T 2", "5", HIT, HIT, rest="AC AD")
    assert given.best is HIT
    assert book(house(charlie_pays=1), "T 2", "5", HIT, HIT, rest="AC AD").best is STAY


@pytest.mark.parametrize("up", list("789"))
def test_the_book_stands_less_where_ties_lose(up: str) -> None:
    """Seventeen beats no dealer who has not bust, so the book draws to it."""
    losing, pushing = book(BLACK_JACK_FOR_TIME, "T 7", up), book(house(ties="push"), "T 7", up)
    assert (losing.best, pushing.best) == (HIT, STAY)
    assert losing.values[STAY] < pushing.values[STAY] - 0.1


def test_a_drawn_21_pays_more_than_a_doubled_one_so_eleven_is_hit() -> None:
    for up in "789T":
        given = book(BLACK_JACK_FOR_TIME, "6 5", up)
        assert given.best is HIT
        better = book(house(doubled_21_pays=3), "6 5", up)
        assert better.values[DOUBLE] > given.values[DOUBLE]


def test_a_soft_eighteen_is_drawn_to_when_21_and_charlies_pay_double() -> None:
    assert book(BLACK_JACK_FOR_TIME, "A 7", "T").best is HIT
    assert book(BLACK_JACK_FOR_TIME, "A 7", "2").best is HIT
    assert book(VEGAS, "A 7", "2").best is STAY


def test_a_natural_of_ones_own_makes_insurance_no_better() -> None:
    """A certain even win is worth less than the average value of the natural."""
    given = book(BLACK_JACK_FOR_TIME, "A T", "A")
    tens, cards = 15, 49
    assert given.best is DECLINE
    assert given.values[DECLINE] == pytest.approx(2 * (cards - tens) / cards)
    assert lead(given) == pytest.approx((cards - 3 * tens) / cards / 2)
