"""Every sentence that can be read in two ways, both ways, and every payment a house may change.

`test_help_file` has the sentences as Black Jack For Time reads them.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from door.games.blackjack.events import (
    BlackjackRevealed,
    DealerNatural,
    InsuranceOffered,
    InsuranceSettled,
    Peeked,
)
from door.games.blackjack.round import BlackjackPhase, Turn
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS
from door.games.engine.cards import Card, parse_cards
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    SPLIT,
    STAKE,
    STAY,
    Played,
    house,
    play,
    stacked,
)

CHARLIE = (HIT, HIT, HIT)
NO_PEEK = {"peek_under_ace": False}
UNASKED = {"insurance_on_natural": False}
HIT_21 = {"hit_on_21": True}
LATE_CHARLIE = {"charlie_paid": "after dealer"}
LATE_NATURAL = {"natural_paid": "after dealer"}
BEATS_ALL = {"twenty_one_beats": "all totals"}
AT_ONCE = {"twenty_one_paid": "at once"}
FIVE = {"five_card_21": "charlie"}
PUSHES = {"ties": "push"}
OVER_PUSHES = {"dealer_over": "push"}
BOTH_21 = "6H 5H, TC 6S, KD 5D"  # a card each makes them 21
FIVE_21 = "2H 3H, TC 7S, 2C 4D TH"
SHORT_CHARLIE = "2H 3H, AS KS, 2C 4D 5C"
KEYS = {"H": HIT, "S": STAY, "D": DOUBLE, "N": DECLINE}

# The house's reading, the caller's and the dealer's cards with those to come, the actions, the
# outcome, and the payout in bets.
READ_OTHERWISE = {
    "equal counts push": (PUSHES, "TH 8H, TC 8S", "S", "push", 0),
    "two counts of 21 are equal": ({}, BOTH_21, "H", "lose", -1),
    "two counts of 21 push": (PUSHES, BOTH_21, "H", "push", 0),
    "a push returns a doubled bet": (PUSHES, "6H 5H, TC 7S, 6D", "D", "push", 0),
    "21 beats 21": (BEATS_ALL, BOTH_21, "H", "twenty-one", 2),
    "21 beats 21 where ties push": (BEATS_ALL | PUSHES, BOTH_21, "H", "twenty-one", 2),
    "a doubled 21 beats 21": (BEATS_ALL, BOTH_21, "D", "twenty-one", 2),
    "no other count beats its equal": (BEATS_ALL, "TH 8H, TC 8S", "S", "lose", -1),
    "21 beats no Charlie": (BEATS_ALL, "6H 5H, 2C 2S, KD 2D 3D 4D", "H", "dealer-charlie", -1),
    "an unseen natural beats 21": (NO_PEEK, "6H 5H, AS KS, KC", "NH", "dealer-natural", -1),
    "an unseen natural pushes a natural": (NO_PEEK, "AH KH, AS KS", "N", "push", 0),
    "a natural against an unseen card": (NO_PEEK, "AH KH, AS 6S", "N", "natural", 2),
    "a Charlie comes before a natural": (NO_PEEK, SHORT_CHARLIE, "NHHH", "charlie", 2),
    "a Charlie waits for a natural": (
        NO_PEEK | LATE_CHARLIE,
        SHORT_CHARLIE,
        "NHHH",
        "dealer-natural",
        -1,
    ),
    "a natural is not asked": (UNASKED, "AH KH, AS KS", "", "push", 0),
    "a natural that is not asked wins": (UNASKED, "AH KH, AS 6S", "", "natural", 2),
    "21 may be stayed on": (HIT_21, "6H 5H, TC 7S, KD", "HS", "twenty-one", 2),
    "21 may be drawn to": (HIT_21, "6H 5H, TC 7S, KD 2D", "HH", "bust", -1),
    "a doubled 21 is not asked": (HIT_21, "6H 5H, TC 7S, KD", "D", "twenty-one", 2),
    "21 in five cards is not asked": (HIT_21, FIVE_21, "HHH", "twenty-one", 2),
    "a natural is no 21 to draw to": (HIT_21 | LATE_NATURAL, "AH KH, TC 7S", "", "natural", 2),
    "a natural waits and beats 21": (LATE_NATURAL, "AH KH, TC 6S, 5D", "", "natural", 2),
    "a natural waits for a Charlie": (
        LATE_NATURAL,
        "AH KH, 2C 3S, 2D 4H 3D",
        "",
        "dealer-charlie",
        -1,
    ),
    "a Charlie waits and wins": (LATE_CHARLIE, "2H 3H, 2C 3S, 2D 4H 3D TS 6C", "HHH", "charlie", 2),
    "a Charlie loses to a Charlie": (
        LATE_CHARLIE,
        "2H 3H, 2C 3S, 2D 4H 3D 2S 4C 3C",
        "HHH",
        "dealer-charlie",
        -1,
    ),
    "21 is paid at once": (AT_ONCE, BOTH_21, "H", "twenty-one", 2),
    "a doubled 21 is not paid at once": (AT_ONCE, BOTH_21, "D", "lose", -2),
    "five cards are a 21": ({}, FIVE_21, "HHH", "twenty-one", 2),
    "five cards are a Charlie": (FIVE, FIVE_21, "HHH", "charlie", 2),
    "the dealer's five are a 21": (PUSHES, "6H 5H, 2C 3S, KD 2D 4H TS", "H", "push", 0),
    "the dealer's five are a Charlie": (
        FIVE | PUSHES,
        "6H 5H, 2C 3S, KD 2D 4H TS",
        "H",
        "dealer-charlie",
        -1,
    ),
    "a dealer who goes over loses": ({}, "2H 3H, TC 6S, 9D", "S", "win", 1),
    "a dealer who goes over pushes": (OVER_PUSHES, "2H 3H, TC 6S, 9D", "S", "push", 0),
    "a dealer who goes over pays 21": (OVER_PUSHES, "6H 5H, TC 6S, KD 9D", "H", "twenty-one", 2),
}


def dealt(cards: str) -> tuple[Card, ...]:
    return stacked(*cards.split(", "))


@pytest.mark.parametrize(
    ("keys", "cards", "does", "outcome", "won"), READ_OTHERWISE.values(), ids=READ_OTHERWISE
)
def test_a_sentence_may_be_read_otherwise(
    keys: dict[str, object], cards: str, does: str, outcome: str, won: int
) -> None:
    hand = play(dealt(cards), *map(KEYS.get, does), rules=house(**keys))
    assert (hand.outcome, hand.net) == (outcome, won * STAKE)


def paid_at_once(hand: Played) -> bool:
    """Whether the dealer's hole card stayed face down."""
    return hand.of(BlackjackRevealed) == []


