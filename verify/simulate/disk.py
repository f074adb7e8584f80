"""The machine under the board: a disk that fails, and a process that is killed.

Every operation of the database passes through here, from the driver to SQLite. A killed process
leaves what SQLite has written by then, byte for byte.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import event

from timebank.errors import BooksUnavailable, OutcomeUnknown
from timebank.ledger.database import (
    GROUP_SIZE,
    Database,
    Desk,
    Reply,
    Request,
    Writer,
    _DoubtfulGroup,
)
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings
from verify.simulate.below import MOST_OPERATIONS, Below

WRITES = ("INSERT", "UPDATE", "DELETE", "COMMIT")


class Killed(SystemExit):
    """The process is gone. asyncio runs nothing after an exit, and neither does kill -9."""


@dataclass(frozen=True)
class Fault:
    """A temporary trouble of the disk."""

    words: str
    errorname: str
    reads: bool = False  # whether reading fails as well
    chance: float = 1.0  # of each operation


FULL = Fault("database or disk is full", "SQLITE_FULL")
READ_ONLY = Fault("attempt to write a readonly database", "SQLITE_READONLY")
BROKEN = Fault("disk I/O error", "SQLITE_IOERR", reads=True, chance=0.05)
FLAKY = Fault("disk I/O error", "SQLITE_IOERR_WRITE", chance=0.2)
FAULTS = (FULL, READ_ONLY, BROKEN, FLAKY)


class Disk:
    """The disk below the books, shared by all processes of the board."""

    def __init__(self, path: Path, chance: random.Random, below: Below | None = None) -> None:
        """Hold the books in a file; `below` is the simulated disk below SQLite, if any."""
        self.path = path
        self.chance = chance
        self.below = below
        self.fault: Fault | None = None
        self._holder: sqlite3.Connection | None = None

    @property
    def is_well(self) -> bool:
        below = self.below is None or self.below.is_well
        return below and self.fault is None and self._holder is None

    @property
    def is_full(self) -> bool:
        """Whether no file can be written."""
        return self.fault is FULL

    def break_down(self, chance: random.Random) -> str:
        """Start a trouble; return its description."""
        self.fault = chance.choice((*FAULTS, None))
        if self.fault is None:
            self.lock()
            return "another process locks the books"
        return f"the disk: {self.fault.words}, chance {self.fault.chance}"

    def lock(self) -> None:
        """Have a foreign program take the lock of the books."""
        holder = sqlite3.connect(self.path, isolation_level=None, timeout=0)
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            holder.close()
            return
        self._holder = holder

    def mend(self) -> None:
        """Make the books writable again."""
        self.fault = None
        if self.below is not None:
            self.below.mend()
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.execute("ROLLBACK")
            holder.close()

    def files(self) -> dict[str, bytes]:
        """Read the database file and its log."""
        replacements = {}
        for ending in ("", "-wal"):
            file = self.path.with_name(self.path.name + ending)
            replacements[ending] = file.read_bytes() if file.exists() else b""
        return replacements

    def restore(self, files: Mapping[str, bytes]) -> None:
        """Put these files there, and nothing else."""
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        for ending, content in files.items():
            if content:
                self.path.with_name(self.path.name + ending).write_bytes(content)

    def mortal(self, chance: random.Random, now: Callable[[], float]) -> Mortal:
        """Return a new process's access to the books; `now` reads the monotonic clock."""
        return Mortal(self, chance, now)

    def books(self, path: Path, mortal: Mortal) -> Database:
        """Return the books as a process sees them."""
        return Books(path, mortal)

    def bare_books(self, path: Path) -> Database:
        """Return the books for a reader outside the board."""
        return SqliteDatabase(path, busy_seconds=0)


