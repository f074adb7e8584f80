"""The tests' own server of PostgreSQL: with its own user, on a socket, removed afterwards.

All workers of a run share one. The first that needs it starts it in the folder that
tests/conftest.py has given to all. A used database is cleaned in a few milliseconds; a new one
takes thirty. Connections are reused too: a new one costs the server five milliseconds, and twenty
more until it has loaded the tables and planned the queries.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock
from urllib.parse import quote

import psycopg
from psycopg.pq import TransactionStatus

from tests.conftest import POSTGRES_FOLDER as FOLDER
from timebank.ledger.postgres.connection import BooksConnection
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.schema import SYSTEM_ACCOUNTS, metadata
from timebank.settings.place import ServerPlace, read_place

ACCOUNTS = ("postgres", "nobody")  # users that may run a server when we are root, which it refuses
TEMPLATE = "books_template"
# After so many tests a database is thrown away, with all the dead rows in it.
USES = 200
OPTIONS = (
    *("listen_addresses=''", "max_connections=200", "shared_buffers=64MB", "autovacuum=off"),
    # No test cuts the power of the server; only our own processes are killed.
    *("fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"),
    *("synchronous_commit=on", "max_wal_size=4GB", "checkpoint_timeout=1h"),
)
# Counts all changes to tables, triggers, functions or rules, committed or not: books with a
# changed shape are thrown away.
WATCH = """
CREATE SCHEMA watch;
CREATE SEQUENCE watch.changes;
CREATE FUNCTION watch.count() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM nextval('watch.changes'); END $$;
CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION watch.count()
"""
CHANGED = "SELECT is_called FROM watch.changes"
# In the session alone that cleans, which plans it once.
CLEAN = "CREATE FUNCTION pg_temp.clean() RETURNS VOID LANGUAGE plpgsql AS $$ BEGIN {} END $$"


def programs() -> Path | None:
    """The folder of the newest server that is installed."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if paths:
        return paths[-1].parent
    program = shutil.which("initdb")
    return Path(program).parent if program else None


def _version(path: Path) -> int:
    number = path.parent.parent.name
    return int(number) if number.isdigit() else 0


def stop(folder: Path) -> None:
    if (folder / "data" / "postmaster.pid").exists():
        _run(folder, "pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop")


def as_user() -> list[str]:
    if os.geteuid() != 0:
        return []
    known = Path("/etc/passwd").read_text()
    account = next(each for each in ACCOUNTS if f"\n{each}:" in known)
    return ["setpriv", f"--reuid={account}", "--regid=nogroup", "--clear-groups"]


def _run(folder: Path, program: str, *words: str) -> None:
    binaries = programs()
    assert binaries is not None
    command = [*as_user(), str(binaries / program), *words]
    done = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def shared() -> Cluster:
    """The server as all tests of this worker use it; the fixture `cluster` closes it."""
    return Cluster()


class Kept(BooksConnection):
    """A connection that is used again by the next test, with all that it has prepared."""

    shelf: ClassVar[dict[str, list[Kept]]] = {}  # by the name of the database

    @classmethod
    def connect(cls, *words: Any, **how: Any) -> Kept:
        shelf = cls.shelf.get(how.get("dbname", ""), [])
        while shelf:
            spare = shelf.pop()
            with suppress(psycopg.Error):
                spare.patience = None
                spare.execute("SELECT 1")
                return spare
            BooksConnection.close(spare)
        return super().connect(*words, **how)

    def close(self) -> None:
        is_idle = self.info.transaction_status == TransactionStatus.IDLE
        name = "" if self.closed else self.info.dbname
        if is_idle and name in self.shelf:
            self.shelf[name].append(self)
        else:
            super().close()


