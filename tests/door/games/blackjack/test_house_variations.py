"""Every sentence that can be read in two ways, both ways, and every payment a house may change."""

from fractions import Fraction

import pytest

from door.games.blackjack.events import (
    BlackjackOutcome,
    BlackjackRevealed,
    BlackjackSettled,
    Charlie,
    DealerBusted,
    DealerDealt,
    DealerNatural,
    DealerStood,
    InsuranceDeclined,
    InsuranceOffered,
    InsuranceSettled,
    Peeked,
    TwentyOne,
)
from door.games.blackjack.round import BlackjackPhase
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    STAKE,
    STAY,
    house,
    play,
    stacked,
)

DEALER_OVER = ("TC 6S", "9D")  # the dealer's cards, then the one that takes it to 25
CHARLIE = (HIT, HIT, HIT)


# ties


@pytest.mark.parametrize(
    ("ties", "outcome"), [("dealer", BlackjackOutcome.LOSE), ("push", BlackjackOutcome.PUSH)]
)
def test_equal_counts_go_to_the_dealer_or_push(ties: str, outcome: BlackjackOutcome) -> None:
    assert play(stacked("TH 8H", "TC 8S"), STAY, rules=house(ties=ties)).outcome is outcome


@pytest.mark.parametrize(
    ("ties", "outcome"), [("dealer", BlackjackOutcome.LOSE), ("push", BlackjackOutcome.PUSH)]
)
def test_two_counts_of_21_are_equal_counts(ties: str, outcome: BlackjackOutcome) -> None:
    hand = play(stacked("6H 5H", "TC 6S", "KD 5D"), HIT, rules=house(ties=ties))
    assert hand.of(DealerStood) == [DealerStood(21)]
    assert hand.outcome is outcome


# twenty_one_beats


@pytest.mark.parametrize("ties", ["dealer", "push"])
def test_a_21_beats_the_dealer_s_21_where_the_house_says_so(ties: str) -> None:
    rules = house(ties=ties, twenty_one_beats="all totals")
    hand = play(stacked("6H 5H", "TC 6S", "KD 5D"), HIT, rules=rules)
    assert hand.of(DealerStood) == [DealerStood(21)]
    assert hand.outcome is BlackjackOutcome.TWENTY_ONE
    assert hand.moved == (0, STAKE, 2 * STAKE)
    doubled = play(stacked("6H 5H", "TC 6S", "KD 5D"), DOUBLE, rules=rules)
    assert doubled.moved == (0, 2 * STAKE, 2 * STAKE)


def test_no_other_count_beats_its_equal() -> None:
    rules = house(twenty_one_beats="all totals")
    assert play(stacked("TH 8H", "TC 8S"), STAY, rules=rules).outcome is BlackjackOutcome.LOSE


def test_a_charlie_of_the_dealer_still_beats_21() -> None:
    rules = house(twenty_one_beats="all totals")
    hand = play(stacked("6H 5H", "2C 2S", "KD 2D 3D 4D"), HIT, rules=rules)
    assert hand.outcome is BlackjackOutcome.DEALER_CHARLIE


def test_a_push_returns_a_doubled_bet_whole() -> None:
    hand = play(stacked("6H 5H", "TC 7S", "6D"), DOUBLE, rules=house(ties="push"))
    assert hand.moved == (0, 2 * STAKE, 0)


# insurance_rounding


def test_insurance_is_exactly_half_even_of_an_odd_number_of_coins() -> None:
    offer = play(stacked("9H 8H", "AS 6S"), stakes=(900,))
    assert offer.of(InsuranceOffered) == [InsuranceOffered(0, 450)]


def test_insurance_may_be_rounded_down_to_whole_coins() -> None:
    rules = house(insurance_rounding="down", insurance_unit=300)
    offer = play(stacked("9H 8H", "AS 6S"), stakes=(900,), rules=rules)
    assert offer.of(InsuranceOffered) == [InsuranceOffered(0, 300)]
    assert offer.round.amount(INSURE) == 300


