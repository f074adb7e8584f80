"""Transactions of the books, and the single writer with its group commit.

A COMMIT waits for the disk. So the writer collects the requests that arrive meanwhile, and carries
them out in one next transaction, each in its own savepoint. It replies to none before the COMMIT.
Other processes with the same books open take turns with it.

This module is the same for both engines. sqlite/database.py and postgres/database.py implement
`Database`; engines.py chooses one of them by the settings.
"""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from timebank import errors
from timebank.language import Phrase
from timebank.ledger import dialects, failures, migrations
from timebank.ledger.machine import ClockReading
from timebank.ledger.schema import APPLICATION_ID, MOVED_AWAY, MOVING_IN
from timebank.settings.settings import BankSettings

log = logging.getLogger("timebank")

# How long a transaction waits for its turn to write.
BUSY_SECONDS = 10.0
# The same after a wait in vain, until a transaction gets its turn again: only the first caller
# waits the whole time for locked books. A writer that closes waits as long for an outcome.
SHORT_BUSY_SECONDS = 1.0

# The pause between two look-ups of the outcome of a failed COMMIT.
DOUBT_RETRY_SECONDS = 0.25

# The most requests that share a COMMIT. A larger group keeps its first request waiting for little
# gain. Measured: groups of 10 have half the throughput of groups of 50. With 64 callers at play,
# groups of 50 leave a second group, which competes with the event loop: a sixth more CPU.
GROUP_SIZE = 100

# For the only request of a transaction.
NO_SAVEPOINT = contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class Desk:
    """An open transaction, the first argument of every function of the bank."""

    connection: Connection
    settings: BankSettings
    # The time of this transaction, from all clocks of the machine or from the wall clock alone.
    clock: datetime | ClockReading

    @property
    def now(self) -> datetime:
        """The time of this transaction, aware, in UTC."""
        return self.clock.now if isinstance(self.clock, ClockReading) else self.clock

    @property
    def clock_reading(self) -> ClockReading | None:
        return self.clock if isinstance(self.clock, ClockReading) else None

    def nudge(self) -> None:
        """Tell other servers to read the books, when this transaction commits."""
        dialects.dialect_of(self.connection).nudge(self.connection)


# SQLite numbers the transactions of a file; PostgreSQL numbers those of each connection's key.
TransactionId = int | tuple[str, int]


class Doubt(Protocol):
    """A transaction whose COMMIT failed with an unknown outcome."""

    def settle(self) -> bool | None:
        """Return whether the transaction is in the books, or None if that can never be known.

        False is final too. Raises `StillInDoubt` if the outcome is unknown yet; call again later.
        """


class Upgrade(NamedTuple):
    """A finished upgrade of the books; `copy` is the copy of the old ones, None on a server."""

    place: str
    old_version: int
    copy: Path | None

    def sentences(self) -> list[str]:
        newest = migrations.newest_version()
        sentences = [
            f"Moved the books in {self.place} from version {self.old_version} to {newest}."
        ]
        if self.copy is not None:
            sentences.append(f"A copy of them as they were is in {self.copy}.")
            sentences.append(going_back(self.copy))
        return sentences


def going_back(copy: Path) -> str:
    """Return the sentence about the way back to an earlier release."""
    return f"To go back, install the earlier release and run `timebank restore {copy}`."


