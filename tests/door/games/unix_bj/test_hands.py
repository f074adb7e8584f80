"""Whole runs of the UNIX game bj, character for character: hits, naturals, insurance, answers.

The cards of each hand stand in the order in which they leave the deck: the dealer's card that is
up, his hole card, the player's two, and what is drawn.
tests/door/games/blackjack/test_unix_bj_rules.py shows the rules; here it is letters and layout that
count.
"""

from __future__ import annotations

import pytest

from door.games.unix_bj.teletype import is_yes
from tests.door.teletype import Run, paper, played

# Hit or stand


def test_standing() -> None:
    assert played("8H 9C KD 9S", typed="⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        8H up
        KD+9S

        Hit? ⏎
        You have 19
        Dealer has 9C = 17

        You win $2
        """
    )


def test_hitting() -> None:
    assert played("7H 9C 2D 4S 5H 3C 4D 8S", typed="y y y ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        7H up
        2D+4S

        Hit? y⏎
        5H

        Hit? y⏎
        3C

        Hit? y⏎
        4D

        Hit? ⏎
        You have 18
        Dealer has 9C+8S = bust

        You win $2
        """
    )


def test_a_hand_that_busts_ends_without_the_dealer() -> None:
    assert played("8H 9C KD 5C QS", typed="y") == paper(
        """
        Black Jack
        new game
        Shuffle
        8H up
        KD+5C

        Hit? y⏎
        QS

        You bust

        You lose $2
        """
    )


def test_the_dealer_draws_behind_his_hole_card() -> None:
    assert played("5H 2C KD 8S 4H 3C 7D", typed="⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        5H up
        KD+8S

        Hit? ⏎
        You have 18
        Dealer has 2C+4H+3C+7D = 21

        You lose $2
        """
    )


def test_the_dealer_stands_on_a_soft_seventeen() -> None:
    assert played("6H AC KD 7S", typed="⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        6H up
        KD+7S

        Hit? ⏎
        You have 17
        Dealer has AC = 17

        You break even
        """
    )


def test_a_hit_is_offered_at_twenty_one_too() -> None:
    assert played("9H 9C KD 5C 6S", "9D 8C KH 5D 6C AS", typed="y ⏎ y y") == paper(
        """
        Black Jack
        new game
        Shuffle
        9H up
        KD+5C

        Hit? y⏎
        6S

        Hit? ⏎
        You have 21
        Dealer has 9C = 18

        You win $2
        new game
        9D up
        KH+5D

        Hit? y⏎
        6C

        Hit? y⏎
        AS

        You bust

        You lose $2
        """
    )


# Naturals


def test_a_natural() -> None:
    assert played("8H 9C AD KC") == paper(
        """
        Black Jack
        new game
        Shuffle
        8H up
        AD+KC

        You have black jack!

        You win $3
        """
    )


def test_two_naturals() -> None:
    assert played("KH AC AD KC") == paper(
        """
        Black Jack
        new game
        Shuffle
        KH up
        AD+KC

        You have black jack!

        You break even
        """
    )


def test_a_natural_of_the_dealer_under_his_ten() -> None:
    assert played("KH AC 8D 8C") == paper(
        """
        Black Jack
        new game
        Shuffle
        KH up
        8D+8C

        Dealer has AC = blackjack

        You lose $2
        """
    )


def test_a_natural_of_the_dealer_under_his_ace() -> None:
    assert played("AH QC 6D 5C", typed="⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        6D+5C

        Insurance? ⏎
        Dealer has QC = blackjack

        You lose $2
        """
    )


# Insurance


def test_insurance_won() -> None:
    assert played("AH KC 9D 8C", typed="y") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        9D+8C

        Insurance? y⏎
        Dealer has KC = blackjack

        You break even
        """
    )


def test_insurance_lost() -> None:
    assert played("AH 9C KD 9S", typed="y ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        KD+9S

        Insurance? y⏎
        Hit? ⏎
        You have 19
        Dealer has 9C = 20

        You lose $3
        """
    )


def test_insurance_declined() -> None:
    assert played("AH 6C KD 9S", typed="⏎ ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        KD+9S

        Insurance? ⏎
        Hit? ⏎
        You have 19
        Dealer has 6C = 17

        You win $2
        """
    )


def test_insurance_comes_before_anything_else_is_said_of_a_natural() -> None:
    assert played("AH KC AD QC", "AS 9C AC JC", "AD KS TD AH", typed="y y ⏎") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        AD+QC

        Insurance? y⏎
        You have black jack!

        You win $2
        new game
        AS up
        AC+JC

        Insurance? y⏎
        You have black jack!

        You win $2
        new game
        AD up
        TD+AH

        Insurance? ⏎
        You have black jack!

        You break even
        """
    )


# The manual pages of 1971 and 1972


def test_the_prompts_of_1971() -> None:
    run = Run("1971")
    assert run.plays("AH 9C KD 5C 4S", "8D 9H 5D 6C 9S", typed="⏎ y ⏎ y") == paper(
        """
        Black Jack
        new game
        Shuffle
        AH up
        KD+5C

        Insurance? ⏎
        ?y⏎
        4S

        ?⏎
        You have 19
        Dealer has 9C = 20

        You lose $2
        new game
        8D up
        5D+6C

        Double down? y⏎
        9S
        You have 20
        Dealer has 9H = 17

        You win $4
        """
    )


# Answers


@pytest.mark.parametrize("line", ["y", "Y", "yes", "y\n", "y\r\n", " y"])
def test_yes(line: str) -> None:
    assert is_yes(line)


@pytest.mark.parametrize("line", ["", "\n", "\r\n", "n", "no", "hit", "?", "\x00", "\ufffd"])
def test_no(line: str) -> None:
    assert not is_yes(line)
