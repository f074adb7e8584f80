"""The server with a story's books: its clock, its troubles, and the state after a kill.

It is a real PostgreSQL. A story has its own database there, with the story's clock:
`clock_timestamp()` and `now()` are functions of that database that hide the server's own, and
every transaction first sets the time. All statements pass through here from the driver to the
server. A killed process's connections and transactions are ended before anything else happens; the
server does so by itself, but at no known moment.
"""

from __future__ import annotations

import logging
import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, Self
from unittest import mock

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Identifier
from sqlalchemy import Table, create_engine

from tests.timebank.cluster import Cluster
from timebank.errors import OutcomeUnknown
from timebank.ledger.database import Database, Desk
from timebank.ledger.machine import ClockReading
from timebank.ledger.postgres import dialect as postgres
from timebank.ledger.postgres.connection import BooksConnection, BooksCursor
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.postgres.dialect import WRITING_LOCK
from timebank.ledger.schema import metadata
from timebank.settings.place import ServerPlace, read_place
from timebank.settings.settings import BankSettings
from verify.simulate.disk import Disk, Killed, Mortal
from verify.simulate.wrong import must

# The board's role there. Names are resolved in its own schema first, which has its clock.
WHO = "simulation"
MAKE_WHO = f"""
DO $$ BEGIN
    PERFORM pg_advisory_xact_lock({WRITING_LOCK});
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{WHO}') THEN
        CREATE ROLE {WHO} LOGIN SUPERUSER;
        ALTER ROLE {WHO} SET search_path = public, pg_catalog;
    END IF;
END $$"""
CLOCK = """
CREATE FUNCTION public.{}() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT to_timestamp(CAST(current_setting('story.now') AS DOUBLE PRECISION)) $$"""
TELL_TIME = "SELECT set_config('story.now', %s, false)"
END_OF = "SELECT pg_terminate_backend(pid, 60000) FROM unnest(CAST(%s AS INT[])) AS pid"
# The server's answer to a statement that fails.
FAILS = "DO $$ BEGIN RAISE EXCEPTION '{}' USING ERRCODE = '{}'; END $$"
WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True)
class Trouble:
    """A temporary trouble of the server, or of the way to it."""

    words: str
    code: str = ""  # with which it refuses a statement; without one the connection breaks
    reads: bool = False  # whether this affects all statements, or writes alone
    chance: float = 1.0  # of each statement
    in_commit: float = 0.0  # chance that the connection breaks in a COMMIT
    goes_away: bool = False  # whether the server is unreachable after that


ROOM = Trouble("could not extend file: No space left on device", "53100")
STANDBY = Trouble("cannot be carried out in a read-only transaction", "25006")
BROKEN = Trouble("could not read block: Input/output error", "58030", reads=True, chance=0.05)
FLAKY = Trouble("could not write block: Input/output error", "58030", chance=0.2)
AWAY = Trouble("the server cannot be reached", reads=True)
SHAKY = Trouble("connections break now and then", reads=True, chance=0.03)
COMMITS = Trouble("connections break in COMMITs", chance=0.0, in_commit=0.5)
LOST = Trouble("the server is lost in a COMMIT", chance=0.0, in_commit=0.5, goes_away=True)
TROUBLES = (ROOM, STANDBY, BROKEN, FLAKY, AWAY, SHAKY, COMMITS, COMMITS, LOST, LOST)

_numbers = count(1)


