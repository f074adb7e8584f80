"""The Vegas table: the text of NEXTVegas sentence by sentence, and this house's options.

Splitting and doubling are in `test_vegas_two_bets`. Bets, bells and turns of callers at one table
are tested in tests/door.
"""

import pytest

from door.games.blackjack.events import (
    BlackjackDealt,
    BlackjackNatural,
    BlackjackOutcome,
    BlackjackRevealed,
    BlackjackSettled,
    BlackjackStood,
    Busted,
    DealerBusted,
    DealerDealt,
    DealerNatural,
    DealerStood,
    InsuranceBought,
    InsuranceOffered,
    InsuranceSettled,
    TwentyOne,
)
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, Turn, start
from door.games.blackjack.rules import VEGAS
from door.games.engine.cards import deck, parse_card, parse_cards
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
    vegas,
)


def seats(cards: str, *actions, stakes=(20, 40)):
    return play(parse_cards(cards), *actions, rules=VEGAS, stakes=stakes)


# Flow of the game: the deal


def test_every_player_and_the_dealer_are_dealt_two_cards() -> None:
    table = seats("2H 3H 4H 5H 6H 7H")
    assert [seat.hands[0].cards for seat in table.round.seats] == [("2H", "5H"), ("3H", "6H")]
    assert table.round.dealer_hand == ("4H", "7H")


def test_player_cards_are_face_up_and_one_of_the_dealers_is_face_down() -> None:
    table = seats("2H 3H 4H 5H 6H 7H")
    assert len(table.of(BlackjackDealt)) == 4
    assert table.of(DealerDealt) == [DealerDealt(parse_card("4H")), DealerDealt(None)]
    assert table.round.dealer == ("4H", None)


@pytest.mark.parametrize("hole", ["TS", "JS", "QS", "KS"])
def test_if_the_dealer_has_black_jack_all_players_lose_their_wager(hole: str) -> None:
    table = seats(f"9H 8H AD 9C 8C {hole}", DECLINE, DECLINE)
    assert table.round.outcomes == (
        BlackjackOutcome.DEALER_NATURAL,
        BlackjackOutcome.DEALER_NATURAL,
    )
    assert [table.round.totals_of(seat).lost for seat in (0, 1)] == [20, 40]


def test_unless_they_also_have_it_in_which_case_it_is_a_push() -> None:
    table = seats("AH 8H KD KC 8C AS")
    assert table.round.outcomes == (BlackjackOutcome.PUSH, BlackjackOutcome.DEALER_NATURAL)
    assert table.round.totals_of(0).returned == 20


@pytest.mark.parametrize("up", ["TD", "JD", "QD", "KD"])
def test_a_dealers_natural_ends_the_round_before_play_ten_up_too(up: str) -> None:
    table = seats(f"8H 5H {up} 8C 6C AS")
    assert table.round.over
    assert table.of(DealerNatural) == [DealerNatural()]
    assert table.round.cards_used == 6


# Flow of the game: the players' turns


def test_black_jack_takes_no_more_cards() -> None:
    table = vegas("AH KH", "9D 8S", "")
    assert table.of(BlackjackNatural) == [BlackjackNatural(0, 0)]
    assert not table.asked


def test_no_card_is_offered_on_21() -> None:
    hand = vegas("6H 5H", "TC 7S", "KD", HIT)
    assert hand.of(TwentyOne) == [TwentyOne(0, 0)]
    assert hand.round.over


def test_a_player_under_21_may_draw_until_satisfied_or_bust() -> None:
    low = vegas("2H 3H", "TC 7S", "2D 2C 3D 3C 2S AD AC AS", *[HIT] * 8)
    assert low.round.legal() == (HIT, STAY)
    assert low.round.hand is not None
    assert low.round.hand.count == (20, False)
    assert low.round.apply(STAY)[0].outcomes == (BlackjackOutcome.WIN,)


def test_five_cards_are_no_charlie() -> None:
    hand = vegas("2H 3H", "2C 3S", "2D 2S 3D 5C 4C AD 3C", *[HIT] * 3, STAY)
    assert len(hand.round.dealer) > 5
    assert hand.round.outcomes == (BlackjackOutcome.LOSE,)


