"""Somebody writes into the files of the books, or cuts one off, while somebody works in them."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.timebank.books import Books
from tests.timebank.ledger.test_guard import beside, close_all, is_stopped, written
from tests.timebank.ledger.test_writer import Desks, add, texts
from timebank.callers.notices import add_notice
from timebank.errors import (
    BackupRefused,
    BooksGone,
    BooksUnavailable,
    DatabaseRefused,
    LogUnreadable,
)
from timebank.keeping import backup, restore
from timebank.ledger.sqlite import database, guard, overwritten, wal
from timebank.ledger.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.of_a_file

FRAMES = 40  # in the log before it is carried over


@pytest.fixture(autouse=True)
def ann(books, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Let every look at the files be a new one, and have checkpoints soon."""
    monkeypatch.setattr(guard, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(overwritten, "AGAIN_SECONDS", 0.001)
    monkeypatch.setattr(database, "CHECKPOINT_FRAMES", FRAMES)
    restore.take_up(books.database, books.settings, books.now)
    yield books.caller("Ann")
    guard.let_go()


@pytest.fixture
def desks(books):
    desks = Desks(books)
    yield desks
    desks.writer.close()


def carried_over(path: Path) -> int:
    """Tell how often the database was written, by its clock."""
    return path.stat().st_mtime_ns


def write_past_a_checkpoint(desks: Desks) -> int:
    """Write until the log was carried over, and a little more; returns how often."""
    path = desks.books.database.path
    before = carried_over(path)
    for number in range(1000):
        assert written(desks, f"notice {number}") is None
        if carried_over(path) != before:
            break
    for more in range(3):
        assert written(desks, f"more {more}") is None
    return number + 4


def cp(source: Path, target: Path) -> None:
    """What the command does: the file stays, and what is in it is replaced."""
    with source.open("rb") as old, target.open("wb") as new:
        shutil.copyfileobj(old, new)


def empty(path: Path) -> None:
    path.open("wb").close()


def backup_of(books: Books) -> Path:
    copy = books.database.path.with_name("copy")
    backup.back_up(books.database, books.settings, books.now, copy)
    return copy


def process_ends(desks: Desks) -> None:
    close_all(desks)
    guard.let_go()


class TestNoticed:
    def test_a_backup_copied_over_the_database(self, books, desks, caplog):
        copy = backup_of(books)
        write_past_a_checkpoint(desks)
        cp(copy, books.database.path)
        said = is_stopped(desks, caplog)
        assert "board.sqlite3 was written over or cut off by another program" in said
        assert "timebank restore" in said

    def test_an_older_plain_copy_of_the_database(self, books, desks, caplog):
        write_past_a_checkpoint(desks)
        copy = Path(shutil.copy(books.database.path, books.database.path.with_name("plain")))
        write_past_a_checkpoint(desks)
        cp(copy, books.database.path)
        assert "written over or cut off" in is_stopped(desks, caplog)

    def test_older_books_between_two_looks_by_their_count(self, books, desks, monkeypatch, caplog):
        """A shell has carried the log over, so that all of the older books is believed."""
        assert written(desks, "one") is None
        copy = backup_of(books)
        assert written(desks, "two") is None
        monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
        assert written(desks, "three") is None
        with contextlib.closing(sqlite3.connect(books.database.path)) as shell:
            assert shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        cp(copy, books.database.path)
        assert "written over or cut off" in is_stopped(desks, caplog)

    @pytest.mark.parametrize("ending", ["", "-wal"])
    def test_a_file_that_is_emptied(self, books, desks, caplog, ending):
        write_past_a_checkpoint(desks)
        empty(beside(books.database.path, ending))
        assert f"board.sqlite3{ending} was written over" in is_stopped(desks, caplog)

    @pytest.mark.parametrize("ending", ["", "-wal"])
    def test_a_file_that_is_cut_off(self, books, desks, caplog, ending):
        write_past_a_checkpoint(desks)
        file = beside(books.database.path, ending)
        os.truncate(file, 4096 if not ending else 32 + 100)
        assert f"board.sqlite3{ending} was written over" in is_stopped(desks, caplog)

    def test_an_older_log_copied_over_the_log(self, books, desks, caplog):
        log = beside(books.database.path, "-wal")
        for number in range(3):
            assert written(desks, str(number)) is None
        old = Path(shutil.copy(log, log.with_name("old-log")))
        for number in range(3):
            assert written(desks, str(number)) is None
        cp(old, log)
        assert "-wal was written over" in is_stopped(desks, caplog)

    def test_an_older_log_that_was_written_on_since(self, books, desks, monkeypatch, caplog):
        """The frames between are gone, and those before and behind them are in order."""
        log = beside(books.database.path, "-wal")
        assert written(desks, "one") is None
        old = Path(shutil.copy(log, log.with_name("old-log")))
        for number in range(3):
            assert written(desks, str(number)) is None
        monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
        assert written(desks, "seen") is None  # the last look for an hour
        cp(old, log)
        assert written(desks, "one more") is None
        assert books.database._guard is not None
        books.database._guard.look_again()
        assert "-wal was written over" in is_stopped(desks, caplog)

    def test_nothing_is_carried_over_that_was_not_looked_at(
        self, books, desks, monkeypatch, caplog
    ):
        """However long a look is believed: the checkpoint would spoil what is left."""
        copy = backup_of(books)
        write_past_a_checkpoint(desks)
        monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
        assert written(desks, "seen") is None
        cp(copy, books.database.path)
        there = books.database.path.read_bytes()
        for number in range(1000):
            if isinstance(written(desks, str(number)), BooksGone):
                break
        assert number < 1000 - 1
        assert books.database.path.read_bytes() == there
        assert "was written over" in is_stopped(desks, caplog)

    def test_the_end_of_the_process_looks_too(self, books, desks, monkeypatch, caplog):
        copy = backup_of(books)
        write_past_a_checkpoint(desks)
        monkeypatch.setattr(guard, "LOOK_SECONDS", 3600.0)
        assert written(desks, "seen") is None
        cp(copy, books.database.path)
        there = books.database.path.read_bytes()
        close_all(desks)
        assert books.database.path.read_bytes() == there
        assert any("was written over" in each for each in caplog.messages)


class TestWhatIsLeft:
    def test_nobody_opens_them_until_they_are_restored(self, books, desks, caplog):
        copy = backup_of(books)
        write_past_a_checkpoint(desks)
        cp(copy, books.database.path)
        is_stopped(desks, caplog)
        process_ends(desks)
        path = books.database.path
        for opens in (SqliteDatabase(path).open, SqliteDatabase(path).open_existing):
            with pytest.raises(DatabaseRefused, match="written over while the board served"):
                opens()
        restored = backup.restore(copy, books.settings, books.now)
        assert restored.aside is not None
        for left in guard_copies(path):
            left.unlink()
        again = SqliteDatabase(path)
        again.open()
        assert restore.take_up(again, books.settings, books.now) is None
        again.close()
        books.database = again
        assert books.audit() == []

    def test_a_restore_waits_until_everybody_has_stopped(self, books, desks, caplog):
        copy = backup_of(books)
        empty(beside(books.database.path, "-wal"))
        assert is_stopped(desks, caplog)
        with pytest.raises(BackupRefused, match="Another process has"):
            backup.restore(copy, books.settings, books.now)
        process_ends(desks)
        assert backup.restore(copy, books.settings, books.now)

    def test_books_whose_log_was_emptied_are_saved_from_memory_or_as_they_were(
        self, books, desks, caplog
    ):
        count = write_past_a_checkpoint(desks)
        empty(beside(books.database.path, "-wal"))
        said = is_stopped(desks, caplog)
        process_ends(desks)
        (copy,) = guard_copies(books.database.path)
        assert str(copy) in said
        assert copy.stat().st_mode & 0o777 == 0o600
        with contextlib.closing(sqlite3.connect(copy)) as file:
            (kept,) = file.execute("SELECT count(*) FROM notices").fetchone()
        whole = f"All that was acknowledged is in {copy}." in said
        assert whole or f"is in {copy}, without the last {count - kept} transactions" in said
        assert not whole or kept == count
        backup.restore(copy, books.settings, books.now)
        copy.unlink()
        books.database = SqliteDatabase(books.database.path)
        books.database.open()
        assert len(texts(books)) == kept
        assert books.audit() == []


def guard_copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}{guard.RESCUED}*"))


