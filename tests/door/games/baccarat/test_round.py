"""Baccarat, sentence by sentence of its text, and cell by cell of the bank's table."""

import pytest

from door.games.baccarat.events import (
    BaccaratDealt,
    BaccaratDrew,
    BaccaratNatural,
    BaccaratOutcome,
    BaccaratRevealed,
    BaccaratStood,
    Side,
)
from door.games.baccarat.round import BaccaratAction, BaccaratPhase, start
from door.games.baccarat.rules import BACCARAT, point_of, value_of
from door.games.engine.cards import RANKS, deck, parse_card, parse_cards
from door.games.engine.errors import IllegalAction
from tests.door.games.baccarat.coups import (
    BANK_CARD,
    BANK_NO_CARD,
    CARD,
    NO_CARD,
    STAKE,
    house,
    play,
    shoe_of_points,
    stacked,
)

# "Face cards and tens, 0; Aces, 1; all other cards, their pip count."


@pytest.mark.parametrize(
    ("rank", "value"),
    list(zip(RANKS, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0], strict=True)),
)
def test_every_card_of_a_rank_has_its_value(rank: str, value: int) -> None:
    assert [value_of(parse_card(rank + suit)) for suit in "HSDC"] == [value] * 4


# "Units of ten are discarded, i.e. a player dealt a 6 and an 8 has a count of 4, not fourteen."


def test_a_6_and_an_8_have_a_count_of_4_not_fourteen() -> None:
    assert point_of(parse_cards("6H 8C")) == 4


def test_three_nines_count_7_and_three_faces_nothing() -> None:
    assert point_of(parse_cards("9H 9C 9D")) == 7
    assert point_of(parse_cards("TH JC KD")) == 0


# The deal: player, bank, player, bank.


def test_cards_go_player_bank_player_bank_and_the_banks_lie_face_down() -> None:
    coup, events = start(BACCARAT, parse_cards("2H 3H 3S 4H 9C"), STAKE)
    assert coup.player == ("2H", "3S")
    assert coup.bank_hand == ("3H", "4H")
    assert coup.bank == (None, None)
    assert coup.points == (5, None)
    assert events == (
        BaccaratDealt(Side.PLAYER, parse_card("2H")),
        BaccaratDealt(Side.BANK, None),
        BaccaratDealt(Side.PLAYER, parse_card("3S")),
        BaccaratDealt(Side.BANK, None),
    )


def test_the_bank_turns_its_cards_up_when_the_player_is_served() -> None:
    played = play(parse_cards("2H 3H 3S 4H 9C"), CARD)
    assert played.round.bank == ("3H", "4H")
    assert played.round.points == (4, 7)
    assert played.events[4:7] == (
        BaccaratDrew(Side.PLAYER, parse_card("9C"), 4),
        BaccaratRevealed(parse_cards("3H 4H"), 7),
        BaccaratStood(Side.BANK, 7),
    )


# "A player whose first two cards total 8 or 9 has a 'natural' and turns the cards up immediately."


@pytest.mark.parametrize("natural", [8, 9])
@pytest.mark.parametrize("other", range(8))
def test_a_natural_of_the_player_ends_the_coup_and_wins(natural: int, other: int) -> None:
    played = play(shoe_of_points(natural, other))
    assert played.round.over
    assert played.round.natural
    assert played.round.cards_used == 4
    assert played.outcome is BaccaratOutcome.PLAYER
    assert played.events[4:6] == (
        BaccaratNatural(Side.PLAYER, natural),
        BaccaratRevealed(played.round.bank_hand, other),
    )


@pytest.mark.parametrize("natural", [8, 9])
@pytest.mark.parametrize("other", range(8))
def test_a_natural_of_the_bank_ends_the_coup_and_wins(natural: int, other: int) -> None:
    played = play(shoe_of_points(other, natural))
    assert played.round.natural
    assert played.round.cards_used == 4
    assert played.outcome is BaccaratOutcome.BANK
    assert played.events[4:6] == (
        BaccaratRevealed(played.round.bank_hand, natural),
        BaccaratNatural(Side.BANK, natural),
    )


# "A natural 9 is superior to a natural 8. Two naturals of equal value result in a stand-off."


@pytest.mark.parametrize(
    ("player", "bank", "outcome"),
    [
        (9, 8, BaccaratOutcome.PLAYER),
        (8, 9, BaccaratOutcome.BANK),
        (8, 8, BaccaratOutcome.STAND_OFF),
        (9, 9, BaccaratOutcome.STAND_OFF),
    ],
)
def test_two_naturals_are_compared(player: int, bank: int, outcome: BaccaratOutcome) -> None:
    played = play(shoe_of_points(player, bank))
    assert played.outcome is outcome
    assert played.events[4:7] == (
        BaccaratNatural(Side.PLAYER, player),
        BaccaratRevealed(played.round.bank_hand, bank),
        BaccaratNatural(Side.BANK, bank),
    )