def test_a_bust_loses_the_bet_and_control_goes_to_the_next_player() -> None:
    table = seats("KH 8H 9D 6H 7H TC 9C", HIT)
    assert table.of(Busted) == [Busted(0, 0, 25)]
    assert table.round.totals_of(0).lost == 20
    assert table.round.turn == Turn(1, 0)


def test_a_player_who_is_satisfied_stands() -> None:
    table = seats("KH 8H 9D 6H 7H TC 9C", STAY)
    assert table.of(BlackjackStood) == [BlackjackStood(0, 0, 16)]
    assert table.round.turn == Turn(1, 0)


# Flow of the game: the dealer's turn


def test_after_all_players_the_dealer_flips_over_the_face_down_card() -> None:
    waiting = seats("KH 8H 9D 9H KC 8C", STAY)
    assert waiting.of(BlackjackRevealed) == []
    done = seats("KH 8H 9D 9H KC 8C", STAY, STAY)
    assert done.of(BlackjackRevealed) == [BlackjackRevealed(parse_card("8C"))]


def test_the_dealer_stands_on_17_unless_the_house_says_otherwise() -> None:
    assert VEGAS.dealer == "stand 17"
    assert vegas("KH 9H", "AD 6S", "2C", DECLINE, STAY).of(DealerStood) == [DealerStood(17)]


HIT_SOFT = {"dealer": "hit soft 17"}
HIT_ALL = {"dealer": "hit 17"}


def test_a_dealer_who_must_hit_all_17s_draws_to_more_than_17() -> None:
    hand = vegas("KH 9H", "TD 7S", "AC", STAY, **HIT_ALL)
    assert hand.of(DealerStood) == [DealerStood(18)]
    soft = vegas("KH 9H", "6D AS", "TC 2S", STAY, **HIT_ALL)
    assert soft.round.dealer == ("6D", "AS", "TC", "2S")
    assert soft.of(DealerStood) == [DealerStood(19)]


def test_a_dealer_who_must_hit_all_17s_may_bust_on_one() -> None:
    assert vegas("KH 9H", "TD 7S", "5C", STAY, **HIT_ALL).of(DealerBusted) == [DealerBusted(22)]


def test_a_dealer_who_must_hit_soft_17_hits_it() -> None:
    hand = vegas("KH 9H", "6D AS", "4C", STAY, **HIT_SOFT)
    assert hand.of(DealerStood) == [DealerStood(21)]
    three = vegas("KH 9H", "3D 3S", "AC 2S", STAY, **HIT_SOFT)
    assert three.of(DealerStood) == [DealerStood(19)]


def test_an_ace_in_17_is_hit_however_it_counts_on_a_house_option() -> None:
    keys = {"dealer": "hit 17 with an ace"}
    hard = vegas("KH 9H", "AD 6S", "TC 3S", DECLINE, STAY, **keys)
    assert hard.of(DealerStood) == [DealerStood(20)]
    assert vegas("KH 9H", "TD 7S", "4C", STAY, **keys).of(DealerStood) == [DealerStood(17)]
    soft = vegas("KH 9H", "6D AS", "4C", STAY, **keys)
    assert soft.of(DealerStood) == [DealerStood(21)]


def test_an_ace_and_a_ten_of_a_split_are_blackjack_where_the_house_says_so() -> None:
    played = vegas("AH AD", "9D 8S", "KC 5C", SPLIT, STAY, split_21="natural")
    assert played.round.outcomes == (BlackjackOutcome.NATURAL, BlackjackOutcome.LOSE)
    plain = vegas("AH AD", "9D 8S", "KC 5C", SPLIT, STAY)
    assert plain.round.outcomes == (BlackjackOutcome.TWENTY_ONE, BlackjackOutcome.LOSE)
    # It loses against no other 21 of the dealer, who need not draw for it.
    beaten = vegas("AH AD", "9D 2S", "KC QC TC", SPLIT, split_21="natural")
    assert beaten.round.outcomes == (BlackjackOutcome.NATURAL,) * 2
    assert beaten.of(DealerStood) == []


def test_then_the_dealer_stands_on_17_without_an_ace_and_on_18_or_more() -> None:
    assert vegas("KH 9H", "TD 7S", "4C", STAY, **HIT_SOFT).of(DealerStood) == [DealerStood(17)]
    assert vegas("KH 9H", "7D AS", "4C", STAY, **HIT_SOFT).of(DealerStood) == [DealerStood(18)]