def test_insurance_of_nothing_is_not_offered() -> None:
    rules = house(insurance_rounding="down", insurance_unit=300)
    deal = play(stacked("9H 8H", "AS 6S"), stakes=(300,), rules=rules)
    assert deal.round.phase is BlackjackPhase.PLAY
    assert deal.of(InsuranceOffered) == []


def test_a_stake_without_an_exact_half_is_refused() -> None:
    with pytest.raises(ValueError, match="it must be even, is 5"):
        play(stacked("9H 8H", "AS 6S"), stakes=(5,))


def test_an_odd_stake_is_played_where_no_half_is_ever_needed() -> None:
    rules = house(insurance_rounding="down")
    assert play(stacked("TH 9H", "TC 8S"), STAY, stakes=(5,), rules=rules).moved == (0, 5, 5)
    assert play(stacked("TH 9H", "TC 8S"), STAY, stakes=(1,), rules=rules).moved == (0, 1, 1)


@pytest.mark.parametrize("key", ["win_pays", "natural_pays", "twenty_one_pays", "charlie_pays"])
def test_a_payment_of_halves_needs_an_even_stake(key: str) -> None:
    rules = house(insurance_rounding="down", **{key: 2.5})
    assert rules.refused_stake(5) is not None
    assert rules.refused_stake(6) is None


@pytest.mark.parametrize("stake", [0, -600])
def test_a_stake_is_more_than_nothing(stake: int) -> None:
    with pytest.raises(ValueError, match="must be more than 0"):
        play(stacked("9H 8H", "AS 6S"), stakes=(stake,))


# peek_under_ace


def test_the_dealer_looks_under_an_ace_before_the_hand_is_played() -> None:
    hand = play(stacked("9H 8H", "AS KS"), DECLINE)
    assert hand.of(InsuranceDeclined) == [InsuranceDeclined(0)]
    assert hand.of(Peeked) == [Peeked(natural=True)]
    assert hand.outcome is BlackjackOutcome.DEALER_NATURAL


NO_PEEK = house(peek_under_ace=False)


def test_without_the_look_a_natural_under_an_ace_shows_at_the_dealers_turn() -> None:
    hand = play(stacked("6H 5H", "AS KS", "9C"), INSURE, DOUBLE, rules=NO_PEEK)
    assert hand.of(Peeked) == []
    assert hand.insurance == InsuranceSettled(0, lost=0, returned=300, won=600)
    assert hand.moved == (2 * STAKE, 0, 0)
    assert hand.outcome is BlackjackOutcome.DEALER_NATURAL
    assert hand.events[-4:-2] == (BlackjackRevealed(hand.round.dealer_hand[1]), DealerNatural())


def test_without_the_look_even_21_loses_to_the_natural() -> None:
    hand = play(stacked("6H 5H", "AS KS", "KC"), DECLINE, HIT, rules=NO_PEEK)
    assert hand.outcome is BlackjackOutcome.DEALER_NATURAL


def test_without_the_look_insurance_waits_until_the_dealer_turns_over() -> None:
    hand = play(stacked("9H 9D", "AS 6S"), INSURE, rules=NO_PEEK)
    assert hand.of(InsuranceSettled) == []
    hand = play(stacked("9H 9D", "AS 6S"), INSURE, STAY, rules=NO_PEEK)
    assert hand.insurance == InsuranceSettled(0, lost=300, returned=0, won=0)
    assert hand.outcome is BlackjackOutcome.WIN


@pytest.mark.parametrize(("hole", "won"), [("KS", 600), ("6S", 0)])
def test_without_the_look_a_bust_still_has_its_insurance_settled(hole: str, won: int) -> None:
    hand = play(stacked("TH 6H", f"AS {hole}", "9C"), INSURE, HIT, rules=NO_PEEK)
    assert hand.outcome is BlackjackOutcome.BUST
    assert hand.insurance.won == won
    assert hand.of(BlackjackRevealed) == [BlackjackRevealed(hand.round.dealer_hand[1])]
    assert hand.round.cards_used == 5


