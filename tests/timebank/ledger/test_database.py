"""Opening the file: made once, checked always, refused with a sentence."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import stat
import threading
import time

import pytest

from tests.timebank.books import NOON, settings_for
from timebank import files
from timebank.errors import BooksUnavailable, DatabaseRefused
from timebank.ledger import migrations
from timebank.ledger.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.of_a_file

APART = multiprocessing.get_context("forkserver")


@pytest.fixture
def path(folder):
    return folder / "data" / "board.sqlite3"


@pytest.fixture
def settings(folder):
    return settings_for(folder)


@pytest.fixture
def database(path):
    database = SqliteDatabase(path, busy_seconds=0.1)
    yield database
    database.close()


def raw(path):
    """A connection that knows nothing of us."""
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


def pragma(path, name):
    with raw(path) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_opening_makes_the_folder_and_the_tables(database, path):
    database.open()
    assert pragma(path, "user_version") == migrations.newest_version()
    assert pragma(path, "journal_mode") == "wal"


def test_folders_that_it_makes_are_on_the_disk_before_anything_is_in_them(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    SqliteDatabase(tmp_path / "data" / "books" / "board.sqlite3").open()
    assert synced == [tmp_path, tmp_path / "data"]


def test_only_its_owner_may_read_the_file(database, path):
    database.open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_connection_waits_for_the_disk_and_minds_foreign_keys(database, settings):
    database.open()
    with database.transaction(settings, NOON) as desk:
        run = desk.connection.exec_driver_sql
        assert run("PRAGMA synchronous").scalar() == 2  # FULL
        assert run("PRAGMA foreign_keys").scalar() == 1


def test_opening_again_changes_nothing(database, path, settings):
    database.open()
    with database.transaction(settings, NOON) as desk:
        desk.connection.exec_driver_sql(
            "INSERT INTO callers (name, fold, password_hash, locked, created, preferences)"
            " VALUES ('Ann', 'ann', '', 0, 0, '{}')"
        )
    other = SqliteDatabase(path)
    other.open()
    with other.reading(settings, NOON) as desk:
        assert desk.connection.exec_driver_sql("SELECT name FROM callers").scalar() == "Ann"
    other.close()


def test_a_file_that_must_be_there_is_not_made(database, path):
    with pytest.raises(DatabaseRefused, match="There is no database at"):
        database.open_existing()
    assert not path.parent.exists()


def test_an_empty_file_is_no_database_yet(database, path):
    path.parent.mkdir()
    path.touch()
    with pytest.raises(DatabaseRefused, match="There is no database at"):
        database.open_existing()


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_a_database_of_a_newer_program_is_refused(database, path, way):
    database.open()
    with raw(path) as connection:
        connection.execute(f"PRAGMA user_version = {migrations.newest_version() + 1}")
    with pytest.raises(DatabaseRefused, match="written by a newer program"):
        getattr(database, way)()


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_a_database_of_another_program_is_refused(database, path, way):
    path.parent.mkdir()
    with raw(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    with pytest.raises(DatabaseRefused, match="some other program"):
        getattr(database, way)()


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(database, path, way):
    path.parent.mkdir()
    path.write_bytes(b"Dear diary, " * 100)
    with pytest.raises(DatabaseRefused, match="is damaged"):
        getattr(database, way)()
    assert path.read_bytes() == b"Dear diary, " * 100


def test_a_folder_in_its_place_is_refused(database, path):
    path.mkdir(parents=True)
    with pytest.raises(DatabaseRefused, match="cannot be opened: Is a directory"):
        database.open()


def test_a_file_in_the_place_of_its_folder_is_refused(database, path):
    path.parent.touch()
    with pytest.raises(DatabaseRefused, match="cannot be opened"):
        database.open()


def test_a_transaction_that_fails_leaves_nothing_behind(database, settings):
    database.open()

    def write_and_fail():
        with database.transaction(settings, NOON) as desk:
            desk.connection.exec_driver_sql("UPDATE accounts SET balance = 1 WHERE id = 1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    with database.reading(settings, NOON) as desk:
        run = desk.connection.exec_driver_sql
        assert run("SELECT balance FROM accounts WHERE id = 1").scalar() == 0


def test_a_locked_database_is_unavailable_after_the_time_out(database, path, settings):
    database.open()
    with raw(path) as rival:
        rival.execute("BEGIN IMMEDIATE")
        with (
            pytest.raises(BooksUnavailable, match=r"another program has locked"),
            database.transaction(settings, NOON),
        ):
            pass
        rival.execute("ROLLBACK")
    with database.transaction(settings, NOON):
        pass


def refused_after(database, settings):
    """Try to write into a database that is locked; the seconds until it is given up."""
    began = time.monotonic()
    with (
        pytest.raises(BooksUnavailable, match="another program has locked"),
        database.transaction(settings, NOON),
    ):
        pass
    return time.monotonic() - began


def test_while_it_is_locked_only_the_first_waits_long(path, settings, monkeypatch):
    monkeypatch.setattr("timebank.ledger.database.SHORT_BUSY_SECONDS", 0.1)
    patient = SqliteDatabase(path, busy_seconds=1.0)
    patient.open()
    for _ in range(2):  # a successful write restores the patience
        with raw(path) as rival:
            rival.execute("BEGIN EXCLUSIVE")
            assert refused_after(patient, settings) >= 1.0
            assert 0.1 <= refused_after(patient, settings) < 1.0
        with patient.transaction(settings, NOON):
            pass
    patient.close()


def test_a_hurried_database_gives_up_its_turn_but_still_writes(path, settings):
    patient = SqliteDatabase(path, busy_seconds=60.0)
    patient.open()
    hurried = threading.Timer(0.2, patient.limit_waits, (0.1,))
    with raw(path) as rival:
        rival.execute("BEGIN IMMEDIATE")
        hurried.start()
        assert refused_after(patient, settings) < 30.0
    hurried.join()
    with patient.transaction(settings, NOON):
        pass
    patient.close()


def test_reading_does_not_block_writers(database, path, settings):
    database.open()
    with database.reading(settings, NOON) as reading:
        see = reading.connection.exec_driver_sql
        assert see("SELECT balance FROM accounts WHERE id = 1").scalar() == 0
        with database.transaction(settings, NOON) as writing:
            writing.connection.exec_driver_sql("UPDATE accounts SET balance = 1 WHERE id = 1")
        assert see("SELECT balance FROM accounts WHERE id = 1").scalar() == 0


def _open_together(path, barrier):
    barrier.wait()
    database = SqliteDatabase(path)
    database.open()
    database.close()


def test_processes_that_make_the_file_together_make_it_once(path, settings):
    barrier = APART.Barrier(4)
    processes = [APART.Process(target=_open_together, args=(path, barrier)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    database = SqliteDatabase(path)
    database.open_existing()
    with database.reading(settings, NOON) as desk:
        assert desk.connection.exec_driver_sql("SELECT count(*) FROM accounts").scalar() == 5
    database.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(database, path):
    database.open()
    database.close()
    path.chmod(0)
    with pytest.raises(DatabaseRefused, match="does not let you read it"):
        SqliteDatabase(path).open()
