"""Books of release 1.0 are opened as they are, on both engines, and the board goes on in them."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest

from tests.timebank import release_1_0
from tests.timebank.books import NOON, Books, lost
from tests.timebank.described import described
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.wagers import journal

LATER = NOON.replace(day=2)


@pytest.fixture
def file(folder):
    path = folder / "board.sqlite3"
    release_1_0.in_file(path)
    return path


@pytest.fixture
def on_server(cluster):
    """The name of a database with such books."""
    name = cluster.empty()
    with cluster.connect(name) as shell:
        release_1_0.on_server(shell)
    yield name
    cluster.give_back(name)


def check(books: Books) -> None:
    assert books.audit() == []
    assert books.sql("SELECT name FROM callers ORDER BY id") == [("Ann",), ("Bob",)]
    totals = "hands, hands_won, best, streak, longest_won, longest_lost"
    assert books.sql(f"SELECT {totals} FROM results_ever") == [(2, 1, 900, -1, 1, 1)]
    call = books.call(1, take_over=True)
    hand = books.do(journal.round_in_play, 1)
    call.round_id, call.sequence = hand.id, hand.sequence
    call.act(lost(600))
    call.close()
    assert books.audit() == []
    books.close()


def test_those_in_a_file_are_in_order_and_go_on(file, folder):
    check(Books(folder, LATER))


def test_those_on_a_server_are_in_order_and_go_on(cluster, on_server, folder):
    check(Books(folder, LATER, server=cluster.place(on_server)))


def test_the_tables_in_a_file_are_those_of_new_books(file, folder):
    definitions = []
    for path in (file, folder / "new.sqlite3"):
        with contextlib.closing(SqliteDatabase(path)) as database:
            database.open()
        with contextlib.closing(sqlite3.connect(path)) as read:
            rows = read.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            definitions.append({name: re.findall(r"\w+", sql) for name, sql in rows})
    assert definitions[0] == definitions[1]


def test_the_tables_on_a_server_are_those_of_new_books(cluster, on_server):
    new = cluster.empty()
    for name in (on_server, new):
        with contextlib.closing(PostgresDatabase(cluster.place(name))) as database:
            database.open()
    assert described(cluster, on_server) == described(cluster, new)
    cluster.give_back(new)