def test_without_insurance_a_bust_leaves_the_hole_card_down() -> None:
    hand = play(stacked("TH 6H", "AS KS", "9C"), DECLINE, HIT, rules=NO_PEEK)
    assert hand.round.dealer == ("AS", None)


@pytest.mark.parametrize(
    ("hole", "outcome"), [("KS", BlackjackOutcome.PUSH), ("6S", BlackjackOutcome.NATURAL)]
)
def test_without_the_look_a_players_natural_makes_the_dealer_turn_over(
    hole: str, outcome: BlackjackOutcome
) -> None:
    hand = play(stacked("AH KH", f"AS {hole}", "2C"), DECLINE, rules=NO_PEEK)
    assert hand.outcome is outcome
    assert hand.round.cards_used == 4


def test_without_the_look_a_charlie_is_paid_before_a_natural_is_seen() -> None:
    hand = play(stacked("2H 3H", "AS KS", "2C 4D 5C"), DECLINE, *CHARLIE, rules=NO_PEEK)
    assert hand.outcome is BlackjackOutcome.CHARLIE


# insurance_on_natural


def test_a_natural_is_offered_insurance_too() -> None:
    assert play(stacked("AH KH", "AS KS")).round.legal() == (INSURE, DECLINE)
    hand = play(stacked("AH KH", "AS KS"), INSURE)
    assert hand.outcome is BlackjackOutcome.PUSH
    assert hand.insurance.won == STAKE
    lost = play(stacked("AH KH", "AS 6S"), INSURE)
    assert lost.outcome is BlackjackOutcome.NATURAL
    assert lost.insurance.lost == STAKE // 2


@pytest.mark.parametrize(
    ("hole", "outcome"), [("KS", BlackjackOutcome.PUSH), ("6S", BlackjackOutcome.NATURAL)]
)
def test_or_a_natural_is_not_asked(hole: str, outcome: BlackjackOutcome) -> None:
    hand = play(stacked("AH KH", f"AS {hole}"), rules=house(insurance_on_natural=False))
    assert hand.of(InsuranceOffered) == []
    assert hand.outcome is outcome


# hit_on_21


def test_21_stands_by_itself() -> None:
    hand = play(stacked("6H 5H", "TC 7S", "KD"), HIT)
    assert hand.of(TwentyOne) == [TwentyOne(0, 0)]
    assert hand.outcome is BlackjackOutcome.TWENTY_ONE


def test_or_a_caller_may_draw_at_21_and_bust() -> None:
    rules = house(hit_on_21=True)
    at_21 = play(stacked("6H 5H", "TC 7S", "KD 2D"), HIT, rules=rules)
    assert at_21.round.legal() == (HIT, STAY)
    assert play(stacked("6H 5H", "TC 7S", "KD 2D"), HIT, STAY, rules=rules).outcome is (
        BlackjackOutcome.TWENTY_ONE
    )
    assert (
        play(stacked("6H 5H", "TC 7S", "KD 2D"), HIT, HIT, rules=rules).outcome
        is BlackjackOutcome.BUST
    )


def test_a_doubled_or_complete_21_is_not_asked_for_more() -> None:
    rules = house(hit_on_21=True)
    assert play(stacked("6H 5H", "TC 7S", "KD"), DOUBLE, rules=rules).round.over
    assert play(stacked("2H 3H", "TC 7S", "2C 4D TH"), *CHARLIE, rules=rules).round.over


def test_a_natural_is_not_drawn_to_even_where_21_is() -> None:
    rules = house(hit_on_21=True, natural_paid="after dealer")
    assert play(stacked("AH KH", "TC 7S"), rules=rules).outcome is BlackjackOutcome.NATURAL


# natural_paid, charlie_paid, twenty_one_paid


def test_a_natural_may_wait_for_the_dealers_turn() -> None:
    rules = house(natural_paid="after dealer")
    hand = play(stacked("AH KH", "TC 6S", "5D"), rules=rules)
    assert hand.of(DealerDealt)[-1] == DealerDealt(hand.round.dealer_hand[2])
    assert hand.of(DealerStood) == [DealerStood(21)]
    assert hand.outcome is BlackjackOutcome.NATURAL