def test_soft_means_an_ace_counted_as_eleven() -> None:
    hand = vegas("KH 9H", "6D AS", "TC 4C", STAY, **HIT_SOFT)
    assert hand.round.dealer == ("6D", "AS", "TC")
    assert hand.of(DealerStood) == [DealerStood(17)]


def test_the_dealer_does_not_draw_when_every_hand_has_bust_or_is_a_natural() -> None:
    assert vegas("KH 6H", "9D 2S", "9C", HIT).of(BlackjackRevealed) == []
    natural = vegas("AH KH", "9D 2S", "9C")
    assert natural.round.dealer == ("9D", "2S")
    assert natural.round.cards_used == 4


def test_a_natural_is_paid_when_the_round_is_over() -> None:
    table = seats("AH 8H 9D KH KC 8C")
    assert table.of(BlackjackSettled) == []
    done, _ = table.round.apply(STAY)
    assert done.outcomes == (BlackjackOutcome.NATURAL, BlackjackOutcome.WIN)


# Flow of the game: the winner

PAID = {
    "greater wins even money": ("KH 9H, TD 8S", (STAY,), "win", 1),
    "less loses": ("KH 7H, TD 8S", (STAY,), "lose", -1),
    "equal pushes": ("KH 8H, TD 8S", (STAY,), "push", 0),
    "21 in more cards wins even money": ("6H 5H, TD 8S, KD", (HIT,), "twenty-one", 1),
    "two counts of 21 push": ("6H 5H, TD 6S, KD 5D", (HIT,), "push", 0),
    "two black jacks push beside insurance": ("AH KH, AS KS", (INSURE,), "push", 1),
    "who does not insure loses the bet alone": ("9H 7H, AS KS", (DECLINE,), "dealer-natural", -1),
}


@pytest.mark.parametrize(("cards", "does", "outcome", "won"), PAID.values(), ids=PAID)
def test_hands_are_compared_with_the_dealers(
    cards: str, does: tuple[BlackjackAction, ...], outcome: str, won: int
) -> None:
    player, dealer, *rest = cards.split(", ")
    hand = vegas(player, dealer, " ".join(rest), *does)
    assert (hand.outcome, hand.net) == (outcome, won * STAKE)


def test_a_dealer_who_busts_pays_even_money_to_every_player_still_in() -> None:
    table = seats("KH 8H 9D 6H 4H 7C 9C 6C", HIT, STAY)
    assert table.of(DealerBusted) == [DealerBusted(22)]
    assert table.round.outcomes == (BlackjackOutcome.BUST, BlackjackOutcome.WIN)
    assert table.round.totals_of(1).won == 40


def test_black_jack_is_paid_one_and_a_half_times_the_bet() -> None:
    """ "$10 pays $15" """
    assert vegas("AH KH", "9D 8S", "", bet=10).moved == (0, 10, 15)


def test_black_jack_beats_a_21_that_the_dealer_draws() -> None:
    table = seats("AH 8H 9D KH KC 2C TS", STAY)
    assert table.of(DealerStood) == [DealerStood(21)]
    assert table.round.outcomes == (BlackjackOutcome.NATURAL, BlackjackOutcome.LOSE)


def test_an_odd_bet_of_the_smallest_unit_cannot_be_paid_three_to_two() -> None:
    with pytest.raises(ValueError, match="it must be even, is 5"):
        vegas("AH KH", "9D 8S", "", bet=5)


# Insurance


def test_under_an_ace_each_player_in_turn_is_offered_insurance() -> None:
    first = seats("2H 3H AD 6H 7H 9H")
    assert first.round.turn == Turn(0, 0)
    second = seats("2H 3H AD 6H 7H 9H", DECLINE)
    assert second.round.turn == Turn(1, 0)
    assert second.round.phase is BlackjackPhase.INSURANCE
    both = seats("2H 3H AD 6H 7H 9H", DECLINE, INSURE)
    assert both.of(InsuranceOffered) == [InsuranceOffered(0, 10), InsuranceOffered(1, 20)]
    assert both.round.phase is BlackjackPhase.PLAY
    assert both.round.turn == Turn(0, 0)


