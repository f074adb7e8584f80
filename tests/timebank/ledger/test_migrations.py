"""Books of an earlier version move forward when asked, whole or not at all, on both engines."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from sqlalchemy import DDL, event

from tests.timebank import next_version
from tests.timebank.books import NOON, Books, lost
from tests.timebank.described import described
from timebank.errors import DatabaseRefused, OlderBooks
from timebank.ledger import migrations
from timebank.ledger.database import Upgrade
from timebank.ledger.postgres.database import LIVING_SECONDS, PostgresDatabase
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.upgrade import copy_path, move_forward
from timebank.wagers import journal

APART = multiprocessing.get_context("forkserver")
OLDER = r"of version {}, .*`door upgrade` moves them forward, and so does the next `door serve`"


def play(books: Books) -> None:
    """Ann has won and lost, and plays; Bob is registered."""
    call = books.call(books.caller("Ann"))
    call.win(600, 900)
    call.lose(300)
    call.bet(600)
    books.caller("Bob")
    books.close()


@pytest.fixture
def path(folder, monkeypatch):
    """Create books in a file, for a release with a migration from that version."""
    books = Books(folder)
    play(books)
    monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
    return books.database.path


@pytest.fixture
def name(cluster, folder, monkeypatch):
    """The same on a server: the name of their database."""
    name = cluster.take()
    play(Books(folder, server=cluster.place(name)))
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", next_version.STEPS)
        yield name
    cluster.give_back(name)


def raw(path):
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


def version(path):
    with raw(path) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def version_there(cluster, name):
    with cluster.connect(name) as shell:
        return shell.execute("SELECT version FROM books").fetchone()[0]


def dump(path):
    """All that is in a database."""
    with raw(path) as connection:
        return list(connection.iterdump())


def upgrade(path):
    """Upgrade as a start of the board does, without waiting for other users of the file."""
    with contextlib.closing(SqliteDatabase(path, 0.0)) as database:
        return database.upgrade()


def on_server(cluster, name):
    return contextlib.closing(PostgresDatabase(cluster.place(name)))


def goes_on(books: Books) -> None:
    """The hand that lay on the table is played, and the books stay in order."""
    assert books.sql("SELECT name, motto FROM callers ORDER BY id") == [
        ("Ann", "none"),
        ("Bob", "none"),
    ]
    call = books.call(1, take_over=True)
    hand = books.do(journal.round_in_play, 1)
    call.round_id, call.sequence = hand.id, hand.sequence
    call.act(lost(call.purse.stake))
    call.close()
    assert books.audit() == []
    books.close()


def test_a_release_with_a_migration_writes_the_next_version(monkeypatch):
    assert (migrations.FIRST_VERSION, migrations.newest_version()) == (
        13,
        13 + len(migrations.STEPS),
    )
    monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
    assert migrations.newest_version() == next_version.VERSION


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_opening_refuses_a_file_in_a_sentence_and_changes_nothing(path, way):
    before = path.read_bytes()
    with (
        contextlib.closing(SqliteDatabase(path)) as database,
        pytest.raises(OlderBooks, match=OLDER.format(next_version.BEFORE)),
    ):
        getattr(database, way)()
    assert path.read_bytes() == before
    assert not copy_path(path, next_version.BEFORE).exists()


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_opening_refuses_books_on_a_server_too_and_changes_nothing(cluster, name, way):
    before = described(cluster, name)
    with (
        on_server(cluster, name) as database,
        pytest.raises(OlderBooks, match=OLDER.format(next_version.BEFORE)),
    ):
        getattr(database, way)()
    assert described(cluster, name) == before
    assert version_there(cluster, name) == next_version.BEFORE


def test_an_upgrade_of_a_file_names_the_copy_and_the_board_runs(path, folder):
    copy = copy_path(path, next_version.BEFORE)
    assert upgrade(path).sentences() == [
        f"Moved the books in {path} from version {next_version.BEFORE} to {next_version.VERSION}.",
        f"A copy of them as they were is in {copy}.",
        f"To go back, install the earlier release and run `timebank restore {copy}`.",
    ]
    assert upgrade(path) is None
    assert version(path) == next_version.VERSION
    goes_on(Books(folder, NOON.replace(day=2)))


def test_so_does_one_on_a_server_without_a_copy(cluster, name, folder):
    with on_server(cluster, name) as database:
        assert database.upgrade() == Upgrade(database.place, next_version.BEFORE, None)
        assert database.upgrade() is None
    assert version_there(cluster, name) == next_version.VERSION
    goes_on(Books(folder, NOON.replace(day=2), server=cluster.place(name)))


def test_books_go_through_all_the_steps_from_where_they_are(path, monkeypatch):
    def next_step(connection):
        connection.execute(DDL("ALTER TABLE nicknames ADD COLUMN since INTEGER"))

    monkeypatch.setattr(migrations, "STEPS", (*next_version.STEPS, next_step))
    assert upgrade(path).old_version == next_version.BEFORE
    assert version(path) == next_version.VERSION + 1
    monkeypatch.setattr(migrations, "STEPS", (*next_version.STEPS, next_step, next_step))
    with pytest.raises(DatabaseRefused, match="the tables are not as the board made them"):
        upgrade(path)


def test_every_row_stays_as_it_was(path):
    with raw(path) as connection:
        before = connection.execute("SELECT * FROM transfers").fetchall()
    upgrade(path)
    with raw(path) as connection:
        assert connection.execute("SELECT * FROM transfers").fetchall() == before


def test_a_private_copy_of_the_old_books_is_stored(path):
    before = dump(path)
    copy = upgrade(path).copy
    assert copy.name == f"board.sqlite3.v{next_version.BEFORE}-backup"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert dump(copy) == before
    assert version(copy) == next_version.BEFORE
    assert list(path.parent.glob("*backup*")) == [copy]


def test_the_copy_includes_transactions_in_the_log(path):
    with raw(path) as other:
        other.execute("INSERT INTO notices (caller_id, at, text) VALUES (1, 0, 'late')")
        upgrade(path)
    with raw(copy_path(path, next_version.BEFORE)) as copy:
        assert ("late",) in copy.execute("SELECT text FROM notices").fetchall()


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM callers").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


def test_no_file_is_moved_while_an_older_server_has_it_open(path):
    before = dump(path)
    words = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(DatabaseRefused, match=r"Another process has the books in .* open"):
            upgrade(path)
        assert dump(path) == before
        assert not copy_path(path, next_version.BEFORE).exists()
        holder.stdin.close()
    assert upgrade(path).old_version == next_version.BEFORE


def test_nothing_is_moved_on_a_server_while_an_older_server_lives(cluster, name):
    row = (
        "INSERT INTO servers (name, process, settings, version, started, renewed)"
        " VALUES ('alpha', 'p', '{}', '1', 1, extract(epoch FROM clock_timestamp()) - %s)"
    )
    with cluster.connect(name) as shell, on_server(cluster, name) as database:
        shell.execute(row, (LIVING_SECONDS - 10,))
        with pytest.raises(DatabaseRefused, match="the server alpha of the earlier release still"):
            database.upgrade()
        assert version_there(cluster, name) == next_version.BEFORE
        shell.execute("DELETE FROM servers")
        shell.execute(row, (LIVING_SECONDS + 10,))
        assert database.upgrade().old_version == next_version.BEFORE


def test_a_server_is_not_upgraded_while_its_tables_are_read(cluster, name):
    with cluster.connect(name) as reader, on_server(cluster, name) as database:
        reader.execute("BEGIN; SELECT count(*) FROM callers")  # as a backup does
        with pytest.raises(DatabaseRefused, match=r"Another program .* Nothing was changed"):
            database.upgrade()
        reader.execute("ROLLBACK")
        assert version_there(cluster, name) == next_version.BEFORE
        assert database.upgrade().old_version == next_version.BEFORE


def test_books_of_this_version_are_not_copied(folder):
    play(Books(folder))
    assert upgrade(folder / "board.sqlite3") is None
    assert list(folder.glob("*backup*")) == []


@pytest.mark.parametrize("number", [0, 1, 12])
def test_a_file_of_before_release_1_0_is_refused_and_not_changed(path, number):
    with raw(path) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
    before = dump(path)
    database = SqliteDatabase(path)
    assert database.upgrade() is None
    for way in (database.open, database.open_existing):
        sentence = f"of version {number}, from before release 1.0, and no release opens those"
        with pytest.raises(DatabaseRefused, match=sentence) as refused:
            way()
        assert not isinstance(refused.value, OlderBooks)  # `door serve` moves none either
    assert dump(path) == before


def test_too_old_books_on_a_server_are_refused(cluster, name):
    with cluster.connect(name) as shell, on_server(cluster, name) as database:
        shell.execute("UPDATE books SET version = 12")
        before = described(cluster, name)
        assert database.upgrade() is None
        with pytest.raises(DatabaseRefused, match=r"of version 12, from before release 1\.0"):
            database.open()
        assert described(cluster, name) == before
        shell.execute("UPDATE books SET version = %s", (next_version.BEFORE,))


def test_books_of_a_newer_release_are_refused_and_not_changed(path):
    with raw(path) as connection:
        connection.execute(f"PRAGMA user_version = {next_version.VERSION + 1}")
    before = dump(path)
    database = SqliteDatabase(path)
    assert database.upgrade() is None
    with pytest.raises(DatabaseRefused, match="was written by a newer program"):
        database.open()
    assert dump(path) == before


def test_without_room_for_a_copy_it_is_refused_and_nothing_is_changed(path):
    copy_path(path, next_version.BEFORE).mkdir()
    before = dump(path)
    with pytest.raises(DatabaseRefused, match=r"cannot be opened: .*Nothing was changed\."):
        upgrade(path)
    assert dump(path) == before


def test_a_row_that_refers_to_nothing_keeps_a_file_where_it_is(path):
    with raw(path) as connection:
        connection.execute("UPDATE days SET grant_id = 99")
    before = dump(path)
    with pytest.raises(DatabaseRefused, match="refers to no row of transfers"):
        upgrade(path)
    assert dump(path) == before


def test_a_table_that_others_refer_to_can_be_rebuilt(path, monkeypatch):
    def remake(connection):
        (made,) = connection.exec_driver_sql(
            "SELECT replace(sql, 'CREATE TABLE calls', 'CREATE TABLE calls_1') FROM sqlite_master"
            " WHERE name = 'calls'"
        ).one()
        connection.exec_driver_sql("PRAGMA legacy_alter_table = ON")
        for statement in (
            made,
            "INSERT INTO calls_1 SELECT * FROM calls",
            "DROP TABLE calls",
            "ALTER TABLE calls_1 RENAME TO calls",
        ):
            connection.execute(DDL(statement))

    monkeypatch.setattr(migrations, "STEPS", (*next_version.STEPS[:-1], remake))
    assert upgrade(path).old_version == next_version.BEFORE
    with contextlib.closing(SqliteDatabase(path)) as database:
        database.open()


def move_and_die(path, place):
    """Move a file in a process that is killed before its statement number `place`; was it?"""
    process = os.fork()
    if process:
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert status in (0, -signal.SIGKILL)
        return status != 0
    connect, statements = sqlite3.connect, itertools.count(1)

    def watched(*given, **named):
        connection = connect(*given, **named)
        connection.set_trace_callback(
            lambda _: next(statements) == place and os.kill(os.getpid(), signal.SIGKILL)
        )
        return connection

    try:
        sqlite3.connect = sqlite3.dbapi2.connect = watched
        move_forward(path, 5)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.long
def test_a_kill_at_any_statement_leaves_a_file_old_or_new(path, folder):
    before, versions, is_killed = dump(path), [], True
    while is_killed:
        is_killed = move_and_die(path, len(versions) + 1)
        versions.append(version(path))
        if versions[-1] == next_version.BEFORE:
            assert dump(path) == before
        for copy in folder.glob("board.sqlite3*-backup*"):
            copy.unlink()
    assert len(versions) > 15
    assert versions == sorted(versions)
    assert set(versions) == {next_version.BEFORE, next_version.VERSION}
    goes_on(Books(folder, NOON.replace(day=2)))


def test_a_cut_at_any_statement_leaves_a_servers_books_old_or_new(cluster, name):
    before, versions, is_cut = described(cluster, name), [], True
    while is_cut:
        is_cut, left = False, len(versions)
        with on_server(cluster, name) as database:

            @event.listens_for(database.engine, "before_cursor_execute")
            def cut(connection, *_):
                nonlocal is_cut, left
                left -= 1
                if left < 0:
                    is_cut = True
                    connection.connection.driver_connection.pgconn.finish()

            with contextlib.suppress(DatabaseRefused):
                database.upgrade()
        versions.append(version_there(cluster, name))
        assert (described(cluster, name) == before) == (versions[-1] == next_version.BEFORE)
    assert len(versions) > 8
    assert versions == [*[next_version.BEFORE] * (len(versions) - 1), next_version.VERSION]


def test_a_step_that_fails_leaves_books_on_a_server_as_they_were(cluster, name, monkeypatch):
    def broken(connection):
        connection.execute(DDL("SELECT nothing FROM nowhere"))

    before = described(cluster, name)
    with on_server(cluster, name) as database:
        with monkeypatch.context() as patch:
            patch.setattr(migrations, "STEPS", (*next_version.STEPS, broken))
            with pytest.raises(DatabaseRefused, match="the tables are not as the board made them"):
                database.upgrade()
        assert described(cluster, name) == before
        assert database.upgrade() is not None


def test_several_that_open_books_on_a_server_together_move_them_once(cluster, name):
    opened = [PostgresDatabase(cluster.place(name)) for _ in range(4)]
    threads = [threading.Thread(target=database.upgrade) for database in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in opened:
        database.open_existing()
        database.close()
    assert version_there(cluster, name) == next_version.VERSION


def test_a_failed_commit_of_a_move_is_not_reported_as_no_change(path, monkeypatch):
    class Failing(sqlite3.Connection):
        def commit(self):
            super().commit()
            raise sqlite3.OperationalError("disk I/O error")

    connect = sqlite3.dbapi2.connect
    with monkeypatch.context() as patch:
        patch.setattr(
            sqlite3.dbapi2, "connect", lambda *where, **how: connect(*where, **how, factory=Failing)
        )
        with pytest.raises(DatabaseRefused, match="in the old version or the new") as refused:
            upgrade(path)
    assert "Nothing was changed" not in str(refused.value)
    assert version(path) == next_version.VERSION
