"""The UNIX game bj: its manual pages of 1971 and 1972, sentence by sentence, then the program.

Amounts are cents. The texts of the program and its reading of answers are tested in tests/door.
"""

import pytest

from door.games.blackjack.events import (
    BlackjackDealt,
    BlackjackNatural,
    BlackjackOutcome,
    BlackjackRevealed,
    BlackjackStood,
    Busted,
    DealerBusted,
    DealerDealt,
    DealerNatural,
    DealerStood,
    Doubled,
    InsuranceDeclined,
    InsuranceOffered,
    InsuranceSettled,
    Peeked,
    Split,
    TwentyOne,
)
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, Turn
from door.games.blackjack.rules import UNIX_BJ, UNIX_BJ_STAKE
from door.games.engine.cards import parse_card
from door.games.engine.errors import IllegalAction
from tests.door.games.blackjack.tabletop import DECLINE, DOUBLE, HIT, INSURE, SPLIT, STAY, bj

BET = 200
TENS = ("TC", "JC", "QC", "KC")


# The manual page: bets and naturals


def test_the_bet_is_two_dollars_every_hand() -> None:
    assert UNIX_BJ_STAKE == BET
    assert bj("8H", "9C", "KD 5C", "").round.totals.staked == BET


def test_a_players_natural_pays_three_dollars() -> None:
    hand = bj("8H", "9C", "AD KC", "")
    assert hand.of(BlackjackNatural) == [BlackjackNatural(0, 0)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.NATURAL, (0, BET, 300))


# The deck in dealing order: the dealer's two cards, the player's two, and the rest; the answers;
# the dollars won.
PAID = {
    "a natural of the dealer loses two dollars": ("KH AC, 9D 8C", (), -2),
    "of two naturals no money is exchanged": ("KH AC, AD KC", (), 0),
    "a natural of both, insured": ("AH KC, AD KS", (INSURE,), 2),
    "a natural of both, not insured": ("AH KC, AD KS", (DECLINE,), 0),
    "a natural against an ace, insured": ("AH 9C, AD KS", (INSURE,), 2),
    "a natural against an ace, not insured": ("AH 9C, AD KS", (DECLINE,), 3),
    "the larger total wins": ("TH 8C, KD 9C", (STAY,), 2),
    "the lesser total loses": ("TH 8C, KD 7C", (STAY,), -2),
    "a tie is a push": ("TH 8C, KD 8D", (STAY,), 0),
    "two totals of 21 are a tie too": ("TH 6C, KD 5C, 6S 5S", (HIT, STAY), 0),
    "21 is paid like any other total": ("TH 8C, KD 5C, 6S", (HIT, STAY), 2),
    "a doubled 21 is not asked": ("7H TC, 6D 5C, KS", (DOUBLE,), 4),
    "both hands of a split win two dollars": ("7H TC, 8D 8C, TS KS", (SPLIT, STAY, STAY), 4),
    "one of a split wins, one pushes": ("7H TC, 8D 8C, TS 9S", (SPLIT, STAY, STAY), 2),
}


@pytest.mark.parametrize(("cards", "does", "dollars"), PAID.values(), ids=PAID)
def test_hands_are_paid(cards: str, does: tuple[BlackjackAction, ...], dollars: int) -> None:
    dealer, player, *rest = cards.split(", ")
    hand = bj(*dealer.split(), player, " ".join(rest), *does)
    assert hand.round.over
    assert hand.net == dollars * 100


# The manual page: insurance


def test_under_an_ace_the_player_may_make_an_insurance_bet() -> None:
    hand = bj("AH", "9C", "KD 5C", "")
    assert hand.of(InsuranceOffered) == [InsuranceOffered(0, 100)]
    assert hand.round.legal() == (INSURE, DECLINE)
    assert hand.round.amount(INSURE) == 100


@pytest.mark.parametrize("up", [*TENS, "9C", "2C"])
def test_insurance_is_offered_under_an_ace_only(up: str) -> None:
    assert bj(up, "9D", "8D 5C", "").of(InsuranceOffered) == []


def test_when_insurance_is_not_taken_play_resumes_as_normal() -> None:
    hand = bj("AH", "9C", "KD 5C", "", DECLINE)
    assert hand.of(InsuranceDeclined) == [InsuranceDeclined(0)]
    assert hand.round.legal() == (HIT, STAY)
    assert hand.round.totals.staked == BET


