"""A connection to the server: deferred writes, time limits, and the key to look a COMMIT up.

A write whose result is not read is deferred (`BooksConnection.defer`) until the next query or the
COMMIT, and sent together with it in one round trip.

A broken COMMIT is looked up by a key of our own. Each connection has one row in the table
`operations`, and every transaction that may write stores its number there when it begins. The
server's transaction IDs would not do, because a server that takes over gives the same IDs to other
transactions.
"""

from __future__ import annotations

import contextlib
import logging
import math
import secrets
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import psycopg
from psycopg.abc import RV, Params, PQGen, Query
from psycopg.errors import Diagnostic, InFailedSqlTransaction
from psycopg.pq import TransactionStatus

# Seconds that a writer waits for an answer, while other writers wait. A server that has stopped, or
# whose standby does not answer, keeps its connections open without answering.
PATIENCE = 10.0

# psycopg raises the first error of a pipeline, and logs the errors that follow from it.
logging.getLogger("psycopg").setLevel(logging.ERROR)


class Operation(NamedTuple):
    """The identity of a writing transaction: its connection's key, and its number there."""

    key: str
    number: int


class _Deferred(NamedTuple):
    cursor: psycopg.Cursor[Any]
    statement: str
    parameters: Params | None


class BooksCursor(psycopg.Cursor[Any]):
    """A cursor that sends the deferred statements of its connection with its own."""

    connection: BooksConnection

    def execute(self, query: Any, params: Params | None = None, **options: Any) -> Self:
        """Run a statement; a SAVEPOINT is deferred until the next one."""
        if isinstance(query, str) and query.startswith("SAVEPOINT "):
            self.connection.defer(query)
            return self
        goes_back = isinstance(query, str) and query.startswith("ROLLBACK TO ")
        if goes_back:
            self.connection.drop_deferred_after(query.replace("ROLLBACK TO", "SAVEPOINT"))
        with self.connection.one_trip():
            super().execute(query, params, **options)
        if goes_back:
            self.connection.forget_prepared()
        return self

    def executemany(self, query: Query, params_seq: Iterable[Params], **options: Any) -> None:
        with self.connection.one_trip():
            super().executemany(query, params_seq, **options)


class BooksConnection(psycopg.Connection[Any]):
    """A connection that gives a silent server up after `patience` seconds."""

    patience: float | None = None  # seconds to wait for an answer; None for no limit
    defers = False  # whether `defer` defers statements
    # The operation of the open transaction, if it may write.
    operation: Operation | None = None
    _key = ""
    _last = 0
    _warning = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.cursor_factory = BooksCursor
        self._deferred: list[_Deferred] = []

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for an answer.

        When patience ends, close the connection and raise psycopg.OperationalError.
        """
        if timeout is None:
            timeout = self.patience
        until = math.inf if timeout is None else time.monotonic() + timeout
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError as error:
            if time.monotonic() < until or self.closed:  # another error
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the server has not answered for {timeout:g} seconds"
            ) from error

    def defer(self, statement: str, parameters: Params | None = None) -> psycopg.Cursor[Any]:
        """Send a statement with the next one or the COMMIT, which fills the returned cursor."""
        cursor = psycopg.Cursor(self)
        if self.defers:
            self._deferred.append(_Deferred(cursor, statement, parameters))
        else:
            cursor.execute(statement, parameters)
        return cursor

    def drop_deferred_after(self, savepoint: str) -> None:
        """Drop the deferred statements after a savepoint."""
        while self._deferred and self._deferred[-1].statement != savepoint:
            self._deferred.pop()

    def forget_prepared(self) -> None:
        """Make psycopg forget its prepared statements, as the server skipped some.

        psycopg forgets them when one of its own transactions is rolled back.
        """
        with self.transaction():
            raise psycopg.Rollback

    @contextlib.contextmanager
    def one_trip(self) -> Iterator[None]:
        """Run deferred statements with those of the block; all answers are there at its end."""
        deferred, self._deferred = self._deferred, []
        with without_rows(), self.pipeline() if deferred else contextlib.nullcontext():
            for each in deferred:
                each.cursor.execute(each.statement, each.parameters)
            yield

    def next_operation(self) -> Operation:
        """Return the operation of the next transaction that may write."""
        if not self._key:
            self._key = secrets.token_hex(16)
            self.add_notice_handler(self._on_notice)
        self._last += 1
        self.operation = Operation(self._key, self._last)
        return self.operation

    def commit(self) -> None:
        """Commit; raises psycopg.Error unless the server confirms the COMMIT.

        A COMMIT whose wait for the standby was cancelled succeeds with a warning, which is raised.
        For a transaction with a failed statement the server rolls back without an error, so this
        raises one.
        """
        writes = self.operation is not None
        self._warning, self.operation = "", None
        try:
            if writes and self.info.transaction_status == TransactionStatus.INERROR:
                raise InFailedSqlTransaction("the transaction was aborted by a statement before")
            with self.one_trip():
                super().commit()
        except psycopg.Error:
            with contextlib.suppress(psycopg.Error):  # the connection may be gone
                self.rollback()
            raise
        if self._warning:
            raise psycopg.OperationalError(self._warning)

    def rollback(self) -> None:
        self._deferred.clear()
        self.operation = None
        super().rollback()

    def _on_notice(self, notice: Diagnostic) -> None:
        self._warning = notice.message_primary or "the server warns"


@contextlib.contextmanager
def without_rows() -> Iterator[None]:
    """Cut the text of a server's error to its first sentence.

    The rest may quote the refused row, with a seed or a password hash.
    """
    try:
        yield
    except psycopg.Error as error:
        if error.diag.message_primary:
            error.args = (error.diag.message_primary,)
        raise
