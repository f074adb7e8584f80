"""Upgrades books in a file to the newest version, in one transaction.

A complete copy is written next to the file first. The caller holds the lock of the books
(timebank/serving.py).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import Connection, event
from sqlalchemy.exc import DBAPIError

from timebank import files
from timebank.errors import BooksInUse, DatabaseRefused
from timebank.ledger import failures, migrations
from timebank.ledger.database import check_version, open_error
from timebank.ledger.sqlite import dialect as sqlite


def move_forward(path: Path, busy_seconds: float, *, alone: bool = False) -> int | None:
    """Upgrade our books at `path` to the newest version; other files are left alone.

    Returns the version before, None if nothing was upgraded. Raises `BooksInUse` if another process
    has the books open, unless `alone`. Raises sqlite3.Error, DBAPIError and OSError. The books are
    unchanged after all these. Raises `DatabaseRefused` if the COMMIT failed and may still count.
    """
    with _connected(path, busy_seconds) as connection:
        before = _due(connection)
        if before is None:
            return None
        with connection.begin() as transaction:
            if not alone and sqlite.is_shared(connection):
                raise BooksInUse
            _back_up(path, copy_path(path, before))
            migrations.migrate(connection, before)
            _check_references(connection)
            try:
                transaction.commit()
            except DBAPIError as error:
                raise DatabaseRefused(
                    f"The disk failed while the database {path} was moved to a newer version"
                    f" ({failures.sentence(error)}). It is complete, in the old version or the"
                    " new. Start again when the disk works."
                ) from error
    return before


class TrialUpgrade(NamedTuple):
    """An upgrade that was tried on a copy: the version of the books, and what it took."""

    version: int
    seconds: float
    room: int  # bytes beside the books


def rehearse(path: Path, busy_seconds: float) -> TrialUpgrade | None:
    """Upgrade a copy of the books and delete it; return None if no upgrade is due.

    The board may stay open. Raises `DatabaseRefused`, also for a disk that is full, and for a file
    that has no books of this program or an earlier one.
    """
    try:
        with contextlib.closing(sqlite.open_file(path)) as file:
            before = sqlite.version_of(file)
            if not migrations.is_due(program := sqlite.program_of(file), before):
                check_version(path, program, before)
                return None
        with TemporaryDirectory(prefix=f".upgrade-{path.name}-", dir=path.parent) as folder:
            copy, begun = Path(folder, path.name), time.monotonic()
            _back_up(path, copy)
            move_forward(copy, busy_seconds, alone=True)
            room = sum(each.stat().st_size for each in copy.parent.iterdir())
            return TrialUpgrade(before, time.monotonic() - begun, room)
    except (sqlite3.Error, DBAPIError, OSError) as error:
        if failures.is_full(error):
            raise DatabaseRefused(
                f"The disk of {path} has too little room for the upgrade, as a trial showed. Make"
                " room first; nothing was changed."
            ) from error
        raise open_error(str(path), error) from error


def copy_path(path: Path, version: int) -> Path:
    return path.with_name(f"{path.name}.v{version}-backup")


@contextlib.contextmanager
def _connected(path: Path, busy_seconds: float) -> Iterator[Connection]:
    engine = sqlite.engine(path, busy_seconds)
    event.listen(engine, "connect", lambda connection, _: sqlite.set_up_for_upgrade(connection))
    event.listen(engine, "begin", sqlite.begin_writing)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _due(connection: Connection) -> int | None:
    """Return the version of our books if a migration is due, otherwise None."""
    file = sqlite.driver(connection)  # a query of SQLAlchemy would begin a transaction
    version = sqlite.version_of(file)
    return version if migrations.is_due(sqlite.program_of(file), version) else None


def _back_up(path: Path, copy: Path) -> None:
    """Copy the committed books; the copy gets its final name when it is synced."""
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    file = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(file, "rb") as made:
        files.give_to_owner(made.fileno(), copy.parent)
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(unfinished)) as target,
    ):
        sqlite.copy(source, target)
    files.sync(unfinished)
    unfinished.replace(copy)
    files.sync(copy.parent)


def _check_references(connection: Connection) -> None:
    """Raise `DatabaseRefused` if the migration broke a reference, which would be a bug."""
    for table, row, parent in sqlite.broken_references(connection):
        raise DatabaseRefused(
            f"The books stay as they are: row {row} of {table} refers to no row of {parent}."
        )
