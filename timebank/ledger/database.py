"""The file the books are in: opening it, transactions, and the one writer with its group commit.

Many callers, one writer: SQLite lets one transaction write at a time, and its COMMIT waits for
the disk. So everything that is asked while the disk is busy goes into the next transaction
together, each request in a savepoint of its own, and nothing is answered before the COMMIT.
Other processes may have the same file open; `BEGIN IMMEDIATE` and the busy time-out keep turns.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from timebank import errors, files
from timebank.language import Phrase
from timebank.ledger import high_water, migrations, sqlite
from timebank.ledger.doubt import Doubt
from timebank.ledger.guard import Guard, overwritten, rescued
from timebank.ledger.machine import ClockReading
from timebank.ledger.schema import (
    APPLICATION_ID,
    BEFORE_RELEASE,
    SCHEMA_VERSION,
    SYSTEM_ACCOUNTS,
    accounts,
    metadata,
)
from timebank.names import look_alikes
from timebank.settings.settings import BankSettings

log = logging.getLogger("timebank")

# How long a transaction waits for another process's turn to end before it gives up.
BUSY_SECONDS = 10.0
# The same while the books have been found locked, until they can be written again: whoever comes
# then is told so soon, and not each after a wait of its own.
SHORT_SECONDS = 1.0
# How long SQLite waits of its own before it is asked again (`Database._on_begin`).
TURN_SECONDS = 0.05

# Until it is tried again to find out what became of a COMMIT that failed.
AGAIN_SECONDS = 0.25

# How many requests share a COMMIT at most; beyond it the wait of the first grows for little gain
# (measured: 10 a group give half of what 50 give).
GROUP_SIZE = 50

# How many frames the log may have before it is carried over: as many as SQLite would leave in it.
CHECKPOINT_FRAMES = 1000
# How often it may not be told how many there are.
UNTOLD = 100

CHANGES = "changes"  # of a connection: how many rows it had changed when its transaction began


@dataclass(frozen=True, slots=True)
class Desk:
    """One open transaction: what every function of the bank works at."""

    connection: Connection
    settings: BankSettings
    # What the clocks show, or the wall clock alone, as this transaction sees it.
    clock: datetime | ClockReading

    @property
    def now(self) -> datetime:
        """The instant, aware UTC."""
        return self.clock.now if isinstance(self.clock, ClockReading) else self.clock

    @property
    def reading(self) -> ClockReading | None:
        return self.clock if isinstance(self.clock, ClockReading) else None


class Database:
    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._is_locked = False  # whether the last who wanted to write has waited in vain
        self._last_turn = math.inf  # the instant after which nobody waits any more
        self.engine = sqlite.engine(path, min(TURN_SECONDS, busy_seconds))
        self._high_water = high_water.HighWater(path)
        self._untold = 0  # how often it could not be told how far the log has grown
        self._forgets = False  # whether how far the books have come cannot be noted
        self._guard: Guard | None = None
        self._gone: errors.BooksGone | None = None
        event.listen(self.engine, "do_connect", self._before_connect)
        event.listen(self.engine, "connect", lambda connection, _: sqlite.set_up(connection))
        event.listen(self.engine, "begin", self._on_begin)

    def open(self) -> None:
        """Create the file with its tables, or check that it is ours and move it forward.

        A file of an earlier version is copied first (migrations.backup_path). Safe when several
        processes do it at once. Raises `DatabaseRefused`, also where books were rescued and nobody
        has put them back.
        """
        self._refuse_overwritten()
        copy = rescued(self.path)
        if copy is not None:
            raise errors.DatabaseRefused(
                f"The books at {self.path} were removed or replaced while the board served, and"
                f" what it had open was rescued to {copy}. `timebank restore {copy}` puts that in"
                " their place. Then, or if the books there are the right ones, move the copy away."
            )
        try:
            # Only its owner may read it: it holds password hashes and seeds.
            files.make_folder(self.path.parent, 0o700)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise errors.DatabaseRefused(
                f"The database {self.path} cannot be opened: {error.strerror}."
            ) from error
        with self._refusing():
            self._set_journal_mode()
            self._move_forward()
            with self.engine.begin() as connection:
                _create_when_empty(connection)
                _check(connection, self.path)
                look_alikes.renew(connection.exec_driver_sql)
            self._carry_over()

    def open_existing(self) -> None:
        """Check a file that must be there, and move it forward; raises `DatabaseRefused`."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise errors.DatabaseRefused(
                f"There is no database at {self.path}. The board makes one when it first serves."
            )
        self._refuse_overwritten()
        self._move_forward()
        reading = self.engine.execution_options(read_only=True)
        with self._refusing(), reading.begin() as connection:
            _check(connection, self.path)

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            # The last to close carries the log over, which may be none of this database by now.
            if self._gone is None and (said := guard.missing_now()):
                _tell_gone(said, guard.rescue(None))
            guard.close()
        self.engine.dispose()
        self._high_water.close()

    def guard(self) -> None:
        """Keep the files open from now on until `close`, and see whether they are in their place.

        To be asked again and again. Raises `BooksGone` when they are not, and from then on all
        that is asked of the books does.
        """
        if self._guard is None:
            connection = self.engine.connect().execution_options(read_only=True)
            try:
                # What reads has all the files open.
                with connection.begin():
                    sqlite.is_empty(connection)
                    self._guard = Guard(self.path, connection)
            except BaseException:
                connection.close()
                raise
        self._refuse_gone(self._guard.missing())

    def rescue(self, writer: Connection | None) -> str:
        assert self._guard is not None  # which has found out that they are gone
        return self._guard.rescue(writer)

    def tend(self, connection: Connection) -> None:
        """Carry the log over into the database when it has grown.

        SQLite would do that by itself (`wal_autocheckpoint`), and not look first whether it is
        still the same log and the same database. `connection` has no transaction.
        """
        guard = self._guard
        if guard is None:
            return
        frames = guard.watch.frames()
        if frames is None:
            self._untold += 1
            if self._untold < UNTOLD:
                return
        elif frames < CHECKPOINT_FRAMES:
            return
        self._untold = 0
        # What is behind the checkpoint is looked at with the next group.
        guard.look_again()
        if guard.missing_now():
            return
        with contextlib.suppress(sqlite3.Error):  # there is no room: then later
            sqlite.carry_over_some(sqlite.driver(connection))
        guard.watch.frames()

    def look_again(self) -> None:
        if self._guard is not None:
            self._guard.look_again()

    def doubt(self) -> Doubt:
        return Doubt(self.engine, self.path)

    @property
    def is_in_a_hurry(self) -> bool:
        return time.monotonic() >= self._last_turn

    def hurry(self, seconds: float) -> None:
        """Let nobody wait to write beyond `seconds` from now; of several, the earliest counts."""
        self._last_turn = min(self._last_turn, time.monotonic() + seconds)

    @contextlib.contextmanager
    def transaction(self, settings: BankSettings, now: datetime | ClockReading) -> Iterator[Desk]:
        """Give a desk whose work commits when the block ends, or not at all when it raises.

        Raises `BooksUnavailable` when the file cannot be read or written, and `OutcomeUnknown` when
        the disk fails in the COMMIT and for so long afterwards that nobody can tell whether it
        counts.
        """
        self._refuse_gone()
        with (
            _broken_is_unavailable(self.path),
            self.engine.connect() as connection,
            connection.begin() as transaction,
        ):
            yield Desk(connection, settings, now)
            number = self.count(connection)
            try:
                transaction.commit()
            except DBAPIError as error:
                if not (sqlite.leaves_doubt(error) and self._is_there_after_all(connection, error)):
                    raise
            else:
                self.note(number)

    @contextlib.contextmanager
    def reading(self, settings: BankSettings, now: datetime | ClockReading) -> Iterator[Desk]:
        self._refuse_gone()
        with (
            _broken_is_unavailable(self.path),
            self.engine.connect().execution_options(read_only=True) as connection,
            connection.begin(),
        ):
            yield Desk(connection, settings, now)

    def count(self, connection: Connection) -> int | None:
        """Count a transaction that is about to be committed; None for one that changes nothing.

        Raises `BooksGone` when the number was given before: older books lie in their place, put
        there between two looks at the files.
        """
        if sqlite.changes(connection) == connection.info.get(CHANGES):
            return None
        number = high_water.count(connection)
        if number <= self._high_water.highest and self._guard is not None:
            self._refuse_gone(self._guard.went_back())
        return number

    def note(self, number: int | None) -> None:
        if number is None:
            return
        try:
            self._high_water.note(number)
        except OSError as error:
            if not self._forgets:
                name = high_water.beside(self.path)
                log.warning(
                    "%s cannot be written (%s): if the books lose their end, the next start does"
                    " not notice.",
                    *(name, error.strerror),
                )
            self._forgets = True
        else:
            self._forgets = False

    def _on_begin(self, connection: Connection) -> None:
        """Begin to read at once, or wait for the turn to write.

        A busy process leaves the books alone for a moment between two transactions, and SQLite
        looks ever less often whether it is its turn: so it is asked for short waits, again and
        again.
        """
        if connection.get_execution_options().get("read_only", False):
            sqlite.begin_reading(connection)
            return
        seconds = self._busy_seconds
        patience = time.monotonic() + (min(seconds, SHORT_SECONDS) if self._is_locked else seconds)
        while True:
            try:
                sqlite.begin_writing(connection)
            except DBAPIError as error:
                busy = sqlite.is_waiting(error)
                if busy and time.monotonic() < min(patience, self._last_turn):
                    continue
                self._is_locked = busy
                raise
            self._is_locked = False
            connection.info[CHANGES] = sqlite.changes(connection)
            return

    def _is_there_after_all(self, connection: Connection, error: DBAPIError) -> bool:
        sqlite.roll_back(connection)
        doubt = self.doubt()
        patience = time.monotonic() + self._busy_seconds
        while True:
            try:
                return doubt.settle()
            except errors.StillInDoubt:
                if time.monotonic() >= min(patience, self._last_turn):
                    raise _unknown(error) from error
                time.sleep(AGAIN_SECONDS)

    def _before_connect(self, *_: object) -> None:
        """Let nobody open files that have taken the place of those that are open."""
        if self._guard is not None:
            self._refuse_gone(self._guard.moved())

    def _refuse_gone(self, missing: str = "") -> None:
        if missing and self._gone is None:
            self._gone = errors.BooksGone(missing)
        if self._gone is not None:
            raise self._gone

    def _carry_over(self) -> None:
        """Carry over what was recovered, which may be on no disk yet; later, if hindered."""
        try:
            with self.engine.connect() as connection:
                sqlite.carried_over(connection)
        except sqlite3.Error as error:
            if not (sqlite.is_busy(error) or sqlite.is_full(error)):
                raise _cannot_be_opened(self.path, error) from error

    def _refuse_overwritten(self) -> None:
        left = overwritten(self.path)
        if left is not None:
            said = f"The books at {self.path} were written over while the board served. {left}"
            raise errors.DatabaseRefused(said)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            raise _cannot_be_opened(self.path, error) from error

    def _move_forward(self) -> None:
        try:
            migrations.move_forward(self.path, self._busy_seconds, migrations.STEPS)
        except errors.CommitFailed as error:
            raise errors.DatabaseRefused(
                f"The disk failed while the database {self.path} was moved to a newer version"
                f" ({error}). It is of the one version or of the other, and whole. Start again when"
                " the disk is well."
            ) from error
        except (sqlite3.Error, OSError) as error:
            if sqlite.is_damaged(error):
                raise _cannot_be_opened(self.path, error) from error
            raise errors.DatabaseRefused(
                f"The database {self.path} cannot be opened: {error}. Nothing was changed."
            ) from error

    def _set_journal_mode(self) -> None:
        """Switch to write-ahead logging; SQLite does not wait for another who does it too."""
        patience = time.monotonic() + self._busy_seconds
        while True:
            try:
                with self.engine.connect() as connection:
                    is_ahead = sqlite.write_ahead(connection)
                break
            except sqlite3.DatabaseError as error:
                if not sqlite.is_busy(error) or time.monotonic() >= patience:
                    raise _cannot_be_opened(self.path, error) from error
                time.sleep(0.01)
        if not is_ahead:
            raise errors.DatabaseRefused(
                f"The database {self.path} is on a disk without shared memory (a network drive?),"
                " where write-ahead logging does not work. Move the data folder to a local disk."
            )


