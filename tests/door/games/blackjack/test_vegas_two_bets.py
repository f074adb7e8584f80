"""The rules of the Vegas table where a second bet is made: splitting and doubling down."""

import pytest

from door.games.blackjack.events import (
    BlackjackNatural,
    BlackjackOutcome,
    BlackjackSettled,
    Doubled,
    Split,
    TwentyOne,
)
from door.games.blackjack.round import Turn
from door.games.blackjack.rules import VEGAS
from door.games.engine.cards import parse_cards
from tests.door.games.blackjack.tabletop import DOUBLE, HIT, SPLIT, STAKE, STAY, play, vegas

# Splitting


@pytest.mark.parametrize("pair", ["8H 8D", "TH KD", "JH QD", "AH AD"])
def test_two_first_cards_of_equal_value_may_be_split(pair: str) -> None:
    assert vegas(pair, "7S TS", "").round.legal() == (DOUBLE, SPLIT, HIT, STAY)


def test_two_cards_of_unequal_value_may_not() -> None:
    assert SPLIT not in vegas("8H 9D", "7S TS", "").round.legal()


def test_a_pair_among_three_cards_may_not() -> None:
    assert SPLIT not in vegas("8H 2D", "7S TS", "8C", HIT).round.legal()


def test_a_bet_equal_to_the_original_is_made_for_the_new_hand() -> None:
    table = vegas("8H 8D", "7S TS", "3C", SPLIT)
    assert table.of(Split) == [Split(0, 0, STAKE)]
    assert [hand.stake for hand in table.round.seats[0].hands] == [STAKE, STAKE]


def test_each_hand_is_played_in_turn_and_then_gets_its_second_card() -> None:
    first = vegas("8H 8D", "7S TS", "3C 7C", SPLIT)
    assert first.hands == ["8H 3C", "8D"]
    second = vegas("8H 8D", "7S TS", "3C 7C 2C", SPLIT, HIT, STAY)
    assert second.hands == ["8H 3C 7C", "8D 2C"]
    assert second.round.turn == Turn(0, 1)


def test_or_each_hand_gets_its_second_card_before_either_is_played() -> None:
    table = vegas("8H 8D", "7S TS", "3C 7C", SPLIT, split_cards="both first")
    assert table.hands == ["8H 3C", "8D 7C"]
    assert table.round.turn == Turn(0, 0)


def test_each_hand_is_paid_separately() -> None:
    hand = vegas("8H 8D", "7S TS", "TC 2C 9C", SPLIT, STAY, HIT, STAY)
    assert hand.of(BlackjackSettled) == [
        BlackjackSettled(0, 0, BlackjackOutcome.WIN, lost=0, returned=STAKE, won=STAKE),
        BlackjackSettled(0, 1, BlackjackOutcome.WIN, lost=0, returned=STAKE, won=STAKE),
    ]
    mixed = vegas("8H 8D", "7S TS", "9C 8C", SPLIT, STAY, STAY)
    assert mixed.round.outcomes_of(0) == (BlackjackOutcome.PUSH, BlackjackOutcome.LOSE)


def test_a_hand_is_split_once() -> None:
    table = vegas("8H 8D", "7S TS", "8C", SPLIT)
    assert table.round.legal() == (DOUBLE, HIT, STAY)


def test_split_aces_play_on_like_any_hand() -> None:
    table = vegas("AH AD", "7S TS", "2C 3C 4C", SPLIT, HIT)
    assert table.hands == ["AH 2C 3C", "AD"]
    assert table.round.turn == Turn(0, 0)


def test_or_a_split_ace_gets_one_card() -> None:
    hand = vegas("AH AD", "7S TS", "2C 9C", SPLIT, split_aces="one card")
    assert hand.hands == ["AH 2C", "AD 9C"]
    assert hand.round.outcomes == (BlackjackOutcome.LOSE, BlackjackOutcome.WIN)


def test_a_two_card_21_after_a_split_is_not_a_natural() -> None:
    hand = vegas("AH AD", "7S TS", "KC QC", SPLIT)
    assert hand.of(BlackjackNatural) == []
    assert hand.round.outcomes == (BlackjackOutcome.TWENTY_ONE, BlackjackOutcome.TWENTY_ONE)
    assert hand.net == 2 * STAKE


def test_a_split_hand_that_makes_21_with_its_second_card_needs_no_decision() -> None:
    table = vegas("AH AD", "7S TS", "KC 5C", SPLIT)
    assert table.of(TwentyOne) == [TwentyOne(0, 0)]
    assert table.hands == ["AH KC", "AD 5C"]
    assert table.round.turn == Turn(0, 1)


def test_the_next_seat_plays_when_both_hands_are_done() -> None:
    shoe = parse_cards("8H 5H 9D 8C 6H 7C TS KS")
    table = play(shoe, SPLIT, STAY, rules=VEGAS, stakes=(20, 40))
    assert table.round.turn == Turn(0, 1)
    assert table.round.apply(STAY)[0].turn == Turn(1, 0)


# Doubling down


def test_doubling_doubles_the_bet_and_deals_only_one_more_card() -> None:
    hand = vegas("6H 5H", "TD 7S", "2C", DOUBLE)
    assert hand.of(Doubled) == [Doubled(0, 0, STAKE)]
    assert hand.cards == "6H 5H 2C"
    assert hand.moved == (2 * STAKE, 0, 0)


@pytest.mark.parametrize("dealt", ["2H 3H", "KH 9H", "AH 6H", "6H 4H"])
def test_doubling_may_be_allowed_always(dealt: str) -> None:
    assert VEGAS.double == "always"
    assert DOUBLE in vegas(dealt, "7S TS", "").round.legal()


@pytest.mark.parametrize(("dealt", "may"), [("6H 4H", True), ("6H 5H", True), ("5H 4H", False)])
def test_or_on_totals_of_10_or_11(dealt: str, may: bool) -> None:
    assert (DOUBLE in vegas(dealt, "7S TS", "", double="10-11").round.legal()) is may


@pytest.mark.parametrize("dealt", ["AH 9H", "AH AD", "AH 6H"])
def test_which_are_hard_totals(dealt: str) -> None:
    assert DOUBLE not in vegas(dealt, "7S TS", "", double="10-11").round.legal()


@pytest.mark.parametrize("double", ["always", "10-11"])
def test_in_either_case_only_with_two_cards(double: str) -> None:
    hit = vegas("2H 3H", "7S TS", "5C", HIT, double=double)
    assert hit.round.legal() == (HIT, STAY)


def test_a_hand_of_a_split_may_double_or_not() -> None:
    shoe = ("8H 8D", "7S TS", "3C", SPLIT)
    assert vegas(*shoe).round.legal() == (DOUBLE, HIT, STAY)
    assert vegas(*shoe, double_after_split=False).round.legal() == (HIT, STAY)


def test_a_doubled_21_pays_even_money_on_both_bets() -> None:
    assert vegas("6H 5H", "TD 7S", "KC", DOUBLE).moved == (0, 2 * STAKE, 2 * STAKE)