class Cluster:
    """The server, as one worker uses it."""

    def __init__(self) -> None:
        self.folder = Path(os.environ[FOLDER])
        with self._alone():
            if not (self.folder / "data").exists():
                self._start()
        self._admin = self._connect("postgres")
        self._own = f"books_{os.getpid()}"
        self._made = 0
        self._clean: list[str] = []
        self._eyes: dict[str, psycopg.Connection] = {}
        self._uses: dict[str, int] = {}
        self._keeping = mock.patch("timebank.ledger.postgres.database.BooksConnection", Kept)
        self._keeping.start()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _start(self) -> None:
        data = self.folder / "data"
        if os.geteuid() == 0:
            account = as_user()[1].partition("=")[2]
            shutil.chown(self.folder, account)
        initdb = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        _run(self.folder, "initdb", "-D", str(data), *initdb)
        options = " ".join(
            f"-c {each}" for each in (*OPTIONS, f"unix_socket_directories={self.folder}")
        )
        log = str(self.folder / "log")
        _run(self.folder, "pg_ctl", "-D", str(data), "-l", log, "-o", options, "-w", "start")
        with self._connect("postgres") as admin:
            admin.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        template = PostgresDatabase(self.place(TEMPLATE))
        template.open()
        template.close()
        with self._connect(TEMPLATE) as shell:
            shell.execute(WATCH)

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={quote(str(self.folder), safe='')}"

    def place(self, name: str) -> ServerPlace:
        return read_place(self.url(name))

    def _connect(self, name: str) -> psycopg.Connection:
        return psycopg.connect(host=str(self.folder), user="postgres", dbname=name, autocommit=True)

    def take(self) -> str:
        """Return the name of a database with new books."""
        if self._clean:
            return self._clean.pop()
        self._made += 1
        name = f"{self._own}_{self._made}"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        eye = self._eyes[name] = self._connect(name)
        eye.execute(CLEAN.format(_cleaning()))
        eye.execute("SELECT setval('watch.changes', 1, false)")
        Kept.shelf[name] = []
        self._uses[name] = 0
        return name

    def empty(self) -> str:
        """Return the name of an empty database; it is not used again."""
        self._made += 1
        name = f"{self._own}_{self._made}"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return name

    def connect(self, name: str) -> psycopg.Connection:
        """Return an unrestricted connection."""
        return self._connect(name)

    def end_sessions(self, name: str) -> None:
        """End all sessions in a database, and wait until they are gone."""
        self._admin.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE datname = %s",
            (name,),
        )

    def give_back(self, name: str) -> None:
        """Clean a database for the next test, or throw it away."""
        eye = self._eyes.get(name)
        self._uses[name] = self._uses.get(name, 0) + 1
        if eye is None or self._uses[name] > USES:
            self._throw_away(name)
            return
        processes = [connection.info.backend_pid for connection in Kept.shelf[name]]
        eye.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL (%s)",
            (processes,),
        )
        if eye.execute(CHANGED).fetchone() != (False,):
            self._throw_away(name)
            return
        eye.execute("SELECT pg_temp.clean()")
        self._clean.append(name)

    def _throw_away(self, name: str) -> None:
        eye = self._eyes.pop(name, None)
        if eye is not None:
            eye.close()
        for connection in Kept.shelf.pop(name, ()):
            connection.close()
        self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        for name in list(self._eyes):
            self._throw_away(name)
        self._keeping.stop()
        self._admin.close()


def _cleaning() -> str:
    """Return the statements that empty used books without triggers or catalogue changes."""
    numbered = [
        (table.name, table.primary_key.columns.values()[0].name)
        for table in metadata.sorted_tables
        if table.dialect_options["sqlite"]["autoincrement"] and table.name != "transfers"
    ]
    system = ", ".join(
        f"({number}, '{kind}', 'second', 0)" for number, kind in SYSTEM_ACCOUNTS.items()
    )
    return ";".join(
        (
            "SET LOCAL session_replication_role = replica",
            *(f"DELETE FROM {table.name}" for table in metadata.sorted_tables),
            f"INSERT INTO accounts (id, kind, unit, balance) VALUES {system}",
            "UPDATE numbers SET last = 0 WHERE last > 0",
            *(
                f"PERFORM setval(pg_get_serial_sequence('{table}', '{key}'), 1, false)"
                for table, key in numbered
            ),
            f"PERFORM setval(pg_get_serial_sequence('accounts', 'id'), {max(SYSTEM_ACCOUNTS)})",
            "",
        )
    )
