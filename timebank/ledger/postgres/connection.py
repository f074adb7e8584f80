"""A connection to the server: what it sends together, how long it waits, how it knows a COMMIT.

A write whose result nobody reads waits here (`BooksConnection.defer`) until the next query or the
COMMIT. It is sent together with that, in one trip to the server.

A COMMIT that broke off is looked up by a key of our own: each connection has one row of the table
`operations`, and every transaction that may write leaves its number there as it begins. A
number of the server's would not do: another server that takes its place gives the same numbers to
other transactions.
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

# Seconds that a writer waits for an answer, while others wait for its turn. A server that has
# stopped, or whose standby does not answer, keeps its connections open and says nothing.
PATIENCE = 10.0

# psycopg raises the first error of a pipeline, and only logs those that follow from it.
logging.getLogger("psycopg").setLevel(logging.ERROR)


class Operation(NamedTuple):
    """What a transaction that writes is known by: the key of its connection, its number there."""

    key: str
    number: int


class _Deferred(NamedTuple):
    cursor: psycopg.Cursor[Any]
    statement: str
    parameters: Params | None


class BooksCursor(psycopg.Cursor[Any]):
    """A cursor that sends what waits on its connection along with its own statement."""

    connection: BooksConnection

    def execute(self, query: Any, params: Params | None = None, **how: Any) -> Self:
        """Run a statement; a SAVEPOINT waits for the next one."""
        if isinstance(query, str) and query.startswith("SAVEPOINT "):
            self.connection.defer(query)
            return self
        goes_back = isinstance(query, str) and query.startswith("ROLLBACK TO ")
        if goes_back:
            self.connection.drop_deferred_after(query.replace("ROLLBACK TO", "SAVEPOINT"))
        with self.connection.one_trip():
            super().execute(query, params, **how)
        if goes_back:
            self.connection.forget_prepared()
        return self

    def executemany(self, query: Query, params_seq: Iterable[Params], **how: Any) -> None:
        with self.connection.one_trip():
            super().executemany(query, params_seq, **how)


class BooksConnection(psycopg.Connection[Any]):
    """A connection that gives up a server that says nothing, once it has a `patience`."""

    patience: float | None = None  # seconds for an answer; None, any time
    defers = False  # whether `defer` waits
    # Of the open transaction, once it has begun to write.
    operation: Operation | None = None
    _key = ""
    _last = 0
    _warning = ""

    def __init__(self, *words: Any, **how: Any) -> None:
        super().__init__(*words, **how)
        self.cursor_factory = BooksCursor
        self._deferred: list[_Deferred] = []

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for an answer; psycopg.OperationalError when patience ends, with the connection."""
        if timeout is None:
            timeout = self.patience
        until = math.inf if timeout is None else time.monotonic() + timeout
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError as error:
            if time.monotonic() < until or self.closed:  # it is no end of patience
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the server has not answered for {timeout:g} seconds"
            ) from error

    def defer(self, statement: str, parameters: Params | None = None) -> psycopg.Cursor[Any]:
        """Send a statement with the next one or the COMMIT; its cursor has a result then."""
        cursor = psycopg.Cursor(self)
        if self.defers:
            self._deferred.append(_Deferred(cursor, statement, parameters))
        else:
            cursor.execute(statement, parameters)
        return cursor

    def drop_deferred_after(self, savepoint: str) -> None:
        """Drop what waits and comes after a savepoint."""
        while self._deferred and self._deferred[-1].statement != savepoint:
            self._deferred.pop()

    def forget_prepared(self) -> None:
        """Prepare statements again: psycopg takes those for prepared that the server passed over.

        It forgets them with each transaction of its own that is rolled back.
        """
        with self.transaction():
            raise psycopg.Rollback

    @contextlib.contextmanager
    def one_trip(self) -> Iterator[None]:
        """Run what waits, and what the block runs, in one trip; answers are there at its end."""
        waiting, self._deferred = self._deferred, []
        with without_rows(), self.pipeline() if waiting else contextlib.nullcontext():
            for each in waiting:
                each.cursor.execute(each.statement, each.parameters)
            yield

    def next_operation(self) -> Operation:
        """Number the next transaction that is to be committed."""
        if not self._key:
            self._key = secrets.token_hex(16)
            self.add_notice_handler(self._on_notice)
        self._last += 1
        self.operation = Operation(self._key, self._last)
        return self.operation

    def commit(self) -> None:
        """Commit; psycopg.Error where the server has not said that it is done for good.

        One whose wait for its standby was cancelled warns, and says that it has committed. One in
        which a statement failed is rolled back by the server without an error.
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

    def _on_notice(self, said: Diagnostic) -> None:
        self._warning = said.message_primary or "the server warns"


@contextlib.contextmanager
def without_rows() -> Iterator[None]:
    """Let an error of the server say no more than its first sentence.

    What the server adds is the row that it has refused, with a seed or a password hash in it.
    """
    try:
        yield
    except psycopg.Error as error:
        if error.diag.message_primary:
            error.args = (error.diag.message_primary,)
        raise
