"""THEBANK.EXT: every record exactly once, whatever dies; the sysop is asked in case of doubt."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.books import DAILY, Books
from timebank import thebank_ext
from timebank.exchange import SEMICOLONS, Record
from timebank.model import instant
from timebank.schedule import Event
from timebank.thebank_ext import Delivery, NotDoubtful, flush_outbox, repeat, undelivered

ROOT = Path(__file__).parents[2]
SOURCE = "Black Jack For Time"


@pytest.fixture
def path(folder) -> Path:
    return folder / "THEBANK.EXT"


@pytest.fixture
def books(open_books, path) -> Books:
    """The books of a board with an external time bank."""
    return open_books(mode="external", thebank_ext=path)


def put(books: Books, name: str, minutes: int) -> int:
    """Commit a record, as a clamp does; return its number."""
    ((number,),) = books.sql(
        "INSERT INTO transfers (place, size, at, kind, amount, source, target, why)"
        " VALUES (1, 1, 0, 'external', ?, 1, 4, 'test') RETURNING id",
        minutes * 60,
    )
    books.sql(
        "INSERT INTO outbox (number, name, minutes, source, at, state)"
        " VALUES (?, ?, ?, ?, ?, 'waiting')",
        *(number, name, minutes, SOURCE, int(books.now.timestamp())),
    )
    return number


def flush(books: Books) -> Delivery:
    return flush_outbox(books.database, books.settings, books.now)


def line(number: int, name: str = "Ann", minutes: int = 12) -> bytes:
    return b"%b;%d;Black Jack For Time;2026-06-01 12:00;%d\r\n" % (name.encode(), minutes, number)


def states(books: Books) -> list[str]:
    return [state for (state,) in books.sql("SELECT state FROM outbox ORDER BY number")]


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

    def test_records_keep_their_order_and_what_was_there_before(self, books, path):
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

    def test_a_line_that_somebody_left_unfinished_is_not_continued(self, books, path):
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

    def test_without_records_no_file_is_made(self, books, path):
        assert flush(books) == Delivery((), (), None)
        assert not path.exists()


class TestWhatASysopCanMend:
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
        assert self.refused(books) == f"{path} cannot be written: Is a directory. Its records wait."
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

            def forbidden(name, *values):
                if Path(name) == path:
                    raise PermissionError(errno.EACCES, "Permission denied")
                return opened(name, *values)

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

    def test_no_space_and_somebody_else_behind_our_piece(self, books, path, monkeypatch):
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
        monkeypatch.setattr(thebank_ext, "LOCK_SECONDS", 0.05)
        with open(f"{path}.lock", "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            assert self.refused(books).endswith("another process has it locked. Its records wait.")
        self.delivered(books, number)


# A process that opens the books, starts to deliver, and is killed at the point it was told.
VICTIM = """
import os, signal, stat, sys
from contextlib import contextmanager
from pathlib import Path
from tests.timebank.books import DAILY, Books
from timebank.database import Database
from timebank.thebank_ext import flush_outbox

