"""The newest number is noted outside the books, which reveals a lost end."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.timebank.books import Books, lost
from tests.timebank.keeping.test_restored import Copies, notices_of, seal
from tests.timebank.ledger.test_writer import Desks, add
from timebank.callers.notices import add_notice
from timebank.keeping import restored_books
from timebank.ledger.database import Database
from timebank.ledger.sqlite import high_water
from timebank.ledger.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.of_a_file


@pytest.fixture
def served(books, folder):
    """Books that a board has served from."""
    copies = Copies(books, folder)
    copies.serve()
    return copies


def carry_over(books: Books) -> None:
    """Checkpoint like SQLite: the relevant mark is then in the main file."""
    with contextlib.closing(sqlite3.connect(books.database.path, isolation_level=None)) as shell:
        assert shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def files_of(path: Path) -> dict[str, bytes]:
    names = [path.with_name(path.name + ending) for ending in ("", "-wal")]
    return {each.name: each.read_bytes() for each in names}


def kill(books: Books, *, remove_log: bool = False) -> None:
    """Leave the books as kill -9 does, with or without their log."""
    path = books.database.path
    left = files_of(path)
    books.database.close()
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    for name, content in left.items():
        if not (remove_log and name.endswith("-wal")):
            path.with_name(name).write_bytes(content)
    books.database.open()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root makes files for another user.")
def test_the_file_that_root_makes_is_of_the_user_of_the_board(tmp_path: Path) -> None:
    """A board could not start where root had given the first command of a new board."""
    os.chown(tmp_path, 65534, 65534)
    noted = high_water.HighWater(tmp_path / "board.sqlite3")
    noted.note(1)
    noted.close()
    (file,) = tmp_path.iterdir()
    assert (file.stat().st_uid, file.stat().st_gid) == (65534, 65534)


class TestLostEnd:
    def test_a_log_removed_after_a_kill_is_noticed_behind_a_checkpoint(self, served, books, ann):
        shoe = seal(books, ann)
        call = books.call(ann)
        carry_over(books)
        call.bet(60, lost(60), shoe_id=shoe.id, cut="")
        kill(books, remove_log=True)
        settled_copy = served.serve()
        assert settled_copy is not None
        assert settled_copy.generation.why == "board.sqlite3 has lost its end, the last transaction"
        assert settled_copy.generation.shoes == 1
        assert books.sql("SELECT closed IS NOT NULL FROM shoes") == [(1,)]
        (notice,) = notices_of(books, ann)
        assert "The books of this board were restored" in notice
        assert books.audit() == []

    def test_of_a_transaction_without_transfers_is_noticed_too(self, served, books, ann):
        carry_over(books)
        books.do(add_notice, ann, "The last thing that was done.")
        kill(books, remove_log=True)
        assert "has lost its end, the last transaction" in served.serve().generation.why

    def test_the_writer_notes_its_groups(self, served, books, ann):
        carry_over(books)
        desks = Desks(books)
        try:
            desks.submit(add("one"))
            assert desks.next_group()[0].error is None
        finally:
            desks.writer.close()
        kill(books, remove_log=True)
        assert served.serve() is not None

    def test_it_is_treated_once(self, served, books, ann):
        carry_over(books)
        books.caller("Bob")
        kill(books, remove_log=True)
        assert served.serve() is not None
        assert served.serve() is None
        books.caller("Cid")
        kill(books)
        assert served.serve() is None
        carry_over(books)
        books.caller("Dan")
        kill(books, remove_log=True)
        assert served.serve().generation.number == 3

    def test_a_copy_of_the_running_files_taken_a_moment_before_is_noticed(self, served, books):
        files = files_of(served.path)
        books.caller("Ann")
        books.database.close()
        for name, content in files.items():
            served.path.with_name(name).write_bytes(content)
        assert served.serve() is not None

    def test_a_restored_copy_numbers_beyond_it(self, served, books, ann):
        copy = served.take()
        for _ in range(5):
            books.do(add_notice, ann, "Hello.")
        count = high_water.read(served.path)
        served.restore(copy)
        assert books.sql("SELECT commits FROM identity")[0][0] > count
        assert served.serve() is None
        served.lose_the_books()
        served.restore(copy)
        assert served.serve() is None

    def test_the_audit_says_so_before_anybody_serves(self, board, timebank, folder):
        copies = Copies(board, folder)
        copies.serve()
        carry_over(board)
        board.caller("Ann")
        kill(board, remove_log=True)
        code, _, error = timebank("audit")
        assert code == 0
        assert "board.sqlite3 has lost its end, the last transaction." in error
        assert "The next start treats it as restored." in error


class TestNoFalseAlarm:
    def test_a_kill_loses_nothing(self, served, books):
        for name in ("Ann", "Bob", "Cid"):
            books.caller(name)
            kill(books)
            assert served.serve() is None

    def test_a_kill_between_the_commit_and_the_note(self, served, books, monkeypatch):
        monkeypatch.setattr(high_water.HighWater, "note", lambda self, number: None)
        books.caller("Ann")
        kill(books)
        monkeypatch.undo()
        assert served.serve() is None

    def test_after_a_rollback(self, served, books, ann):
        def fails(desk):
            add_notice(desk, ann, "Never.")
            raise RuntimeError

        before = high_water.read(served.path)
        with pytest.raises(RuntimeError):
            books.do(fails)
        assert high_water.read(served.path) == before
        carry_over(books)
        kill(books, remove_log=True)
        assert served.serve() is None

    def test_a_transaction_that_changes_nothing_writes_nothing(self, served, books):
        before = files_of(served.path)
        books.do(lambda desk: desk.connection.exec_driver_sql("SELECT 1").scalar())
        assert files_of(served.path) == before

    @pytest.mark.parametrize("statement", ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"])
    def test_a_shell_that_carries_the_log_over(self, served, books, statement):
        books.caller("Ann")
        with contextlib.closing(sqlite3.connect(served.path, isolation_level=None)) as shell:
            shell.execute(statement)
        kill(books, remove_log=statement != "VACUUM")
        assert served.serve() is None

    def test_a_power_loss_takes_the_note_or_a_part_of_it(self, served, books, ann):
        name = high_water.file_path(served.path)
        whole = name.read_bytes()
        for left in (b"", whole[:100], os.urandom(len(whole)), bytes(len(whole)), b"9" * 4096):
            name.write_bytes(left)
            assert served.serve() is None
        name.unlink()
        assert served.serve() is None
        books.do(add_notice, ann, "Hello.")
        assert high_water.read(served.path) == books.sql("SELECT commits FROM identity")[0][0]

    def test_after_the_note_was_removed(self, served, books, ann):
        high_water.file_path(served.path).unlink()
        books.do(add_notice, ann, "Hello.")
        assert high_water.read(served.path) > 0

    def test_and_no_block_when_the_note_cannot_be_written(
        self, served, books, ann, monkeypatch, caplog
    ):
        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            for _ in range(2):
                books.do(add_notice, ann, "Hello.")
        (line,) = [each for each in caplog.messages if "cannot be written" in each]
        assert "No space left on device" in line
        assert served.serve() is None

    def test_one_that_cannot_be_read_is_no_missing_one(self, served, monkeypatch):
        real = Path.read_bytes

        def broken(self):
            if self.name.endswith(".high-water"):
                raise OSError(5, "Input/output error")
            return real(self)

        monkeypatch.setattr(Path, "read_bytes", broken)
        with pytest.raises(
            restored_books.BooksUnavailable, match=r"high-water.*Input/output error"
        ):
            served.serve()


class TestTheFile:
    def test_keeps_the_highest_number(self, folder):
        path = folder / "board.sqlite3"
        here, there = high_water.HighWater(path), high_water.HighWater(path)
        assert high_water.read(path) == 0
        here.note(12)
        there.note(11)
        assert high_water.read(path) == 12
        for number in range(13, 13 + 2 * high_water.RECORDS):
            here.note(number)
        assert high_water.read(path) == 12 + 2 * high_water.RECORDS
        there.note(13)  # a full turn late
        assert high_water.read(path) == 12 + 2 * high_water.RECORDS
        size = high_water.file_path(path).stat().st_size
        assert size == high_water.RECORDS * high_water.RECORD_BYTES
        assert high_water.file_path(path).stat().st_mode & 0o777 == 0o600
        here.close()
        there.close()

    def test_many_threads_and_two_processes_leave_the_highest(self, served, books):
        other = SqliteDatabase(served.path)

        def works(database: Database) -> None:
            for _ in range(20):
                with database.transaction(books.settings, books.now) as desk:
                    add_notice(desk, 1, "Hello.")

        books.caller("Ann")
        threads = [threading.Thread(target=works, args=(each,)) for each in (books.database, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        other.close()
        assert high_water.read(served.path) == books.sql("SELECT commits FROM identity")[0][0]

    def test_it_can_be_read_by_people(self, folder):
        water = high_water.HighWater(folder / "board.sqlite3")
        water.note(42)
        water.close()
        text = high_water.file_path(folder / "board.sqlite3").read_text()
        assert text.split()[-2].endswith("00000042")
