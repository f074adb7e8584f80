"""Books of release 1.0 are upgraded on both engines, and the board uses them."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest

from tests.timebank import release_1_0
from tests.timebank.books import NOON, Books, lost, won
from tests.timebank.described import described
from timebank.errors import DatabaseRefused, OlderBooks
from timebank.keeping import backup, dumps
from timebank.ledger import migrations
from timebank.ledger.database import Upgrade
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.upgrade import copy_path
from timebank.wagers import journal

LATER = NOON.replace(day=2)


@pytest.fixture
def file(folder):
    path = folder / "board.sqlite3"
    release_1_0.in_file(path)
    return path


@pytest.fixture
def on_server(cluster):
    """Return the name of a database with such books."""
    name = cluster.empty()
    with cluster.connect(name) as shell:
        release_1_0.on_server(shell)
    yield name
    cluster.give_back(name)


def check(books: Books) -> None:
    """Play the open hand and check that it is counted once, with those of release 1.0."""
    totals = "SELECT hands, hands_won, best, streak, longest_won, longest_lost FROM results_ever"
    assert books.audit() == []
    assert books.sql("SELECT name FROM callers ORDER BY id") == [("Ann",), ("Bob",)]
    assert books.sql(totals) == [(2, 1, 900, -1, 1, 1)]
    call = books.call(1, take_over=True)
    hand = books.do(journal.round_in_play, 1)
    call.round_id, call.sequence = hand.id, hand.sequence
    call.act(lost(600))
    assert books.sql(totals) == [(3, 1, 900, -2, 1, 2)]
    call.bet(60, settlement=won(60, 120)._replace(outcome="natural"))
    assert books.sql("SELECT award FROM awards WHERE round_id = ?", call.round_id) == [("natural",)]
    call.close()
    assert books.audit() == []
    books.close()


def test_books_in_a_file_are_upgraded_and_used(file, folder):
    with contextlib.closing(sqlite3.connect(file)) as before, before:
        before.execute("INSERT INTO servers VALUES (1, 'a', 'p', '', '', '', '1', 0, 0, 0)")
        before.execute("INSERT INTO leases VALUES ('vegas/1', 1, 7, 9)")
    with contextlib.closing(SqliteDatabase(file)) as database:
        with pytest.raises(OlderBooks, match=f"of version {release_1_0.VERSION}"):
            database.open()
        moved = database.upgrade()
    with contextlib.closing(sqlite3.connect(file)) as after:
        assert after.execute("SELECT count(*) FROM servers").fetchone() == (0,)
        assert after.execute("SELECT server, fence FROM leases").fetchall() == [(None, 7)]
    assert (moved.old_version, moved.copy) == (
        release_1_0.VERSION,
        copy_path(file, release_1_0.VERSION),
    )
    check(Books(folder, LATER))


def test_books_on_a_server_are_upgraded_and_used(cluster, on_server, folder):
    place = cluster.place(on_server)
    with contextlib.closing(PostgresDatabase(place)) as database:
        with pytest.raises(OlderBooks, match=f"of version {release_1_0.VERSION}"):
            database.open()
        assert database.upgrade() == Upgrade(str(place), release_1_0.VERSION, None)
    check(Books(folder, LATER, server=place))


def test_a_copy_of_books_in_a_file_is_restored(file, folder):
    copy = file.rename(folder / "copy")
    books = Books(folder, LATER)
    books.close()
    restored = backup.restore(copy, books.settings, books.now)
    assert len(restored.settled_copy.hands) == 1
    books.database.open()
    assert books.audit() == []
    books.close()


def test_a_dump_of_books_on_a_server_is_restored(cluster, on_server, folder, monkeypatch):
    books = Books(folder, LATER, server=cluster.place(on_server))
    copy = folder / "copy.dump"
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", ())
        patch.setattr(dumps, "audit", lambda _desk: [])  # it needs tables of this release
        dumps.back_up(books.database, books.settings, books.now, copy)
    books.close()
    restored = dumps.restore(copy, books.settings, books.now)
    assert len(restored.settled_copy.hands) == 1
    assert books.audit() == []
    books.close()
    cluster.give_back(restored.aside.name)


def test_release_1_0_refuses_books_that_were_moved_forward(file, cluster, on_server, monkeypatch):
    databases = SqliteDatabase(file), PostgresDatabase(cluster.place(on_server))
    for database in databases:
        database.upgrade()
    monkeypatch.setattr(migrations, "STEPS", ())
    for database in databases:
        with contextlib.closing(database):
            assert database.upgrade() is None
            for way in (database.open, database.open_existing):
                with pytest.raises(DatabaseRefused, match="was written by a newer program"):
                    way()


def test_a_caller_whom_release_1_0_deleted_is_gone_for_good(file):
    with contextlib.closing(sqlite3.connect(file)) as old, old:
        old.execute("UPDATE callers SET deleted = 7, powers = 0 WHERE name = 'Bob'")
    with contextlib.closing(SqliteDatabase(file)) as database:
        database.upgrade()
    with contextlib.closing(sqlite3.connect(file)) as books:
        rows = books.execute("SELECT name, removed FROM callers ORDER BY id").fetchall()
    assert rows == [("Ann", None), ("Bob", 7)]


def test_upgraded_tables_in_a_file_equal_new_ones(file, folder):
    definitions = []
    for path in (file, folder / "new.sqlite3"):
        with contextlib.closing(SqliteDatabase(path)) as database:
            database.upgrade()
            database.open()
        with contextlib.closing(sqlite3.connect(path)) as read:
            rows = read.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            definitions.append({name: re.findall(r"\w+", sql) for name, sql in rows})
    assert definitions[0] == definitions[1]


def test_upgraded_tables_on_a_server_equal_new_ones(cluster, on_server):
    new = cluster.empty()
    for name in (on_server, new):
        with contextlib.closing(PostgresDatabase(cluster.place(name))) as database:
            database.upgrade()
            database.open()
    assert described(cluster, on_server) == described(cluster, new)
    cluster.give_back(new)