SHELL = (
    "import sqlite3, sys\n"
    "shell = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)\n"
    "for statement in sys.argv[2:]:\n"
    "    shell.execute(statement).fetchall()\n"
    "shell.close()\n"
)


class TestNoFalseAlarm:
    @pytest.mark.parametrize(
        "statements",
        [
            ["PRAGMA wal_checkpoint(PASSIVE)"],
            ["PRAGMA wal_checkpoint(TRUNCATE)"],
            ["VACUUM"],
            ["VACUUM", "PRAGMA wal_checkpoint(RESTART)"],
            ["CREATE TABLE mine (x)", "INSERT INTO mine VALUES (1)", "DROP TABLE mine"],
        ],
    )
    def test_another_program_that_uses_sqlite(self, books, desks, statements):
        for _ in range(3):
            assert written(desks, "before") is None
            words = [sys.executable, "-c", SHELL, str(books.database.path), *statements]
            subprocess.run(words, check=True)
            for _ in range(3):
                assert written(desks, "after") is None

    def test_nobody_has_written_since_they_were_opened(self, books, desks):
        """The index of a log that nothing was put into yet does not know how large a page is."""
        older = backup_of(books)
        assert written(desks, "one") is None
        close_all(desks)
        again = SqliteDatabase(books.database.path)
        with contextlib.closing(again):
            again.open_existing()
            for _ in range(3):
                again.guard()
            cp(older, books.database.path)
            with pytest.raises(BooksGone):
                again.guard()

    def test_many_checkpoints(self, books, desks):
        for _ in range(5):
            write_past_a_checkpoint(desks)

    def test_a_reader_that_keeps_the_log_from_being_carried_over(self, books, desks):
        assert written(desks, "one") is None
        with contextlib.closing(sqlite3.connect(books.database.path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM notices").fetchone()
            for number in range(30):
                assert written(desks, str(number)) is None
        for number in range(30):
            assert written(desks, str(number)) is None

    def test_a_touch(self, books, desks):
        write_past_a_checkpoint(desks)
        for ending in ("", "-wal", "-shm"):
            os.utime(beside(books.database.path, ending))
            assert written(desks, "touched") is None

    def test_backups_and_other_processes_at_work(self, books, desks, folder):
        other = Books(folder)
        others = Desks(other)
        try:
            for number in range(60):
                for each in (desks, others):
                    each.submit(add(str(number)))
                for each in (desks, others):
                    (done,) = each.next_group()
                    assert done.error is None
                if number % 20 == 0:
                    backup.back_up(books.database, books.settings, books.now, folder / str(number))
        finally:
            others.writer.close()
            other.close()
        assert written(desks, "last") is None
        assert len(texts(books)) == 121

    def test_an_index_that_cannot_be_read_tells_nothing(self, books, desks, monkeypatch):
        def unreadable(_):
            raise LogUnreadable("no")

        monkeypatch.setattr(wal, "open_file", unreadable)
        monkeypatch.setattr(database, "UNTOLD", 5)
        before = carried_over(books.database.path)
        for number in range(10):
            assert written(desks, str(number)) is None
        assert carried_over(books.database.path) != before  # it is carried over now and then

    def test_the_count_is_read_off_its_page(self, books, desks):
        path = books.database.path
        for number in (0, 1, 2, 127, 128, 40_000, 9_000_000, 2**33, 2**50, 2**62):
            books.sql("UPDATE identity SET commits = ?, copied = ?", number, number // 3 or None)
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as shell:
                shell.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                (page,) = shell.execute(
                    "SELECT rootpage FROM sqlite_master WHERE name = 'identity'"
                ).fetchone()
            content = path.read_bytes()[(page - 1) * 4096 : page * 4096]
            assert overwritten.count_on(content) == number + 1  # with the one that set it
            for other in range(1, page):
                assert overwritten.count_on(path.read_bytes()[(other - 1) * 4096 :][:4096]) is None
        assert overwritten.count_on(b"") is None
        assert overwritten.count_on(os.urandom(4096)) is None

    def test_a_descriptor_whose_owner_has_closed_it(self, books, desks):
        file = overwritten.OpenFile(guard._identity(books.database.path))
        assert written(desks, "one") is None
        file._number = os.dup(0)
        os.close(file._number)
        assert file.read(16, 0) == b"SQLite format 3\0"


class TestDamaged:
    @pytest.fixture
    def damaged(self, books, ann):
        books.database.close()
        path = books.database.path
        with path.open("r+b") as file:
            file.seek(100)
            file.write(os.urandom(8000))
        return path

    @pytest.mark.parametrize("way", ["open", "open_existing"])
    def test_it_is_told_as_what_it_is(self, damaged, way):
        with pytest.raises(DatabaseRefused) as refused:
            getattr(SqliteDatabase(damaged), way)()
        said = str(refused.value)
        assert said.startswith(f"The database {damaged} is damaged.")
        assert "`timebank restore` puts a backup in its place" in said

    def test_in_the_middle_of_work_too(self, books, ann):
        path = books.database.path
        size = path.stat().st_size
        books.database.close()
        with contextlib.closing(sqlite3.connect(path)) as file:
            (page,) = file.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'notices'"
            ).fetchone()
        with path.open("r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(b"\x99" * 4096)
        assert path.stat().st_size == size
        with pytest.raises(BooksUnavailable, match=r"is damaged\. `timebank restore"):
            books.do(add_notice, ann, "Hello.")