def test_insurance_pays_two_dollars_on_a_dealers_natural() -> None:
    hand = bj("AH", "KC", "9D 8C", "", INSURE)
    assert hand.insurance == InsuranceSettled(0, lost=0, returned=100, won=200)
    assert hand.moved == (BET, 0, 0)
    assert hand.net == 0


def test_and_that_loses_one_dollar_when_the_dealer_has_none() -> None:
    hand = bj("AH", "9C", "KD 5C", "", INSURE)
    assert hand.insurance == InsuranceSettled(0, lost=100, returned=0, won=0)
    assert not hand.round.over


def test_the_dollar_is_fixed() -> None:
    offer = bj("AH", "9C", "KD 5C", "").round
    with pytest.raises(IllegalAction, match="insurance takes no amount here"):
        offer.apply(INSURE, 50)


# The manual page: two cards of the same value


def test_two_cards_of_the_same_value_may_be_played_as_two_hands() -> None:
    deal = bj("7H", "TC", "8D 8C", "")
    assert deal.round.legal() == (SPLIT, HIT, STAY)
    table = bj("7H", "TC", "8D 8C", "2S", SPLIT)
    assert table.hands == ["8D 2S", "8C"]


def test_the_bet_is_doubled_also_two_dollars_on_each_hand() -> None:
    table = bj("7H", "TC", "8D 8C", "2S", SPLIT)
    assert table.of(Split) == [Split(0, 0, BET)]
    assert [hand.stake for hand in table.round.seats[0].hands] == [BET, BET]
    assert table.round.totals.staked == 400


@pytest.mark.parametrize("first", TENS)
@pytest.mark.parametrize("second", ["TD", "JD", "QD", "KD"])
def test_ten_jack_queen_and_king_are_all_ten(first: str, second: str) -> None:
    assert SPLIT in bj("7H", "TS", f"{first} {second}", "").round.legal()


def test_cards_of_different_value_are_not_split() -> None:
    assert SPLIT not in bj("7H", "TC", "9D 8C", "").round.legal()


# The manual page: doubling down


@pytest.mark.parametrize("dealt", ["2D 8C", "3D 7C", "4D 6C", "5D 5C", "2D 9C", "4D 7C", "6D 5C"])
def test_a_dealt_hand_of_ten_or_eleven_may_double_down(dealt: str) -> None:
    deal = bj("7H", "TC", dealt, "").round
    assert DOUBLE in deal.legal()
    assert deal.amount(DOUBLE) == BET


@pytest.mark.parametrize("dealt", ["5D 4C", "7D 5C", "AD 9C", "AD AC", "8D AC", "KD 9C"])
def test_any_other_hand_may_not(dealt: str) -> None:
    assert DOUBLE not in bj("7H", "TC", dealt, "").round.legal()


def test_ten_or_eleven_in_three_cards_may_not() -> None:
    assert bj("7H", "TC", "2D 4C", "5S", HIT).round.legal() == (HIT, STAY)


def test_doubling_takes_the_bet_from_two_dollars_to_four() -> None:
    hand = bj("7H", "TC", "6D 5C", "8S", DOUBLE)
    assert hand.of(Doubled) == [Doubled(0, 0, BET)]
    assert hand.moved == (0, 400, 400)


def test_a_doubled_hand_receives_exactly_one_more_card() -> None:
    hand = bj("7H", "TC", "6D 5C", "2S", DOUBLE)
    assert hand.cards == "6D 5C 2S"
    assert hand.of(BlackjackStood) == [BlackjackStood(0, 0, 13)]
    assert hand.moved == (400, 0, 0)


# The manual page: the player's and the dealer's turn


def test_the_player_may_hit_as_long_as_they_are_not_over_21() -> None:
    low = bj("7H", "TC", "2D 3C", "2S 2C 3D 3S 2H 3H AS", *[HIT] * 7)
    assert low.round.hand is not None
    assert low.round.hand.count == (21, False)
    assert low.round.legal() == (HIT, STAY)


def test_when_the_player_busts_the_dealer_wins_the_bet() -> None:
    hand = bj("7H", "TC", "KD 6C", "9S", HIT)
    assert hand.of(Busted) == [Busted(0, 0, 25)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.BUST, (BET, 0, 0))