def test_immediate_payments_come_before_the_hole_card_is_turned() -> None:
    assert paid_at_once(play(dealt(BOTH_21), HIT, rules=house(**AT_ONCE)))
    assert paid_at_once(play(dealt(FIVE_21), *CHARLIE, rules=house(five_card_21="charlie")))
    assert not paid_at_once(play(dealt(FIVE_21), *CHARLIE))
    assert not paid_at_once(play(stacked("AH KH", "TC 6S", "5D"), rules=house(**LATE_NATURAL)))
    bust = play(stacked("TH 6H", "AS KS", "9C"), DECLINE, HIT, rules=house(**NO_PEEK))
    assert paid_at_once(bust)


# Insurance


def test_insurance_is_exactly_half_even_of_an_odd_number_of_coins() -> None:
    offer = play(stacked("9H 8H", "AS 6S"), stakes=(900,))
    assert offer.of(InsuranceOffered) == [InsuranceOffered(0, 450)]


def test_insurance_rounds_down_to_whole_coins_and_zero_is_not_offered() -> None:
    rules = house(insurance_rounding="down", insurance_unit=300)
    offer = play(stacked("9H 8H", "AS 6S"), stakes=(900,), rules=rules)
    assert offer.of(InsuranceOffered) == [InsuranceOffered(0, 300)]
    assert offer.round.amount(INSURE) == 300
    deal = play(stacked("9H 8H", "AS 6S"), stakes=(300,), rules=rules)
    assert deal.round.phase is BlackjackPhase.PLAY
    assert deal.of(InsuranceOffered) == []


def test_without_the_look_a_natural_under_an_ace_shows_at_the_dealers_turn() -> None:
    hand = play(stacked("6H 5H", "AS KS", "9C"), INSURE, DOUBLE, rules=house(**NO_PEEK))
    assert hand.of(Peeked) == []
    assert hand.insurance == InsuranceSettled(0, lost=0, returned=300, won=600)
    assert hand.moved == (2 * STAKE, 0, 0)
    assert hand.events[-4:-2] == (BlackjackRevealed(hand.round.dealer_hand[1]), DealerNatural())


def test_without_the_look_insurance_waits_until_the_dealer_turns_over() -> None:
    hand = play(stacked("9H 9D", "AS 6S"), INSURE, rules=house(**NO_PEEK))
    assert hand.of(InsuranceSettled) == []
    hand = play(stacked("9H 9D", "AS 6S"), INSURE, STAY, rules=house(**NO_PEEK))
    assert hand.insurance == InsuranceSettled(0, lost=300, returned=0, won=0)


