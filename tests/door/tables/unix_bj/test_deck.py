"""The UNIX game bj: when its deck is shuffled, and its account (`sessions`)."""

from __future__ import annotations

import pytest

from door.tables.unix_bj.teletype import hand_start
from tests.door.teletype import Run, paper

# The deck


@pytest.mark.parametrize(
    ("gone", "start"), [(0, 0), (4, 4), (37, 37), (38, 51), (50, 51), (51, 51)]
)
def test_a_hand_begins_where_fifteen_cards_are_left_or_with_a_new_deck(
    gone: int, start: int
) -> None:
    assert hand_start(gone) == start
    assert hand_start(gone + 51) == start + 51


def test_no_shuffle_falls_between_deal_and_first_decision() -> None:
    for gone in range(51):
        assert hand_start(gone) % 51 + 4 <= 51


# Action and standing


@pytest.mark.parametrize(
    ("score", "words"),
    [(12, "You win $12"), (-3, "You lose $3"), (0, "You break even")],
)
def test_a_shuffle_tells_action_and_standing_of_earlier_runs_too(score: int, words: str) -> None:
    run = Run(action=30, score=score)
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
    later = Run(action=10, score=-4)
    assert later.plays(cards, typed=typed).endswith(
        paper(
            f"""
            {question}
            Action ${10 + action}
            You lose $4
            """
        )
    )


def test_only_the_title_precedes_the_first_hand() -> None:
    run = Run()
    assert run.plays() == "Black Jack\n"
    assert run.teletype.account() == ""
