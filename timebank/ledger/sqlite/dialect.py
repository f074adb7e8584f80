"""Everything specific to SQLite, behind functions named for their purpose.

These are its settings, locks, system tables, error codes and copies of a file. No other module uses
a PRAGMA, `sqlite_master` or an error code.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.dialects import sqlite

from timebank.language import N_
from timebank.ledger import failures
from timebank.ledger.sql import Prepared

NAME = "SQLite"
DIALECT = sqlite.dialect()

# Error codes for faults of the file, the disk or another process, not of the request.
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
FULL = "SQLITE_FULL"

# The byte of the log's index that every process with the file open keeps locked
# (https://sqlite.org/src: os_unix.c, UNIX_SHM_DMS), and the struct by which fcntl asks for a lock.
OPEN_LOCK = 128
FLOCK = struct.Struct("@hhqqi4x")
OPEN_FILES = "/dev/fd"


def _check_name_of(error: BaseException) -> str:
    return str(error).removeprefix("CHECK constraint failed: ")


failures.DRIVERS.append(
    failures.Codes(
        driver=sqlite3.Error,
        code_of=lambda error: getattr(error, "sqlite_errorname", ""),
        check_name_of=_check_name_of,
        write_locked=BUSY[:1],
        busy=BUSY,
        full=(FULL,),
        damaged=DAMAGED,
        broken=(
            *(*DAMAGED, *BUSY, FULL, "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN"),
            *("SQLITE_NOMEM", "SQLITE_PROTOCOL", "SQLITE_PERM"),
        ),
        # Raised before the last frame is written; without it no other frame counts.
        uncommitted=(*BUSY, FULL, "SQLITE_IOERR_WRITE", "SQLITE_CONSTRAINT"),
        texts=(
            *((code, failures.LOCKED) for code in (*BUSY, "SQLITE_PROTOCOL")),
            *((code, failures.DAMAGED) for code in DAMAGED),
            (FULL, failures.FULL),
            ("SQLITE_IOERR", N_("the disk reports an error")),
            ("SQLITE_READONLY", N_("the file is write-protected")),
            ("SQLITE_PERM", N_("the file is write-protected")),
            ("SQLITE_CANTOPEN", N_("the file can't be opened")),
            ("SQLITE_NOMEM", N_("no memory is left")),
            ("SQLITE_ERROR", failures.OTHER_TABLES),
        ),
    )
)


# Connections and transactions.

BEGIN_WRITING = "BEGIN IMMEDIATE"


def engine(path: Path, turn_seconds: float) -> Engine:
    """Return the engine of a file; SQLite waits `turn_seconds` for the turn to write."""
    return create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        connect_args={"timeout": turn_seconds},
        # A seed or a password hash could be in an error text.
        hide_parameters=True,
    )


def set_up(connection: sqlite3.Connection) -> None:
    # Transactions begin only by our statement, not where the driver guesses.
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # The journal of savepoints stays in memory: above a few pages SQLite would open a temporary
    # file, and a bet would fail if no descriptor is left.
    connection.execute("PRAGMA temp_store = MEMORY")


def set_up_for_upgrade(connection: sqlite3.Connection) -> None:
    """Set up a connection that may drop and rebuild tables that others refer to."""
    set_up(connection)
    connection.execute("PRAGMA foreign_keys = OFF")


def driver(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def open_file(path: Path, seconds: float = 5.0, mode: str = "rw") -> sqlite3.Connection:
    """Open an existing file without beginning a transaction; `mode` is SQLite's "ro" or "rw"."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, seconds, isolation_level=None, uri=True)


def run_prepared(
    connection: sqlite3.Connection, statement: Prepared, **values: object
) -> sqlite3.Cursor:
    """Run a statement on a connection of the bare driver; raises sqlite3.DatabaseError."""
    text = statement.text(DIALECT)
    return connection.execute(text.sql, text.pick(values))


def begin_reading(connection: Connection) -> None:
    """Begin a transaction that sees the moment of its first read."""
    connection.exec_driver_sql("BEGIN")