@pytest.mark.parametrize(("hole", "won"), [("KS", 600), ("6S", 0)])
def test_without_the_look_a_bust_still_has_its_insurance_settled(hole: str, won: int) -> None:
    hand = play(stacked("TH 6H", f"AS {hole}", "9C"), INSURE, HIT, rules=house(**NO_PEEK))
    assert hand.outcome == "bust"
    assert hand.insurance.won == won
    assert hand.of(BlackjackRevealed) == [BlackjackRevealed(hand.round.dealer_hand[1])]
    assert hand.round.cards_used == 5


@pytest.mark.parametrize(("hole", "net"), [("KS", STAKE), ("6S", 2 * STAKE - STAKE // 2)])
def test_a_natural_is_offered_insurance_too(hole: str, net: int) -> None:
    assert play(stacked("AH KH", f"AS {hole}")).round.legal() == (INSURE, DECLINE)
    assert play(stacked("AH KH", f"AS {hole}"), INSURE).net == net


# Payouts and their stakes


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
    totals = play(stacked("6H 5H", "AS 6S", "8D"), INSURE, DOUBLE).round.totals
    assert (totals.staked, totals.lost, totals.returned, totals.won) == (1500, 300, 1200, 1200)


def test_presets_hold_exact_numbers() -> None:
    assert BLACK_JACK_FOR_TIME.natural_pays == Fraction(3)
    assert house(natural_pays=2.5).natural_pays == Fraction(5, 2)


@pytest.mark.parametrize(("stake", "why"), [(0, "more than 0"), (-600, "more than 0"), (5, "even")])
def test_a_stake_that_cannot_be_is_refused_at_every_seat(stake: int, why: str) -> None:
    for stakes in ((stake,), (2, stake)):
        with pytest.raises(ValueError, match=f"must be {why}"):
            play(parse_cards("2H 3H 4H 5H 6H 7H"), stakes=stakes)


@pytest.mark.parametrize("key", ["win_pays", "natural_pays", "twenty_one_pays", "charlie_pays"])
def test_a_payment_of_halves_needs_an_even_stake(key: str) -> None:
    whole = house(insurance_rounding="down")
    assert play(stacked("TH 9H", "TC 8S"), STAY, stakes=(5,), rules=whole).moved == (0, 5, 5)
    rules = house(insurance_rounding="down", **{key: 2.5})
    assert rules.refused_stake(5) is not None
    assert rules.refused_stake(6) is None


def test_a_charlie_that_cannot_be_made_needs_no_half() -> None:
    rules = replace(VEGAS, natural_pays=Fraction(3), charlie_pays=Fraction(5, 2))
    assert rules.refused_stake(5) is None
    assert replace(rules, charlie=True).refused_stake(5) is not None


# Several seats, as only Vegas has them, under other rules than those of Vegas


def test_a_table_has_one_to_seven_seats() -> None:
    for stakes in ((), (2,) * 8):
        with pytest.raises(ValueError, match=f"1 to 7 seats, not {len(stakes)}"):
            play(parse_cards("2H 3H 4H 5H"), stakes=stakes)


def test_without_a_peek_a_natural_waits_for_the_other_seats() -> None:
    shoe = parse_cards("AH 3H AD KH 9D 6H 6C")
    table = play(shoe, DECLINE, DECLINE, HIT, rules=house(**NO_PEEK), stakes=(20, 40))
    assert table.round.turn == Turn(1, 0)
    assert table.round.outcomes == ()
    assert table.round.apply(STAY)[0].outcomes == ("natural", "win")


def test_21_after_a_split_may_be_drawn_to_where_21_is_but_not_doubled() -> None:
    rules = replace(house(hit_on_21=True), split="once")
    table = play(stacked("AH AD", "7S TS", "KC 5C"), SPLIT, rules=rules)
    assert table.round.turn == Turn(0, 0)
    assert table.round.legal() == (HIT, STAY)


# The shoe


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


def test_without_charlies_a_hand_may_be_as_long_as_21_aces_and_one_card_more() -> None:
    shoe = parse_cards("7H TC " + "AH " * 21 + "2C")
    hand = play(shoe, *[HIT] * 20, rules=UNIX_BJ)
    assert len(hand.cards.split()) == 22
    assert hand.round.outcomes == ("bust",)
    assert UNIX_BJ.most_cards(1) == 3 * 22
    assert VEGAS.most_cards(7) == 15 * 22
    assert BLACK_JACK_FOR_TIME.most_cards(7) == 40