def _tell_gone(missing: str, rescue: str) -> None:
    log.critical("the books cannot be served any more: %s. %s", missing, rescue)


@contextlib.contextmanager
def _broken_is_unavailable(path: Path) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        if sqlite.is_damaged(error):
            raise errors.BooksUnavailable(_damaged(path, error)) from error
        if not sqlite.is_broken(error):
            raise
        raise _unavailable(error) from error


def _unavailable(error: BaseException) -> errors.BooksUnavailable:
    said = Phrase("The books can't be written right now ({why}).", why=str(sqlite.reason(error)))
    return errors.BooksUnavailable(said)


def _cannot_be_opened(path: Path, error: Exception) -> errors.DatabaseRefused:
    if sqlite.is_damaged(error):
        return errors.DatabaseRefused(_damaged(path, error))
    return errors.DatabaseRefused(f"The database {path} cannot be opened: {sqlite.reason(error)}.")


def _damaged(path: Path, error: BaseException) -> str:
    return (
        f"The database {path} is damaged ({sqlite.reason(error)}). `timebank restore` puts a backup"
        " in its place, and keeps what is there beside it."
    )


def _unknown(error: BaseException) -> errors.OutcomeUnknown:
    return errors.OutcomeUnknown(
        Phrase(
            "The disk failed while this was being written ({why}); we can't tell if it counts."
            " Check before you do it again.",
            why=str(sqlite.reason(error)),
        )
    )


