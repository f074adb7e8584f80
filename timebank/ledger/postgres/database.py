"""The books on a server: opening them, waiting for the turn to write, and COMMITs in doubt.

Each writing transaction takes one lock first. So one writes at a time, as on SQLite, and what an
operation has read stays valid until its COMMIT.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from timebank import errors
from timebank.ledger import failures, migrations
from timebank.ledger.database import (
    BUSY_SECONDS,
    Database,
    Doubt,
    TransactionId,
    Upgrade,
    check_version,
    open_error,
)
from timebank.ledger.postgres import dialect as postgres
from timebank.ledger.postgres import guards
from timebank.ledger.postgres.connection import BooksConnection, Operation
from timebank.ledger.schema import (
    APPLICATION_ID,
    SYSTEM_ACCOUNTS,
    definitions,
    open_system_accounts,
)
from timebank.names import look_alikes
from timebank.settings.place import ServerPlace

# How long one wait for the turn to write lasts; then `limit_waits` can end the waits.
TURN_SECONDS = 1.0
CONNECT_SECONDS = 5
# How long a caller waits for the look-up of a COMMIT; a failover takes some 20 seconds.
DOUBT_SECONDS = 24.0
# How long operations are stored. A COMMIT can be looked up for half of this.
LOOKUP_SECONDS = 30 * 86400
# How long a server counts as alive after the last renewal of its row.
LIVING_SECONDS = 30


class PostgresDatabase(Database):
    """The books on a PostgreSQL server."""

    doubt_seconds = DOUBT_SECONDS

    def __init__(self, server: ServerPlace, busy_seconds: float = BUSY_SECONDS) -> None:
        """Create the engine without connecting."""
        super().__init__(busy_seconds)
        self.server = server
        self.place = str(server)
        registry.register("postgresql.books", postgres.__name__, "BooksDialect")
        self.engine = create_engine(
            "postgresql+books://",
            connect_args=_connect_args(server),
            # A seed or a password hash could be in an error text.
            hide_parameters=True,
            pool_pre_ping=True,
            use_native_hstore=False,
        )
        event.listen(self.engine, "do_connect", self._connect)
        event.listen(self.engine, "connect", lambda connection, _: postgres.set_up(connection))
        event.listen(self.engine, "begin", self._on_begin)
        event.listen(self.engine, "checkin", self._on_checkin)
        self._is_closed = False

    def open(self) -> None:
        """Create the tables, or check that they belong to this program and version.

        Raises `DatabaseRefused`, also if the server or the database does not exist.
        """
        self._is_closed = False
        self._refuse_pooler()
        with self._opening() as connection:
            postgres.lock_for_tables(connection)
            _create_when_empty(connection)
            check_version(self.place, *postgres.program_and_version(connection))
            postgres.forget_operations(connection, LOOKUP_SECONDS)
            look_alikes.renew(postgres.runner(connection))

    def open_existing(self) -> None:
        self._is_closed = False
        self._refuse_pooler()
        reading = self.engine.execution_options(read_only=True)
        with self._refusing(), reading.begin() as connection:
            if postgres.is_empty(connection):
                raise errors.DatabaseRefused(
                    f"There are no books in {self.place}. The board makes them when it first"
                    " serves."
                )
            check_version(self.place, *postgres.program_and_version(connection))

    def upgrade(self, *, alone: bool = False) -> Upgrade | None:
        """Upgrade the books in one transaction, without a copy."""
        self._is_closed = False
        self._refuse_pooler()
        with self._opening() as connection:
            if postgres.is_empty(connection):
                return None
            postgres.lock_for_tables(connection)
            program, before = postgres.program_and_version(connection)
            if not migrations.is_due(program, before):
                return None
            name = None if alone else postgres.served_by(connection, LIVING_SECONDS)
            if name is not None:
                raise errors.DatabaseRefused(
                    f"The books in {self.place} are of version {before}, and the server {name} of"
                    " the earlier release still serves from them, or was killed less than"
                    f" {LIVING_SECONDS} seconds ago. Close it, then try again. Nothing"
                    " was changed."
                )
            try:
                migrations.migrate(connection, before)
            except DBAPIError as error:
                if not failures.is_write_locked(error):
                    raise
                raise errors.DatabaseRefused(
                    f"Another program reads the books in {self.place}, which are to be moved to a"
                    " newer version: a backup or an audit? Try again when it is done. Nothing"
                    " was changed."
                ) from error
        return Upgrade(self.place, before, None)

    def close(self) -> None:
        """Close all connections; one in use is closed after its transaction."""
        self._is_closed = True
        self.engine.dispose()

    def _on_checkin(self, _: object, record: ConnectionPoolEntry) -> None:
        if self._is_closed:
            record.invalidate()

    def guard(self) -> None:
        """Do nothing: books on a server cannot be removed while they are open."""

    def rescue(self, writer: Connection | None) -> str:
        raise NotImplementedError  # `guard` never reports books on a server as gone

    def number_transaction(self, connection: Connection) -> Operation | None:
        """Return the operation by which the COMMIT can be looked up; `begin_writing` stored it."""
        return postgres.driver(connection).operation

    def note_committed(self, transaction_id: TransactionId | None) -> None:
        """Do nothing: the server remembers."""

    def doubt(self, transaction_id: TransactionId | None) -> Doubt:
        assert not isinstance(transaction_id, int)
        operation = None if transaction_id is None else Operation(*transaction_id)
        return _PostgresDoubt(self.engine, operation)

    def roll_back(self, connection: Connection) -> None:
        postgres.roll_back(connection)

    def _raise_if_gone(self) -> None:
        """Do nothing, as `guard`."""

    def _on_begin(self, connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("read_only", False):
            postgres.begin_reading(connection)
            return
        if options.get("is_lookup", False):
            postgres.begin_lookup(connection)
            return
        creates_tables = options.get("creates_tables", False)

        def begin(seconds: float) -> None:
            try:
                most = int(min(TURN_SECONDS, seconds) * 1000)
                postgres.begin_writing(connection, most, creates_tables=creates_tables)
            except psycopg.Error as error:
                postgres.roll_back(connection)
                if failures.is_write_locked(error):
                    postgres.end_stalled_writer(connection)
                raise

        self._wait_for_turn(begin)

    def _connect(
        self, dialect: Any, record: Any, words: Any, connect_args: dict[str, Any]
    ) -> BooksConnection:
        """Connect with the password read from its file, which may have changed."""
        file = self.server.password_file
        if file is not None:
            connect_args["password"] = _password(file)
        return BooksConnection.connect(*words, **connect_args)

    def _refuse_pooler(self) -> None:
        """Raise `DatabaseRefused` if a pooler changes the server process with each transaction."""
        with self._refusing(), self.engine.connect() as one:
            if postgres.is_direct(one):
                return
            with self.engine.connect() as other:
                if not postgres.changes_process(one, other):
                    return
        raise errors.DatabaseRefused(
            f"Between the board and the database {self.place} is a pooler that changes the server"
            " process with each transaction (PgBouncer with pool_mode = transaction?). The books"
            " need one that stays: name PostgreSQL itself as database in [timebank] of sysop.toml,"
            " or set pool_mode = session."
        )

    @contextlib.contextmanager
    def _opening(self) -> Iterator[Connection]:
        laying = self.engine.execution_options(creates_tables=True)
        with self._refusing(), laying.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, psycopg.Error) as error:
            raise open_error(self.place, error) from error


def connection_arguments(server: ServerPlace) -> dict[str, Any]:
    """Return psycopg's arguments to connect to a server, with the password.

    Raises `DatabaseRefused` if the password cannot be read.
    """
    arguments = _connect_args(server)
    if server.password_file is not None:
        arguments["password"] = _password(server.password_file)
    return arguments


def _connect_args(server: ServerPlace) -> dict[str, Any]:
    options = {
        "user": server.user,
        "host": server.host,
        "port": server.port,
        "dbname": server.name,
        **dict(server.options),
    }
    return {
        **{key: value for key, value in options.items() if value},
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "timebank",
        # To notice a server that disappears without closing the connection.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": postgres.SILENCE_MILLISECONDS,
    }


def _password(file: Path) -> str:
    try:
        return file.read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise errors.DatabaseRefused(
            f"The password of the database cannot be read from {file}: {why}."
        ) from error


class _PostgresDoubt:
    """A transaction whose COMMIT broke off; any server that answers can look it up."""

    def __init__(self, engine: Engine, operation: Operation | None) -> None:
        self._engine = engine
        self._operation = operation
        self._born = _boot_seconds()

    def settle(self) -> bool:
        """Look the operation up on another connection.

        Raises `StillInDoubt` while it is in progress, or if no server answers.
        """
        if self._operation is None:
            return False  # it wrote nothing
        if _boot_seconds() - self._born > LOOKUP_SECONDS / 2:
            raise errors.StillInDoubt("it is too old to be known")
        asking = self._engine.execution_options(is_lookup=True)
        try:
            with asking.begin() as connection:
                is_there = postgres.is_committed(connection, self._operation)
        except (SQLAlchemyError, psycopg.Error, errors.DatabaseRefused) as error:
            raise errors.StillInDoubt(str(failures.driver_error(error))) from error
        return is_there


def _boot_seconds() -> float:
    """Return seconds since the machine booted, including sleep."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _create_when_empty(connection: Connection) -> None:
    if not postgres.is_empty(connection):
        return
    postgres.run_all(connection, _definitions())
    open_system_accounts(connection)
    run = connection.exec_driver_sql
    run("INSERT INTO numbers (name, last) VALUES ('transfers', 0)")
    postgres.set_next_number(connection, "accounts", max(SYSTEM_ACCOUNTS) + 1)
    version = migrations.newest_version()
    run(f"INSERT INTO books (program, version) VALUES ({APPLICATION_ID}, {version})")


@cache
def _definitions() -> tuple[str, ...]:
    """Return the SQL that creates empty books."""
    return (
        *definitions(postgres.DIALECT, excluding=guards.NOT_INDEXED),
        *guards.TABLES,
        *guards.ROOM,
        *(function.definition for function in guards.FUNCTIONS),
        *(trigger.definition for trigger in guards.TRIGGERS),
    )
