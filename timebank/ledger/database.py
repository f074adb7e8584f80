"""The books as everybody uses them: transactions, and the one writer with its group commit.

Many callers, one writer: a COMMIT waits for the disk. So everything that is asked while the disk
is busy goes into the next transaction together, each request in a savepoint of its own where there
are several, and nothing is answered before the COMMIT. Other processes may have the same books
open; they take turns.

Nothing here knows in what the books are. `Database` is what the writer needs of that;
sqlite/database.py keeps them in a file, and engines.py opens what the settings name.
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
from timebank.ledger.schema import (
    APPLICATION_ID,
    MOVED_AWAY,
    MOVING_IN,
)
from timebank.settings.settings import BankSettings

log = logging.getLogger("timebank")

# How long a transaction waits for another process's turn to end before it gives up.
BUSY_SECONDS = 10.0
# The same while the books have been found locked, until they can be written again: whoever comes
# then is told so soon, and not each after a wait of its own.
SHORT_BUSY_SECONDS = 1.0

# Until it is tried again to find out what became of a COMMIT that failed.
DOUBT_RETRY_SECONDS = 0.25

# How many requests share a COMMIT at most; beyond it the wait of the first grows for little gain
# (measured: 10 a group give half of what 50 give, and of 64 callers at play 50 leave some behind,
# whose group then takes turns with the loop that answers the others: a sixth more CPU).
GROUP_SIZE = 100

# Instead of a savepoint, for a request that is alone in its transaction.
NO_SAVEPOINT = contextlib.nullcontext()


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

    def nudge(self) -> None:
        """Have other servers look at the books once this transaction is committed."""
        dialects.dialect_of(self.connection).nudge(self.connection)


# What an engine knows a transaction by: a number, or a key with a number behind it.
TransactionId = int | tuple[str, int]


class Doubt(Protocol):
    """A transaction that nobody knows yet to be in the books or not."""

    def settle(self) -> bool | None:
        """Find out: True, it is in the books; False, it is not and never will be.

        None says that nobody will ever know. Raises `StillInDoubt`, and may be asked again.
        """


class Upgrade(NamedTuple):
    """How books were moved forward: from which version, and where a copy of before is, if any."""

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
        return sentences


class Database(ABC):
    """Books, in whatever they are. `place` names it in sentences, with no password in it."""

    engine: Engine
    place: str
    # For how long it is being found out what became of a COMMIT, counted from its beginning, before
    # those who wait are told that nobody knows. It is still found out then.
    doubt_seconds = math.inf

    def __init__(self, busy_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._is_locked = False  # whether the last who wanted to write has waited in vain
        self._deadline = math.inf  # the instant after which nobody waits any more

    @abstractmethod
    def open(self) -> None:
        """Create the books with their tables, or check that they are ours and of this version.

        Safe when several processes do it at once. Raises `DatabaseRefused`; `OlderBooks` for those
        that `upgrade` moves forward.
        """

    @abstractmethod
    def open_existing(self) -> None:
        """Check books that must be there, as `open` does; raises `DatabaseRefused`."""

    @abstractmethod
    def upgrade(self, *, alone: bool = False) -> Upgrade | None:
        """Move books of an earlier version forward; None where nothing is to be moved.

        Raises `DatabaseRefused`, also while a server of the earlier release may have them open;
        `alone` says that nobody has. Who moves a file forward holds its lock (timebank/serving.py);
        on a server several processes may do it at once.
        """

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def guard(self) -> None:
        """See whether the books are still what they were when this was first asked.

        To be asked again and again. Raises `BooksGone` when they are not, and from then on all
        that is asked of the books does.
        """

    @abstractmethod
    def rescue(self, writer: Connection | None) -> str:
        """Save what is open of books that are gone, and say where; `writer` has them open."""

    @abstractmethod
    def number_transaction(self, connection: Connection) -> TransactionId | None:
        """Number a transaction that is about to be committed; None for one that changes nothing."""

    @abstractmethod
    def note_committed(self, transaction_id: TransactionId | None) -> None:
        """Remember the number of a transaction that is in the books for good."""

    @abstractmethod
    def doubt(self, transaction_id: TransactionId | None) -> Doubt:
        """Doubt the transaction of this number, the last one whose COMMIT failed.

        Its connection is rolled back.
        """

    @abstractmethod
    def roll_back(self, connection: Connection) -> None:
        """End the transaction of a COMMIT that has failed, as far as it is not ended."""

    @abstractmethod
    def _raise_if_gone(self) -> None:
        """Raise `BooksGone` when that was found before."""

    @property
    def is_past_deadline(self) -> bool:
        return time.monotonic() >= self._deadline

    def limit_waits(self, seconds: float) -> None:
        """Let nobody wait to write beyond `seconds` from now; of several, the earliest counts."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _wait_for_turn(self, begin: Callable[[float], None]) -> None:
        """Call `begin` until nobody else writes; it waits as many seconds as it is given at most.

        Raises what it raises when the last moment has come.
        """
        seconds = (
            min(self._busy_seconds, SHORT_BUSY_SECONDS) if self._is_locked else self._busy_seconds
        )
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
        """Give a desk whose work commits when the block ends, or not at all when it raises.

        Raises `BooksUnavailable` when the books cannot be read or written, and `OutcomeUnknown`
        when the COMMIT fails and for so long afterwards nobody can tell whether it counts.
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
    if failures.is_damaged(error):
        return errors.DatabaseRefused(damage_sentence(place, error))
    log.info("the database %s cannot be opened: %s", place, failures.driver_error(error))
    why = failures.sentence(error)
    return errors.DatabaseRefused(f"The database {place} cannot be opened: {why}.")


def damage_sentence(place: str, error: BaseException) -> str:
    log.info("the database %s is damaged: %s", place, failures.driver_error(error))
    return (
        f"The database {place} is damaged. `timebank restore` puts a backup in its place, and keeps"
        " what is there beside it."
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
    """Raise `DatabaseRefused` for what is not the books of this version of the program."""
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
            f" one needs version {newest}. Close the board if it still runs. Then `timebank"
            " upgrade` moves them forward, and so does the next `door serve`."
        )
    if version > newest:
        raise errors.DatabaseRefused(
            f"{place} was written by a newer program (its version is {version}, this program knows"
            f" {newest}). Install the newer program, or restore an older backup."
        )


def foreign_sentence(place: object, program: int) -> str:
    if program == MOVING_IN:
        return f"A `timebank move` of an earlier release broke off in {place}: take it away."
    if program == MOVED_AWAY:
        return (
            f"`timebank move` has taken the books of {place} elsewhere. Name that place as database"
            " in [timebank] of sysop.toml."
        )
    return f"{place} is the database of some other program."


class Reply(NamedTuple):
    ticket: object
    result: object
    error: BaseException | None


@dataclass(slots=True, eq=False)
class Request:
    """Something that was asked of the writer, and is carried out unless it is taken back before."""

    operation: Callable[[Desk], object]
    ticket: object
    asked_at: float = field(default_factory=time.monotonic)
    _claimed: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """Take it, to carry it out, or so that nobody does: whoever is first has it for good."""
        return self._claimed.acquire(blocking=False)


@dataclass(slots=True)
class _DoubtfulGroup:
    doubt: Doubt
    group: list[Request]
    replies: list[Reply]
    error: BaseException
    waiting: list[Request]  # those of the group who have not been told that nobody knows

    def pop_late(self, seconds: float) -> list[Request]:
        """Take those who have waited for so long, since they asked_at: the COMMIT began later."""
        limit = time.monotonic() - seconds
        late = [request for request in self.waiting if request.asked_at <= limit]
        self.waiting = [request for request in self.waiting if request.asked_at > limit]
        return late


class Load(NamedTuple):
    """What a writer has done since it began, and what waits for it now. `seconds` is the time that
    groups took, their COMMITs included."""

    waiting: int
    groups: int
    operations: int
    seconds: float


class Writer:
    """One thread that carries out what many ask, in groups that commit together."""

    def __init__(
        self,
        database: Database,
        settings: Callable[[], BankSettings],
        now: Callable[[], datetime | ClockReading],
        deliver: Callable[[list[Reply]], None],
    ) -> None:
        """Prepare it over an open `database`; its thread starts with the first operation, so that
        whoever fails before that leaves none behind, for which the process would wait.

        `settings` and `now` are asked once a group, `deliver` gets the answers of a group after
        its COMMIT; all three run on the writer's thread. While it is not known whether a COMMIT
        that failed counts, `deliver` has an `InDoubt` for each, and all else is refused. Whoever
        asked `doubt_seconds` ago has an `OutcomeUnknown`, and later what came of it, for nobody.
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
        self._outage_reason, self._failed_requests = (
            "",
            0,
        )  # why nothing can be committed, and requests since
        self._close_deadline = math.inf  # when nobody waits any more, the writer being closed
        self._thread = threading.Thread(target=self._run, name="timebank-writer")
        self._has_started = False
        self._load = Load(0, 0, 0, 0.0)

    def load(self) -> Load:
        return self._load._replace(waiting=self._queue.qsize())

    def submit(self, request: Request) -> None:
        """Queue a request, answered by `deliver`; raises `BooksUnavailable` once closed, or where
        the system has no room for the thread.

        Whoever can `claim` it has taken it back: nothing of it is ever done then, and no answer
        comes.
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
        except RuntimeError as error:  # the system has no room for a thread now
            raise _unavailable_error(error) from error
        self._has_started = True

    def close(self) -> None:
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
        """Wait for a request, and take with it what else is queued; True when it is the end.

        In doubt the wait is short, and may end without one.
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
        """Answer a group of which nothing is in the books.

        The connection may be in any state, so the next group starts with another one.
        """
        if isinstance(error, errors.BooksGone):
            if not self._is_rescued:
                self._is_rescued = True
                if self._connection is not None:
                    self._database.roll_back(self._connection)  # nothing of this group is saved
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
        """Log each reason of an outage once: requests may fail by the hundred meanwhile."""
        if (reason := failures.sentence(error)) != self._outage_reason:
            self._outage_reason = reason
            text = " ".join(str(failures.driver_error(error)).split())
            log.error("%d requests could not be committed: %s", requests, text)
        self._failed_requests += requests

    def _note_commit(self) -> None:
        if self._failed_requests:
            log.warning(
                "requests are committed again; %d could not be meanwhile", self._failed_requests
            )
            self._outage_reason, self._failed_requests = "", 0

    def _settle(self, doubtful: _DoubtfulGroup) -> list[Reply]:
        """Find out what became of a group whose COMMIT failed; in doubt, say so once."""
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
        log.error("whether %d requests were committed was not found out", len(doubtful.group))
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
    """Do one request; only what breaks the whole transaction is raised."""
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
    """Undo what was written in the block when it raises."""
    # Past SQLAlchemy, which takes longer over a savepoint than SQLite does.
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
    """Return the error that a request is answered with, and log it when it is a fault of ours."""
    if failures.is_beyond_bounds(error):
        return errors.NotEnough(Phrase("There is not that much in the account."))
    if not isinstance(error, errors.Refused | errors.LeaseLost):
        log.error("a request failed and was rolled back", exc_info=error)
    return error
