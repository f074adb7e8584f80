"""Whether the files that the books are in are still those that were opened.

A process goes on writing into a file that was removed or replaced, as if nothing had happened, and
all of it is gone when the process ends. So the names are looked at now and then; and what is open
still is rescued before it is closed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from timebank import files
from timebank.ledger.sqlite import dialect as sqlite

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOOK_SECONDS = 1.0  # how long a look at the files is believed
RESCUED = ".rescued-"
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
        self._is_older = False  # whether older books were found in the place of these
        self._believed_until = time.monotonic() + LOOK_SECONDS

    def close(self) -> None:
        self._connection.close()

    def problem(self) -> str:
        """Say what is not what it was, "" when all is well or was well a moment ago."""
        if time.monotonic() < self._believed_until:
            return ""
        said = self.problem_now()
        if not said:
            self._believed_until = time.monotonic() + LOOK_SECONDS
        return said

    def found_older(self) -> str:
        """Say that older books were written over these: a number comes that was given before."""
        self._is_older = True
        return f"{self._path} was written over by older books"

    def problem_now(self) -> str:
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
        if self._is_older:
            return (
                "What was acknowledged since is lost. `timebank restore` puts your last backup in"
                " their place; without that the next start takes them for a backup."
            )
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
            return sqlite.checkpoint_some(sqlite.driver(self._connection))
        except sqlite3.Error:
            return False

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


def rescued_copy(path: Path) -> Path | None:
    return max(path.parent.glob(f"{path.name}{RESCUED}*"), default=None)


def _copy(source: sqlite3.Connection, copy: Path) -> None:
    with contextlib.closing(sqlite.open_file(copy)) as target:
        sqlite.copy(source, target)


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
