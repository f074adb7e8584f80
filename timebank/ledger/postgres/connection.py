"""A connection to the server: how long it waits for an answer, and what its COMMITs are known by.

A COMMIT that broke off is looked up by a key of our own: each connection has one row of the table
`operations`, and every transaction that writes leaves its number there, in the same COMMIT. A
number of the server's would not do: another server that takes its place gives the same numbers to
other transactions.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.errors import Diagnostic

# Nothing is asked for longer than this while others wait to write, in seconds: a server that has
# stopped, or whose standby does not answer, keeps its connections open and says nothing.
PATIENCE = 10.0


class Operation(NamedTuple):
    """What a transaction that writes is known by: the key of its connection, its number there."""

    key: str
    number: int


class BooksConnection(psycopg.Connection[Any]):
    """A connection that gives up a server that says nothing, once it has a `patience`."""

    patience: float | None = None  # seconds for an answer; None, any time
    _key = ""
    _last = 0
    _warning = ""

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for an answer; psycopg.OperationalError when patience ends, with the connection."""
        if timeout is None:
            timeout = self.patience
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.errors._WaitTimeout as error:
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the server has not answered for {timeout:g} seconds"
            ) from error

    def next_operation(self) -> Operation:
        """Number the next transaction that is to be committed."""
        if not self._key:
            self._key = secrets.token_hex(16)
            self.add_notice_handler(self._warned)
        self._last += 1
        return Operation(self._key, self._last)

    def commit(self) -> None:
        """Commit; psycopg.Error where the server has not said that it is done for good.

        One whose wait for its standby was cancelled warns, and says that it has committed.
        """
        self._warning = ""
        super().commit()
        if self._warning:
            raise psycopg.OperationalError(self._warning)

    def _warned(self, said: Diagnostic) -> None:
        self._warning = said.message_primary or "the server warns"
