"""The help file of Black Jack For Time, sentence by sentence, on cards and payouts.

A docstring of a test names the section and quotes a few words where the name is not enough. Pot,
last coin, turns a day and system events are tested in tests/door and tests/timebank.
"""

import pytest

from door.games.blackjack.events import (
    BlackjackDealt,
    BlackjackNatural,
    BlackjackOutcome,
    BlackjackRevealed,
    Busted,
    Charlie,
    DealerBusted,
    DealerCharlie,
    DealerDealt,
    DealerNatural,
    DealerStood,
    Doubled,
    InsuranceBought,
    InsuranceOffered,
    Peeked,
)
from door.games.blackjack.round import BlackjackAction
from door.games.engine.cards import count, parse_card, parse_cards
from door.games.engine.errors import IllegalAction
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    SPLIT,
    STAKE,
    STAY,
    play,
    stacked,
)

LOST, RETURNED, WON = STAKE, STAKE, STAKE


# The Deal


def test_cards_go_to_player_dealer_player_dealer() -> None:
    deal = play(parse_cards("2H 7S 3H 8S 9C"))
    assert deal.events == (
        BlackjackDealt(0, 0, parse_card("2H")),
        DealerDealt(parse_card("7S")),
        BlackjackDealt(0, 0, parse_card("3H")),
        DealerDealt(None),
    )
    assert deal.round.cards_used == 4


def test_the_dealers_second_card_is_face_down() -> None:
    deal = play(stacked("2H 3H", "7S 8S"))
    assert deal.round.dealer == ("7S", None)
    assert deal.round.dealer_count == (7, False)
    assert "8S" not in repr(deal.round)


# The Play


@pytest.mark.parametrize("up", ["TS", "JS", "QS", "KS"])
def test_under_a_ten_count_the_dealer_must_look_at_the_hole_card(up: str) -> None:
    assert play(stacked("2H 3H", f"{up} 9S")).of(Peeked) == [Peeked(natural=False)]


@pytest.mark.parametrize("up", ["2S", "6S", "9S"])
def test_under_a_lower_card_the_dealer_has_nothing_to_look_for(up: str) -> None:
    assert play(stacked("2H 3H", f"{up} 9S")).of(Peeked) == []


def test_a_dealers_natural_is_faced_and_announced() -> None:
    hand = play(stacked("9H 8H", "TS AS"))
    assert hand.events[-4:-1] == (
        Peeked(natural=True),
        BlackjackRevealed(parse_card("AS")),
        DealerNatural(),
    )
    assert hand.round.dealer == ("TS", "AS")
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.DEALER_NATURAL, (LOST, 0, 0))


def test_under_an_ace_insurance_is_half_of_the_current_bet() -> None:
    offer = play(stacked("9H 8H", "AS 6S"))
    assert offer.of(InsuranceOffered) == [InsuranceOffered(0, STAKE // 2)]
    assert offer.round.legal() == (INSURE, DECLINE)
    assert offer.round.amount(INSURE) == STAKE // 2
    assert offer.round.amount(DECLINE) == 0


def test_no_insurance_is_offered_under_a_ten() -> None:
    deal = play(stacked("9H 8H", "TS 6S"))
    assert deal.of(InsuranceOffered) == []
    assert INSURE not in deal.round.legal()


def test_insurance_that_wins_is_paid_two_for_each_one() -> None:
    hand = play(stacked("9H 8H", "AS KS"), INSURE)
    assert hand.of(InsuranceBought) == [InsuranceBought(0, 300)]
    assert (hand.insurance.lost, hand.insurance.returned, hand.insurance.won) == (0, 300, 600)
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.DEALER_NATURAL, (LOST, 0, 0))


def test_insurance_that_loses_leaves_the_original_bet_riding() -> None:
    hand = play(stacked("9H 8H", "AS 6S"), INSURE)
    assert (hand.insurance.lost, hand.insurance.returned, hand.insurance.won) == (300, 0, 0)
    assert not hand.round.over
    assert hand.round.seats[0].hands[0].stake == STAKE
    assert play(stacked("9H 9D", "AS 6S"), INSURE, STAY).moved == (0, RETURNED, WON)


def test_a_natural_is_paid_three_to_one_and_the_dealer_takes_no_turn() -> None:
    hand = play(stacked("AH KH", "TS 6S", "5C"))
    assert hand.of(BlackjackNatural) == [BlackjackNatural(0, 0)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.NATURAL, (0, RETURNED, 2 * WON))
    assert hand.round.over
    assert hand.of(BlackjackRevealed) == []
    assert hand.round.cards_used == 4


@pytest.mark.parametrize("cards", ["2H 3H", "AH 9H", "6H 5H", "TH KH", "AH AD", "TH 2D"])
def test_any_two_cards_under_21_may_double(cards: str) -> None:
    """The Play, and The Double Down: "any two cards" """
    deal = play(stacked(cards, "7S 8S"))
    assert deal.round.legal() == (DOUBLE, HIT, STAY)
    assert deal.round.amount(DOUBLE) == STAKE


def test_doubling_doubles_the_bet_for_one_final_card() -> None:
    hand = play(stacked("6H 5H", "7S TS", "8C 9D"), DOUBLE)
    assert hand.of(Doubled) == [Doubled(0, 0, STAKE)]
    assert hand.cards == "6H 5H 8C"
    assert hand.round.seats[0].hands[0].stake == 2 * STAKE


def test_after_the_final_card_the_dealer_takes_a_turn_in_sequence() -> None:
    hand = play(stacked("6H 5H", "7S 8S", "8C 2D"), DOUBLE)
    turn = (BlackjackRevealed(parse_card("8S")), DealerDealt(parse_card("2D")), DealerStood(17))
    assert hand.events[-4:] == (*turn, hand.settled)
    assert hand.round.dealer == ("7S", "8S", "2D")


def test_a_double_down_may_go_over() -> None:
    hand = play(stacked("TH 5H", "7S TS", "9C"), DOUBLE)
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.BUST, (2 * STAKE, 0, 0))
    assert hand.of(BlackjackRevealed) == []