class Database(ABC):
    """The books on one engine. `place` names them in sentences, without a password."""

    engine: Engine
    place: str
    # How long a request in doubt waits before its reply is `OutcomeUnknown`. The look-ups go on.
    doubt_seconds = math.inf

    def __init__(self, busy_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._is_locked = False  # whether the last transaction waited in vain for its turn
        self._deadline = math.inf  # when all waits end, by the monotonic clock

    @abstractmethod
    def open(self) -> None:
        """Create the books with their tables, or check that they are ours and of this version.

        Several processes may do this at once. Raises `DatabaseRefused`, which is `OlderBooks` for
        books that `upgrade` can upgrade.
        """

    @abstractmethod
    def open_existing(self) -> None:
        """Check existing books as `open` does. Raises `DatabaseRefused`, also if there are none."""

    @abstractmethod
    def upgrade(self, *, alone: bool = False) -> Upgrade | None:
        """Upgrade books of an earlier version; return None if they need no upgrade.

        Raises `DatabaseRefused`, also while a server of the earlier release may have the books
        open; `alone` rules that out. The caller holds the lock of a file (timebank/serving.py). On
        PostgreSQL several processes may upgrade at once.
        """

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def guard(self) -> None:
        """Check that the files of the books are those of the first call. Call it often.

        Raises `BooksGone` if they were removed or replaced. From then on every use of the books
        raises it too.
        """

    @abstractmethod
    def rescue(self, writer: Connection | None) -> str:
        """Save the open contents of books that are gone; return sentences that say where.

        `writer` is the writer's connection, if it has one.
        """

    @abstractmethod
    def number_transaction(self, connection: Connection) -> TransactionId | None:
        """Number a transaction just before its COMMIT; return None if it changed nothing."""

    @abstractmethod
    def note_committed(self, transaction_id: TransactionId | None) -> None:
        """Remember that the transaction is durable."""

    @abstractmethod
    def doubt(self, transaction_id: TransactionId | None) -> Doubt:
        """Return the doubt about the last transaction, whose COMMIT failed.

        Its connection must be rolled back already.
        """

    @abstractmethod
    def roll_back(self, connection: Connection) -> None:
        """End a transaction whose COMMIT failed, if it is still open."""

    @abstractmethod
    def _raise_if_gone(self) -> None:
        """Raise `BooksGone` if `guard` found that before."""

    @property
    def is_past_deadline(self) -> bool:
        return time.monotonic() >= self._deadline

    def limit_waits(self, seconds: float) -> None:
        """End all waits for a turn to write in `seconds`, or earlier if a call said so before."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _wait_for_turn(self, begin: Callable[[float], None]) -> None:
        """Call `begin(seconds)` until it gets the turn to write or the time is up.

        `begin` waits `seconds` at most and raises an error if another transaction writes. At the
        deadline that error is raised here too.
        """
        seconds = self._busy_seconds
        if self._is_locked:
            seconds = min(seconds, SHORT_BUSY_SECONDS)
        deadline = time.monotonic() + seconds
        while True:
            try:
                begin(max(0.0, min(deadline, self._deadline) - time.monotonic()))
            except Exception as error:
                is_locked = failures.is_write_locked(error)
                if is_locked and time.monotonic() < min(deadline, self._deadline):
                    continue
                self._is_locked = is_locked
                raise
            self._is_locked = False
            return

    @contextlib.contextmanager
    def transaction(self, settings: BankSettings, now: datetime | ClockReading) -> Iterator[Desk]:
        """Yield a desk. Its transaction commits at the end of the block, or rolls back on an error.

        Raises `BooksUnavailable` if the books cannot be read or written, and `NotEnough` if an
        account may not have its new balance. Raises `OutcomeUnknown` if the COMMIT fails and its
        outcome stays unknown for `busy_seconds`.
        """
        self._raise_if_gone()
        with (
            _translate_errors(self.place),
            self.engine.connect() as connection,
            connection.begin() as transaction,
        ):
            yield Desk(connection, settings, now)
            transaction_id = self.number_transaction(connection)
            try:
                transaction.commit()
            except DBAPIError as error:
                if not failures.leaves_doubt(error):
                    raise
                if not self._is_committed(connection, transaction_id, error):
                    raise
            else:
                self.note_committed(transaction_id)

    @contextlib.contextmanager
    def reading(self, settings: BankSettings, now: datetime | ClockReading) -> Iterator[Desk]:
        """Yield a desk that only reads, from one snapshot. Raises `BooksUnavailable`."""
        self._raise_if_gone()
        with (
            _translate_errors(self.place),
            self.engine.connect().execution_options(read_only=True) as connection,
            connection.begin(),
        ):
            yield Desk(connection, settings, now)

    def _is_committed(
        self, connection: Connection, transaction_id: TransactionId | None, error: DBAPIError
    ) -> bool:
        """Wait for the outcome of a failed COMMIT; return whether it is in the books."""
        self.roll_back(connection)
        doubt = self.doubt(transaction_id)
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                is_committed = doubt.settle()
            except errors.StillInDoubt:
                if time.monotonic() >= min(deadline, self._deadline):
                    raise _unknown_error(error) from error
                time.sleep(DOUBT_RETRY_SECONDS)
            else:
                if is_committed is None:
                    raise _unknown_error(error) from error
                return is_committed


def log_gone(missing: str, rescue: str) -> None:
    log.critical("the books cannot be served any more: %s. %s", missing, rescue)


@contextlib.contextmanager
def _translate_errors(place: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if failures.is_beyond_bounds(error):
            raise errors.NotEnough(Phrase("There is not that much in the account.")) from error
        if failures.is_damaged(error):
            raise errors.BooksUnavailable(damage_sentence(place, error)) from error
        if not failures.is_broken(error):
            raise
        log.info("the books in %s failed: %s", place, failures.driver_error(error))
        raise _unavailable_error(error) from error


def _unavailable_error(error: BaseException) -> errors.BooksUnavailable:
    sentence = Phrase("The books can't be written right now ({why}).", why=failures.phrase(error))
    return errors.BooksUnavailable(sentence)


def open_error(place: str, error: Exception) -> errors.DatabaseRefused:
    """Return the error to raise for books that cannot be opened, and log the driver's text."""
    if failures.is_damaged(error):
        return errors.DatabaseRefused(damage_sentence(place, error))
    log.info("the database %s cannot be opened: %s", place, failures.driver_error(error))
    why = failures.sentence(error)
    return errors.DatabaseRefused(f"The database {place} cannot be opened: {why}.")


def damage_sentence(place: str, error: BaseException) -> str:
    """Return a sentence for the sysop about a damaged database, and log the driver's text."""
    log.info("the database %s is damaged: %s", place, failures.driver_error(error))
    return (
        f"The database {place} is damaged. `timebank restore` puts a backup in its place and keeps"
        " the damaged one."
    )


def _unknown_error(error: BaseException) -> errors.OutcomeUnknown:
    return errors.OutcomeUnknown(
        Phrase(
            "This may not have been written ({why}); we can't tell if it counts."
            " Check before you do it again.",
            why=failures.phrase(error),
        )
    )


def check_version(place: object, program: int, version: int) -> None:
    """Raise `DatabaseRefused` unless a database contains books of the newest version.

    `program` is the application ID in the database (see schema.py), and `version` its version.
    """
    if program != APPLICATION_ID:
        raise errors.DatabaseRefused(foreign_sentence(place, program))
    if version < migrations.FIRST_VERSION:
        raise errors.DatabaseRefused(
            f"The books in {place} are of version {version}, from before release 1.0, and no"
            " release opens those. Move them away, or restore a newer backup."
        )
    newest = migrations.newest_version()
    if version < newest:
        raise errors.OlderBooks(
            f"The books in {place} are of version {version}, which an earlier release wrote; this"
            f" one needs version {newest}. Close the board if it still runs. Then `door"
            " upgrade` moves them forward, and so does the next `door serve`."
        )
    if version > newest:
        raise errors.DatabaseRefused(
            f"{place} was written by a newer program (its version is {version}, this program knows"
            f" {newest}). Install the newer program, or restore an older backup."
        )


def foreign_sentence(place: object, program: int) -> str:
    """Return why a database with another application ID than ours cannot be used."""
    if program == MOVING_IN:
        return f"An earlier release's `timebank move` to {place} did not finish. Remove {place}."
    if program == MOVED_AWAY:
        return (
            f"`timebank move` has taken the books of {place} elsewhere. Name their new place as"
            " database in [timebank] of sysop.toml."
        )
    return f"{place} is the database of some other program."


class Reply(NamedTuple):
    """The reply to the request with this ticket: the result of its operation, or an error."""

    ticket: object
    result: object
    error: BaseException | None


@dataclass(slots=True, eq=False)
class Request:
    """An operation for the writer. `ticket` identifies it in the reply, and may be any object."""

    operation: Callable[[Desk], object]
    ticket: object
    asked_at: float = field(default_factory=time.monotonic)
    _claimed: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """Return True to the first call alone. The writer claims to run, others to cancel."""
        return self._claimed.acquire(blocking=False)


@dataclass(slots=True)
class _DoubtfulGroup:
    doubt: Doubt
    group: list[Request]
    replies: list[Reply]
    error: BaseException
    waiting: list[Request]  # the requests without a reply of `OutcomeUnknown`

    def pop_late(self, seconds: float) -> list[Request]:
        """Remove and return the waiting requests that are at least `seconds` old."""
        limit = time.monotonic() - seconds
        late = [request for request in self.waiting if request.asked_at <= limit]
        self.waiting = [request for request in self.waiting if request.asked_at > limit]
        return late


class Load(NamedTuple):
    """The work of a writer since its start, and the number of requests waiting now."""

    waiting: int
    groups: int
    operations: int
    seconds: float  # the time that all groups took, with their COMMITs


class Writer:
    """A thread that carries out requests in groups, each group in one transaction."""

    def __init__(
        self,
        database: Database,
        settings: Callable[[], BankSettings],
        now: Callable[[], datetime | ClockReading],
        deliver: Callable[[list[Reply]], None],
    ) -> None:
        """Prepare a writer of an open `database`.

        The thread starts with the first request. So a process that fails earlier can end without
        waiting for a thread.

        `settings` and `now` are called once for each group. `deliver` gets the replies of a group
        after its COMMIT. All three run on the writer's thread.

        If the outcome of a COMMIT is unknown, `deliver` gets an `InDoubt` for each request of the
        group, and new requests are refused meanwhile. A request older than the `doubt_seconds` of
        the database gets an `OutcomeUnknown`. The outcome is delivered when it is known, also for
        requests that have an `OutcomeUnknown` already.
        """
        self._database = database
        self._settings = settings
        self._now = now
        self._deliver = deliver
        self._queue: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._close_lock = threading.Lock()
        self._is_closed = False
        self._connection: Connection | None = None
        self._doubtful: _DoubtfulGroup | None = None
        self._is_rescued = False
        self._outage_reason = ""  # why no group can be committed, already logged
        self._failed_requests = 0  # in the present outage
        self._close_deadline = math.inf  # when a closed writer gives up a doubtful group
        self._thread = threading.Thread(target=self._run, name="timebank-writer")
        self._has_started = False
        self._load = Load(0, 0, 0, 0.0)

    def load(self) -> Load:
        return self._load._replace(waiting=self._queue.qsize())

    def submit(self, request: Request) -> None:
        """Queue a request; `deliver` gets its reply.

        A request that is claimed before the writer's turn is dropped without a reply. Raises
        `BooksUnavailable` if the writer is closed or the system cannot start its thread.
        """
        with self._close_lock:
            if self._is_closed:
                raise errors.BooksUnavailable(Phrase("The books are closed."))
            if not self._has_started:
                self._start_thread()
            self._queue.put(request)

    def _start_thread(self) -> None:
        try:
            self._thread.start()
        except RuntimeError as error:  # the system has too many threads
            raise _unavailable_error(error) from error
        self._has_started = True

    def close(self) -> None:
        """Carry out the queued requests, and end the thread."""
        with self._close_lock:
            if not self._is_closed:
                self._is_closed = True
                self._close_deadline = time.monotonic() + SHORT_BUSY_SECONDS
                self._queue.put(None)
        if self._has_started:
            self._thread.join()

    def _run(self) -> None:
        is_last = False
        while not is_last or self._doubtful is not None:
            group, has_ended = self._next_group()
            is_last = is_last or has_ended
            began = time.perf_counter()
            replies = self._reply(group)
            if group:
                self._count_group(len(group), time.perf_counter() - began)
            if not replies:
                continue
            try:
                self._deliver(replies)
            except Exception:
                log.exception("%d answers could not be delivered", len(replies))
        self._disconnect()

    def _count_group(self, operations: int, seconds: float) -> None:
        load = self._load
        self._load = Load(0, load.groups + 1, load.operations + operations, load.seconds + seconds)

    def _next_group(self) -> tuple[list[Request], bool]:
        """Wait for a request; return the queued requests, and whether they are the last ones.

        In doubt the wait is short, and the group may be empty.
        """
        group: list[Request] = []
        timeout = None if self._doubtful is None else DOUBT_RETRY_SECONDS
        with contextlib.suppress(queue.Empty):
            while len(group) < GROUP_SIZE:
                request = self._queue.get(block=not group, timeout=timeout)
                if request is None:
                    return group, True
                if request.claim():
                    group.append(request)
        return group, False

    def _reply(self, group: list[Request]) -> list[Reply]:
        replies = [] if self._doubtful is None else self._settle(self._doubtful)
        if self._doubtful is not None:
            refusal = _unavailable_error(self._doubtful.error)
            return replies + [Reply(request.ticket, None, refusal) for request in group]
        return replies + (self._commit(group) if group else [])

    def _commit(self, group: list[Request]) -> list[Reply]:
        is_alone = len(group) == 1
        try:
            self._database.guard()
            if self._connection is None:
                self._connection = self._database.engine.connect()
            transaction = self._connection.begin()
            desk = Desk(self._connection, self._settings(), self._now())
            replies = []
            for request in group:
                savepoint = NO_SAVEPOINT if is_alone else _savepoint(self._connection)
                replies.append(_carry_out(desk, request, savepoint))
            if is_alone and replies[0].error is not None:
                transaction.rollback()
                return replies
            transaction_id = self._database.number_transaction(self._connection)
        except BaseException as error:
            return self._fail(group, error)
        try:
            transaction.commit()
        except BaseException as error:
            if not failures.leaves_doubt(error):
                if is_alone and isinstance(error, Exception) and not failures.is_broken(error):
                    self._disconnect()
                    return [Reply(group[0].ticket, None, _refusal(error))]
                return self._fail(group, error)
            self._database.roll_back(self._connection)
            self._disconnect()
            doubt = self._database.doubt(transaction_id)
            return self._settle(_DoubtfulGroup(doubt, group, replies, error, list(group)))
        self._note_commit()
        self._database.note_committed(transaction_id)
        return replies

    def _fail(self, group: list[Request], error: BaseException) -> list[Reply]:
        """Return error replies for a group that is not in the books.

        The connection may be in any state, so the next group gets a new one.
        """
        if isinstance(error, errors.BooksGone):
            if not self._is_rescued:
                self._is_rescued = True
                if self._connection is not None:
                    self._database.roll_back(self._connection)  # leave this group out
                rescue = self._database.rescue(self._connection)
                log_gone(error.missing, rescue)
            return [Reply(request.ticket, None, error) for request in group]
        self._disconnect()
        if failures.is_broken(error):
            self._note_outage(len(group), error)
        else:
            log.exception("%d requests could not be committed", len(group), exc_info=error)
        return [Reply(request.ticket, None, _unavailable_error(error)) for request in group]

    def _note_outage(self, requests: int, error: BaseException) -> None:
        """Log each reason of an outage once, because hundreds of requests may fail."""
        if (reason := failures.sentence(error)) != self._outage_reason:
            self._outage_reason = reason
            text = " ".join(str(failures.driver_error(error)).split())
            log.error("%d requests could not be committed: %s", requests, text)
        self._failed_requests += requests

    def _note_commit(self) -> None:
        if self._failed_requests:
            log.warning("requests are committed again; %d failed before", self._failed_requests)
            self._outage_reason, self._failed_requests = "", 0

    def _settle(self, doubtful: _DoubtfulGroup) -> list[Reply]:
        """Look up the outcome of a failed COMMIT. If it is unknown, reply `InDoubt` once."""
        group, error, is_new = doubtful.group, doubtful.error, self._doubtful is None
        try:
            is_committed = doubtful.doubt.settle()
        except errors.StillInDoubt as still:
            self._doubtful = doubtful
            if is_new:
                log.error(
                    "whether %d requests were committed is not known yet: %s", len(group), still
                )
                return [Reply(request.ticket, None, errors.InDoubt()) for request in group]
            if self._database.is_past_deadline or time.monotonic() >= self._close_deadline:
                return self._give_up()
            return _unknown_replies(doubtful, doubtful.pop_late(self._database.doubt_seconds))
        except errors.BooksGone as gone:
            self._doubtful = doubtful
            return [*self._give_up(), *self._fail([], gone)]
        if is_committed is None:
            self._doubtful = doubtful
            return self._give_up()
        self._doubtful = None
        if is_committed:
            reason = failures.driver_error(error)
            log.error("%d requests are in the books after all: %s", len(group), reason)
            return doubtful.replies
        return self._fail(group, error)

    def _give_up(self) -> list[Reply]:
        doubtful, self._doubtful = self._doubtful, None
        if doubtful is None:
            return []
        log.error("it stays unknown whether %d requests were committed", len(doubtful.group))
        return _unknown_replies(doubtful, doubtful.group)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def _unknown_replies(doubtful: _DoubtfulGroup, requests: Sequence[Request]) -> list[Reply]:
    unknown = _unknown_error(doubtful.error)
    return [Reply(request.ticket, None, unknown) for request in requests]


def _carry_out(desk: Desk, request: Request, savepoint: AbstractContextManager[None]) -> Reply:
    """Carry out a request. An error is in the reply, unless it breaks the whole transaction."""
    try:
        with savepoint:
            result = request.operation(desk)
    except Exception as error:
        if failures.is_broken(error):
            raise
        return Reply(request.ticket, None, _refusal(error))
    return Reply(request.ticket, result, None)


@contextlib.contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    """Undo the writes of the block if it raises."""
    # SQLAlchemy takes longer for a savepoint than SQLite does, so bypass it.
    run = connection.connection.cursor().execute
    run("SAVEPOINT request")
    try:
        yield
        run("RELEASE request")
    except Exception as error:
        if not failures.is_broken(error):
            run("ROLLBACK TO request")
            run("RELEASE request")
        raise


def _refusal(error: Exception) -> Exception:
    """Return the error for the reply to a request, and log it if the program is at fault."""
    if failures.is_beyond_bounds(error):
        return errors.NotEnough(Phrase("There is not that much in the account."))
    if not isinstance(error, errors.Refused | errors.LeaseLost):
        log.error("a request failed and was rolled back", exc_info=error)
    return error
