"""Checks that the open files of the books are still in their place.

A process can write into a removed or replaced file without an error, and loses everything when it
ends. So the guard checks the names from time to time, and rescues the open files before they are
closed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from timebank import files
from timebank.ledger.sqlite import dialect as sqlite

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOOK_SECONDS = 1.0  # how long the result of a check is used
RESCUED = ".rescued-"
RESTORE = "`timebank restore {copy}` puts it in the place of the books; then move it away."


class Guard:
    """Watches the files of an open database."""

    def __init__(self, path: Path, connection: Connection) -> None:
        """Record the files at `path`.

        `connection` has read and stays open, because SQLite removes the log with the last one.
        """
        self._path = path
        self._connection = connection
        # SQLite resolves links once, and names the log and its index after the real file.
        real = os.path.realpath(path)
        names = (path.parent, path, *(Path(f"{real}{ending}") for ending in ("-wal", "-shm")))
        self._files = {name: _identity(name) for name in names}
        self._is_older = False  # whether older books have replaced these
        self._believed_until = time.monotonic() + LOOK_SECONDS

    def close(self) -> None:
        self._connection.close()

    def problem(self) -> str:
        """Return what is wrong with the files; "" if all is well, or was `LOOK_SECONDS` ago."""
        if time.monotonic() < self._believed_until:
            return ""
        problem = self.problem_now()
        if not problem:
            self._believed_until = time.monotonic() + LOOK_SECONDS
        return problem

    def report_older(self) -> str:
        """Note and return that older books overwrote these, because a count came twice."""
        self._is_older = True
        return f"{self._path} was written over by older books"

    def problem_now(self) -> str:
        for name, identity in self._files.items():
            try:
                current = _identity(name)
            except OSError:  # a failing disk does not remove files
                continue
            if current is None:
                return f"{name} is gone"
            if current != identity:
                return f"{name} is not the one that was opened"
        return ""

    def rescue(self, writer: Connection | None) -> str:
        """Save the open books, and return where they are and what to do.

        Nothing may write afterwards: `writer` takes the lock to write, if it can, until it closes.
        """
        if self._is_older:
            return (
                "Everything acknowledged since is lost. `timebank restore` puts your last backup in"
                " their place. Without it the next start treats them as a backup."
            )
        if writer is not None:
            with contextlib.suppress(sqlite3.Error):
                sqlite.driver(writer).execute(sqlite.BEGIN_WRITING)
        if self._is_carried_over() and _identity(self._path) == self._files[self._path]:
            return (
                f"All that was acknowledged is in {self._path}. Make sure that nothing removes "
                "files there, then start the board again."
            )
        problem = "no folder can be written"
        for folder in (self._path.parent, Path(tempfile.gettempdir())):
            try:
                with (
                    self._new_copy(folder) as copy,
                    contextlib.closing(sqlite.open_file(copy)) as target,
                ):
                    sqlite.copy(sqlite.driver(self._connection), target)
            except (OSError, sqlite3.Error) as error:
                problem = str(error)
            else:
                return (
                    f"All that was acknowledged is in {copy}. Find out what removed "
                    f"{self._path} before you start the board again. {RESTORE.format(copy=copy)}"
                )
        return (
            f"The open books could not be rescued ({problem}). Restore the last backup with "
            "`timebank restore`."
        )

    def _is_carried_over(self) -> bool:
        try:
            return sqlite.checkpoint_some(sqlite.driver(self._connection))
        except sqlite3.Error:
            return False

    @contextlib.contextmanager
    def _new_copy(self, folder: Path) -> Iterator[Path]:
        """Yield a new file to fill. It is synced afterwards, or removed if that fails."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy = files.free_name(folder / f"{self._path.name}{RESCUED}{now}")
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


def _identity(name: Path) -> tuple[int, int] | None:
    """Return a file's device and inode, None if it is missing. Follows links."""
    try:
        status = name.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