class BooksServer:
    """A server of PostgreSQL, and on it the database of one story."""

    def __init__(self, cluster: Cluster, now: Callable[[], float]) -> None:
        """Make the database, with nothing in it; `now` is the time there, seconds since 1970."""
        self.now = now
        self._cluster = cluster
        self.name = f"story_{os.getpid()}_{next(_numbers)}"
        self._admin = cluster.connect("postgres")
        self._admin.execute(MAKE_WHO)
        self._admin.execute(f"CREATE DATABASE {self.name} TEMPLATE template0")
        with closing(cluster.connect(self.name)) as shell:
            for clock in ("clock_timestamp", "now"):
                shell.execute(CLOCK.format(clock))

    @property
    def url(self) -> str:
        """The place of the books, as sysop.toml names it."""
        return self._cluster.url(self.name).replace("postgres@", f"{WHO}@", 1)

    @property
    def place(self) -> ServerPlace:
        return read_place(self.url)

    def connect(self) -> psycopg.Connection[Any]:
        """Connect from outside the board."""
        return self._cluster.connect(self.name)

    def end(self, connections: Iterable[psycopg.Connection[Any]]) -> None:
        """End connections with their work, and wait until that is done."""
        open_ones = [each for each in connections if not each.closed]
        pids = [each.pgconn.backend_pid for each in open_ones]
        if pids:
            self._admin.execute(END_OF, [pids])
        for each in open_ones:
            each.pgconn.finish()

    def throw_away(self) -> None:
        """Drop the database, and those that it has replaced."""
        rows = self._admin.execute(
            "SELECT datname FROM pg_database WHERE datname = %s OR starts_with(datname, %s)",
            [self.name, f"{self.name}_re"],
        ).fetchall()
        for (name,) in rows:
            self._admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
        self._admin.close()


class Served(Disk):
    """In the place of the disk: the server, as all processes of the board reach it."""

    def __init__(
        self, server: BooksServer, path: Path, chance: random.Random, counted: Counter[str]
    ) -> None:
        super().__init__(path, chance)
        self.counted = counted
        self.server = server
        self.trouble: Trouble | None = None
        self.is_away = False  # whether the server is unreachable
        self._other: psycopg.Connection[Any] | None = None

    @property
    def is_well(self) -> bool:
        return self.trouble is None and self._other is None

    @property
    def is_full(self) -> bool:
        """Whether no file of the board's own can be written: the server may have another disk."""
        return self.trouble is ROOM

    def break_down(self, chance: random.Random) -> str:
        """Start a trouble; return its description."""
        trouble = chance.choice((*TROUBLES, None))
        if trouble is None:
            self.lock()
            return "another program has the turn to write"
        self.trouble = trouble
        self.is_away = trouble is AWAY
        return f"the server: {trouble.words}"

    def lock(self) -> None:
        """Have a foreign program take the turn to write."""
        self._other = self.server.connect()
        self._other.execute("SELECT pg_advisory_lock(%s)", [WRITING_LOCK])

    def mend(self) -> None:
        self.trouble, self.is_away = None, False
        other, self._other = self._other, None
        if other is not None:
            self.server.end([other])

    def files(self) -> dict[str, bytes]:
        """Return nothing: a kill leaves the server's data unchanged."""
        return {}

    def restore(self, files: Mapping[str, bytes]) -> None:
        """Do nothing, as `files`."""

    def mortal(self, chance: random.Random, now: Callable[[], float]) -> Mortal:
        return Client(self, chance, now)

    def books(self, path: Path, mortal: Mortal) -> PostgresDatabase:
        assert isinstance(mortal, Client)
        return ServedBooks(self.server.place, mortal)

    def bare_books(self, path: Path) -> PostgresDatabase:
        return PostgresDatabase(self.server.place, busy_seconds=0)


