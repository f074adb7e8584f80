"""Writing THEBANK.EXT: records, and errors."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.books import DAILY, Books
from tests.timebank.outbox import flush, line, put, states
from timebank import files
from timebank.settings.schedule import Event
from timebank.thebank import outbox
from timebank.thebank.outbox import Delivery


@pytest.fixture
def path(folder) -> Path:
    return folder / "THEBANK.EXT"


@pytest.fixture
def books(open_books, path) -> Books:
    """The books of a board with an external time bank."""
    return open_books(mode="external", thebank_ext=path)


class TestDelivery:
    def test_a_record_is_appended_and_marked(self, books, path):
        number = put(books, "Ann", 12)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == line(number)
        assert states(books) == ["appended"]

    def test_winnings_that_an_event_cuts_off_arrive(self, books, path):
        books.change(events=(Event("Mail hour", time(13), DAILY, 60),))
        call = books.call(books.caller("Ann"))
        call.win(600, 930)
        number = call.receipt.rows[-1].number
        assert flush(books).appended == (number,)
        assert path.read_bytes() == line(number, minutes=15)

    def test_it_is_appended_once(self, books, path):
        number = put(books, "Ann", 12)
        flush(books)
        assert flush(books) == Delivery((), (), None)
        assert path.read_bytes() == line(number)

    def test_records_stay_in_order_after_existing_lines(self, books, path):
        path.write_bytes(b"; ours\r\nBob;-5;Another door;2026-01-01 00:00;9\r\n")
        before = path.read_bytes()
        numbers = [put(books, name, 3) for name in ("Ann", "Cid")]
        assert flush(books).appended == tuple(numbers)
        assert path.read_bytes() == (
            before + line(numbers[0], "Ann", 3) + line(numbers[1], "Cid", 3)
        )

    def test_times_are_local(self, books, path):
        books.change(zone=ZoneInfo("Asia/Kathmandu"))
        put(books, "Ann", 12)
        flush(books)
        assert b";2026-06-01 17:45;" in path.read_bytes()

    def test_an_unfinished_foreign_line_is_not_continued(self, books, path):
        path.write_bytes(b"Bob;5;Another door;2026-01-01 00:00;9")
        number = put(books, "Ann", 12)
        flush(books)
        assert path.read_bytes().split(b"\r\n") == [
            b"Bob;5;Another door;2026-01-01 00:00;9",
            line(number).strip(),
            b"",
        ]

    def test_nothing_is_written_behind_the_end_of_a_dos_file(self, books, path):
        path.write_bytes(b"; ours\r\n\x1a\x1a")
        number = put(books, "Ann", 12)
        flush(books)
        assert path.read_bytes() == b"; ours\r\n" + line(number)

    def test_a_bank_that_takes_the_file_away_between_records_gets_each_once(self, books, path):
        first = put(books, "Ann", 12)
        flush(books)
        path.rename(path.with_suffix(".BAK"))
        second = put(books, "Ann", 12)
        flush(books)
        assert path.with_suffix(".BAK").read_bytes() == line(first)
        assert path.read_bytes() == line(second)

    def test_one_that_was_only_slow_appends_nothing_twice(self, books, path, monkeypatch):
        """A server hangs after its look while another leads.

        The disk that both write to has no locks.
        """
        number = put(books, "Ann", 12)
        carry = outbox._Courier.carry

        def stands_still(courier, row, to):
            monkeypatch.setattr(outbox._Courier, "carry", carry)
            assert flush(books).appended == (number,)
            carry(courier, row, to)

        monkeypatch.setattr(files, "locked", contextlib.nullcontext)
        monkeypatch.setattr(outbox._Courier, "carry", stands_still)
        delivery = flush(books)
        assert delivery.appended == ()
        assert "another process has carried" in delivery.problem
        assert path.read_bytes() == line(number)
        assert states(books) == ["appended"]

    def test_without_records_no_file_is_made(self, books, path):
        assert flush(books) == Delivery((), (), None)
        assert not path.exists()


class TestProblemsForTheSysop:
    def refused(self, books: Books) -> str:
        delivery = flush(books)
        assert (delivery.appended, delivery.doubtful) == ((), ())
        assert states(books) == ["waiting"]
        assert delivery.problem is not None
        return delivery.problem

    def delivered(self, books: Books, number: int) -> None:
        assert flush(books) == Delivery((number,), (), None)
        assert books.settings.thebank_ext.read_bytes().endswith(line(number))

    def test_a_missing_folder(self, books, folder):
        books.change(thebank_ext=folder / "rats" / "THEBANK.EXT")
        number = put(books, "Ann", 12)
        problem = self.refused(books)
        assert problem.endswith(f"there is no folder {folder / 'rats'}. Its records wait.")
        (folder / "rats").mkdir()
        self.delivered(books, number)

    def test_a_folder_or_a_pipe_in_its_place(self, books, path):
        number = put(books, "Ann", 12)
        path.mkdir()
        assert self.refused(books).endswith("it is not a file. Its records wait.")
        path.rmdir()
        os.mkfifo(path)
        assert self.refused(books).endswith("it is not a file. Its records wait.")
        path.unlink()
        self.delivered(books, number)

    def test_no_name_in_the_settings(self, books, path):
        number = put(books, "Ann", 12)
        books.change(thebank_ext=None)
        assert self.refused(books) == "Records wait for a THEBANK.EXT, and sysop.toml names none."
        books.change(thebank_ext=path)
        self.delivered(books, number)

    def test_no_permission(self, books, path, monkeypatch):
        number = put(books, "Ann", 12)
        with monkeypatch.context() as patch:
            opened = os.open

            def forbidden(name, *values, **folder):
                if name == path.name:
                    raise PermissionError(errno.EACCES, "Permission denied")
                return opened(name, *values, **folder)

            patch.setattr(os, "open", forbidden)
            assert self.refused(books).endswith("Permission denied. Its records wait.")
        self.delivered(books, number)

    @pytest.mark.parametrize("room", [0, 1, 20])
    def test_no_space(self, books, path, monkeypatch, room):
        path.write_bytes(b"; ours\r\n")
        number = put(books, "Ann", 12)
        with monkeypatch.context() as patch:
            write, left = os.write, [room]

            def full(file, data):
                if left[0] == 0:
                    raise OSError(errno.ENOSPC, "No space left on device")
                left[0] -= (written := write(file, data[: left[0]]))
                return written

            patch.setattr(os, "write", full)
            assert self.refused(books).endswith("No space left on device. Its records wait.")
        assert path.read_bytes() == b"; ours\r\n"
        self.delivered(books, number)
        assert path.read_bytes() == b"; ours\r\n" + line(number)

    def test_a_full_disk_with_a_foreign_line_after_our_piece(self, books, path, monkeypatch):
        path.write_bytes(b"; ours\r\n")
        put(books, "Ann", 12)
        write = os.write

        def interrupted(file, data):
            write(file, data[:7])
            write(file, b"Bob;5;Another door;2026-01-01 00:00;9\r\n")
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", interrupted)
            flush(books)
        before = path.read_bytes()
        assert states(books) == ["appending"]
        assert flush(books).doubtful != ()
        assert path.read_bytes() == before

    def test_a_disk_that_does_not_say_whether_it_has_written(self, books, path, monkeypatch):
        number = put(books, "Ann", 12)
        sync = os.fsync

        def broken(file):
            if os.fstat(file).st_size and not os.path.isdir(f"/proc/self/fd/{file}"):
                raise OSError(errno.EIO, "Input/output error")
            sync(file)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", broken)
            problem = flush(books).problem
            assert problem is not None
            assert problem.endswith("Input/output error. Its records wait.")
        self.delivered(books, number)
        assert path.read_bytes() == line(number)

    def test_another_process_that_keeps_the_file(self, books, path, monkeypatch):
        number = put(books, "Ann", 12)
        monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
        with open(f"{path}.lock", "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            assert self.refused(books).endswith("another process has it locked. Its records wait.")
        self.delivered(books, number)
