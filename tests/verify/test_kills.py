"""A few rounds of the long run, and that what is gone or made up is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.timebank import cluster
from tests.timebank.books import Books, lost, place_bet, wager
from tests.timebank.vandal import Vandal
from verify.kills.count import Count

pytestmark = pytest.mark.long

HOUSE = Path(__file__).parents[2]
# A board that is killed; then it is started again, and robots play on.
COMMAND = "verify.kills --rounds 1 --boards 1 --robots 4 --seed 3"


@pytest.mark.parametrize(("engine", "kind"), [("", "under doors"), ("--postgres", "in play")])
def test_a_board_that_is_killed_while_robots_play_leaves_whole_books(
    engine: str, kind: str
) -> None:
    if engine and cluster.programs() is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "PostgreSQL must be here"
        pytest.skip("PostgreSQL is not installed")
    command = [sys.executable, "-m", *COMMAND.split(), *engine.split(), "--kind", kind]
    done = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (said,) = done.stdout.splitlines()
    assert f"1 rounds; kills: 1 {kind}" in said
    if kind == "under doors":
        assert "riders that went on" in said
    assert re.search(r" [1-9][0-9]* hands", said)
    calls = re.search(r" ([0-9]+) calls", said)
    assert calls is not None
    assert int(calls[1]) >= 4
    assert said.endswith("; 0 wrong")


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    """Books with a hand that is over and one in play."""
    found = Books(tmp_path)
    call = found.call(found.caller("Ann"))
    found.do(place_bet, call.id, 0, wager(600), lost(600))
    found.do(place_bet, call.id, 0, wager(300), None)
    yield found
    found.close()


def company(books: Books) -> None:
    """Let Ann be written to, be in the middle of a deal, have begun another, and have entered a
    tournament."""
    bob = books.caller("Bob")
    deals = (
        (bytes([1]) * 32, "2026-03-01", "hit stand"),
        (bytes([2]) * 32, "2026-03-02", ""),
    )
    for seed, day, acts in deals:
        seal = sha256(seed).hexdigest()
        is_daily = int(day.endswith("1"))
        books.sql(
            "INSERT INTO deals (seal, day, seed, rules, opened, daily)"
            f" VALUES ('{seal}', '{day}', x'{seed.hex()}', '{{}}', 1, {is_daily})"
        )
        books.sql(
            "INSERT INTO deal_tries (seal, caller_id, begun, acts)"
            f" VALUES ('{seal}', 1, 1, '{acts}')"
        )
    books.sql(
        "INSERT INTO tournaments (seal, game, hands, starts, ends, entry, prizes, put_in, running)"
        f" VALUES ('{seal}', 'black-jack-for-time', 5, 1, 2, 0, '[]', 0, 1)"
    )
    books.sql(
        "INSERT INTO tournament_entries (seal, caller_id, at, day, for_prize, paid)"
        f" VALUES ('{seal}', 1, 1, '2026-03-02', 1, 0)"
    )
    books.sql(
        f"INSERT INTO messages (sender_id, caller_id, at, text) VALUES ({bob}, 1, 1, 'Hello.')"
    )


@pytest.mark.parametrize(
    ("vandalism", "words"),
    [
        ("DELETE FROM messages", "message 1 was durable and is gone"),
        ("UPDATE messages SET text = 'Goodbye.'", "message 1 was"),
        ("DELETE FROM deal_tries WHERE caller_id = 1", "was durable and is gone"),
        ("UPDATE deal_tries SET acts = 'hit'", "try .* was"),
        ("UPDATE deal_tries SET acts = 'hit hit stand'", "try .* was"),
        ("UPDATE deals SET seed = x'00'", "deal .* was"),
        ("UPDATE deals SET rules = '[]'", "deal .* was"),
        ("DELETE FROM deals WHERE daily = 1", "was durable and is gone"),
        ("DELETE FROM tournament_entries", "entries are gone"),
        ("UPDATE tournaments SET entry = 60", "tournament .* was"),
        ("UPDATE tournament_entries SET paid = 60, paid_id = 1", "entry .* was"),
        ("UPDATE tournament_entries SET prize = 60, prize_id = 1", "rows tell of"),
    ],
)
def test_what_was_durable_of_company_and_is_gone_is_found(
    books: Books, vandalism: str, words: str
) -> None:
    company(books)
    count = Count(books.database.path)
    count.look()
    books.sql("UPDATE messages SET shown = 2")
    books.sql("UPDATE deal_tries SET acts = trim(acts || ' hit')")
    count.look()
    assert (count.company.decisions, len(count.company.rows["message"])) == (4, 1)
    Vandal(books)(vandalism)
    with pytest.raises(AssertionError, match=words):
        count.look()


@pytest.mark.parametrize(
    ("vandalism", "words"),
    [
        ("DELETE FROM transfers WHERE id = (SELECT max(id) FROM transfers)", "is gone"),
        ("UPDATE transfers SET digest = lower(hex(randomblob(32))) WHERE id > 3", "is gone"),
        ("DELETE FROM rounds WHERE id = 1", "rounds had"),
        ("DELETE FROM actions", "actions had"),
        ("UPDATE actions SET sequence = 1 WHERE round_id = 2", "a hole"),
    ],
)
def test_what_was_durable_and_is_lost_is_found(books: Books, vandalism: str, words: str) -> None:
    count = Count(books.database.path)
    count.look()
    assert (count.hands, list(count.open.values())) == (1, [1])
    Vandal(books)(vandalism)
    with pytest.raises(AssertionError, match=words):
        count.look()
