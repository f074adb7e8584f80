"""The files of the books are removed or replaced during work."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.timebank import next_version
from tests.timebank.ledger.test_writer import Desks, add, texts
from timebank.errors import BackupRefused, BooksGone, DatabaseRefused
from timebank.keeping import backup
from timebank.ledger import migrations
from timebank.ledger.sqlite import guard
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.upgrade import copy_path

pytestmark = pytest.mark.of_a_file


@pytest.fixture(autouse=True)
def ann(books, monkeypatch: pytest.MonkeyPatch):
    """Make every look at the files a fresh one."""
    monkeypatch.setattr(guard, "LOOK_SECONDS", 0.0)
    return books.caller("Ann")


@pytest.fixture
def desks(books):
    desks = Desks(books)
    yield desks
    desks.writer.close()


def written(desks: Desks, text: str) -> BaseException | None:
    desks.submit(add(text))
    (done,) = desks.next_group()
    return done.error


def sibling(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}{ending}")


def remove_log(path: Path) -> None:
    sibling(path, "-wal").unlink()


def remove_index(path: Path) -> None:
    sibling(path, "-shm").unlink()


def remove_database(path: Path) -> None:
    path.unlink()


def replace_database(path: Path) -> None:
    copy = sibling(path, ".copy")
    shutil.copy(path, copy)
    copy.replace(path)


def rename_folder(path: Path) -> None:
    path.parent.rename(sibling(path.parent, ".old"))


def replace_folder(path: Path) -> None:
    rename_folder(path)
    shutil.copytree(sibling(path.parent, ".old"), path.parent)


THE_LOG = (remove_log, remove_index)
THE_DATABASE = (remove_database, replace_database, replace_folder)


@pytest.fixture
def open_books(open_books, folder: Path):
    """Books in a folder that may be renamed."""
    (folder / "data").mkdir()
    return lambda: open_books(database=folder / "data" / "board.sqlite3")


def is_stopped(desks: Desks, caplog: pytest.LogCaptureFixture) -> str:
    """Check that this process has stopped writing; return the line of the log."""
    books = desks.books
    assert isinstance(written(desks, "too late"), BooksGone)
    assert isinstance(written(desks, "later still"), BooksGone)
    with pytest.raises(BooksGone), books.database.transaction(books.settings, books.now):
        pass
    with pytest.raises(BooksGone), books.database.reading(books.settings, books.now):
        pass
    (line,) = [each.message for each in caplog.records if each.levelno == logging.CRITICAL]
    return line


def close_all(desks: Desks) -> None:
    desks.writer.close()
    desks.books.database.close()


@pytest.mark.parametrize("happens", THE_LOG)
def test_a_removed_log_or_index_loses_nothing_and_the_board_restarts(
    books, desks, caplog, happens: Callable[[Path], None]
) -> None:
    path = books.database.path
    assert written(desks, "one") is None
    happens(path)
    line = is_stopped(desks, caplog)
    assert "is gone" in line
    assert f"All that was acknowledged is in {path}." in line
    # As after kill -9: only the main file counts.
    with_path = path.with_name("killed.sqlite3")
    shutil.copy(path, with_path)
    killed = SqliteDatabase(with_path)
    killed.open()
    with killed.reading(books.settings, books.now) as desk:
        rows = desk.connection.exec_driver_sql("SELECT text FROM notices").scalars().all()
    killed.close()
    assert rows == ["one"]
    close_all(desks)
    books.database.open_existing()


@pytest.mark.parametrize("happens", THE_DATABASE)
def test_acknowledged_transactions_survive_deletion_of_the_database(
    books, desks, caplog, happens: Callable[[Path], None]
) -> None:
    path = books.database.path
    assert written(desks, "one") is None
    happens(path)
    line = is_stopped(desks, caplog)
    copy = guard.rescued_copy(path)
    assert copy is not None
    assert f"All that was acknowledged is in {copy}." in line
    assert copy.stat().st_mode & 0o777 == 0o600
    close_all(desks)
    # The next start of the board is refused, and not given other books.
    again = SqliteDatabase(path)
    with pytest.raises(DatabaseRefused, match="timebank restore") as refused:
        again.open()
    assert str(copy) in str(refused.value)
    for each in (path, sibling(path, "-wal"), sibling(path, "-shm")):
        each.unlink(missing_ok=True)
    backup.restore(copy, books.settings, books.now)
    copy.unlink()
    again.open()
    again.close()
    books.database = again
    assert texts(books) == ["one"]
    assert books.audit() == []


def test_a_renamed_folder_loses_nothing_and_a_copy_is_written_elsewhere(
    books, desks, caplog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = books.database.path
    assert written(desks, "one") is None
    rename_folder(path)
    line = is_stopped(desks, caplog)
    (copy,) = tmp_path.glob(f"{path.name}{guard.RESCUED}*")
    assert f"{path.parent} is gone" in line
    assert str(copy) in line
    for each in (copy, sibling(path.parent, ".old") / path.name):
        file = sqlite3.connect(each)
        assert file.execute("SELECT text FROM notices").fetchall() == [("one",)]
        file.close()


def test_a_failed_rescue_is_reported(
    books, desks, caplog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    assert written(desks, "one") is None
    rename_folder(books.database.path)
    assert "could not be rescued" in is_stopped(desks, caplog)


def test_a_look_is_believed_for_a_while(books, desks, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    identity = guard._identity
    monkeypatch.setattr(guard, "_identity", lambda name: looks.append(name) or identity(name))
    monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
    for number in range(5):
        assert written(desks, str(number)) is None
    assert len(looks) <= 8  # once to learn them, once to see them, or not yet


def test_replaced_files_are_not_connected_to(books, desks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two logs under one index would spoil each other."""
    assert written(desks, "one") is None
    monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
    remove_log(books.database.path)
    with pytest.raises(BooksGone), books.database.engine.connect(), books.database.engine.connect():
        pass
    assert not sibling(books.database.path, "-wal").exists()


def test_normal_work_on_open_books_raises_no_alarm(
    books, desks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "LOCK_SECONDS", 0.05)
    assert written(desks, "one") is None
    backup.back_up(books.database, books.settings, books.now, tmp_path / "copy")
    with pytest.raises(BackupRefused):
        backup.restore(tmp_path / "copy", books.settings, books.now)
    for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"):
        other = sqlite3.connect(books.database.path, isolation_level=None)
        other.execute(statement)
        other.close()
    os.link(books.database.path, sibling(books.database.path, ".link"))  # as some backups do
    sibling(books.database.path, ".of-another-program").touch()
    assert written(desks, "two") is None
    assert texts(books) == ["one", "two"]


def test_without_a_guard_files_may_be_replaced(books, desks) -> None:
    assert written(desks, "one") is None
    close_all(desks)
    replace_database(books.database.path)
    assert texts(books) == ["one"]


def test_a_new_database_is_no_empty_shell_without_its_log(folder: Path) -> None:
    path = folder / "new.sqlite3"
    database = SqliteDatabase(path)
    database.open()
    assert sibling(path, "-wal").stat().st_size == 0
    alone = folder / "alone.sqlite3"
    shutil.copy(path, alone)
    database.close()
    SqliteDatabase(alone).open_existing()


def test_a_database_that_was_moved_forward_is_whole_without_its_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "old.sqlite3"
    database = SqliteDatabase(path)
    database.open()
    database.close()
    monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
    assert database.upgrade() is not None
    database.open()
    assert copy_path(path, next_version.BEFORE).exists()
    assert sibling(path, "-wal").stat().st_size == 0
    database.close()