class Mortal:
    """A process's access to the disk, until it is killed."""

    def __init__(self, disk: Disk, chance: random.Random, now: Callable[[], float]) -> None:
        """Work on a disk; `now` looks at the monotonic clock."""
        self.disk = disk
        self.chance = chance
        self.now = now
        self.dead = False
        self.operations = 0
        self.dies_at = 0  # the operation before which the process is killed; 0 is never
        self.dies_committing = ""  # "before", "within" or "after" the COMMIT, "" is never
        self.dies_talking = 0  # the packet, counted from here, before which it is; 0 is never
        self.left: dict[str, bytes] = {}  # the files when it was killed
        self._connections: list[_Connection] = []  # the open ones

    def connect_to(self, database: Database) -> None:
        """Have every connection of `database` come through here."""
        event.listen(database.engine, "do_connect", self._connect)

    def lives_on(self) -> None:
        """Cancel any planned death."""
        self.dies_at, self.dies_committing, self.dies_talking = 0, "", 0
        if self.disk.below is not None:
            self.disk.below.lives_on()

    def _connect(self, _dialect: Any, _record: Any, where: Any, how: Any) -> _Connection:
        made = sqlite3.connect(*where, **how, factory=_Connection)
        made.mortal = self
        self._connections.append(made)
        return made

    def hang_up(self) -> None:
        """Close every connection, even those not returned to the pool."""
        for connection in list(self._connections):
            connection.close()

    def before(self, statement: str, connection: sqlite3.Connection) -> None:
        """Die here or fail, if planned."""
        if self.dead:
            raise Killed
        self.operations += 1
        if self.operations == self.dies_at:
            self.dies_here()
        fault = self.disk.fault
        if fault is None or not (fault.reads or statement.lstrip().startswith(WRITES)):
            return
        if self.chance.random() < fault.chance:
            # SQLite may have rolled the transaction back by itself, or left it to us.
            if connection.in_transaction and self.chance.random() < 0.5:
                sqlite3.Connection.rollback(connection)
            error = sqlite3.OperationalError(fault.words)
            error.sqlite_errorname = fault.errorname
            raise error

    def touch(self) -> None:
        """Die before a change of a file other than the books, if planned."""
        if self.dead:
            raise Killed
        self.operations += 1
        if self.operations == self.dies_at:
            self.dies_here()

    def talk(self) -> None:
        """Die before sending or reading a packet, if planned."""
        if self.dies_talking and not self.dead:
            self.dies_talking -= 1
            if not self.dies_talking:
                self.dies_here()

    def after(self) -> None:
        """Die, when that has come below SQLite."""
        below = self.disk.below
        if below is not None and below.control.has_died and not self.dead:
            self.die()

    def dies_here(self) -> NoReturn:
        """Die, and record the files as they are."""
        if self.disk.below is None:
            self.left = self.disk.files()
        self.die()

    def room_for(self, data: bytes) -> int:
        """Return how many bytes of `data` reach the disk before it is full or the process dies."""
        full = self.disk.is_full
        dies = self.operations + 1 == self.dies_at
        return self.chance.randint(0, len(data)) if full or dies else len(data)

    def commit(self, connection: _Connection) -> None:
        """Commit, unless the process dies before, or while the log is half written."""
        self.before("COMMIT", connection)
        if self.disk.below is not None:
            self._commit_below(connection, self.disk.below)
            return
        if not self.dies_committing or not connection.in_transaction:
            sqlite3.Connection.commit(connection)
            return
        before = self.disk.files()
        sqlite3.Connection.commit(connection)
        after = self.disk.files()
        self.left = {
            "before": before,
            "after": after,
            "within": {**before, "-wal": self._torn(before["-wal"], after["-wal"])},
        }[self.dies_committing]
        self.die()

    def _commit_below(self, connection: _Connection, below: Below) -> None:
        """Commit on the disk below, unless the process dies before, within or after it."""
        plan = self.dies_committing if connection.in_transaction else ""
        if plan == "before" or (below.next_dies and connection.in_transaction):
            self.die()
        if plan == "within":
            below.control.dies_in = self.chance.randint(1, MOST_OPERATIONS)
        below.begins_to_commit(connection)
        try:
            sqlite3.Connection.commit(connection)
        except sqlite3.Error:
            self.after()
            below.has_failed_to_commit(self)
            raise
        self.after()
        if plan:  # it was over sooner
            self.die()
        below.has_committed()

    def _torn(self, old: bytes, new: bytes) -> bytes:
        """Return the log with only its first changes."""
        shortest = min(len(old), len(new))
        first = next((n for n in range(shortest) if old[n] != new[n]), shortest)
        cut = self.chance.randint(first, len(new))
        return new[:cut] + old[cut:]

    def die(self) -> NoReturn:
        self.dead = True
        if self.disk.below is not None:
            self.disk.below.control.frozen = 1
        raise Killed

    def has_found_out(self, *, is_there: bool) -> None:
        """Record the process's report about its last writes."""

    def never_finds_out(self) -> None:
        """Record its report that the outcome is unknown."""

    def is_refused(self) -> None:
        """Record its report that nothing has changed."""
        if self.disk.below is not None:
            self.disk.below.is_refused(self)

    def closes(self, connection: _Connection, close: Callable[[], None]) -> None:
        """Close a connection; a dead process writes nothing by that."""
        if connection in self._connections:
            self._connections.remove(connection)
        below = self.disk.below
        if below is None:
            close()
        elif self.dead:
            with below.platter.frozen():
                close()
        else:
            close()
            self.after()


class _Cursor(sqlite3.Cursor):
    connection: _Connection

    def execute(self, statement: str, *values: Any) -> Any:
        mortal = self.connection.mortal
        mortal.before(statement, self.connection)
        try:
            return super().execute(statement, *values)
        finally:
            mortal.after()

    def executemany(self, statement: str, *values: Any) -> Any:
        mortal = self.connection.mortal
        mortal.before(statement, self.connection)
        try:
            return super().executemany(statement, *values)
        finally:
            mortal.after()