def begin_writing(connection: Connection) -> None:
    """Begin a transaction that keeps others from writing.

    Raises a DBAPIError that `is_write_locked` if another transaction writes.
    """
    connection.exec_driver_sql(BEGIN_WRITING)


def changes(connection: Connection) -> int:
    return driver(connection).total_changes


def roll_back(connection: Connection) -> None:
    """End the transaction of a failed COMMIT, which SQLite may have left open."""
    end_transaction(connection.connection.driver_connection)


def end_transaction(raw: Any, _record: object = None) -> None:
    """Roll back what a failed COMMIT left open, before the pool lends the connection again.

    SQLAlchemy takes such a transaction for ended.
    """
    if raw is not None:
        with contextlib.suppress(sqlite3.Error):
            raw.rollback()


def rewrite_version(connection: Connection) -> None:
    set_version(connection, version(connection))


def runner(connection: Connection) -> Callable[..., Any]:
    """Return a function that runs SQL with question marks, given the text and its values."""
    return connection.exec_driver_sql


# The log. These use the driver's cursor, because SQLAlchemy would begin a transaction first.


def write_ahead(connection: Connection) -> bool:
    """Switch the file to write-ahead logging for good; return False if it does not support that.

    Raises sqlite3.Error, also while another process switches it: SQLite does not wait.
    """
    with contextlib.closing(connection.connection.cursor()) as cursor:
        cursor.execute("PRAGMA journal_mode = WAL")
        return (cursor.fetchone() or ("",))[0] == "wal"


def switch_log_off(connection: sqlite3.Connection) -> None:
    """Fold the log into the file and switch it off; fails while others have the file open."""
    connection.execute("PRAGMA journal_mode = DELETE")


def checkpoint_some(connection: sqlite3.Connection) -> bool:
    """Copy the frames that no reader needs into the database; return whether these were all.

    Raises sqlite3.Error.
    """
    result = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    _, frames, carried = result or (1, -1, 0)
    return bool(frames == carried)


def checkpoint_all(connection: Connection) -> bool:
    """Copy the whole log into the database and empty it; return False if others hinder it.

    `connection` must not be in a transaction. Raises sqlite3.Error.
    """
    with contextlib.closing(connection.connection.cursor()) as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (busy, *_) = cursor.fetchone() or (1,)
    return not busy


def request_exclusive(connection: sqlite3.Connection) -> None:
    """Ask for a lock that excludes other processes; `take_exclusive` takes it."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")


def take_exclusive(connection: sqlite3.Connection) -> None:
    """Take the exclusive lock and keep it until the connection is closed.

    Raises sqlite3.DatabaseError (`is_busy`) while others have the file open.
    """
    switch_log_off(connection)
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("COMMIT")


# Whole files.


def copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a database as of one moment into an empty file, without a log file.

    The copy is made in one step: one in several steps starts again after every write.
    """
    source.backup(target)
    switch_log_off(target)


def nudge(connection: Connection) -> None:
    """Do nothing: one server serves books in a file."""


def find_damage(connection: Connection) -> Iterator[str]:
    for problem in connection.exec_driver_sql("PRAGMA integrity_check(100)").scalars():
        if problem != "ok":
            yield problem


def _is_file(number: int, status: os.stat_result) -> bool:
    with contextlib.suppress(OSError):  # `listdir` opened it, or another thread closed it
        return os.path.samestat(os.fstat(number), status)
    return False


def is_shared(connection: Connection) -> bool:
    """Return whether another process has the file open, by its lock on the log's index."""
    file = driver(connection)
    if file.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        return False  # no board has it open, so there is no index
    (_, _, path) = file.execute("PRAGMA database_list").fetchone()
    status = Path(f"{path}-shm").stat()
    # Opening and closing the file again would drop all locks of this process on it.
    index = next(filter(lambda number: _is_file(number, status), map(int, os.listdir(OPEN_FILES))))
    request = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, OPEN_LOCK, 1, 0)
    kind: int = FLOCK.unpack(fcntl.fcntl(index, fcntl.F_GETLK, request))[0]
    return kind != fcntl.F_UNLCK


