"""Stretches of the ledger: no row skipped or repeated, little memory, no lock held."""

from __future__ import annotations

import shutil
import sqlite3
import tracemalloc
from contextlib import contextmanager
from itertools import islice

import pytest

from tests.timebank.books import Books
from tests.timebank.by_hand import ByHand
from timebank.ledger import transfers
from timebank.ledger.transfers import Account, Movement
from timebank.reports import exports, extracts, ledger_pages
from timebank.reports.ledger_pages import Sought

pytestmark = pytest.mark.of_a_file

STRETCH = 1000
MANY = 12 * STRETCH
# Rows of an entry.
BLOCK = 100


@pytest.fixture(scope="module")
def long_ledger(tmp_path_factory):
    """Create a ledger of many rows: every tenth uses a second, the others grant one."""
    books = Books(tmp_path_factory.mktemp("long"))
    books.caller("Ann")
    online = Account(6, "online", "second")
    grant = Movement(transfers.ALLOTMENT, online, 1, ByHand("grant", "A second"), None, None)
    used = Movement(online, transfers.ELAPSED, 1, ByHand("elapsed", "Time used"), None, None)
    block = [*[grant] * 9, used] * (BLOCK // 10)

    def fill(desk):
        for _ in range(MANY // BLOCK):
            transfers.transfer(desk, block)

    books.do(fill)
    books.close()
    return books.settings.database


@pytest.fixture
def many(long_ledger, folder, open_books, monkeypatch):
    monkeypatch.setattr(ledger_pages, "STRETCH", STRETCH)
    shutil.copy(long_ledger, folder)
    return open_books()


def reading(books):
    return lambda: books.database.reading(books.settings, books.now)


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(("sought", "step"), [(Sought(), 1), (Sought(kinds=("elapsed",)), 10)])
def test_every_row_comes_once_and_in_order(many, sought, step, newest_first):
    numbers = [
        row.number for row in extracts.extracts(reading(many), sought, newest_first=newest_first)
    ]
    expected = list(range(step, MANY + 1, step))
    assert numbers == (expected[::-1] if newest_first else expected)


def test_rows_that_are_made_meanwhile_do_not_come(many):
    rows = extracts.extracts(reading(many), Sought(kinds=("elapsed",)))
    numbers = [next(rows).number]
    late = Movement(
        transfers.EXTERNAL, transfers.ADJUSTMENT, 1, ByHand("elapsed", "late"), None, None
    )
    many.do(transfers.transfer, [late])
    numbers += [row.number for row in rows]
    assert numbers == list(range(10, MANY + 1, 10))


def test_no_transaction_is_open_while_its_rows_are_looked_at(many):
    open_now = 0

    @contextmanager
    def look():
        nonlocal open_now
        open_now += 1
        with reading(many)() as desk:
            yield desk
        open_now -= 1

    rows = extracts.extracts(look, Sought())
    for _ in islice(rows, STRETCH + 1):
        assert open_now == 0
    connection = sqlite3.connect(many.database.path)
    busy, left, folded = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.close()
    assert (busy, left, folded) == (0, 0, 0)


def test_a_long_ledger_is_never_in_memory_as_a_whole(many):
    schedule = many.settings.schedule
    # Once, to fill permanent caches.
    list(islice(extracts.extracts(reading(many), Sought()), 10))
    tracemalloc.start()
    rows = extracts.extracts(reading(many), Sought())
    records = (exports.ledger_record(row, schedule) for row in rows)
    size = sum(len(piece) for piece in exports.as_csv(exports.LEDGER_FIELDS, records))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 80 * MANY
    assert most < size