def test_eight_in_three_cards_is_no_natural() -> None:
    played = play(shoe_of_points(0, 7, 8))
    assert played.outcome is BaccaratOutcome.PLAYER
    assert not played.round.natural


# "Player MUST stand if his first two cards total 6 or 7. Player MUST take a card if his total is
# 0, 1, 2, 3, or 4. Player has the option to take a card or stand on 5."


@pytest.mark.parametrize("point", range(5))
def test_the_player_must_take_a_card_on_0_to_4(point: int) -> None:
    played = play(shoe_of_points(point, 7, 3))
    assert played.round.over
    assert played.player_drew
    assert played.events[4] == BaccaratDrew(Side.PLAYER, parse_card("3S"), point + 3)


@pytest.mark.parametrize("point", [6, 7])
def test_the_player_must_stand_on_6_and_7(point: int) -> None:
    played = play(shoe_of_points(point, 7, 3))
    assert played.round.over
    assert not played.player_drew
    assert played.events[4] == BaccaratStood(Side.PLAYER, point)


def test_the_player_has_the_option_on_5() -> None:
    shoe = shoe_of_points(5, 7, 4)
    coup, _ = start(BACCARAT, shoe, STAKE)
    assert (coup.phase, coup.legal()) == (
        BaccaratPhase.CALLER,
        (BaccaratAction.CARD, BaccaratAction.NO_CARD),
    )
    assert play(shoe, CARD).round.points == (9, 7)
    assert play(shoe, NO_CARD).round.points == (5, 7)


@pytest.mark.parametrize("option", ["draw", "stand", "toss"])
def test_the_5_stays_the_players_choice_under_every_bank_option(option: str) -> None:
    rules = house(bank_option_3v9=option, bank_option_5v4=option)
    coup, _ = start(rules, shoe_of_points(5, 7), STAKE)
    assert coup.legal() == (BaccaratAction.CARD, BaccaratAction.NO_CARD)


# The bank's table: rows are its point, columns the player's third card, "-" for none.
# D draws, . stands, O has the option.

THE_TEXT = """
    0 1 2 3 4 5 6 7 8 9 -
 0  D D D D D D D D D D D
 1  D D D D D D D D D D D
 2  D D D D D D D D D D D
 3  D D D D D D D D . O D
 4  . . D D D D D D . . D
 5  . . . . O D D D . . D
 6  . . . . . . D D . . .
 7  . . . . . . . . . . .
"""

CELLS = [
    (int(bank), None if third == "-" else int(third), cell)
    for bank, *row in (line.split() for line in THE_TEXT.splitlines()[2:])
    for third, cell in zip("0123456789-", row, strict=True)
]


def at_the_bank(bank: int, third: int | None, option: str) -> tuple[bool, bool]:
    """Whether the bank tosses and draws; a losing toss means standing."""
    rules = house(bank_option_3v9=option, bank_option_5v4=option)
    if third is None:
        coup = play(shoe_of_points(6, bank, 2), rules=rules)
    else:
        coup = play(shoe_of_points(0, bank, third, 2), rules=rules)
    return coup.round.phase is BaccaratPhase.BANK, coup.bank_drew


def test_the_table_has_a_cell_for_every_point_and_every_third_card() -> None:
    assert len({(bank, third) for bank, third, _ in CELLS}) == 8 * 11


@pytest.mark.parametrize(("bank", "third", "cell"), CELLS)
def test_every_cell_of_the_banks_table(bank: int, third: int | None, cell: str) -> None:
    assert at_the_bank(bank, third, "draw") == (False, cell in "DO")
    assert at_the_bank(bank, third, "stand") == (False, cell == "D")
    assert at_the_bank(bank, third, "toss") == (cell == "O", cell == "D")


@pytest.mark.parametrize("bank", range(8))
def test_a_player_who_stands_on_5_has_not_drawn_either(bank: int) -> None:
    assert play(shoe_of_points(5, bank, 2), NO_CARD).bank_drew == (bank <= 5)


def test_the_third_card_counts_and_not_the_players_point() -> None:
    """A player of 1 who draws a 5 has 6; the bank's 5 answers the drawn card and draws."""
    assert play(shoe_of_points(1, 5, 5, 2)).bank_drew
    assert not play(shoe_of_points(4, 5, 1, 2)).bank_drew