def test_when_the_player_stands_the_dealer_hits_to_17_or_more() -> None:
    hand = bj("2H", "3C", "KD 9C", "2S 4S 5S AS 2C", STAY)
    assert hand.round.dealer == ("2H", "3C", "2S", "4S", "5S", "AS")
    assert hand.of(DealerStood) == [DealerStood(17)]


def test_when_the_dealer_busts_the_player_wins_the_bet() -> None:
    hand = bj("7H", "9C", "2D 3C", "KS", STAY)
    assert hand.of(DealerBusted) == [DealerBusted(26)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.WIN, (0, BET, BET))


# The program: the deck


def test_there_is_one_deck_and_it_runs_on_from_hand_to_hand() -> None:
    assert (UNIX_BJ.decks, UNIX_BJ.shuffle) == (1, "shoe")
    assert not UNIX_BJ.shuffle_due(51, seats=1)


def test_cards_leave_the_deck_for_dealer_up_dealer_hole_player_player() -> None:
    assert bj("8H", "9C", "KD 5C", "").events == (
        DealerDealt(parse_card("8H")),
        DealerDealt(None),
        BlackjackDealt(0, 0, parse_card("KD")),
        BlackjackDealt(0, 0, parse_card("5C")),
    )


def test_the_hole_card_is_taken_but_not_shown() -> None:
    table = bj("8H", "9C", "KD 5C", "").round
    assert table.dealer == ("8H", None)
    assert "9C" not in repr(table)


# The program: precedence


def test_insurance_comes_before_anything_else_is_decided() -> None:
    for dealt in ("KD KC", "6D 5C", "AD AC"):
        offer = bj("AH", "9C", dealt, "")
        assert offer.round.phase is BlackjackPhase.INSURANCE
        assert offer.of(Peeked) == []


@pytest.mark.parametrize(("up", "hole"), [("KH", "AC"), ("TH", "AC")])
def test_after_a_dealers_natural_there_are_no_questions(up: str, hole: str) -> None:
    for dealt in ("8D 8C", "6D 5C", "9D 8C"):
        hand = bj(up, hole, dealt, "")
        assert not hand.asked
        assert hand.events[-4:-1] == (
            Peeked(True),
            BlackjackRevealed(parse_card(hole)),
            DealerNatural(),
        )
        assert hand.net == -BET


def test_under_an_ace_the_one_question_is_insurance() -> None:
    hand = bj("AH", "QC", "8D 8C", "", DECLINE)
    assert not hand.asked
    assert hand.net == -BET


def test_two_cards_of_21_end_the_hand_without_a_question() -> None:
    hand = bj("8H", "9C", "AD KC", "")
    assert not hand.asked
    assert hand.round.dealer == ("8H", None)


# The program: a split


def test_each_new_hand_gets_its_second_card_and_then_plays() -> None:
    """The second hand's card leaves the deck when the first hand has been played."""
    first = bj("7H", "TC", "8D 8C", "2S 9S", SPLIT, HIT)
    assert first.hands == ["8D 2S 9S", "8C"]
    assert first.round.turn == Turn(0, 0)
    second = bj("7H", "TC", "8D 8C", "2S 9S 3S", SPLIT, HIT, STAY)
    assert second.hands == ["8D 2S 9S", "8C 3S"]
    assert second.round.turn == Turn(0, 1)
    assert second.events[-2:] == (BlackjackStood(0, 0, 19), BlackjackDealt(0, 1, parse_card("3S")))


def test_a_second_pair_is_not_split_again() -> None:
    table = bj("7H", "TC", "8D 8C", "8S", SPLIT)
    assert table.hands == ["8D 8S", "8C"]
    assert table.round.legal() == (HIT, STAY)
    assert bj("7H", "TC", "8D 8C", "8S 8H", SPLIT, STAY).round.legal() == (HIT, STAY)


def test_a_split_pair_of_aces_gets_one_card_each() -> None:
    hand = bj("7H", "TC", "AD AC", "5S 9S", SPLIT)
    assert hand.hands == ["AD 5S", "AC 9S"]
    assert hand.of(BlackjackStood) == [BlackjackStood(0, 0, 16), BlackjackStood(0, 1, 20)]
    assert hand.round.outcomes == (BlackjackOutcome.LOSE, BlackjackOutcome.WIN)