def keep_open(connection: Connection) -> None:
    """Do nothing: a transaction in a file does not time out."""


def broken_references(connection: Connection) -> Iterator[tuple[str, int | None, str]]:
    """Yield rows that refer to missing rows: table, row number if any, other table."""
    for table, number, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield table, number, parent


# The file's metadata.


def program(connection: Connection) -> int:
    return program_of(driver(connection))


def version(connection: Connection) -> int:
    return version_of(driver(connection))


def set_program(connection: Connection, number: int) -> None:
    connection.exec_driver_sql(f"PRAGMA application_id = {number}")


def set_version(connection: Connection, number: int) -> None:
    connection.exec_driver_sql(f"PRAGMA user_version = {number}")


def program_of(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    return int(number)


def version_of(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


def data_version(connection: Connection) -> int:
    """Return a number that changes whenever another connection writes into the file."""
    number: int = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
    return number


def is_empty(connection: Connection) -> bool:
    """Return whether the file has no tables yet; this read fixes the moment that is seen."""
    objects: int = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    return not objects


def object_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables, indexes and triggers of a file.

    This is a read: from here on the transaction sees one moment. Raises sqlite3.DatabaseError.
    """
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def definition(connection: Connection, name: str) -> str | None:
    sql: str | None = connection.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE name = ?", (name,)
    ).scalar()
    return sql


def wrong_triggers(connection: Connection) -> Iterator[tuple[str, bool]]:
    """Yield the name of each changed or missing trigger, and whether it exists."""
    for name, sql in TRIGGERS.items():
        stored = definition(connection, name)
        if stored is None or stored.split() != sql.split():
            yield name, stored is not None


# Row ids.


def last_given_numbers(connection: Connection) -> dict[str, int]:
    return dict(connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all())


def highest_numbers(connection: sqlite3.Connection, tables: Iterable[str]) -> dict[str, int]:
    """Return the highest number given or used, by table, in a file of any version.

    It has all tables that gave numbers, and all of `tables`. Raises sqlite3.DatabaseError.
    """
    numbers: dict[str, int] = dict(
        connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    )
    for table in tables:
        (highest,) = connection.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()
        numbers[table] = max(numbers.get(table, 0), highest)
    return numbers


def set_next_number(connection: Connection, table: str, first: int) -> None:
    """Make `first` the number of the next row of a table."""
    run, values = connection.exec_driver_sql, (first - 1, table)
    if not run("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", values).rowcount:
        run("INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)", values)


# The triggers that guard the books: a transfer moves two balances, and its row never changes.


def _only_added(table: str) -> dict[str, str]:
    return {
        f"{table}_are_never_{done}": f"""
        CREATE TRIGGER {table}_are_never_{done} BEFORE {event} ON {table} BEGIN
            SELECT RAISE(ABORT, '{table} are only ever added, never {done}');
        END"""
        for done, event in (("changed", "UPDATE"), ("deleted", "DELETE"))
    }


TRIGGERS = {
    **_only_added("generations"),
    "transfers_move_balances": """
        CREATE TRIGGER transfers_move_balances AFTER INSERT ON transfers BEGIN
            UPDATE accounts SET balance = balance - NEW.amount WHERE id = NEW.source;
            UPDATE accounts SET balance = balance + NEW.amount WHERE id = NEW.target;
        END""",
    "transfers_keep_to_one_unit": """
        CREATE TRIGGER transfers_keep_to_one_unit BEFORE INSERT ON transfers
        WHEN (SELECT unit FROM accounts WHERE id = NEW.source)
             <> (SELECT unit FROM accounts WHERE id = NEW.target)
        BEGIN
            SELECT RAISE(ABORT, 'units never mix in one transfer');
        END""",
    **_only_added("transfers"),
}


def disable_triggers(connection: Connection) -> None:
    """Stop all triggers until `enable_triggers`, so that rows can be copied unchanged."""
    for name in TRIGGERS:
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")


def enable_triggers(connection: Connection) -> None:
    """Make all triggers work again."""
    disable_triggers(connection)
    for sql in TRIGGERS.values():
        connection.exec_driver_sql(sql)