@pytest.mark.parametrize("face", ["TH", "JH", "QH", "KH"])
def test_tens_and_faces_are_a_third_card_of_0(face: str) -> None:
    assert play(stacked("2H 2S", "3H KS", f"{face} 2D")).bank_drew
    assert not play(stacked("2H 2S", "4H KS", f"{face} 2D")).bank_drew


# The bank's options, one key each.


def test_each_option_has_its_own_key() -> None:
    three, five = shoe_of_points(0, 3, 9, 2), shoe_of_points(0, 5, 4, 2)
    assert not play(three, rules=house(bank_option_3v9="stand")).bank_drew
    assert play(five, rules=house(bank_option_3v9="stand")).bank_drew
    assert play(three, rules=house(bank_option_5v4="stand")).bank_drew
    assert not play(five, rules=house(bank_option_5v4="stand")).bank_drew


@pytest.mark.parametrize(("bank", "third"), [(3, 9), (5, 4)])
def test_a_toss_supports_whoever_plays_the_coup(bank: int, third: int) -> None:
    rules = house(bank_option_3v9="toss", bank_option_5v4="toss")
    shoe = shoe_of_points(0, bank, third, 4)
    coup = play(shoe, rules=rules).round
    assert coup.legal() == (BaccaratAction.BANK_CARD, BaccaratAction.BANK_NO_CARD)
    assert coup.points == (third, bank)
    assert not coup.over
    assert play(shoe, BANK_CARD, rules=rules).round.points == (third, (bank + 4) % 10)
    assert play(shoe, BANK_NO_CARD, rules=rules).round.points == (third, bank)


def test_both_may_have_a_choice_in_one_coup() -> None:
    rules = house(bank_option_5v4="toss")
    played = play(shoe_of_points(5, 5, 4, 4), CARD, BANK_CARD, rules=rules)
    assert played.round.points == (9, 9)
    assert played.outcome is BaccaratOutcome.STAND_OFF


# "When both have received two or three cards, as required, the hand is decided." Even odds; "if
# the totals are the same, the hand is a stand-off and all bets are off."


def test_nearer_to_nine_wins_at_even_odds() -> None:
    played = play(shoe_of_points(7, 6))
    assert played.outcome is BaccaratOutcome.PLAYER
    assert played.moved == (0, STAKE, STAKE)


def test_the_stake_is_lost_to_a_bank_that_is_nearer() -> None:
    played = play(shoe_of_points(6, 7))
    assert played.outcome is BaccaratOutcome.BANK
    assert played.moved == (STAKE, 0, 0)


@pytest.mark.parametrize("point", [6, 7, 8, 9])
def test_equal_points_are_a_stand_off_and_all_bets_are_off(point: int) -> None:
    played = play(shoe_of_points(point, point))
    assert played.outcome is BaccaratOutcome.STAND_OFF
    assert played.moved == (0, STAKE, 0)


def test_a_natural_pays_no_more_than_any_other_win() -> None:
    assert play(shoe_of_points(9, 0)).moved == play(shoe_of_points(7, 6)).moved


def test_two_cards_of_a_point_are_no_better_than_three() -> None:
    assert play(shoe_of_points(0, 7, 7)).outcome is BaccaratOutcome.STAND_OFF


def test_a_stake_may_be_any_whole_number_above_0() -> None:
    coup, _ = start(BACCARAT, shoe_of_points(7, 6), 1)
    assert coup.totals.won == 1
    for stake in (0, -1):
        with pytest.raises(ValueError, match=f"more than 0, is {stake}"):
            start(BACCARAT, shoe_of_points(7, 6), stake)


# The shoe.


def test_the_decks_are_reshuffled_when_8_or_fewer_cards_remain() -> None:
    assert BACCARAT.decks == 4
    assert not BACCARAT.shuffle_due(208 - 9)
    assert BACCARAT.shuffle_due(208 - 8)
    assert BACCARAT.shuffle_due(208 - 3)


# Unavailable actions


def test_nothing_is_open_once_the_coup_is_over() -> None:
    coup = play(shoe_of_points(7, 6)).round
    assert coup.legal() == ()
    with pytest.raises(IllegalAction, match="card is not open: the coup is over"):
        coup.apply(CARD)


def test_a_bank_card_is_not_the_callers_to_ask_for() -> None:
    coup, _ = start(BACCARAT, shoe_of_points(5, 6, 7), STAKE)
    with pytest.raises(IllegalAction, match="bank-card is not open here: it is card or no-card"):
        coup.apply(BANK_CARD)


def test_a_card_face_down_is_not_in_the_repr_of_a_round() -> None:
    coup, _ = start(BACCARAT, (*shoe_of_points(5, 6), *deck(1)), STAKE)
    assert "6S" not in repr(coup)
    assert "6S" in repr(coup.apply(NO_CARD)[1])
