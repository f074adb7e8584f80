"""Whole runs of the UNIX game bj, character for character: the deck, the action, the standing.

The cards of each hand stand in the order in which they leave the deck: the dealer's card that is
up, his hole card, the player's two, and what is drawn.
tests/door/games/blackjack/test_unix_bj_rules.py shows the rules; here it is letters and layout that
count.
"""

from __future__ import annotations

import pytest

from door.games.unix_bj.teletype import hand_start
from tests.door.teletype import Run, paper, played

# The deck


def test_the_deck_runs_on_and_is_shuffled_before_a_hand_with_fewer_than_fifteen_cards_left() -> (
    None
):
    # Nineteen cards are left, then fifteen, then eleven.
    run = Run(position=33, action=20, standing=-4)
    hands = ("9H 9C KD TD", "TS 8C 9D TC", "TH QC KS 9S")
    assert run.plays(*hands, typed="⏎ ⏎ ⏎ ⏎") == paper(
        """
        Black Jack
        new game
        9H up
        KD+TD

        Split pair? ⏎
        Hit? ⏎
        You have 20
        Dealer has 9C = 18

        You win $2
        new game
        TS up
        9D+TC

        Hit? ⏎
        You have 19
        Dealer has 8C = 18

        You win $2
        new game
        Shuffle
        Action $24
        You break even
        TH up
        KS+9S

        Hit? ⏎
        You have 19
        Dealer has QC = 20

        You lose $2
        """
    )


def test_the_deck_is_shuffled_when_the_dealer_would_take_its_last_card() -> None:
    run = Run(position=37, action=40, standing=7)
    cards = "4H 4C AH 2D AD AS AC 2H 2S 2C 3H 3D 3S 4S 5D"
    assert run.plays(cards, typed="y " * 9 + "⏎") == paper(
        """
        Black Jack
        new game
        4H up
        AH+2D

        Hit? y⏎
        AD

        Hit? y⏎
        AS

        Hit? y⏎
        AC

        Hit? y⏎
        2H

        Hit? y⏎
        2S

        Hit? y⏎
        2C

        Hit? y⏎
        3H

        Hit? y⏎
        3D

        Hit? y⏎
        3S

        Hit? ⏎
        You have 21
        Dealer has 4C+4S+Shuffle
        Action $42
        You win $7
        5D = 17

        You win $2
        """
    )


def test_the_deck_is_shuffled_when_a_hit_would_take_its_last_card() -> None:
    run = Run(position=37, action=40, standing=0)
    cards = "TH 7C 8D 8C 2S AH AD AS 2C 2D AC 2H 3H 3D AS"
    text = run.plays(cards, typed="y ⏎ y y y y ⏎ ⏎ y y y y y ⏎")
    assert text.endswith(
        paper(
            """
            Hit? y⏎
            3D

            Hit? y⏎
            Shuffle
            Action $44
            You break even
            AS

            Hit? ⏎
            You have 20
            Dealer has 7C = 17

            You break even
            """
        )
    )


def test_the_deck_is_shuffled_when_a_double_down_would_take_its_last_card() -> None:
    run = Run(position=37, action=40, standing=7)
    cards = "TH 7C 5D 5C AH AD AS AC 2H 2D 2S 2C 3H 6S TD"
    text = run.plays(cards, typed="y " + "y " * 8 + "⏎ y")
    assert text.endswith(
        paper(
            """
            Hit? ⏎
            You have 20
            6S

            Double down? y⏎
            Shuffle
            Action $46
            You win $7
            TD
            You have 21
            Dealer has 7C = 17

            You win $6
            """
        )
    )


def test_the_deck_is_shuffled_when_a_split_hand_would_get_its_last_card() -> None:
    run = Run(position=37, action=40, standing=1)
    cards = "TH 7C 4D 4C AH AD AS AC 2H 2D 2S 2C 3H KH KS"
    text = run.plays(cards, typed="y " + "y " * 9 + "⏎")
    # The hand that went over is lost already, so it is in the standing.
    assert text.endswith(
        paper(
            """
            Hit? y⏎
            KH

            You bust
            Shuffle
            Action $44
            You lose $1
            KS

            Hit? ⏎
            You have 14
            Dealer has 7C = 17

            You lose $4
            """
        )
    )


@pytest.mark.parametrize(
    ("gone", "start"), [(0, 0), (4, 4), (37, 37), (38, 51), (50, 51), (51, 51)]
)
def test_a_hand_begins_where_fifteen_cards_are_left_or_with_a_new_deck(
    gone: int, start: int
) -> None:
    assert hand_start(gone) == start
    assert hand_start(gone + 51) == start + 51


def test_no_hand_is_dealt_across_a_shuffle_before_the_players_first_decision() -> None:
    for gone in range(51):
        assert hand_start(gone) % 51 + 4 <= 51


# Action and standing


@pytest.mark.parametrize(
    ("standing", "words"),
    [(12, "You win $12"), (-3, "You lose $3"), (0, "You break even")],
)
def test_a_shuffle_tells_action_and_standing_of_earlier_runs_too(standing: int, words: str) -> None:
    run = Run(action=30, standing=standing)
    assert run.plays("8H 9C AD KC") == paper(
        f"""
        Black Jack
        new game
        Shuffle
        Action $30
        {words}
        8H up
        AD+KC

        You have black jack!

        You win $3
        """
    )


@pytest.mark.parametrize(
    ("cards", "typed", "question", "action"),
    [
        ("AH 9C KD 9S", "␡", "Insurance? ␡", 2),
        ("AH 9C KD 9S", "⏎ ␡", "Hit? ␡", 2),
        ("7H KC 8D 8C", "␡", "Split pair? ␡", 2),
        ("7H KC 8D 8C 3S", "y ␡", "Double down? ␡", 4),
        ("7H KC 8D 8C TS", "y ␡", "Hit? ␡", 4),
        ("7H KC 5D 5C", "⏎ ␡", "Double down? ␡", 2),
        ("7H KC KD 5C", "␡", "Hit? ␡", 2),
        ("7H KC 2D 5C 3H", "y ␡", "Hit? ␡", 2),
    ],
)
def test_del_at_any_question_ends_it_with_action_and_standing(
    cards: str, typed: str, question: str, action: int
) -> None:
    first = Run()
    assert first.plays(cards, typed=typed).endswith(
        paper(
            f"""
            {question}
            Action ${action}
            You break even
            """
        )
    )
    later = Run(action=10, standing=-4)
    assert later.plays(cards, typed=typed).endswith(
        paper(
            f"""
            {question}
            Action ${10 + action}
            You lose $4
            """
        )
    )


def test_del_after_insurance_was_lost_tells_it_in_the_standing() -> None:
    assert played("AH 9C KD 9S", typed="y ␡") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        KD+9S

        Insurance? y⏎
        Hit? ␡
        Action $3
        You lose $1
        """
    )


def test_nothing_but_its_name_is_printed_before_the_first_hand_and_no_account_without_a_bet() -> (
    None
):
    run = Run()
    assert run.plays() == "Black Jack\n"
    assert run.teletype.account() == ""
