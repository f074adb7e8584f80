"""Whole runs of the UNIX game bj, character for character: double down and split pair.

The cards of each hand stand in the order in which they leave the deck: the dealer's card that is
up, his hole card, the player's two, and what is drawn.
tests/door/games/blackjack/test_unix_bj_rules.py shows the rules; here it is letters and layout that
count.
"""

from __future__ import annotations

import pytest

from tests.door.teletype import paper, played

# Double down


def test_doubling_down() -> None:
    assert played("6H TC 6D 5C 9S 2H", typed="y") == paper(
        """
        Black Jack
        new game
        Shuffle
        6H up
        6D+5C

        Double down? y⏎
        9S
        You have 20
        Dealer has TC+2H = 18

        You win $4
        """
    )


def test_doubling_down_to_twenty_one() -> None:
    assert played("TH TC 4D 6C AS", typed="y") == paper(
        """
        Black Jack
        new game
        Shuffle
        TH up
        4D+6C

        Double down? y⏎
        AS
        You have 21
        Dealer has TC = 20

        You win $4
        """
    )


def test_not_doubling_down() -> None:
    assert played("TH TC 4D 6C 5S", typed="⏎ y ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        TH up
        4D+6C

        Double down? ⏎
        Hit? y⏎
        5S

        Hit? ⏎
        You have 15
        Dealer has TC = 20

        You lose $2
        """
    )


@pytest.mark.parametrize(
    ("two", "total"), [("AD 8C", 19), ("4D 5C", 9), ("7D 5C", 12)], ids=["soft", "nine", "twelve"]
)
def test_no_double_down_on_other_totals(two: str, total: int) -> None:
    run = played(f"TH 7C {two}", typed="⏎")
    assert f"{two.replace(' ', '+')}\n\nHit? \nYou have {total}\n" in run


# Split pair


def test_splitting_a_pair() -> None:
    assert played("7H KC 8D 8C TD 5S 9H", typed="y ⏎ y") == paper(
        """
        Black Jack
        new game
        Shuffle
        7H up
        8D+8C

        Split pair? y⏎
        TD

        Hit? ⏎
        You have 18
        5S

        Hit? y⏎
        9H

        You bust
        Dealer has KC = 17

        You break even
        """
    )


def test_not_splitting_a_pair_of_fives() -> None:
    assert played("7H KC 5D 5C TD", typed="⏎ y") == paper(
        """
        Black Jack
        new game
        Shuffle
        7H up
        5D+5C

        Split pair? ⏎
        Double down? y⏎
        TD
        You have 20
        Dealer has KC = 17

        You win $4
        """
    )


def test_a_split_pair_of_aces() -> None:
    assert played("9H TC AD AC 4D KH", typed="y") == paper(
        """
        Black Jack
        new game
        Shuffle
        9H up
        AD+AC

        Split pair? y⏎
        4D

        You have 15
        KH

        You have 21
        Dealer has TC = 19

        You break even
        """
    )


def test_a_pair_of_aces_that_is_not_split() -> None:
    assert played("9H TC AD AC 9D", typed="⏎ y ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        9H up
        AD+AC

        Split pair? ⏎
        Hit? y⏎
        9D

        Hit? ⏎
        You have 21
        Dealer has TC = 19

        You win $2
        """
    )


def test_doubling_down_after_a_split() -> None:
    assert played("5H KC 7D 7C 3S 9S 4C TS 8H", typed="y y y") == paper(
        """
        Black Jack
        new game
        Shuffle
        5H up
        7D+7C

        Split pair? y⏎
        3S

        Double down? y⏎
        9S
        You have 19
        4C

        Double down? y⏎
        TS
        You have 21
        Dealer has KC+8H = bust

        You win $8
        """
    )


def test_a_split_in_which_both_hands_bust_ends_without_the_dealer() -> None:
    assert played("7H KC 8D 8C 5D TD 6S QS", typed="y y y") == paper(
        """
        Black Jack
        new game
        Shuffle
        7H up
        8D+8C

        Split pair? y⏎
        5D

        Hit? y⏎
        TD

        You bust
        6S

        Hit? y⏎
        QS

        You bust

        You lose $4
        """
    )


def test_a_two_card_twenty_one_after_a_split_is_asked_and_is_no_natural() -> None:
    assert played("7H KC KD QC AD AC", typed="y ⏎ ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        7H up
        KD+QC

        Split pair? y⏎
        AD

        Hit? ⏎
        You have 21
        AC

        Hit? ⏎
        You have 21
        Dealer has KC = 17

        You win $4
        """
    )


def test_a_pair_is_split_once() -> None:
    run = played("7H KC 8D 8C 8H 8S", typed="y ⏎ ⏎")
    assert run.count("Split pair? ") == 1
    assert "8H\n\nHit? \nYou have 16\n8S\n\nHit? \nYou have 16\n" in run


@pytest.mark.parametrize("first", "TJQK")
@pytest.mark.parametrize("second", "TJQK")
def test_ten_jack_queen_and_king_are_all_ten(first: str, second: str) -> None:
    run = played(f"7H TC {first}D {second}S", typed="⏎ ⏎")
    assert run.endswith(
        f"{first}D+{second}S\n\nSplit pair? \nHit? \nYou have 20\n"
        "Dealer has TC = 17\n\nYou win $2\n"
    )