folder, point = Path(sys.argv[1]), sys.argv[2]
books = Books(folder, mode="external", thebank_ext=folder / "THEBANK.EXT")
write, sync, transaction = os.write, os.fsync, Database.transaction
commits = 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying_write(file, data):
    write(file, data[: {"nothing": 0, "a byte": 1, "half": len(data) // 2}.get(point, len(data))])
    die()

def dying_sync(file):
    sync(file)
    if stat.S_ISDIR(os.fstat(file).st_mode) == (point == "file made"):
        die()

@contextmanager
def dying_transaction(*values):
    global commits
    with transaction(*values) as desk:
        yield desk
        if point == "committing":
            die()
    commits += 1
    if commits == {"noted": 1, "done": 2}[point]:
        die()

if point in ("nothing", "a byte", "half", "all"):
    os.write = dying_write
elif point in ("file made", "synced"):
    os.fsync = dying_sync
else:
    Database.transaction = dying_transaction
flush_outbox(books.database, books.settings, books.now)
"""
# Where the process died -> whether the record was in the file, whole.
POINTS = {
    "file made": False,
    "committing": False,
    "noted": False,
    "nothing": False,
    "a byte": False,
    "half": False,
    "all": True,
    "synced": True,
    "done": True,
}
NEVER_BEGUN = ("file made", "committing")


def kill_at(folder: Path, point: str) -> None:
    """Deliver in another process, and kill that for real."""
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(folder), point],
        cwd=ROOT,
        check=False,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def deliver_and_be_killed(books: Books, path: Path, point: str, before: bytes) -> bytes:
    """Return what the file should hold once the record is delivered."""
    if before:
        path.write_bytes(before)
    number = put(books, "Ann", 12)
    kill_at(path.parent, point)
    end = b"\r\n" if before and not before.endswith(b"\n") else b""
    expected = before + end + line(number)
    assert (path.read_bytes() == expected) == POINTS[point]
    return expected


# What the file held before; one that is there already is not made.
BEFORE = [b"", b"; ours\r\n", b"; unfinished"]
CASES = [(b, p) for b in BEFORE for p in POINTS if not (b and p == "file made")]
THEIRS = b"Bob;5;Another door;2026-01-01 00:00;9\r\n"


class TestKilled:
    @pytest.mark.parametrize(("before", "point"), CASES)
    def test_the_record_is_in_the_file_exactly_once_afterwards(self, books, path, before, point):
        expected = deliver_and_be_killed(books, path, point, before)
        assert flush(books).problem is None
        assert path.read_bytes() == expected
        assert states(books) == ["appended"]

    @pytest.mark.parametrize("point", ["committing", "noted", "nothing", "all", "synced", "done"])
    def test_what_others_have_appended_since_stays(self, books, path, point):
        before = b"; ours\r\n"
        deliver_and_be_killed(books, path, point, before)
        with path.open("ab") as file:
            file.write(THEIRS)
        assert flush(books).doubtful == ()
        added = [line(1), THEIRS] if POINTS[point] else [THEIRS, line(1)]
        assert path.read_bytes() == before + b"".join(added)

    def test_a_piece_with_somebody_elses_record_behind_it_is_left_to_the_sysop(self, books, path):
        deliver_and_be_killed(books, path, "half", b"; ours\r\n")
        with path.open("ab") as file:
            file.write(THEIRS)
        before = path.read_bytes()
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(("before", "point"), CASES)
    def test_a_file_taken_away_meanwhile_is_a_question_for_the_sysop(
        self, books, path, before, point
    ):
        deliver_and_be_killed(books, path, point, before)
        path.unlink()
        delivery = flush(books)
        if point == "done":
            assert states(books) == ["appended"]
            assert not path.exists()
        elif point in NEVER_BEGUN:
            assert delivery == Delivery((1,), (), None)
            assert path.read_bytes() == line(1)
        else:
            assert delivery == Delivery((), (1,), None)
            assert flush(books) == Delivery((), (), None)
            assert not path.exists()

    @pytest.mark.parametrize("new", [b"", b"; new\r\n", b"; ours\r\n; and more\r\n"])
    @pytest.mark.parametrize("point", ["noted", "half", "all"])
    def test_a_new_file_of_the_same_name_is_no_proof(self, books, path, point, new):
        deliver_and_be_killed(books, path, point, b"; ours\r\n")
        path.rename(path.with_suffix(".BAK"))
        path.write_bytes(new)
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == new

    @pytest.mark.parametrize("left", [b"", THEIRS])
    def test_nor_is_an_empty_file_that_has_changed_since(self, books, path, left):
        # A new file may have got the inode of the old one; nothing tells them apart.
        deliver_and_be_killed(books, path, "all", b"")
        path.write_bytes(left)
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == left


class TestTheSysopIsAsked:
    @pytest.fixture
    def number(self, books, path) -> int:
        """A record about which nobody can tell."""
        number = put(books, "Ann", 12)
        kill_at(path.parent, "all")
        path.unlink()
        flush(books)
        return number

    def test_about_a_record_with_all_that_is_known_of_it(self, books, path, number):
        (row,) = books.do(undelivered)
        assert (row.number, row.name, row.minutes, row.source) == (number, "Ann", 12, SOURCE)
        assert row.at == instant(int(books.now.timestamp()))
        assert (row.state, row.mark) == ("doubtful", f"{path} has been taken away")

    def test_in_the_log_too(self, books, path, caplog):
        put(books, "Ann", 12)
        kill_at(path.parent, "all")
        path.unlink()
        flush(books)
        assert "12 minutes for Ann (record 1)" in caplog.text

    def test_and_may_have_it_repeated(self, books, path, number):
        books.do(repeat, number)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == line(number)
        assert books.do(undelivered) == []

    def test_or_regard_it_as_delivered(self, books, path, number):
        books.do(thebank_ext.regard_as_delivered, number)
        assert flush(books) == Delivery((), (), None)
        assert not path.exists()
        assert books.do(undelivered) == []

    def test_once(self, books, number):
        books.do(repeat, number)
        for resolve in (repeat, thebank_ext.regard_as_delivered):
            with pytest.raises(NotDoubtful, match=f"record {number}"):
                books.do(resolve, number)

    def test_while_other_records_go_on(self, books, path, number):
        other = put(books, "Bob", 3)
        assert flush(books) == Delivery((other,), (), None)
        assert path.read_bytes() == line(other, "Bob", 3)

    def test_also_when_the_file_is_taken_away_under_our_hands(self, books, path, monkeypatch):
        number = put(books, "Ann", 12)
        write = os.write

        def taken(file, data):
            path.rename(path.with_suffix(".BAK"))
            return write(file, data)

        monkeypatch.setattr(os, "write", taken)
        assert flush(books) == Delivery((), (number,), None)
        (row,) = books.do(undelivered)
        assert row.mark == f"{path} was taken away while it was written"

    def test_but_not_when_the_record_is_found_in_a_file_that_was_rewritten(self, books, path):
        number = put(books, "Ann", 12)
        kill_at(path.parent, "all")
        rewritten = b"; sorted by another program\n" + line(number).replace(b"\r\n", b"\n")
        path.unlink()
        path.write_bytes(rewritten)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == rewritten

    def test_nor_is_another_bodys_record_of_the_same_number_ours(self, books, path):
        number = put(books, "Ann", 12)
        path.write_bytes(b"; ours\r\n")
        kill_at(path.parent, "noted")
        theirs = b"Bob;5;Another door;2026-01-01 00:00;%d\r\n" % number
        with path.open("ab") as file:
            file.write(theirs)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == b"; ours\r\n" + theirs + line(number)


SENDER = """
import sys
from pathlib import Path
from tests.timebank.books import DAILY, Books
from timebank.thebank_ext import flush_outbox

folder = Path(sys.argv[1])
books = Books(folder, mode="external", thebank_ext=Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
delivery = flush_outbox(books.database, books.settings, books.now)
print(delivery.problem, *delivery.appended)
"""


class TestTwoProcesses:
    def race(self, path: Path, *folders: Path) -> list[list[int]]:
        """Let processes deliver at once; return the numbers that each of them appended."""
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", SENDER, str(folder), str(path)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for folder in folders
        ]
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * len(racers)
        for racer in racers:
            racer.stdin.write("\n")
            racer.stdin.flush()
        answers = [racer.communicate()[0].split() for racer in racers]
        assert [answer[0] for answer in answers] == ["None"] * len(racers)
        return [[int(number) for number in answer[1:]] for answer in answers]

    def test_of_one_board_deliver_every_record_once(self, books, path, folder):
        numbers = [put(books, f"Caller {n}", n + 1) for n in range(40)]
        shares = self.race(path, folder, folder)
        assert sorted(shares[0] + shares[1]) == numbers
        assert path.read_bytes() == b"".join(
            line(number, f"Caller {n}", n + 1) for n, number in enumerate(numbers)
        )

    def test_of_two_boards_never_write_into_each_others_lines(self, path, folder):
        expected = set()
        for name in ("one", "two"):
            (folder / name).mkdir()
            board = Books(folder / name, mode="external", thebank_ext=path)
            expected |= {line(put(board, name, n + 1), name, n + 1) for n in range(30)}
            board.close()
        self.race(path, folder / "one", folder / "two")
        written = path.read_bytes().splitlines(keepends=True)
        assert len(written) == 60
        assert set(written) == expected


def test_another_layout_can_take_the_place_of_ours(books, path):
    class Words:
        def format_record(self, record: Record) -> bytes:
            return f"{record.name} {record.minutes} #{record.number}\n".encode()

        def parse_record(self, line: bytes) -> Record | None:
            return SEMICOLONS.parse_record(line)

    put(books, "Ann", 12)
    flush_outbox(books.database, books.settings, books.now, Words())
    assert path.read_bytes() == b"Ann 12 #1\n"
