"""The files of the books are overwritten or damaged."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.timebank.ledger.test_guard import is_stopped, written
from tests.timebank.ledger.test_writer import Desks
from timebank.callers.notices import add_notice
from timebank.errors import BooksUnavailable, DatabaseRefused
from timebank.keeping import backup, restored_books
from timebank.ledger.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.of_a_file


@pytest.fixture(autouse=True)
def ann(books) -> int:
    restored_books.take_up(books.database, books.settings, books.now)
    return books.caller("Ann")


@pytest.fixture
def desks(books):
    desks = Desks(books)
    yield desks
    desks.writer.close()


def carry_over(path: Path) -> None:
    """Checkpoint, as a shell can."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as shell:
        assert shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def cp(source: Path, target: Path) -> None:
    """Replace the content of the file, as `cp` does."""
    with source.open("rb") as old, target.open("wb") as new:
        shutil.copyfileobj(old, new)


class TestOverwritten:
    def copy_of(self, books, how: str) -> Path:
        copy = books.database.path.with_name("copy")
        if how == "backup":
            backup.back_up(books.database, books.settings, books.now, copy)
        else:
            shutil.copy(books.database.path, copy)
        return copy

    def is_in_doubt(self, books) -> bool:
        """Check the message of the next start, or else of the audit."""
        again = books.database = SqliteDatabase(books.database.path)
        try:
            again.open()
            return (
                restored_books.take_up(again, books.settings, books.now) is not None
                or books.audit()
            )
        except (DatabaseRefused, BooksUnavailable) as refused:
            return "timebank restore" in str(refused)

    @pytest.mark.parametrize("how", ["backup", "cp"])
    def test_books_in_use_are_in_doubt_at_the_next_start_or_audit(self, books, ann, how):
        call = books.call(ann)
        carry_over(books.database.path)
        copy = self.copy_of(books, how)
        for _ in range(9):
            call.lose(60)
        carry_over(books.database.path)
        cp(copy, books.database.path)
        call.lose(60)  # the state in memory fits
        books.database.close()
        assert self.is_in_doubt(books)

    def test_older_books_stop_the_writer_before_a_number_is_given_again(self, books, desks, caplog):
        """A shell has carried over the log, so the older books are trusted entirely."""
        assert written(desks, "one") is None
        copy = self.copy_of(books, "backup")
        for text in ("two", "three"):
            assert written(desks, text) is None
        carry_over(books.database.path)
        cp(copy, books.database.path)
        line = is_stopped(desks, caplog)
        assert "was written over by older books" in line
        assert "`timebank restore` puts your last backup in their place" in line
        desks.writer.close()
        books.database.close()
        assert self.is_in_doubt(books)

    def test_the_log_is_carried_over_by_itself(self, books, desks):
        path = books.database.path
        before = path.stat().st_mtime_ns
        for number in range(1000):
            assert written(desks, str(number)) is None
            if path.stat().st_mtime_ns != before:
                break
        assert number < 999


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
    def test_is_reported_as_overwritten(self, damaged, way):
        with pytest.raises(DatabaseRefused) as refused:
            getattr(SqliteDatabase(damaged), way)()
        sentence = str(refused.value)
        assert sentence.startswith(f"The database {damaged} is damaged.")
        assert "`timebank restore` puts a backup in its place" in sentence

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