def test_a_ten_on_a_split_ace_is_not_asked_either() -> None:
    hand = bj("7H", "TC", "AD AC", "KS 9S", SPLIT)
    assert hand.of(TwentyOne) == [TwentyOne(0, 0)]
    assert not hand.asked


def test_21_in_two_cards_after_a_split_is_no_natural() -> None:
    hand = bj("7H", "TC", "AD AC", "KS QS", SPLIT)
    assert hand.of(BlackjackNatural) == []
    assert hand.round.outcomes == (BlackjackOutcome.TWENTY_ONE, BlackjackOutcome.TWENTY_ONE)
    assert hand.net == 400


def test_an_ace_on_a_split_ten_is_asked_like_any_21() -> None:
    table = bj("7H", "TC", "KD QC", "AS", SPLIT)
    assert table.round.turn == Turn(0, 0)
    assert table.round.legal() == (HIT, STAY)


def test_a_hand_of_a_split_may_double_too() -> None:
    table = bj("7H", "TC", "8D 8C", "3S", SPLIT)
    assert table.round.legal() == (DOUBLE, HIT, STAY)
    hand = bj("7H", "TC", "8D 8C", "3S KS 2S 9S", SPLIT, DOUBLE, DOUBLE)
    assert [each.stake for each in hand.round.seats[0].hands] == [400, 400]
    assert hand.net == 800


def test_the_second_hand_is_dealt_when_the_first_has_bust() -> None:
    table = bj("7H", "TC", "8D 8C", "7S TS 2S", SPLIT, HIT)
    assert table.round.outcomes == (BlackjackOutcome.BUST,)
    assert table.hands == ["8D 7S TS", "8C 2S"]


# The program: 21, and the dealer's turn


def test_a_player_is_asked_at_21_too_until_they_say_no_or_bust() -> None:
    at_21 = bj("7H", "TC", "KD 5C", "6S 9S", HIT)
    assert at_21.of(TwentyOne) == [TwentyOne(0, 0)]
    assert at_21.round.legal() == (HIT, STAY)
    assert bj("7H", "TC", "KD 5C", "6S 9S", HIT, HIT).outcome is BlackjackOutcome.BUST
    assert bj("7H", "TC", "KD 5C", "6S 9S", HIT, STAY).of(BlackjackStood) == [
        BlackjackStood(0, 0, 21)
    ]


@pytest.mark.parametrize(("hole", "rest"), [("TC", ""), ("6C", "4S"), ("AC", ""), ("2C", "5S 3S")])
def test_the_dealer_stands_on_every_17_soft_ones_too(hole: str, rest: str) -> None:
    up = "6H" if hole == "AC" else "7H"
    hand = bj(up, hole, "KD 9C", rest, STAY)
    assert hand.of(DealerStood) == [DealerStood(17)]


def test_the_dealer_does_not_play_against_a_bust() -> None:
    hand = bj("7H", "5C", "KD 6C", "9S", HIT)
    assert hand.of(BlackjackRevealed) == []
    assert hand.round.dealer == ("7H", None)


def test_the_dealer_does_not_play_when_both_hands_of_a_split_have_bust() -> None:
    hand = bj("7H", "5C", "8D 8C", "7S TS 6S KS", SPLIT, HIT, HIT)
    assert hand.round.outcomes == (BlackjackOutcome.BUST, BlackjackOutcome.BUST)
    assert hand.of(BlackjackRevealed) == []
    assert hand.net == -400


def test_the_dealer_plays_when_one_of_two_hands_stands() -> None:
    hand = bj("7H", "5C", "8D 8C", "7S TS 6S 9S", SPLIT, HIT, STAY)
    assert hand.of(DealerStood) == [DealerStood(21)]
    assert hand.net == -400


def test_five_cards_are_nothing_special_for_either() -> None:
    hand = bj("2H", "3C", "2D 4C", "2S 3S 4S 2C 4H 5H 3H", HIT, HIT, HIT, STAY)
    assert hand.cards == "2D 4C 2S 3S 4S"
    assert hand.of(DealerStood) == [DealerStood(19)]
    assert len(hand.round.dealer) == 6
    assert hand.outcome is BlackjackOutcome.LOSE
