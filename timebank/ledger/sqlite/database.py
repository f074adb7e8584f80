"""The books in a file: opening it, and waiting for the turn to write.

SQLite lets one transaction write at a time. Processes take turns by `BEGIN IMMEDIATE` and the busy
timeout.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, event
from sqlalchemy.exc import DBAPIError

from timebank import errors, files
from timebank.ledger import failures, migrations
from timebank.ledger.database import (
    BUSY_SECONDS,
    Database,
    TransactionId,
    Upgrade,
    check_version,
    log_gone,
    open_error,
)
from timebank.ledger.schema import APPLICATION_ID, definitions, open_system_accounts
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import high_water, upgrade
from timebank.ledger.sqlite.doubt import SqliteDoubt
from timebank.ledger.sqlite.guard import Guard, rescued_copy
from timebank.names import look_alikes

log = logging.getLogger("timebank")

# How long SQLite waits by itself before `SqliteDatabase._on_begin` asks again.
TURN_SECONDS = 0.05

# The key of a connection's number of changed rows at the beginning of its transaction.
CHANGES = "changes"


class SqliteDatabase(Database):
    """The books in a SQLite file at `path`, with the small files next to it."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        super().__init__(busy_seconds)
        self.path = path
        self.place = str(path)
        self.engine = sqlite.engine(path, min(TURN_SECONDS, busy_seconds))
        self._high_water = high_water.HighWater(path)
        self._note_failed = False  # whether the last write of the high-water file failed
        self._guard: Guard | None = None
        self._gone: errors.BooksGone | None = None
        event.listen(self.engine, "do_connect", self._before_connect)
        event.listen(self.engine, "connect", lambda connection, _: sqlite.set_up(connection))
        event.listen(self.engine, "begin", self._on_begin)
        event.listen(self.engine, "checkin", sqlite.end_transaction)

    def open(self) -> None:
        """Create the file with its tables, or check that it belongs to this program and version.

        Several processes may do it at once. Raises `DatabaseRefused`, also while a rescued copy
        waits to be restored.
        """
        self._refuse_forbidden()
        copy = rescued_copy(self.path)
        if copy is not None:
            raise errors.DatabaseRefused(
                f"The books at {self.path} were removed or replaced while the board served, and"
                f" the open books were rescued to {copy}. `timebank restore {copy}` puts these in"
                " place. Then, or if the books there are the right ones, move the copy away."
            )
        try:
            # Only its owner may read it: it holds password hashes and seeds.
            files.make_folder(self.path.parent, 0o700)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            problem = files.forbidden(self.path, writes=True)
            raise errors.DatabaseRefused(
                problem or f"The database {self.path} cannot be opened: {error.strerror}."
            ) from error
        with self._refusing():
            reading = self.engine.execution_options(read_only=True)
            with reading.begin() as connection:
                if not sqlite.is_empty(connection):
                    _check(connection, self.path)  # before any change
            self._set_journal_mode()
            with self.engine.begin() as connection:
                _create_when_empty(connection)
                _check(connection, self.path)
                look_alikes.renew(connection.exec_driver_sql)
            self._carry_over()

    def open_existing(self) -> None:
        """Check an existing file; raises `DatabaseRefused` if there is none."""
        self._refuse_forbidden()
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise errors.DatabaseRefused(
                f"There is no database at {self.path}. The board makes one when it first serves."
            )
        reading = self.engine.execution_options(read_only=True)
        with self._refusing(), reading.begin() as connection:
            _check(connection, self.path)

    def upgrade(self, *, alone: bool = False) -> Upgrade | None:
        """Move the file forward after a copy (upgrade.copy_path); see `Database.upgrade`."""
        self._refuse_forbidden()
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return None
        with self._moving():
            patience = time.monotonic() + self._busy_seconds
            while True:
                try:
                    before = upgrade.move_forward(self.path, self._busy_seconds, alone=alone)
                    break
                except errors.BooksInUse as in_use:
                    # A command that refuses books of this version opens them for a moment.
                    if time.monotonic() >= patience:
                        raise errors.DatabaseRefused(
                            f"Another process has the books in {self.path} open, and they are of an"
                            " earlier version: a board of the earlier release may still run. Close"
                            " it, then try again. Nothing was changed."
                        ) from in_use
                    time.sleep(TURN_SECONDS)
        if before is None:
            return None
        return Upgrade(self.place, before, upgrade.copy_path(self.path, before))

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            # The last close folds the log into the file, and both may be replaced by now.
            if self._gone is None and (problem := guard.problem_now()):
                log_gone(problem, guard.rescue(None))
            guard.close()
        self.engine.dispose()
        self._high_water.close()

    def guard(self) -> None:
        """Keep the files open until `close`, and check that they are in their place.

        Callers repeat this. Raises `BooksGone` if they are not; from then on every use of the books
        raises it.
        """
        if self._guard is None:
            connection = self.engine.connect().execution_options(read_only=True)
            try:
                # A connection that has read keeps all files open.
                with connection.begin():
                    sqlite.is_empty(connection)
                    self._guard = Guard(self.path, connection)
            except BaseException:
                connection.close()
                raise
        self._raise_if_gone(self._guard.problem())

    def rescue(self, writer: Connection | None) -> str:
        assert self._guard is not None  # it reported that the books are gone
        return self._guard.rescue(writer)

    def doubt(self, transaction_id: TransactionId | None) -> SqliteDoubt:
        assert not isinstance(transaction_id, tuple)
        return SqliteDoubt(self.engine, self.path, transaction_id)

    def roll_back(self, connection: Connection) -> None:
        sqlite.roll_back(connection)

    def number_transaction(self, connection: Connection) -> int | None:
        """Count a transaction before its COMMIT; None for one that changes nothing.

        Raises `BooksGone` if the number was used before: between two checks the books were replaced
        by older ones.
        """
        if sqlite.changes(connection) == connection.info.get(CHANGES):
            return None
        number = high_water.count_transaction(connection)
        if number <= self._high_water.highest and self._guard is not None:
            self._raise_if_gone(self._guard.report_older())
        return number

    def note_committed(self, transaction_id: TransactionId | None) -> None:
        if transaction_id is None:
            return
        assert isinstance(transaction_id, int)
        try:
            self._high_water.note(transaction_id)
        except OSError as error:
            if not self._note_failed:
                name = high_water.file_path(self.path)
                log.warning(
                    "%s cannot be written (%s): if the books lose their end, the next start does"
                    " not notice.",
                    *(name, error.strerror),
                )
            self._note_failed = True
        else:
            self._note_failed = False

    def _on_begin(self, connection: Connection) -> None:
        """Begin to read at once, or wait for the turn to write.

        A busy process leaves only a moment between two transactions, and SQLite checks less and
        less often while it waits. So this asks for many short waits.
        """
        if connection.get_execution_options().get("read_only", False):
            sqlite.begin_reading(connection)
            return
        self._wait_for_turn(lambda _: sqlite.begin_writing(connection))
        connection.info[CHANGES] = sqlite.changes(connection)

    def _before_connect(self, *_: object) -> None:
        """Raise `BooksGone` before a connection would open files that replaced the open ones."""
        if self._guard is not None:
            self._raise_if_gone(self._guard.problem_now())

    def _raise_if_gone(self, missing: str = "") -> None:
        if missing and self._gone is None:
            self._gone = errors.BooksGone(missing)
        if self._gone is not None:
            raise self._gone

    def _carry_over(self) -> None:
        """Write recovered frames into the file, if no other process hinders it now."""
        try:
            with self.engine.connect() as connection:
                sqlite.checkpoint_all(connection)
        except sqlite3.Error as error:
            if not (failures.is_busy(error) or failures.is_full(error)):
                raise open_error(self.place, error) from error

    def _refuse_forbidden(self) -> None:
        if problem := files.forbidden(self.path):
            raise errors.DatabaseRefused(problem)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            if problem := files.forbidden(self.path, writes=True):
                raise errors.DatabaseRefused(problem) from error
            raise open_error(self.place, error) from error

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error, OSError) as error:
            if failures.is_damaged(error):
                raise open_error(self.place, error) from error
            if problem := files.forbidden(self.path, writes=True):
                raise errors.DatabaseRefused(problem) from error
            why = failures.sentence(error)
            raise errors.DatabaseRefused(
                f"The database {self.path} cannot be opened: {why}. Nothing was changed."
            ) from error

    def _set_journal_mode(self) -> None:
        """Switch to write-ahead logging; SQLite does not wait for another process that does it."""
        patience = time.monotonic() + self._busy_seconds
        while True:
            try:
                with self.engine.connect() as connection:
                    is_ahead = sqlite.write_ahead(connection)
                break
            except sqlite3.DatabaseError as error:
                if not failures.is_busy(error) or time.monotonic() >= patience:
                    raise open_error(self.place, error) from error
                time.sleep(0.01)
        if not is_ahead:
            raise errors.DatabaseRefused(
                f"The database {self.path} is on a disk without shared memory (a network drive?),"
                " where write-ahead logging does not work. Move the data folder to a local disk."
            )


def _create_when_empty(connection: Connection) -> None:
    """Create the tables in a new file, unless another process did so before this lock."""
    if not sqlite.is_empty(connection):
        return
    for statement in _definitions():
        connection.exec_driver_sql(statement)
    open_system_accounts(connection)
    sqlite.set_program(connection, APPLICATION_ID)
    sqlite.set_version(connection, migrations.newest_version())


@cache
def _definitions() -> tuple[str, ...]:
    """Return the SQL that creates empty books; compiling it takes longer than running it."""
    return (*definitions(sqlite.DIALECT), *sqlite.TRIGGERS.values())


def _check(connection: Connection, path: Path) -> None:
    check_version(path, sqlite.program(connection), sqlite.version(connection))