class _Connection(sqlite3.Connection):
    mortal: Mortal

    def cursor(self, *_: Any) -> Any:
        return super().cursor(_Cursor)

    def commit(self) -> None:
        self.mortal.commit(self)

    def rollback(self) -> None:
        if not self.mortal.dead:  # otherwise it is closed, or about to be
            super().rollback()

    def close(self) -> None:
        self.mortal.closes(self, super().close)


class InlineWriter(Writer):
    """The writer without its thread: a group is committed in a turn of the loop.

    The group, its execution and its commit are the program's own (`Writer._commit`).
    """

    def __init__(
        self,
        database: Database,
        settings: Callable[[], BankSettings],
        now: Callable[[], datetime],
        deliver: Callable[[list[Reply]], None],
        *,
        mortal: Mortal,
        later: Callable[[Callable[[], None]], object],
    ) -> None:
        super().__init__(database, settings, now, deliver)
        self._mortal, self._later = mortal, later
        self._waiting: deque[Request] = deque()
        self._turn_is_due = False

    def submit(self, request: Request) -> None:
        if self._mortal.dead:
            return
        if self._is_closed:
            raise BooksUnavailable("The books are closed.")
        self._waiting.append(request)
        self._ask_for_turn()

    def close(self) -> None:
        while self._waiting and not self._mortal.dead:
            self._turn()
        if not self._mortal.dead:
            self._hand_out(self._give_up())
        self._is_closed = True
        self._disconnect()

    @property
    def is_idle(self) -> bool:
        return not self._waiting and self._doubtful is None

    def _ask_for_turn(self) -> None:
        if not self.is_idle and not self._turn_is_due:
            self._turn_is_due = True
            self._later(self._turn)

    def _turn(self) -> None:
        self._turn_is_due = False
        if self._mortal.dead:
            return
        asked = [self._waiting.popleft() for _ in range(min(GROUP_SIZE, len(self._waiting)))]
        group = [request for request in asked if request.claim()]
        answers = self._reply(group)
        if self._mortal.dead:  # `_commit` has taken the end of the world for a failed write
            raise Killed
        self._hand_out(answers)
        self._ask_for_turn()

    def _settle(self, doubtful: _DoubtfulGroup) -> list[Reply]:
        answers = super()._settle(doubtful)
        if self._doubtful is None:
            self._mortal.has_found_out(is_there=True)  # unless it has reported otherwise
        return answers

    def _give_up(self) -> list[Reply]:
        self._mortal.never_finds_out()
        return super()._give_up()

    def _fail(self, group: list[Request], error: BaseException) -> list[Reply]:
        self._mortal.has_found_out(is_there=False)
        return super()._fail(group, error)

    def _hand_out(self, answers: list[Reply]) -> None:
        errors = {type(answer.error) for answer in answers}
        if self._doubtful is None and BooksUnavailable in errors and OutcomeUnknown not in errors:
            self._mortal.is_refused()
        if answers:
            self._deliver(answers)


class Books(SqliteDatabase):
    """The books as a process has them."""

    def __init__(self, path: Path, mortal: Mortal) -> None:
        super().__init__(path, busy_seconds=0)
        self._mortal = mortal
        mortal.connect_to(self)

    def close(self) -> None:
        """Close everything; a dead process inspects and rescues nothing."""
        if self._mortal.dead:
            guard, self._guard = self._guard, None
            if guard is not None:
                guard.close()
        super().close()

    @contextmanager
    def transaction(self, settings: BankSettings, now: datetime) -> Iterator[Desk]:
        try:
            with super().transaction(settings, now) as desk:
                yield desk
        except BooksUnavailable:
            self._mortal.is_refused()
            raise


def file_operations(touching: Callable[[], Mortal | None]) -> dict[str, Callable[..., Any]]:
    """Return replacements of the functions of `os` that change files, by name.

    `touching` returns the process that does it, None outside the board.
    """

    def mortal(real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*values: Any, **more: Any) -> Any:
            life = touching()
            if life is None:
                return real(*values, **more)
            life.touch()
            try:
                return real(*values, **more)
            finally:
                life.after()

        return operation

    def write(file: int, data: bytes) -> int:
        if (life := touching()) is None:
            return real_write(file, data)
        room = life.room_for(data)
        written = real_write(file, data[:room]) if room else 0
        life.touch()
        if room < len(data):
            raise OSError(errno.ENOSPC, "No space left on device")
        return written

    real_write = os.write
    same = {f"os.{name}": mortal(getattr(os, name)) for name in ("fsync", "rename", "replace")}
    return {**same, "os.write": write}