def test_insurance_is_not_offered_under_a_ten() -> None:
    assert seats("2H 3H KD 6H 7H 9H").of(InsuranceOffered) == []


def test_they_can_bet_up_to_one_half_of_the_regular_bet() -> None:
    offer = vegas("9H 8H", "AS KS", "", bet=20).round
    assert offer.amount(INSURE) == 10
    for amount in (1, 7, 10):
        insured, events = offer.apply(INSURE, amount)
        assert events[0] == InsuranceBought(0, amount)
        assert insured.seats[0].insurance == amount
        assert insured.totals.staked == 20 + amount


def test_and_takes_the_most_when_they_name_no_amount() -> None:
    assert vegas("9H 8H", "AS KS", "", INSURE, bet=20).of(InsuranceBought) == [
        InsuranceBought(0, 10)
    ]


@pytest.mark.parametrize("amount", [11, 0, -1, 20])
def test_they_cannot_bet_more_than_that_nor_nothing(amount: int) -> None:
    offer = vegas("9H 8H", "AS KS", "", bet=20).round
    with pytest.raises(IllegalAction, match=f"insurance is 1 to 10 here, not {amount}"):
        offer.apply(INSURE, amount)
    assert offer.seats[0].insurance is None


@pytest.mark.parametrize("action", [DOUBLE, HIT, STAY])
def test_no_other_decision_takes_an_amount(action) -> None:
    turn = vegas("6H 5H", "9S KS", "2C").round
    with pytest.raises(IllegalAction, match=f"{action} takes no amount here"):
        turn.apply(action, 10)


def test_insurance_is_paid_two_to_one_but_the_regular_bet_is_lost() -> None:
    offer = vegas("9H 8H", "AS KS", "", bet=20).round
    done, events = offer.apply(INSURE, 7)
    assert InsuranceSettled(0, lost=0, returned=7, won=14) in events
    assert done.outcomes == (BlackjackOutcome.DEALER_NATURAL,)
    assert done.totals.won - done.totals.lost == -6


def test_without_a_dealers_black_jack_insurance_is_lost_and_play_goes_on() -> None:
    hand = vegas("9H 7H", "AS 8S", "", INSURE, bet=20)
    assert hand.insurance == InsuranceSettled(0, lost=10, returned=0, won=0)
    assert hand.round.legal() == (DOUBLE, HIT, STAY)


def test_half_of_the_smallest_unit_is_nothing_and_not_offered() -> None:
    table = vegas("9H 7H", "AS 8S", "", bet=1, natural_pays=2)
    assert table.of(InsuranceOffered) == []
    assert table.round.phase is BlackjackPhase.PLAY


def test_a_natural_is_offered_insurance_too_or_not() -> None:
    shoe = ("AH KH", "AS 8S", "")
    assert vegas(*shoe).round.legal() == (INSURE, DECLINE)
    assert vegas(*shoe, insurance_on_natural=False).round.over


# The table


def test_seven_may_sit_down_each_with_a_bet_and_a_result() -> None:
    game, _ = start(VEGAS, deck(1), [2, 4, 6, 8, 10, 12, 14])
    while not game.over:
        game, _ = game.apply(STAY if STAY in game.legal() else DECLINE)
    totals = [game.totals_of(seat) for seat in range(7)]
    assert [total.staked for total in totals] == [2, 4, 6, 8, 10, 12, 14]
    assert sum(total.won for total in totals) == game.totals.won
    assert sum(total.lost for total in totals) == game.totals.lost
    assert [outcome for seat in range(7) for outcome in game.outcomes_of(seat)] == list(
        game.outcomes
    )


def test_the_shoe_is_reshuffled_after_the_round_that_passes_three_quarters() -> None:
    assert (VEGAS.decks, VEGAS.penetration, VEGAS.shuffle) == (6, 75, "shoe")
    assert not VEGAS.shuffle_due(233, seats=7)
    assert VEGAS.shuffle_due(234, seats=7)


def test_a_one_deck_table_shuffles_in_mid_round() -> None:
    one = vegas("2H 3H", "7S TS", "", decks=1).round.rules
    assert not one.shuffle_due(38, seats=7)
    assert one.shuffle_due(39, seats=7)
