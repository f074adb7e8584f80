"""Who is not told of a restore is found, whatever the clock said at the one before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from timebank.ledger import schema
from verify.simulate.restores import UNTOLD, UNTOLD_OF_HANDS

pytestmark = pytest.mark.long

BEFORE, NOW = 2_000, 1_000  # the clock has been set back between the two restores
TOLD = "The books of this board were restored"
TOLD_OF_A_HAND = "Your open hand at Vegas is void"


@pytest.fixture
def books() -> Iterator[sqlite3.Connection]:
    """Books that were restored twice, with one caller whose hand was made void by the second."""
    wanted = {
        "generations": "number at",
        "callers": "id name deleted",
        "transfers": "id",
        "notices": "caller_id at text",
        "rounds": "id caller_id outcome settled",
    }
    with closing(sqlite3.connect(":memory:")) as file:
        for table, columns in wanted.items():
            known = schema.metadata.tables[table].c
            assert all(column in known for column in columns.split())
            file.execute(f"CREATE TABLE {table} ({', '.join(columns.split())})")
        file.execute("INSERT INTO generations VALUES (2, ?), (3, ?)", (BEFORE, NOW))
        file.execute("INSERT INTO callers VALUES (1, 'Ada', NULL)")
        file.execute("INSERT INTO transfers VALUES (1)")
        file.execute("INSERT INTO rounds VALUES (1, 1, 'void', ?)", (NOW,))
        yield file


@pytest.mark.parametrize("at", [None, NOW - 1])
def test_who_was_not_told_of_the_last_restore_is_found(books: sqlite3.Connection, at) -> None:
    if at is not None:
        for text in (TOLD, TOLD_OF_A_HAND):
            books.execute("INSERT INTO notices VALUES (1, ?, ?)", (at, text))
    assert books.execute(UNTOLD, (9,)).fetchall() == [("Ada",)]
    assert books.execute(UNTOLD_OF_HANDS, (9,)).fetchall() == [(1,)]
