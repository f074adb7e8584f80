"""Processes killed while they import THEBANK.EXT or write to it: one fork each.

One process (`python -m tests.timebank.thebank.victims`) imports all modules and does everything
once with its own files, so that all caches are filled. Each victim is a fork of it; otherwise
hundreds of them would spend nearly all their time on imports.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import ROOT
from tests.timebank.books import Books
from tests.timebank.importing import Board, record
from tests.timebank.outbox import flush, put
from timebank.ledger.database import Database
from timebank.thebank import importer
from timebank.thebank.outbox import flush_outbox

LINES_A_COMMIT = 3


def kill_taking_over(folder: Path, step: int) -> bool:
    """Import BANK.EXT in a process killed at a step; return whether the step was reached."""
    status = _forker().does("take over", folder, step)
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def kill_delivering(folder: Path, point: str) -> None:
    """Deliver to THEBANK.EXT in a process that is killed at a point."""
    status = _forker().does("deliver", folder, point)
    assert status == -signal.SIGKILL, status


class _Forker:
    """The process that is forked, as the test sees it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._process.communicate)

    def does(self, deed: str, folder: Path, point: int | str) -> int:
        """Have something done by a victim; return how it ended, as `Popen.returncode` has it."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        print(json.dumps((deed, str(folder), point)), file=asked, flush=True)
        return int(answered.readline())


@cache
def _forker() -> _Forker:
    return _Forker()


# Acts of a victim


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _take_over(folder: Path, last: int) -> None:
    """Import a file and be killed at the `last` step.

    A step is before, during, or after any act that leaves a trace on the disk.
    """
    importer.LINES_A_COMMIT = LINES_A_COMMIT
    steps = 0

    def step() -> None:
        nonlocal steps
        if steps == last:
            _die()
        steps += 1

    def stepwise(name: str) -> None:
        original = getattr(os, name)

        def wrapped(*values, **folders):
            step()
            if name == "write":
                file, data = values
                original(file, data[: len(data) // 2])
                step()
                return len(data) // 2 + original(file, data[len(data) // 2 :])
            result = original(*values, **folders)
            step()
            return result

        setattr(os, name, wrapped)

    original_transaction = Database.transaction

    @contextmanager
    def transaction(*values):
        with original_transaction(*values) as desk:
            yield desk
            step()
        step()

    for name in ("rename", "fsync", "write"):
        stepwise(name)
    Database.transaction = transaction  # type: ignore[method-assign]
    books = Books(folder)
    path = folder / "exchange" / "BANK.EXT"
    report = importer.import_file(books.database, books.settings, books.now, path)
    assert report.problem is None, report


def _deliver(folder: Path, point: str) -> None:
    """Open the books, start to deliver, and be killed at a point."""
    books = Books(folder, mode="external", thebank_ext=folder / "THEBANK.EXT")
    write, sync, original_transaction = os.write, os.fsync, Database.transaction
    commits = 0

    def dying_write(file, data):
        part = {"nothing": 0, "a byte": 1, "half": len(data) // 2}.get(point, len(data))
        write(file, data[:part])
        _die()

    def dying_sync(file):
        sync(file)
        if stat.S_ISDIR(os.fstat(file).st_mode) == (point == "file made"):
            _die()

    @contextmanager
    def dying_transaction(*values):
        nonlocal commits
        with original_transaction(*values) as desk:
            yield desk
            if point == "committing":
                _die()
        commits += 1
        if commits == {"noted": 1, "done": 2}[point]:
            _die()

    if point in ("nothing", "a byte", "half", "all"):
        os.write = dying_write
    elif point in ("file made", "synced"):
        os.fsync = dying_sync
    else:
        Database.transaction = dying_transaction  # type: ignore[method-assign]
    flush_outbox(books.database, books.settings, books.now)


# The process that is forked

DEEDS: dict[str, Callable[..., None]] = {"take over": _take_over, "deliver": _deliver}


def _rehearse() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        books = Books(folder, mode="external", thebank_ext=folder / "THEBANK.EXT")
        board = Board(books)
        board.write(record("Ann", 1), b"rubbish\r\n")
        board.take()
        put(books, "Ann", 1)
        flush(books)
        books.close()


def _serve() -> None:
    _rehearse()
    for line in sys.stdin:
        deed, folder, point = json.loads(line)
        pid = os.fork()
        if not pid:
            DEEDS[deed](Path(folder), point)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
