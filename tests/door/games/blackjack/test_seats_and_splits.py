"""What the engine can do beyond Black Jack For Time: several seats, and a pair split once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from door.games.blackjack.events import (
    BlackjackOutcome,
    BlackjackSettled,
    InsuranceOffered,
    InsuranceSettled,
    Split,
    TwentyOne,
)
from door.games.blackjack.round import Turn, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS, BlackjackRules
from door.games.engine.cards import deck, parse_cards
from door.games.engine.errors import IllegalAction
from door.games.engine.game import Totals
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    SPLIT,
    STAY,
    house,
    play,
    stacked,
)

SPLITTING = replace(BLACK_JACK_FOR_TIME, split="once")


def test_cards_go_round_the_seats_and_the_dealer_comes_last() -> None:
    table = play(parse_cards("2H 3H 4H 5H 6H 7H 8H 9H"), stakes=(2, 4, 6))
    assert [seat.hands[0].cards for seat in table.round.seats] == [
        ("2H", "6H"),
        ("3H", "7H"),
        ("4H", "8H"),
    ]
    assert table.round.dealer_hand == ("5H", "9H")


def test_turns_go_from_seat_to_seat_and_a_natural_has_none() -> None:
    game, _ = start(BLACK_JACK_FOR_TIME, parse_cards("2H AH 4H 5H 6H KH 8H 9H TD"), [2, 4, 6])
    assert game.turn == Turn(0, 0)
    game, _ = game.apply(STAY)
    assert game.turn == Turn(2, 0)
    game, _ = game.apply(STAY)
    assert game.turn is None
    assert game.outcomes == (BlackjackOutcome.WIN, BlackjackOutcome.NATURAL, BlackjackOutcome.WIN)


def test_each_seat_is_asked_about_insurance_before_any_plays() -> None:
    shoe = parse_cards("2H 3H AD 6H 7H KH")
    table = play(shoe, INSURE, DECLINE, stakes=(20, 40))
    assert table.of(InsuranceOffered) == [InsuranceOffered(0, 10), InsuranceOffered(1, 20)]
    assert table.of(InsuranceSettled) == [InsuranceSettled(0, lost=0, returned=10, won=20)]
    assert table.round.outcomes == (BlackjackOutcome.DEALER_NATURAL,) * 2


def test_without_the_look_a_seats_natural_waits_until_the_others_have_played() -> None:
    shoe = parse_cards("AH 3H AD KH 9D 6H 6C")
    rules = house(peek_under_ace=False)
    table = play(shoe, DECLINE, DECLINE, HIT, rules=rules, stakes=(20, 40))
    assert table.round.turn == Turn(1, 0)
    assert table.round.outcomes == ()
    done, _ = table.round.apply(STAY)
    assert done.outcomes == (BlackjackOutcome.NATURAL, BlackjackOutcome.WIN)


def test_a_table_has_one_to_seven_seats() -> None:
    with pytest.raises(ValueError, match="1 to 7 seats, not 0"):
        play(parse_cards("2H 3H 4H 5H"), stakes=())
    with pytest.raises(ValueError, match="1 to 7 seats, not 8"):
        play(parse_cards("2H 3H 4H 5H"), stakes=(2,) * 8)


def test_seven_seats_can_be_taken() -> None:
    assert len(play(deck(1), stakes=(2,) * 7).round.seats) == 7


def test_every_stake_is_checked() -> None:
    with pytest.raises(ValueError, match="must be even, is 3"):
        play(parse_cards("2H 3H 4H 5H"), stakes=(2, 3))


@pytest.mark.parametrize("pair", ["8H 8D", "TH KD", "AH AD"])
def test_two_cards_of_equal_value_may_be_split(pair: str) -> None:
    deal = play(stacked(pair, "7S TS"), rules=SPLITTING)
    assert deal.round.legal() == (DOUBLE, SPLIT, HIT, STAY)
    assert deal.round.amount(SPLIT) == 600


def test_two_cards_of_different_value_may_not() -> None:
    assert SPLIT not in play(stacked("8H 9D", "7S TS"), rules=SPLITTING).round.legal()


def test_a_split_makes_two_hands_and_each_gets_its_second_card() -> None:
    table = play(stacked("8H 8D", "7S TS", "3C 2C"), SPLIT, rules=SPLITTING)
    assert table.of(Split) == [Split(0, 0, 600)]
    assert [hand.cards for hand in table.round.seats[0].hands] == [("8H", "3C"), ("8D", "2C")]
    assert table.round.seats[0].staked == 1200
    assert table.round.turn == Turn(0, 0)


def test_split_hands_are_played_and_paid_one_by_one() -> None:
    shoe = stacked("8H 8D", "7S TS", "3C 2C 9C TD")
    table = play(shoe, SPLIT, DOUBLE, HIT, STAY, rules=SPLITTING)
    assert table.of(BlackjackSettled) == [
        BlackjackSettled(0, 0, BlackjackOutcome.WIN, lost=0, returned=1200, won=1200),
        BlackjackSettled(0, 1, BlackjackOutcome.WIN, lost=0, returned=600, won=600),
    ]


def test_a_hand_is_split_once() -> None:
    table = play(stacked("8H 8D", "7S TS", "8C 8S"), SPLIT, rules=SPLITTING)
    with pytest.raises(IllegalAction, match="split is not open here"):
        table.round.apply(SPLIT)


def test_21_in_two_cards_after_a_split_is_no_natural() -> None:
    table = play(stacked("AH AD", "7S TS", "KC 5C"), SPLIT, STAY, rules=SPLITTING)
    assert table.of(TwentyOne) == [TwentyOne(0, 0)]
    assert table.round.outcomes == (BlackjackOutcome.TWENTY_ONE, BlackjackOutcome.LOSE)


def test_21_after_a_split_may_be_drawn_to_where_21_is_but_not_doubled() -> None:
    rules = replace(house(hit_on_21=True), split="once")
    table = play(stacked("AH AD", "7S TS", "KC 5C"), SPLIT, rules=rules)
    assert table.round.turn == Turn(0, 0)
    assert table.round.legal() == (HIT, STAY)


def test_the_second_hand_has_its_turn_when_the_first_has_bust() -> None:
    table = play(stacked("8H 8D", "7S TS", "7C 2C TD"), SPLIT, HIT, rules=SPLITTING)
    assert table.round.turn == Turn(0, 1)
    assert table.round.outcomes == (BlackjackOutcome.BUST,)


def test_a_split_round_needs_cards_for_two_hands() -> None:
    assert SPLITTING.most_cards(1) == 15
    assert BLACK_JACK_FOR_TIME.most_cards(7) == 40


def test_without_charlies_a_hand_may_be_as_long_as_21_aces_and_one_card_more() -> None:
    shoe = parse_cards("7H TC " + "AH " * 21 + "2C")
    hand = play(shoe, *[HIT] * 20, rules=UNIX_BJ)
    assert len(hand.cards.split()) == 22
    assert hand.round.outcomes == (BlackjackOutcome.BUST,)
    assert UNIX_BJ.most_cards(1) == 3 * 22
    assert VEGAS.most_cards(7) == 15 * 22


@pytest.mark.parametrize("rules", [UNIX_BJ, VEGAS])
def test_half_of_a_stake_is_needed_for_three_to_two(rules: BlackjackRules) -> None:
    assert rules.refused_stake(5) is not None
    assert rules.refused_stake(6) is None


def test_a_charlie_that_cannot_be_made_needs_no_half() -> None:
    rules = replace(VEGAS, natural_pays=Fraction(3), charlie_pays=Fraction(5, 2))
    assert rules.refused_stake(5) is None
    assert replace(rules, charlie=True).refused_stake(5) is not None


def test_each_seat_has_totals_and_outcomes_of_its_own() -> None:
    game, _ = start(BLACK_JACK_FOR_TIME, parse_cards("2H AH 4H 5H 6H KH 8H 9H TD"), [2, 4, 6])
    assert [game.outcomes_of(seat) for seat in range(3)] == [(), (BlackjackOutcome.NATURAL,), ()]
    assert game.totals_of(1) == Totals(staked=4, lost=0, returned=4, won=8)
    assert game.totals_of(2) == Totals(staked=6, lost=0, returned=0, won=0)


def test_both_cards_of_every_seat_come_after_the_dealers_where_those_are_first() -> None:
    rules = replace(BLACK_JACK_FOR_TIME, deal="dealer first")
    table = play(parse_cards("2H 3H 4H 5H 6H 7H"), rules=rules, stakes=(2, 4))
    assert table.round.dealer_hand == ("2H", "3H")
    assert [seat.hands[0].cards for seat in table.round.seats] == [("4H", "5H"), ("6H", "7H")]