def test_after_a_third_card_doubling_is_no_longer_open() -> None:
    """ "If the player does not select to Double Down" """
    hand = play(stacked("2H 3H", "7S 8S", "4C"), HIT)
    assert hand.round.legal() == (HIT, STAY)
    with pytest.raises(IllegalAction, match="double is not open here: it is hit or stay"):
        hand.round.apply(DOUBLE)


def test_pairs_are_not_split_at_this_table() -> None:
    deal = play(stacked("8H 8D", "7S 8S"))
    with pytest.raises(IllegalAction, match="split is not open here"):
        deal.round.apply(SPLIT)


def test_a_satisfied_player_may_stay_on_any_count() -> None:
    hand = play(stacked("2H 3H", "7S TS"), STAY)
    assert hand.round.over
    assert hand.cards == "2H 3H"


def test_a_player_may_draw_until_they_stay() -> None:
    hand = play(stacked("2H 3H", "7S TS", "4C 9D"), HIT, HIT, STAY)
    assert hand.cards == "2H 3H 4C 9D"
    assert hand.outcome is BlackjackOutcome.WIN


def test_over_21_is_a_bust_that_ends_the_hand() -> None:
    hand = play(stacked("TH 6H", "7S TS", "9C"), HIT)
    assert hand.of(Busted) == [Busted(0, 0, 25)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.BUST, (LOST, 0, 0))
    assert hand.round.over


def test_five_cards_under_21_are_a_charlie_paid_three_to_one() -> None:
    hand = play(stacked("2H 3H", "7S TS", "2C 4D 5C"), HIT, HIT, HIT)
    assert hand.of(Charlie) == [Charlie(0, 0, 16)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.CHARLIE, (0, RETURNED, 2 * WON))
    assert hand.round.over


# The Dealer's Turn at Play


def test_when_the_player_has_busted_the_dealer_does_not_play() -> None:
    hand = play(stacked("TH 6H", "2S 3S", "9C 4D"), HIT)
    assert hand.of(BlackjackRevealed) == []
    assert hand.round.dealer_hand == ("2S", "3S")
    assert hand.round.cards_used == 5


def test_when_the_hand_is_still_active_the_dealer_turns_up_the_hole_card() -> None:
    hand = play(stacked("TH 6H", "7S TS"), STAY)
    assert hand.of(BlackjackRevealed) == [BlackjackRevealed(parse_card("TS"))]
    assert hand.round.dealer == ("7S", "TS")
    assert hand.round.dealer_count == (17, False)


