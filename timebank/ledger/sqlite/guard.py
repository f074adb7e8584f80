"""Whether the files that the books are in are still what they were when they were opened.

A process goes on writing into a file that was removed or replaced, as if nothing had happened, and
all of it is gone when the process ends. So the names are looked at now and then; and what is open
still is rescued before it is closed.

A file may also keep its name and be written over (overwritten.py). Then nothing more may be carried
over from the log into the database, by no process: a word beside the books tells whoever would open
them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from timebank import files
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import high_water
from timebank.ledger.sqlite.overwritten import Watch

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOOK_SECONDS = 1.0  # how long a look at the files is believed
COPIED_BYTES = 1024 * 1024
RESCUED = ".rescued-"
OVERWRITTEN = ".overwritten"
# Where SQLite's lock to have a database for itself is, and how long (https://sqlite.org/src: os.h).
SHARED_FIRST = 0x40000002
SHARED_SIZE = 510
# Files that this process keeps open to its end, with a lock on each (`keep_whole`).
_kept: list[int] = []
RESTORE = "`timebank restore {copy}` puts it in the place of the books; then move it away."


class Guard:
    """The files of an open database, as they were when the guard was posted."""

    def __init__(self, path: Path, connection: Connection) -> None:
        """Post a guard by a connection that has read: SQLite removes the log with the last one."""
        self._path = path
        self._connection = connection
        # SQLite follows links once, and names the log and its index after what it found.
        real = os.path.realpath(path)
        beside = {ending: Path(f"{real}{ending}") for ending in ("-wal", "-shm")}
        names = (path.parent, path, *beside.values())
        self._files = {name: _identity(name) for name in names}
        self._word = overwritten_beside(path)
        self._is_overwritten = False
        self._is_database_whole = True
        watched = [self._files[name] for name in (path, *beside.values())]
        page = sqlite.first_page(connection, "identity")
        self.watch = Watch(path, watched, page, sqlite.page_size(connection))
        self._believed_until = time.monotonic() + LOOK_SECONDS

    def close(self) -> None:
        self._connection.close()

    def missing(self) -> str:
        """Say what is not what it was, "" when all is well or was well a moment ago."""
        if time.monotonic() < self._believed_until:
            return ""
        said = self.missing_now()
        if not said:
            self._believed_until = time.monotonic() + LOOK_SECONDS
        return said

    def missing_now(self) -> str:
        file = self.watch.look()
        if file is None:
            return self.moved()
        self._is_overwritten = True
        self._is_database_whole = file != self._path
        return f"{file} was written over or cut off by another program"

    def went_back(self) -> str:
        self._is_overwritten, self._is_database_whole = True, False
        return f"{self._path} was written over or cut off by another program"

    def look_again(self) -> None:
        self._believed_until = 0.0

    def moved(self) -> str:
        for name, identity in self._files.items():
            try:
                found = _identity(name)
            except OSError:  # a disk that fails takes nothing away
                continue
            if found is None:
                return f"{name} is gone"
            if found != identity:
                return f"{name} is not the one that was opened"
        return ""

    def rescue(self, writer: Connection | None) -> str:
        """Save what is open, and say where it is and what to do. Nobody may write afterwards.

        `writer` takes the lock to write, if it can, and keeps it until it is closed.
        """
        if self._is_overwritten:
            return self._rescue_overwritten(writer)
        if writer is not None:
            with contextlib.suppress(sqlite3.Error):
                sqlite.driver(writer).execute(sqlite.BEGIN_WRITING)
        if self._is_carried_over() and _identity(self._path) == self._files[self._path]:
            return (
                f"All that was acknowledged is in {self._path}. See to it that nothing removes "
                "files there, then start the board again."
            )
        problem = "no folder can be written"
        for folder in (self._path.parent, Path(tempfile.gettempdir())):
            try:
                with self._new_copy(folder) as copy:
                    _copy(sqlite.driver(self._connection), copy)
            except (OSError, sqlite3.Error) as error:
                problem = str(error)
            else:
                return (
                    f"All that was acknowledged is in {copy}. Find out what became of "
                    f"{self._path} before you start the board again. {RESTORE.format(copy=copy)}"
                )
        return (
            f"What was open could not be rescued ({problem}). Restore the last backup with "
            "`timebank restore`."
        )

    def _is_carried_over(self) -> bool:
        try:
            return sqlite.carry_over_some(sqlite.driver(self._connection))
        except sqlite3.Error:
            return False

    def _rescue_overwritten(self, writer: Connection | None) -> str:
        """Save what is left of books that were written over, and stop all who work in them."""
        file = keep_whole(self._path)
        # What changed last is in the writer's memory, so somebody else keeps others from writing.
        if writer is not None:
            with contextlib.suppress(sqlite3.Error):
                sqlite.driver(self._connection).execute(sqlite.BEGIN_WRITING)
        said = self._left_of(writer or self._connection, file)
        with contextlib.suppress(OSError):
            files.replace(self._word, said.encode())
        return said

    def _left_of(self, source: Connection, file: int | None) -> str:
        folder, problem = self._path.parent, "it is damaged"
        ways: tuple[Callable[[], tuple[Path, int]], ...] = (
            lambda: self._copied_and_checked(folder, source),
            lambda: self._copied_alone(folder, file),
        )
        for way in ways:
            try:
                copy, transactions = way()
            except (OSError, sqlite3.Error) as error:
                problem = str(error)
                continue
            missing = high_water.read(self._path) - transactions
            is_all = missing <= 0 and self._is_database_whole
            what = "All that was acknowledged" if is_all else "What could be saved"
            lost = f", without the last {missing} transactions" if missing > 0 else ""
            return (
                f"{what} is in {copy}{lost}. `timebank restore {copy}` looks whether it is in order"
                " and puts it in the place of the books; then move it away. If it is not in order,"
                " restore your last backup."
            )
        return (
            f"What was open could not be saved ({problem}). Restore your last backup with"
            " `timebank restore`."
        )

    def _copied_and_checked(self, folder: Path, source: Connection) -> tuple[Path, int]:
        """Copy what a connection sees, and count its transactions; sqlite3.Error if damaged."""
        with self._new_copy(folder) as copy:
            _copy(sqlite.driver(source), copy)
            return copy, _checked(copy)

    def _copied_alone(self, folder: Path, file: int | None) -> tuple[Path, int]:
        if file is None:
            raise OSError("it cannot be read")
        with self._new_copy(folder) as copy:
            with copy.open("r+b", buffering=0) as target:
                start = 0
                while content := os.pread(file, COPIED_BYTES, start):
                    start += target.write(content)
            with contextlib.closing(sqlite.opened(copy)) as alone:
                sqlite.without_log(alone)
            return copy, _checked(copy)

    @contextlib.contextmanager
    def _new_copy(self, folder: Path) -> Iterator[Path]:
        """Give a new file to fill, which is on the disk afterwards, or gone when that fails."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy = _free_name(folder, f"{self._path.name}{RESCUED}{now}")
        os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            yield copy
            for name in (copy, folder):
                files.sync(name)
        except BaseException:
            for ending in ("", "-wal", "-shm"):
                Path(f"{copy}{ending}").unlink(missing_ok=True)
            raise


