"""Who is served without time for longer than the books count is found, and who is in an event."""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from timebank.settings.schedule import ClosedPeriod
from verify.simulate.uncharged import Uncharged
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TABLES = """
CREATE TABLE callers (id, day);
CREATE TABLE calls (id, caller_id, charged, closed);
CREATE TABLE days (caller_id, day, grace);
CREATE TABLE mended_days (caller_id);
INSERT INTO callers VALUES (7, '2026-11-20');
INSERT INTO calls VALUES (1, 7, 60, NULL), (2, 7, 0, NULL);
INSERT INTO days VALUES (7, '2026-11-20', 40);
"""


@pytest.fixture
def file():
    with sqlite3.connect(":memory:") as made:
        made.executescript(TABLES)
        yield made
    made.close()


def caller(call: int, *, closed: ClosedPeriod | None = None, left: int = 100) -> Any:
    """Somebody who is on without time."""
    return SimpleNamespace(
        call_id=call,
        record=SimpleNamespace(name="Ann"),
        purse=SimpleNamespace(time_left=lambda: 0),
        clock=SimpleNamespace(
            day_grace=SimpleNamespace(is_over=lambda: False, left=lambda: left, day="2026-11-20"),
        ),
        console=SimpleNamespace(clock=SimpleNamespace(now=lambda: NOON)),
        bank_settings=SimpleNamespace(
            schedule=SimpleNamespace(closed_at_or_after=lambda now: closed)
        ),
    )


def test_what_was_used_on_all_calls_of_a_day_is_held_against_what_is_counted(file):
    looks = Uncharged(Counter())
    for call, began, used in ((1, 1000.0, 30), (2, 2000.0, 10)):
        ann = caller(call)
        looks.step(file, [ann], began, is_calm=True)
        looks.step(file, [ann], began + used, is_calm=True)
    looks.step(file, [], 3000.0, is_calm=True)
    file.execute("UPDATE days SET grace = 38")
    with pytest.raises(Wrong, match=r"caller 7 was served for 40.0 s uncharged on 2026-11-20, and"):
        looks.step(file, [], 3001.0, is_calm=True)
    file.execute("INSERT INTO mended_days VALUES (7)")  # several days may have been made one
    looks.step(file, [], 3002.0, is_calm=True)


@pytest.mark.parametrize(
    ("begins", "left", "words"),
    [
        (-10, 0, "Ann is on uncharged, 10.0 s into an event"),
        (60, 100, "Ann has 100 s uncharged, 60.0 to go"),
    ],
)
def test_nobody_is_on_uncharged_in_an_event(file, begins, left, words):
    starts = NOON + timedelta(seconds=begins)
    closed = ClosedPeriod(starts, starts + timedelta(hours=1), "Backup")
    ann = caller(1, closed=closed, left=left)
    Uncharged(Counter()).step(file, [ann], 0.0, is_calm=False)  # it may not be known yet
    with pytest.raises(Wrong, match=words):
        Uncharged(Counter()).step(file, [ann], 0.0, is_calm=True)
