"""Whether the files that the books are in still stand where they stood when they were opened.

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

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOOK_SECONDS = 1.0  # how long a look at the files is believed
RESCUED = ".rescued-"
RESTORE = "`timebank restore {copy}` puts it in the place of the books; then move it away."


class Guard:
    """The files of an open database, as they were when the guard was posted."""

    def __init__(self, path: Path, connection: Connection) -> None:
        """Post a guard by a connection that has read, and is kept open; others never close them.

        SQLite removes the log and its index with the last connection only.
        """
        self._path = path
        self._connection = connection
        # SQLite follows links once, and names the log and its index after what it found.
        real = os.path.realpath(path)
        names = (path.parent, path, Path(f"{real}-wal"), Path(f"{real}-shm"))
        self._files = {name: _identity(name) for name in names}
        self._believed_until = time.monotonic() + LOOK_SECONDS

    def close(self) -> None:
        """Give up the connection."""
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
        """Say what is not what it was, "" when all is well."""
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
        if writer is not None:
            with contextlib.suppress(sqlite3.Error):
                _driver(writer).execute("BEGIN IMMEDIATE")
        if self._is_carried_over() and _identity(self._path) == self._files[self._path]:
            return (
                f"All that was acknowledged is in {self._path}. See to it that nothing removes "
                "files there, then start the board again."
            )
        problem = "no folder can be written"
        for folder in (self._path.parent, Path(tempfile.gettempdir())):
            try:
                copy = self._copied_into(folder)
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
        """Write all of the log into the database that is open, wherever its name is by now."""
        try:
            answer = _driver(self._connection).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error:
            return False
        _, frames, carried = answer or (1, -1, 0)
        return bool(frames == carried)

    def _copied_into(self, folder: Path) -> Path:
        """Copy all that is open into a new file, for its owner's eyes only."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy = _free_name(folder, f"{self._path.name}{RESCUED}{now}")
        os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as target:
                _driver(self._connection).backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
            for name in (copy, folder):
                _sync(name)
        except BaseException:
            copy.unlink()
            raise
        return copy


def rescued(path: Path) -> Path | None:
    """Return the newest rescued copy that stands beside the books, None when there is none."""
    return max(path.parent.glob(f"{path.name}{RESCUED}*"), default=None)


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


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


def _sync(name: Path) -> None:
    file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
