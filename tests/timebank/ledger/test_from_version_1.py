"""Books that the first release has written are moved forward, on both engines."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading

import pytest

from tests import ROOT
from tests.timebank import earlier
from tests.timebank.books import NOON, Books
from timebank.errors import DatabaseRefused, OlderBooks
from timebank.ledger.database import Upgraded
from timebank.ledger.postgres import migrations as on_a_server
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.schema import SCHEMA_VERSION
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.migrations import backup_path
from timebank.servers import leases, registry
from timebank.servers.registry import Newcomer
from timebank.wagers import journal
from timebank.wagers.journal import Shoe

pytestmark = pytest.mark.long

DATA = ROOT / "tests" / "timebank" / "data"
# One that is shared, and was dealt from.
SHOE = (
    "INSERT INTO {schema}.shoes (game, decks, seed, seal, cut, opened)"
    " VALUES ('vegas', 6, '{seed}', 'a seal', '', 1)"
)


@pytest.fixture
def file(folder):
    """A file of version 1 in which Ann plays, and Bob is registered."""
    path = folder / "board.sqlite3"
    earlier.make_version_1(path)
    with contextlib.closing(sqlite3.connect(path)) as written:
        written.execute(SHOE.format(schema="main", seed="s" * 32))
        written.commit()
    return path


@pytest.fixture
def on_server(cluster):
    """The same on a server: the name of its database."""
    name = cluster.empty()
    with cluster.connect(name) as shell:
        shell.execute((DATA / "books_1.postgres.sql").read_text("utf-8"), prepare=False)
        shell.execute(SHOE.format(schema="public", seed="s" * 32))
    yield name
    cluster.give_back(name)


def shared_shoe(books: Books, table: int) -> Shoe:
    return books.do(journal.open_shoe, None, "vegas", 6, bytes(32), "another seal", table)


def check(books: Books) -> None:
    assert books.audit() == []
    assert books.sql("SELECT count(*), max(id) FROM transfers") == [(7, 7)]
    totals = "hands, hands_won, best, streak, longest_won, longest_lost"
    assert books.sql(f"SELECT {totals} FROM results_ever") == [(2, 1, 900, -1, 1, 1)]
    assert books.sql("SELECT name FROM callers ORDER BY id") == [("Ann",), ("Bob",)]
    server = books.do(registry.enter, Newcomer("alpha", "p", "{}", "1"))
    assert server.id == 1
    assert books.do(leases.take, "jobs", server.id, 12) == 1
    found = [shoe.id for shoe in (shared_shoe(books, 1), shared_shoe(books, 2))]
    assert found == [1, 2]  # what was shared is the first table's
    call = books.call(1, take_over=True)
    call.close()
    assert books.audit() == []
    books.close()


def moved_forward(database) -> Upgraded | None:
    upgraded = database.upgrade()
    database.open()
    database.close()
    return upgraded


def test_a_file_is_moved_forward_after_a_copy_and_in_order(file, folder):
    assert moved_forward(SqliteDatabase(file)).copy == backup_path(file, 1)
    with contextlib.closing(sqlite3.connect(backup_path(file, 1))) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (1,)
    check(Books(folder, NOON.replace(day=2)))


def test_books_on_a_server_are_moved_forward_and_in_order(cluster, on_server, folder):
    place = cluster.place(on_server)
    assert moved_forward(PostgresDatabase(place)) == Upgraded(str(place), 1, None)
    assert moved_forward(PostgresDatabase(place)) is None
    check(Books(folder, NOON.replace(day=2), server=cluster.place(on_server)))


def described(cluster, name) -> dict[str, set]:
    """All columns, rules and indexes of a database, by what they are of."""
    with cluster.connect(name) as shell:
        columns = shell.execute(
            "SELECT table_name, column_name, data_type, collation_name, column_default,"
            " is_nullable, is_identity FROM information_schema.columns"
            " WHERE table_schema = 'public'"
        ).fetchall()
        rules = shell.execute(
            "SELECT CAST(conrelid AS regclass), conname, pg_get_constraintdef(oid)"
            " FROM pg_constraint WHERE connamespace = CAST('public' AS regnamespace)"
        ).fetchall()
        indexes = shell.execute(
            "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        ).fetchall()
    return {"columns": set(columns), "rules": set(rules), "indexes": set(indexes)}


def test_the_tables_on_a_server_are_those_of_new_books(cluster, on_server):
    for name in (on_server, cluster.empty()):
        moved_forward(PostgresDatabase(cluster.place(name)))
    new = described(cluster, name)
    assert described(cluster, on_server) == new
    assert {"servers", "leases"} <= {column[0] for column in new["columns"]}
    cluster.give_back(name)


def test_the_tables_in_a_file_are_those_of_new_books(file, folder):
    definitions = []
    for path in (file, folder / "new.sqlite3"):
        moved_forward(SqliteDatabase(path))
        with contextlib.closing(sqlite3.connect(path)) as read:
            rows = read.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            definitions.append({name: sorted(re.findall(r"\w+", sql)) for name, sql in rows})
    assert definitions[0] == definitions[1]


def test_several_that_open_it_at_once_move_it_once(cluster, on_server):
    opened = [PostgresDatabase(cluster.place(on_server)) for _ in range(4)]
    threads = [threading.Thread(target=database.upgrade) for database in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in opened:
        database.open_existing()
        database.close()
    with cluster.connect(on_server) as shell:
        assert shell.execute("SELECT version FROM books").fetchall() == [(SCHEMA_VERSION,)]


def test_a_step_that_fails_leaves_books_on_a_server_as_they_were(cluster, on_server, monkeypatch):
    broken = {1: (*on_a_server.STEPS[1], "SELECT nothing FROM nowhere")}
    before = described(cluster, on_server)
    with monkeypatch.context() as patch:
        patch.setattr(on_a_server, "STEPS", broken)
        database = PostgresDatabase(cluster.place(on_server))
        with pytest.raises(DatabaseRefused, match="nowhere"):
            database.upgrade()
        database.close()
    assert described(cluster, on_server) == before
    moved_forward(database)
    assert described(cluster, on_server) != before


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_opening_refuses_them_on_a_server_too_and_changes_nothing(cluster, on_server, way):
    before = described(cluster, on_server)
    database = PostgresDatabase(cluster.place(on_server))
    with pytest.raises(OlderBooks, match=r"version 1, .*`timebank upgrade` moves them"):
        getattr(database, way)()
    database.close()
    assert described(cluster, on_server) == before


def test_nothing_is_moved_on_a_server_while_an_older_server_lives(cluster, on_server, monkeypatch):
    """One of the version that has rows of servers first."""
    database = PostgresDatabase(cluster.place(on_server))
    with monkeypatch.context() as patch:
        patch.setattr(on_a_server, "STEPS", {1: on_a_server.STEPS[1]})
        assert database.upgrade() is not None
    row = (
        "INSERT INTO servers (name, process, settings, version, started, renewed)"
        " VALUES ('alpha', 'p', '{}', '1', 1, extract(epoch FROM clock_timestamp()) - %s)"
    )
    with cluster.connect(on_server) as shell:
        shell.execute(row, (on_a_server.LIVING_SECONDS - 10,))
        with pytest.raises(DatabaseRefused, match="the server alpha of the earlier release still"):
            database.upgrade()
        assert shell.execute("SELECT version FROM books").fetchall() == [(2,)]
        shell.execute("DELETE FROM servers")
        shell.execute(row, (on_a_server.LIVING_SECONDS + 10,))
    assert moved_forward(database).before == 2