class Client(Mortal):
    """A process's access to the server, until it is killed."""

    def __init__(self, served: Served, chance: random.Random, now: Callable[[], float]) -> None:
        super().__init__(served, chance, now)
        self.served = served
        self._open: list[BooksConnection] = []
        self._counts: bool | None = None  # the result of the writer's broken COMMIT

    def connects(self, connect: Callable[[], BooksConnection]) -> BooksConnection:
        """Connect; the process may die of it, or not reach the server."""
        self.touch()
        if self.served.is_away:
            raise psycopg.OperationalError("connection refused")
        made = connect()
        assert isinstance(made, StoryConnection)
        made.client = self
        self._open = [*(each for each in self._open if not each.closed), made]
        return made

    def hang_up(self) -> None:
        """Close every connection, even those not returned to the pool."""
        self.served.server.end(self._open)
        self._open.clear()

    def die(self) -> NoReturn:
        self.dead = True
        self.hang_up()
        raise Killed

    def asks(self, connection: StoryConnection, statement: str) -> str:
        """Die or fail here, if planned; return the replaced statement."""
        self.touch()
        self._reaches(connection)
        trouble = self.served.trouble
        if trouble is None or not (trouble.reads or statement.lstrip().startswith(WRITES)):
            return statement
        if self.chance.random() >= trouble.chance:
            return statement
        if not trouble.code:
            self._breaks(connection)
        return FAILS.format(trouble.words, trouble.code)

    def commits(self, connection: StoryConnection, commit: Callable[[], None]) -> None:
        """Commit, unless the process dies before, or the connection breaks; both may be after."""
        self.touch()
        self._reaches(connection)
        if not connection.is_writing:
            commit()
            return
        if self.dies_committing:
            self._dies_in(commit)
        trouble = self.served.trouble
        if trouble is None or self.chance.random() >= trouble.in_commit:
            commit()
            return
        counts = self.chance.random() < 0.5
        if connection.operation is not None:  # else nothing will be told of it: a look-up
            self._counts = counts
            when = "after" if counts else "before"
            self.served.counted[f"COMMITs broken {when} they counted"] += 1
        if counts:
            commit()
        self.served.is_away |= trouble.goes_away
        self._breaks(connection)

    def has_found_out(self, *, is_there: bool) -> None:
        """Compare callers' messages about a broken COMMIT with its result."""
        counts, self._counts = self._counts, None
        if counts is None:
            return
        must(is_there == counts, "a COMMIT is told of as {}, and it is {}", is_there, counts)
        self.served.counted["COMMITs looked up"] += 1

    def never_finds_out(self) -> None:
        self._counts = None

    @contextmanager
    def without_writer(self) -> Iterator[None]:
        """Compare the outcome of the block's own COMMIT; the writer may be in doubt of another."""
        of_writer, self._counts = self._counts, None
        try:
            yield
            self.has_found_out(is_there=True)
        except OutcomeUnknown:
            raise
        except Exception:
            self.has_found_out(is_there=False)
            raise
        finally:
            self._counts = of_writer

    def _dies_in(self, commit: Callable[[], None]) -> NoReturn:
        counts = {"before": False, "within": self.chance.random() < 0.5, "after": True}
        if counts[self.dies_committing]:
            commit()
        self.die()

    def _reaches(self, connection: StoryConnection) -> None:
        if self.served.is_away:
            self._breaks(connection)

    def _breaks(self, connection: StoryConnection) -> NoReturn:
        self.served.server.end([connection])
        raise psycopg.OperationalError("the connection is lost")


class _Cursor(BooksCursor):
    def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
        connection = self.connection
        assert isinstance(connection, StoryConnection)
        asked = query
        if connection.client is not None and isinstance(query, str):
            asked = connection.client.asks(connection, query)
        if isinstance(asked, str) and asked.startswith("BEGIN"):
            connection.is_writing = "READ ONLY" not in asked
            super().execute(TELL_TIME, [repr(connection.server.now())], prepare=True)
        return super().execute(asked, params if asked is query else None, **how)

    def executemany(self, query: Any, params_seq: Any, **how: Any) -> None:
        connection = self.connection
        assert isinstance(connection, StoryConnection)
        if connection.client is not None:
            asked = connection.client.asks(connection, query)
            if asked is not query:
                super().execute(asked)
                return
        super().executemany(query, params_seq, **how)


class StoryConnection(BooksConnection):
    """A connection that sets the time, and at which its process may die."""

    server: BooksServer  # of the current story
    client: Client | None = None  # None outside the board
    is_writing = False

    def __init__(self, *words: Any, **how: Any) -> None:
        super().__init__(*words, **how)
        self.cursor_factory = _Cursor

    def defer(self, statement: str, parameters: Any = None) -> psycopg.Cursor[Any]:
        asked = statement if self.client is None else self.client.asks(self, statement)
        return super().defer(asked, parameters if asked is statement else None)

    def commit(self) -> None:
        if self.client is None or self.info.transaction_status == TransactionStatus.IDLE:
            super().commit()
        else:
            self.client.commits(self, super().commit)


class ServedBooks(PostgresDatabase):
    """The books as a process has them."""

    def __init__(self, place: ServerPlace, client: Client) -> None:
        super().__init__(place, busy_seconds=0)
        self._client = client

    def _connect(self, *words: Any) -> BooksConnection:
        return self._client.connects(lambda: super(ServedBooks, self)._connect(*words))

    @contextmanager
    def transaction(self, settings: BankSettings, now: datetime | ClockReading) -> Iterator[Desk]:
        with self._client.without_writer(), super().transaction(settings, now) as desk:
            yield desk


