"""A few rounds of the long run, and that the second count finds what it looks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.timebank.books import Books, lost, place_bet, wager
from tests.timebank.vandal import Vandal
from verify.kills.count import Count
from verify.kills.rounds import run_book

SEED, ROUNDS, ROBOTS = 3, 2, 4  # of which each is killed in play, rather late


def test_a_board_that_is_killed_while_robots_play_leaves_whole_books(tmp_path: Path) -> None:
    tally = run_book(tmp_path, SEED, ROUNDS, ROBOTS)
    assert tally.wrong == []
    assert tally.rounds == tally.kills["in play"] == ROUNDS
    assert tally.counted["hands"] > 0
    assert tally.counted["calls"] >= ROBOTS


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    """Books with a hand that is over and one in play."""
    found = Books(tmp_path)
    call = found.call(found.caller("Ann"))
    found.do(place_bet, call.id, 0, wager(600), lost(600))
    found.do(place_bet, call.id, 0, wager(300), None)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("vandalism", "words"),
    [
        ("UPDATE accounts SET balance = balance + 60 WHERE kind = 'online'", "added"),
        ("UPDATE transfers SET amount = amount + 60 WHERE kind = 'grant'", "added"),
        ("DELETE FROM transfers WHERE id = (SELECT max(id) FROM transfers)", "is gone"),
        ("UPDATE transfers SET digest = lower(hex(randomblob(32))) WHERE id > 3", "is gone"),
        ("DELETE FROM rounds WHERE id = 1", "rounds had"),
        ("DELETE FROM actions", "actions had"),
        ("UPDATE actions SET sequence = 1 WHERE round_id = 2", "a hole"),
        ("UPDATE calls SET ticked = ticked + 60", "CHECK constraint failed in calls"),
    ],
)
def test_the_second_count_finds_what_was_made_up_or_lost(
    books: Books, vandalism: str, words: str
) -> None:
    count = Count(books.database.path)
    count.look()
    assert (count.hands, list(count.open.values())) == (1, [1])
    Vandal(books)(vandalism)
    with pytest.raises(AssertionError, match=words):
        count.look()