def test_a_natural_that_waits_loses_to_a_dealers_charlie() -> None:
    rules = house(natural_paid="after dealer")
    hand = play(stacked("AH KH", "2C 3S", "2D 4H 3D"), rules=rules)
    assert hand.outcome is BlackjackOutcome.DEALER_CHARLIE


def test_a_charlie_is_paid_before_the_dealer_plays() -> None:
    hand = play(stacked("2H 3H", "2C 3S", "2D 4H 3D 2S 4C 3C"), *CHARLIE)
    assert hand.outcome is BlackjackOutcome.CHARLIE
    assert hand.round.dealer == ("2C", None)


@pytest.mark.parametrize(
    ("drawn", "outcome"),
    [("2S 4C 3C", BlackjackOutcome.DEALER_CHARLIE), ("TS 6C", BlackjackOutcome.CHARLIE)],
)
def test_or_a_charlie_waits_and_only_a_dealers_charlie_beats_it(
    drawn: str, outcome: BlackjackOutcome
) -> None:
    rules = house(charlie_paid="after dealer")
    hand = play(stacked("2H 3H", "2C 3S", f"2D 4H 3D {drawn}"), *CHARLIE, rules=rules)
    assert hand.outcome is outcome


def test_a_charlie_that_waits_loses_to_a_natural_that_nobody_looked_for() -> None:
    rules = house(charlie_paid="after dealer", peek_under_ace=False)
    hand = play(stacked("2H 3H", "AS KS", "2C 4D 5C"), DECLINE, *CHARLIE, rules=rules)
    assert hand.outcome is BlackjackOutcome.DEALER_NATURAL


def test_21_waits_for_the_dealer() -> None:
    hand = play(stacked("6H 5H", "TC 6S", "KD 5D"), HIT)
    assert hand.outcome is BlackjackOutcome.LOSE


def test_or_21_is_paid_at_once() -> None:
    rules = house(twenty_one_paid="at once")
    hand = play(stacked("6H 5H", "TC 6S", "KD 5D"), HIT, rules=rules)
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.TWENTY_ONE, (0, STAKE, 2 * STAKE))
    assert hand.of(BlackjackRevealed) == []


def test_a_doubled_21_waits_even_where_21_is_paid_at_once() -> None:
    rules = house(twenty_one_paid="at once")
    hand = play(stacked("6H 5H", "TC 6S", "KD 5D"), DOUBLE, rules=rules)
    assert hand.outcome is BlackjackOutcome.LOSE


# five_card_21


FIVE_21 = stacked("2H 3H", "TC 7S", "2C 4D TH")


def test_five_cards_that_make_21_are_a_21() -> None:
    hand = play(FIVE_21, *CHARLIE)
    assert hand.of(Charlie) == []
    assert hand.outcome is BlackjackOutcome.TWENTY_ONE
    assert hand.of(BlackjackRevealed) != []


def test_or_five_cards_that_make_21_are_a_charlie() -> None:
    hand = play(FIVE_21, *CHARLIE, rules=house(five_card_21="charlie"))
    assert hand.of(Charlie) == [Charlie(0, 0, 21)]
    assert hand.outcome is BlackjackOutcome.CHARLIE
    assert hand.of(BlackjackRevealed) == []


@pytest.mark.parametrize(
    ("five", "outcome"),
    [("twenty-one", BlackjackOutcome.PUSH), ("charlie", BlackjackOutcome.DEALER_CHARLIE)],
)
def test_the_same_word_holds_for_the_dealers_five_cards(
    five: str, outcome: BlackjackOutcome
) -> None:
    rules = house(five_card_21=five, ties="push")
    hand = play(stacked("6H 5H", "2C 3S", "KD 2D 4H TS"), HIT, rules=rules)
    assert hand.outcome is outcome