class Mirror:
    """The books of a server in a file, for readers with plain SQL.

    Rows written since the last refresh are read again; a table with fewer rows is read entirely.
    """

    def __init__(self, server: BooksServer, path: Path) -> None:
        self.path = path
        self._server = server
        self._tables = metadata.sorted_tables
        engine = create_engine(f"sqlite:///{path}")
        metadata.create_all(engine)
        engine.dispose()
        self._there: psycopg.Connection[Any] | None = None
        self._latest, self._before = -1, 0  # transactions: known ones end before these
        self._counts: dict[str, int] = {}

    def refresh(self) -> None:
        """Bring the file up to date with the server."""
        if self._there is None:
            self._there = self._server.connect()
        there = self._there
        with there.transaction():
            there.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = there.execute(ENDS, prepare=True).fetchone()
            assert row is not None
            latest, before = row
            if latest == self._latest:
                return
            with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
                file.execute("PRAGMA synchronous = OFF")
                file.execute("BEGIN IMMEDIATE")
                for name, number, last in there.execute(self._changes(), prepare=True):
                    if last >= self._before or number != self._counts.get(name, 0):
                        self._copy(there, file, metadata.tables[name], number)
                        self._counts[name] = number
                file.execute("COMMIT")
        self._latest, self._before = latest, before

    def forget(self) -> None:
        """Forget the server: other books are there, or will be."""
        self._latest, self._before = -1, 0
        if self._there is not None:
            self._server.end([self._there])
            self._there = None

    def keep(self, database: Database, target: Path) -> Path:
        """Copy the current file, with the last numbers given."""
        self.refresh()
        with database.engine.connect().execution_options(read_only=True) as connection:
            given = postgres.last_given_numbers(connection)
        with closing(sqlite3.connect(self.path)) as file, closing(sqlite3.connect(target)) as copy:
            file.backup(copy)
            copy.execute("DELETE FROM sqlite_sequence")
            copy.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", given.items())
            copy.commit()
        return target

    def _changes(self) -> str:
        return " UNION ALL ".join(
            f"SELECT '{table.name}', count(*), coalesce(max(CAST(CAST(xmin AS TEXT) AS BIGINT)), 0)"
            f" FROM {table.name}"
            for table in self._tables
        )

    def _copy(
        self, there: psycopg.Connection[Any], file: sqlite3.Connection, table: Table, number: int
    ) -> None:
        names = [column.name for column in table.c if column.computed is None]
        rows = f"SELECT {', '.join(names)} FROM {table.name}"
        new = f" WHERE CAST(CAST(xmin AS TEXT) AS BIGINT) >= {self._before}"
        put = (
            f"INSERT OR REPLACE INTO {table.name} ({', '.join(names)})"
            f" VALUES ({', '.join('?' * len(names))})"
        )
        file.executemany(put, there.execute(rows + new))
        if file.execute(f"SELECT count(*) FROM {table.name}").fetchone() != (number,):
            file.execute(f"DELETE FROM {table.name}")
            file.executemany(put, there.execute(rows))


ENDS = """
SELECT CAST(CAST(pg_snapshot_xmax(found) AS TEXT) AS BIGINT),
    CAST(CAST(pg_snapshot_xmin(found) AS TEXT) AS BIGINT) FROM pg_current_snapshot() AS found"""


@contextmanager
def on_server(server: BooksServer, monotonic: Callable[[], float]) -> Iterator[None]:
    """Connect openers of books to this server, with the story's clock for waits."""
    hours = SimpleNamespace(**{**vars(time), "monotonic": monotonic})
    patches = {
        "timebank.ledger.postgres.database.BooksConnection": StoryConnection,
        "timebank.ledger.postgres.database.time": hours,
        "timebank.ledger.database.time": hours,
    }
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(StoryConnection, "server", server, create=True))
        for what, instead in patches.items():
            stack.enter_context(mock.patch(what, instead))
        for name in ("psycopg", "sqlalchemy.pool"):  # their log reports connections of the dead
            logger, silence = logging.getLogger(name), logging.NullHandler()
            logger.addHandler(silence)
            stack.callback(logger.removeHandler, silence)
        yield