def rescued(path: Path) -> Path | None:
    return max(path.parent.glob(f"{path.name}{RESCUED}*"), default=None)


def overwritten_beside(path: Path) -> Path:
    return path.with_name(f"{path.name}{OVERWRITTEN}")


def overwritten(path: Path) -> str | None:
    try:
        return overwritten_beside(path).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        return f"What is left of them cannot be told ({error})."


def keep_whole(path: Path) -> int | None:
    """Let nobody have the database for themselves until this process has ended.

    The last connection that is closed would carry the log over into it. Returns a descriptor that
    stays open, for to close it would drop locks; None where the system has no such locks.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    _kept.append(file)
    command = getattr(fcntl, "F_OFD_SETLK", None)
    if command is not None:
        lock = sqlite.FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, SHARED_FIRST, SHARED_SIZE, 0)
        with contextlib.suppress(OSError):
            fcntl.fcntl(file, command, lock)
    return file


def let_go() -> None:
    """Give up what `keep_whole` keeps, as the end of the process does."""
    while _kept:
        os.close(_kept.pop())


def _copy(source: sqlite3.Connection, copy: Path) -> None:
    with contextlib.closing(sqlite.opened(copy)) as target:
        sqlite.copy(source, target)


def _checked(copy: Path) -> int:
    """Count the transactions in a copy; raises sqlite3.DatabaseError when it is damaged."""
    with contextlib.closing(sqlite.opened(copy)) as file:
        if (damage := sqlite.first_damage(file)) is not None:
            raise sqlite3.DatabaseError(damage)
        (number,) = sqlite.ask(file, high_water.COUNT_OF).fetchone() or (0,)
    return int(number)


def _identity(name: Path) -> tuple[int, int] | None:
    """Tell a file from all others, None where there is none. Links are followed."""
    try:
        status = name.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _free_name(folder: Path, name: str) -> Path:
    names: Iterator[str] = chain((name,), (f"{name}-{number}" for number in count(2)))
    return next(folder / each for each in names if not os.path.lexists(folder / each))
