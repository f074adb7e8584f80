"""Importing a file while really killed at every step, or twice at once."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import pytest

from tests import ROOT
from tests.long import long
from tests.timebank.books import Books
from tests.timebank.importing import Board, record
from tests.timebank.thebank.victims import kill_taking_over
from timebank import files

# The victims have books in a file.
pytestmark = pytest.mark.of_a_file


def kill_at_every_step(board: Board, second: int = 0) -> Iterator[Board]:
    """Yield the state after each kill, one for each step.

    With `second` the next process is killed too, at a different step; every third step is enough
    there.
    """
    folder = board.books.settings.database.parent
    board.books.close()
    before = folder.with_name(f"{folder.name}-before")
    folder.rename(before)
    try:
        for step in count(0, 3 if second else 1):
            shutil.copytree(before, folder)
            if not kill_taking_over(folder, step):
                assert step > 12
                return
            if second:
                kill_taking_over(folder, step * second % 17)
            books = Books(folder)
            yield Board(books)
            books.close()
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(before)


@pytest.fixture
def board(open_books) -> Board:
    return Board(open_books())


LINES = (
    record("Ann", 12),
    b"rubbish\r\n",
    record("Bob", -10),
    b"; a comment\r\n",
    record("Bob", -1),
    record("Ann", 1),
    record("Cid", 1),
    record("Ann", -2),
)
HALF = b"Bob;5;Big Door;2026-06-"
REST = b"01 12:00\r\n"


def check(board: Board, bob: int) -> None:
    """Check that all lines were applied and announced once."""
    assert (board.bank("Ann"), board.bank("Bob")) == (21, bob)
    assert [board.reason(line) for line in board.errors()] == [
        "it has 1 field instead of 5",
        "the account holds only 0 seconds",
        "no caller here is called Cid",
    ]
    tables = ("sysop_log", "notices", "import_lines")
    counts = [board.books.sql(f"SELECT count(*) FROM {table}")[0][0] for table in tables]
    applied = len(board.transfers())
    assert counts == [3, applied, 3 + applied]
    assert applied == 4 + (bob > 0)


@pytest.mark.parametrize("second", [0, long(5)])
class TestKilled:
    def test_a_file_is_applied_exactly_once(self, board, second):
        content = board.write(*LINES)
        for left in kill_at_every_step(board, second):
            left.take()
            left.take()
            check(left, bob=0)
            assert left.names() == {"BANK.EXT.1.BAK", "BANK.EXT.lock"}
            assert left.bak_file(1).read_bytes() == content

    @pytest.mark.long
    def test_one_that_was_ended_after_it_was_read_in_part(self, board, second):
        board.write(*LINES, HALF)
        board.take()
        board.append(REST)
        for left in kill_at_every_step(board, second):
            left.take()
            check(left, bob=5)
            assert left.bak_file(1).read_bytes() == b"".join(LINES) + HALF + REST

    @pytest.mark.long
    def test_before_reading_later_records_of_a_file(self, board, second):
        with board.path.open("ab", buffering=0) as file:
            file.write(LINES[0])
            board.take()
            for line in (*LINES[1:], HALF, REST):
                file.write(line)
        for left in kill_at_every_step(board, second):
            left.take()
            check(left, bob=5)
            assert left.names() == {"BANK.EXT.1.BAK", "BANK.EXT.lock"}

    @pytest.mark.long
    def test_while_other_programs_have_begun_a_new_file(self, board, second):
        board.write(*LINES)
        for left in kill_at_every_step(board, second):
            new = not left.path.exists()
            left.append(record("Bob", 7))
            left.take()
            left.take()
            assert left.bank("Bob") == 7
            assert len(left.transfers()) == 5
            assert left.bak_file(2).exists() == new
            assert not left.path.exists()


SECOND = """
import sys
from contextlib import nullcontext
from pathlib import Path
from tests.timebank.books import Books
from timebank import files
from timebank.thebank.importer import import_file

files.locked = nullcontext
books = Books(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(3):
    path = books.settings.database.parent / "exchange" / "BANK.EXT"
    import_file(books.database, books.settings, books.now, path)
"""


@pytest.mark.long
class TestTwoProcesses:
    def race(self, board: Board) -> None:
        """Have two processes without locks import the file at once."""
        folder = board.books.settings.database.parent
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", SECOND, str(folder)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
        for racer in racers:
            racer.stdin.write("\n")
            racer.stdin.flush()
        for racer in racers:
            racer.communicate()
        assert [racer.returncode for racer in racers] == [0, 0]

    def test_apply_every_record_once_even_where_locks_do_not_work(self, board, monkeypatch):
        monkeypatch.setattr(files, "locked", nullcontext)
        board.write(*[record("Ann", 1), record("Bob", 1)] * 200)
        self.race(board)
        board.take()
        assert (board.bank("Ann"), board.bank("Bob")) == (210, 210)
        assert len(board.transfers()) == 400


@pytest.mark.long
def test_steps_are_counted_where_files_are_changed():
    """The victims die in these calls; a change of files by another call must be added there."""
    others = {"replace", "link", "unlink", "remove", "pwrite", "writev", "fdatasync"}
    for name in ("thebank/importer", "thebank/bookings", "thebank/format", "files"):
        source = Path(ROOT, "timebank", f"{name}.py").read_text()
        for other in (files.replace, files._begun, files._name_new):  # nothing here uses them
            source = source.replace(inspect.getsource(other), "")
        assert not [call for call in others if f"os.{call}(" in source or f".{call}()" in source]