# dealer_over


def test_a_dealer_who_goes_over_loses_to_every_hand_still_standing() -> None:
    cards, over = DEALER_OVER
    hand = play(stacked("2H 3H", cards, over), STAY)
    assert hand.of(DealerBusted) == [DealerBusted(25)]
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.WIN, (0, STAKE, STAKE))


def test_or_a_dealer_who_goes_over_gives_the_bets_back() -> None:
    cards, over = DEALER_OVER
    hand = play(stacked("2H 3H", cards, over), STAY, rules=house(dealer_over="push"))
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.PUSH, (0, STAKE, 0))


def test_21_is_paid_whatever_a_dealer_does_who_goes_over() -> None:
    cards, over = DEALER_OVER
    hand = play(stacked("6H 5H", cards, f"KD {over}"), HIT, rules=house(dealer_over="push"))
    assert (hand.outcome, hand.moved) == (BlackjackOutcome.TWENTY_ONE, (0, STAKE, 2 * STAKE))


# what is paid


@pytest.mark.parametrize(
    ("key", "pays", "shoe", "actions", "staked", "won"),
    [
        ("natural_pays", 2.5, stacked("AH KH", "TS 6S"), (), 600, 900),
        ("natural_pays", 5, stacked("AH KH", "TS 6S"), (), 600, 2400),
        ("twenty_one_pays", 2, stacked("6H 5H", "TC 7S", "KD"), (HIT,), 600, 600),
        ("charlie_pays", 4, stacked("2H 3H", "TC 7S", "2C 4D 5C"), CHARLIE, 600, 1800),
        ("win_pays", 1.5, stacked("TH 9H", "TC 8S"), (STAY,), 600, 300),
        ("win_pays", 3, stacked("6H 5H", "TC 7S", "8D"), (DOUBLE,), 1200, 2400),
        ("win_pays", 1, stacked("TH 9H", "TC 8S"), (STAY,), 600, 0),
        ("doubled_21_pays", 3, stacked("6H 5H", "TC 7S", "KD"), (DOUBLE,), 1200, 2400),
    ],
)
def test_a_house_may_pay_otherwise(key, pays, shoe, actions, staked, won) -> None:
    hand = play(shoe, *actions, rules=house(**{key: pays}))
    assert hand.moved == (0, staked, won)


def test_a_house_may_pay_insurance_otherwise() -> None:
    hand = play(stacked("9H 8H", "AS KS"), INSURE, rules=house(insurance_pays=3))
    assert hand.insurance == InsuranceSettled(0, lost=0, returned=300, won=900)


def test_totals_add_up_hands_and_insurance() -> None:
    hand = play(stacked("6H 5H", "AS 6S", "8D"), INSURE, DOUBLE)
    totals = hand.round.totals
    assert (totals.staked, totals.lost, totals.returned, totals.won) == (1500, 300, 1200, 1200)
    assert hand.of(BlackjackSettled) == [hand.settled]


# decks, shuffle, penetration


def test_a_deck_for_every_hand_is_shuffled_as_soon_as_a_card_is_gone() -> None:
    assert not BLACK_JACK_FOR_TIME.shuffle_due(0, seats=1)
    assert BLACK_JACK_FOR_TIME.shuffle_due(1, seats=1)


def test_a_shoe_that_runs_on_is_shuffled_at_its_penetration() -> None:
    rules = house(shuffle="shoe", decks=8, penetration=75)
    assert not rules.shuffle_due(311, seats=1)
    assert rules.shuffle_due(312, seats=1)


def test_a_shoe_is_shuffled_when_a_hand_might_not_be_finished_from_it() -> None:
    rules = house(shuffle="shoe", penetration=100)
    assert not rules.shuffle_due(42, seats=1)
    assert rules.shuffle_due(43, seats=1)


def test_presets_hold_exact_numbers() -> None:
    assert BLACK_JACK_FOR_TIME.natural_pays == Fraction(3)
    assert house(natural_pays=2.5).natural_pays == Fraction(5, 2)