def _check(connection: Connection, path: Path) -> None:
    program, version = sqlite.program(connection), sqlite.version(connection)
    if program != APPLICATION_ID:
        raise errors.DatabaseRefused(not_ours(path, program, version))
    if version < SCHEMA_VERSION:
        raise errors.DatabaseRefused(
            f"{path} is of version {version}, and this program knows {SCHEMA_VERSION} and no way"
            " from there."
        )
    if version > SCHEMA_VERSION:
        raise errors.DatabaseRefused(
            f"{path} was written by a newer program (its version is {version}, this program knows"
            f" {SCHEMA_VERSION}). Install the newer program, or restore an older backup."
        )


def not_ours(path: Path, program: int, version: int) -> str:
    if program == BEFORE_RELEASE:
        return (
            f"{path} is a ledger of before the first release (version {version} then). Make one of"
            f" today's of it with the program's sources: python tools/convert_ledger.py {path} NEW"
        )
    return f"{path} is the database of some other program."


def _create_when_empty(connection: Connection) -> None:
    """Lay the tables in a new file; whoever comes second to this lock finds them there."""
    if not sqlite.is_empty(connection):
        return
    for statement in _definitions():
        connection.exec_driver_sql(statement)
    connection.execute(
        accounts.insert(),
        [
            {"id": number, "kind": kind, "unit": "second", "balance": 0}
            for number, kind in SYSTEM_ACCOUNTS.items()
        ],
    )
    sqlite.set_program(connection, APPLICATION_ID)
    sqlite.set_version(connection, SCHEMA_VERSION)