@pytest.mark.parametrize(("hole", "total"), [("7S", 17), ("8S", 18), ("9S", 19), ("KS", 20)])
def test_on_17_18_19_or_20_the_dealer_must_stay(hole: str, total: int) -> None:
    hand = play(stacked("TH 6H", f"TC {hole}", "2D"), STAY)
    assert hand.of(DealerStood) == [DealerStood(total)]
    assert hand.round.dealer == ("TC", hole)


@pytest.mark.parametrize("hole", ["2S", "3S", "4S", "5S", "6S"])
def test_on_16_or_less_the_dealer_must_draw(hole: str) -> None:
    hand = play(stacked("TH 6H", f"TC {hole}", "5D"), STAY)
    assert hand.round.dealer == ("TC", hole, "5D")


def test_the_dealer_draws_until_the_count_reaches_17() -> None:
    hand = play(stacked("TH 6H", "4C 2S", "5D 5H 9D"), STAY)
    assert hand.round.dealer == ("4C", "2S", "5D", "5H", "9D")
    assert hand.of(DealerBusted) == [DealerBusted(25)]


@pytest.mark.parametrize(("hole", "total"), [("6S", 17), ("7S", 18), ("8S", 19), ("9S", 20)])
def test_on_a_soft_17_18_19_or_20_the_dealer_must_also_stay(hole: str, total: int) -> None:
    hand = play(stacked("TH 6H", f"AC {hole}", "2D"), DECLINE, STAY)
    assert hand.of(DealerStood) == [DealerStood(total)]
    assert count(hand.round.dealer_hand) == (total, True)


def test_the_dealer_stays_on_21() -> None:
    hand = play(stacked("TH 6H", "TC 5S", "6D 2D"), STAY)
    assert hand.of(DealerStood) == [DealerStood(21)]


def test_the_dealer_has_no_choice() -> None:
    """ "predetermined and known": after the player has stayed, nobody decides anything"""
    hand = play(stacked("TH 6H", "4C 2S", "5D 5H 9D"), STAY)
    assert hand.round.over
    assert hand.round.legal() == ()
    with pytest.raises(IllegalAction, match="stay is not open: the hand is over"):
        hand.round.apply(STAY)


def test_a_dealers_five_card_charlie_wins_the_hand() -> None:
    hand = play(stacked("TH KH", "2C 3S", "2D 4H 3D"), STAY)
    assert hand.of(DealerCharlie) == [DealerCharlie(14)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.DEALER_CHARLIE, (LOST, 0, 0))


# Final Settlement, and the payouts named in the sections before it

PAID = {
    "two naturals are a stand-off": ("AH KH, TS AS", (), "push", 0),
    "equal counts are not paid": ("TH 8H, TC 8S", (STAY,), "lose", -1),
    "a lower count loses the bet": ("TH 7H, TC 8S", (STAY,), "lose", -1),
    "a higher count wins back twice the bet": ("TH 9H, TC 8S", (STAY,), "win", 1),
    "a count of 21 is paid three to one": ("6H 5H, 7S TS, KC", (HIT,), "twenty-one", 2),
    "a double down that wins is paid two to one": ("6H 5H, 7S TS, 8C", (DOUBLE,), "win", 2),
    "a double down that loses loses both bets": ("6H 5H, 7S TS, 5C", (DOUBLE,), "lose", -2),
    "a Charlie of the dealer of 18": ("TH KH, 2C 3S, 2D 4H 7D", (STAY,), "dealer-charlie", -1),
    "a Charlie of the dealer beats 21": ("6H 5H, 2C 3S, KD 2D 4H 3D", (HIT,), "dealer-charlie", -1),
}


@pytest.mark.parametrize(("cards", "does", "outcome", "won"), PAID.values(), ids=PAID)
def test_bets_are_paid(
    cards: str, does: tuple[BlackjackAction, ...], outcome: str, won: int
) -> None:
    hand = play(stacked(*cards.split(", ")), *does)
    assert (hand.outcome, hand.net) == (outcome, won * STAKE)


# The Double Down


def test_a_doubled_hand_is_counted_once_the_dealers_play_is_ended() -> None:
    hand = play(stacked("6H 5H", "7S 8S", "KC 2D"), DOUBLE)
    assert hand.events[-2:] == (DealerStood(17), hand.settled)
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.TWENTY_ONE, (0, 2 * STAKE, 2 * STAKE))


def test_a_doubled_hand_is_not_drawn_to_again() -> None:
    hand = play(stacked("2H 3H", "7S TS", "4C"), DOUBLE)
    assert hand.round.over
    assert hand.round.legal() == ()
