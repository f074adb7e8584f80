"""A round of the long run, and that what is gone from the books is found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.timebank import cluster
from tests.timebank.books import Books, lost, place_bet, wager
from tests.timebank.vandal import Vandal
from verify.kills import Count

pytestmark = pytest.mark.long

# A board that is killed; then it is started again, and robots play on.
COMMAND = "verify.kills --rounds 1 --robots 4 --seed 3"


@pytest.mark.parametrize(("engine", "kind"), [("", "under doors"), ("--postgres", "in play")])
def test_a_board_that_is_killed_while_robots_play_leaves_whole_books(
    engine: str, kind: str
) -> None:
    if engine and cluster.programs() is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "PostgreSQL must be here"
        pytest.skip("PostgreSQL is not installed")
    command = [sys.executable, "-m", *COMMAND.split(), *engine.split(), "--kind", kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (said,) = done.stdout.splitlines()
    counted = {what: int(times) for times, what in map(_pair, said.split(": ")[1].split(", "))}
    assert counted[kind] == 1
    assert counted["hands"] > 0
    assert counted["calls"] >= 4
    assert engine or counted["riders that went on"] > 0


def _pair(said: str) -> tuple[str, str]:
    times, _, what = said.partition(" ")
    return times, what


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
        ("DELETE FROM transfers WHERE id = (SELECT max(id) FROM transfers)", "is gone"),
        ("UPDATE transfers SET digest = lower(hex(randomblob(32))) WHERE id > 3", "is gone"),
        ("DELETE FROM rounds WHERE id = 1", "rounds had"),
        ("DELETE FROM actions", "actions had"),
        ("UPDATE actions SET round_id = 1, sequence = 9 WHERE round_id = 2", "went back"),
    ],
)
def test_what_was_durable_and_is_lost_is_found(books: Books, vandalism: str, words: str) -> None:
    count = Count(books.database.path)
    count.look()
    assert (len(count.settled), list(count.open.values())) == (1, [1])
    Vandal(books)(vandalism)
    with pytest.raises(AssertionError, match=words):
        count.look()