@cache
def _definitions() -> tuple[str, ...]:
    """All that is created in empty books, as SQL: compiling it takes longer than running it."""
    elements: list[ExecutableDDLElement] = []
    # One table and index after the other by name: `create_all` makes indexes in any order, and the
    # same books shall be the same file.
    for table in metadata.sorted_tables:
        elements.append(CreateTable(table))
        elements += map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name)))
    triggers = (*sqlite.TRIGGERS.values(), *sqlite.RESULT_TRIGGERS.values())
    return (*map(sqlite.text_of, elements), *triggers)


@dataclass(frozen=True, slots=True)
class Done:
    ticket: object
    result: object
    error: BaseException | None


@dataclass(frozen=True, slots=True)
class _Request:
    operation: Callable[[Desk], object]
    ticket: object


@dataclass(frozen=True, slots=True)
class _Doubtful:
    doubt: Doubt
    group: list[_Request]
    answers: list[Done]
    error: BaseException


class Writer:
    """One thread that carries out what many ask, in groups that commit together."""

    def __init__(
        self,
        database: Database,
        settings: Callable[[], BankSettings],
        now: Callable[[], datetime | ClockReading],
        deliver: Callable[[list[Done]], None],
    ) -> None:
        """Start the thread over an open `database`.

        `settings` and `now` are asked once a group, `deliver` gets the answers of a group after
        its COMMIT; all three run on the writer's thread. While it is not known whether a COMMIT
        that failed counts, `deliver` has an `InDoubt` for each, and all else is refused.
        """
        self._database = database
        self._settings = settings
        self._now = now
        self._deliver = deliver
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._connection: Connection | None = None
        self._doubtful: _Doubtful | None = None
        self._is_rescued = False
        self._closes_by = math.inf  # when nobody waits any more, the writer being closed
        self._thread = threading.Thread(target=self._work, name="timebank-writer")
        self._thread.start()

    def submit(self, operation: Callable[[Desk], object], ticket: object) -> None:
        """Queue an operation, answered by `deliver`; raises `BooksUnavailable` once closed."""
        with self._closing:
            if self._closed:
                raise errors.BooksUnavailable(Phrase("The books are closed."))
            self._queue.put(_Request(operation, ticket))

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                self._closes_by = time.monotonic() + SHORT_SECONDS
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        last = False
        while not last or self._doubtful is not None:
            group, ended = self._next_group()
            last = last or ended
            answers = self._answers(group)
            if not answers:
                continue
            try:
                self._deliver(answers)
            except Exception:
                log.exception("%d answers could not be delivered", len(answers))
        self._hang_up()

    def _next_group(self) -> tuple[list[_Request], bool]:
        """Wait for a request, and take with it what else is queued; True when it is the end.

        In doubt the wait is short, and may end without one.
        """
        group: list[_Request] = []
        patience = None if self._doubtful is None else AGAIN_SECONDS
        with contextlib.suppress(queue.Empty):
            while len(group) < GROUP_SIZE:
                request = self._queue.get(block=not group, timeout=patience)
                if request is None:
                    return group, True
                group.append(request)
        return group, False

    def _answers(self, group: list[_Request]) -> list[Done]:
        answers = [] if self._doubtful is None else self._settled(self._doubtful)
        if self._doubtful is not None:
            refusal = _unavailable(self._doubtful.error)
            return answers + [Done(request.ticket, None, refusal) for request in group]
        return answers + (self._commit(group) if group else [])

    def _commit(self, group: list[_Request]) -> list[Done]:
        try:
            self._database.guard()
            if self._connection is None:
                self._connection = self._database.engine.connect()
            transaction = self._connection.begin()
            desk = Desk(self._connection, self._settings(), self._now())
            # Past SQLAlchemy, which takes longer over a savepoint than SQLite does.
            mark = self._connection.connection.cursor().execute
            answers = [_carry_out(desk, mark, request) for request in group]
            number = self._database.count(self._connection)
        except BaseException as error:
            return self._failed(group, error)
        try:
            transaction.commit()
        except BaseException as error:
            if not sqlite.leaves_doubt(error):
                return self._failed(group, error)
            sqlite.roll_back(self._connection)
            self._hang_up()
            return self._settled(_Doubtful(self._database.doubt(), group, answers, error))
        self._database.note(number)
        self._database.tend(self._connection)
        return answers

    def _failed(self, group: list[_Request], error: BaseException) -> list[Done]:
        """Answer a group of which nothing is in the books.

        The connection may be in any state, so the next group starts with another one.
        """
        if isinstance(error, errors.BooksGone):
            if not self._is_rescued:
                self._is_rescued = True
                if self._connection is not None:
                    sqlite.roll_back(self._connection)  # nothing of this group is saved
                rescue = self._database.rescue(self._connection)
                _tell_gone(error.missing, rescue)
            return [Done(request.ticket, None, error) for request in group]
        self._hang_up()
        if sqlite.is_damaged(error):
            self._database.look_again()
        if sqlite.is_broken(error):
            log.error("%d requests could not be committed: %s", len(group), sqlite.reason(error))
        else:
            log.exception("%d requests could not be committed", len(group), exc_info=error)
        return [Done(request.ticket, None, _unavailable(error)) for request in group]

    def _settled(self, doubtful: _Doubtful) -> list[Done]:
        """Find out what became of a group whose COMMIT failed; in doubt, say so once."""
        group, error, is_new = doubtful.group, doubtful.error, self._doubtful is None
        try:
            is_there = doubtful.doubt.settle()
        except errors.StillInDoubt as not_yet:
            self._doubtful = doubtful
            if is_new:
                log.error(
                    "whether %d requests were committed is not known yet: %s", len(group), not_yet
                )
                return [Done(request.ticket, None, errors.InDoubt()) for request in group]
            is_late = self._database.is_in_a_hurry or time.monotonic() >= self._closes_by
            return self._given_up() if is_late else []
        except errors.BooksGone as gone:
            self._doubtful = doubtful
            return [*self._given_up(), *self._failed([], gone)]
        self._doubtful = None
        if is_there:
            said = "%d requests are in the books after all: %s"
            log.error(said, len(group), sqlite.reason(error))
            return doubtful.answers
        return self._failed(group, error)

    def _given_up(self) -> list[Done]:
        doubtful, self._doubtful = self._doubtful, None
        if doubtful is None:
            return []
        log.error("whether %d requests were committed was not found out", len(doubtful.group))
        unknown = _unknown(doubtful.error)
        return [Done(request.ticket, None, unknown) for request in doubtful.group]

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def _carry_out(desk: Desk, mark: Callable[[str], object], request: _Request) -> Done:
    """Do one request in its savepoint; only what breaks the whole transaction is raised."""
    mark("SAVEPOINT request")
    try:
        result = request.operation(desk)
    except Exception as error:
        if sqlite.is_broken(error):
            raise
        mark("ROLLBACK TO request")
        mark("RELEASE request")
        if not isinstance(error, errors.Refused):
            log.exception("a request failed and was rolled back")
        return Done(request.ticket, None, error)
    mark("RELEASE request")
    return Done(request.ticket, result, None)
