"""Backup of books on a server by pg_dump while the board serves from them, and restore.

A restore puts the copy into a new database on the same server, upgrades and audits it, and closes
everything open in it (restored_books.py). Then it renames the database of the books and gives their
name to the copy. The server refuses the rename while anybody has the old books open, and nobody can
open them afterwards. So nothing is written into them that the new books do not know.

psycopg is an extra, so only boards with books on a server import this module.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from sqlalchemy.exc import DBAPIError

from timebank.audit.accounts import audit
from timebank.calls.calls import open_calls
from timebank.errors import BackupRefused, BooksFailed, BooksUnavailable, DatabaseRefused
from timebank.keeping import restored_books
from timebank.keeping.backup import (
    DATABASE,
    Copied,
    Restored,
    check_source,
    locked_for_restore,
    make_ready,
    new_file,
)
from timebank.keeping.restored_books import PriorBooks, SettledCopy
from timebank.ledger import failures, migrations
from timebank.ledger import transfers as ledger
from timebank.ledger.database import Desk, foreign_sentence
from timebank.ledger.postgres import dialect as postgres
from timebank.ledger.postgres.database import PostgresDatabase, connection_arguments
from timebank.ledger.schema import APPLICATION_ID
from timebank.ledger.sql import Prepared
from timebank.settings.place import ServerPlace
from timebank.settings.settings import BankSettings
from timebank.words import BY_COMMAND

# The database to connect to while databases are made and renamed; every server has it.
MAINTENANCE = "postgres"
# How many bytes of a database's name stay before our suffix; names have 63 bytes at most.
NAME_BYTES = 36
ASIDE = "_replaced_"  # in the name of replaced books, before the time

Connection = psycopg.Connection[Any]
# The state of the books to be replaced, who is online, and what a copy lacks of them.
Prior = tuple[PriorBooks, tuple[str, ...], str]


def back_up(
    database: PostgresDatabase, settings: BankSettings, now: datetime, target: Path
) -> Copied:
    """Copy the books of one moment to a new file, and audit the books of that moment.

    Other processes may write meanwhile. Only the owner can read the file. It stays even if the
    audit finds errors, because there may be no better one. Raises `BackupRefused`.
    """
    with new_file(target) as part, database.reading(settings, now) as desk:
        postgres.keep_open(desk.connection)
        program = _program("pg_dump", postgres.server_version(desk.connection))
        moment = postgres.exported_snapshot(desk.connection)
        _run(database.server, program, f"--snapshot={moment}", "--format=custom", f"--file={part}")
        return Copied(ledger.count(desk), audit(desk))


def restore(source: Path, settings: BankSettings, now: datetime, by: str = BY_COMMAND) -> Restored:
    """Check a backup, and put it in the place of the books.

    A backup of an older version is upgraded first, and everything open in it is closed. The old
    books stay in a database of their own, with the time in its name. Raises `BackupRefused` before
    anything has changed.
    """
    server = _server_of(settings)
    has_folder = settings.database.parent.is_dir()  # a board on this machine
    with (
        locked_for_restore(settings) if has_folder else contextlib.nullcontext(),
        _server(server) as admin,
        _copy(admin, server, source) as copy,
    ):
        transfers = make_ready(PostgresDatabase(copy), settings, now, source)
        aside = _free_aside(admin, server, now)
        is_there = _is_there(admin, server)
        if is_there:
            _refuse_while_on_call(server, settings, now)
            _rename(admin, server.name, aside.name)
        try:
            given = _read_prior(aside, settings, now)[0] if is_there else PriorBooks(at=0)
            settled_copy = _treat_copy(copy, settings, now, given, source, by)
            _rename(admin, copy.name, server.name)
        except BaseException:
            if is_there:
                _give_name_back(admin, aside, server)
            raise
    return Restored(transfers, aside if is_there else None, settled_copy)


def rehearse(source: Path, settings: BankSettings, now: datetime) -> Restored:
    """Return what `restore` would do now, and change nothing. The board may be open.

    Works in a temporary database. Raises `BackupRefused` if a restore would.
    """
    server = _server_of(settings)
    with _server(server) as admin, _copy(admin, server, source) as copy:
        transfers = make_ready(PostgresDatabase(copy), settings, now, source)
        is_there = _is_there(admin, server)
        prior: Prior = PriorBooks(at=0), (), ""
        if is_there:
            with (
                contextlib.closing(PostgresDatabase(copy)) as database,
                database.reading(settings, now) as desk,
            ):
                prior = _read_prior(server, settings, now, desk)
        given, on_call, undone = prior
        settled_copy = _treat_copy(copy, settings, now, given, source)
        aside = _free_aside(admin, server, now) if is_there else None
    return Restored(transfers, aside, settled_copy, on_call, undone)


def _server_of(settings: BankSettings) -> ServerPlace:
    assert settings.server is not None
    return settings.server


# PostgreSQL's programs.


def _program(name: str, version: int) -> str:
    """Return the path of a PostgreSQL program of this version or later. Raises `BackupRefused`."""
    path = shutil.which(name)
    if path is None:
        raise BackupRefused(
            f"There is no {name} here. Install the client programs of PostgreSQL, version"
            f" {version} or later."
        )
    output = subprocess.run([path, "--version"], check=False, capture_output=True, text=True)
    number = re.search(r"\) (\d+)", output.stdout)
    if number is None:
        raise BackupRefused(f"{path} does not state its version.")
    if int(number[1]) < version:
        raise BackupRefused(
            f"{path} has version {number[1]}, but the server has version {version}. Install"
            f" the client programs of version {version} or later."
        )
    return path


def _run(server: ServerPlace, program: str, *words: str) -> None:
    """Run a program on a database. Raises `BackupRefused` with its first line if it fails.

    The password is in the environment, which only its owner can read. Later lines of the program
    are dropped, because they may contain rows.
    """
    where = connection_arguments(server)
    password = where.pop("password", None)
    environment = {**os.environ, "LC_MESSAGES": "C"}
    if password is not None:
        environment["PGPASSWORD"] = password
    command = [program, f"--dbname={make_conninfo('', **where)}", "--no-password", *words]
    command += ["--no-owner", "--no-privileges", "--no-comments"]
    ran = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if ran.returncode:
        name = Path(program).name
        reason = next(iter(ran.stderr.splitlines()), f"{name} ended with {ran.returncode}")
        raise BackupRefused(
            f"{name} failed: {reason.removeprefix(f'{name}: error: ').rstrip('.')}."
        )


# Databases on the server.


@contextlib.contextmanager
def _server(server: ServerPlace) -> Iterator[Connection]:
    """Connect to the maintenance database. Raises `BackupRefused` for the server's errors."""
    try:
        with psycopg.connect(
            **connection_arguments(replace(server, name=MAINTENANCE))
        ) as connection:
            postgres.set_up(connection)
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise BackupRefused(
            "A restore creates a database and renames that of the books, but the board's account"
            " may not. Give it the right with ALTER ROLE ... CREATEDB, and the database of the"
            " books with ALTER DATABASE ... OWNER TO ..."
        ) from error
    except psycopg.Error as error:
        sentence = failures.sentence(error)
        raise BackupRefused(f"{server} cannot be restored: {sentence}.") from error
    except DatabaseRefused as error:
        raise BackupRefused(str(error)) from error


@contextlib.contextmanager
def _copy(admin: Connection, server: ServerPlace, source: Path) -> Iterator[ServerPlace]:
    """Load a backup into a new database, which is dropped at the end unless it was renamed."""
    _refuse_other_source(source)
    program = _program("pg_restore", admin.info.server_version // 10_000)
    copy = replace(server, name=f"{_shortened(server.name)}_restoring")
    drop = SQL("DROP DATABASE IF EXISTS {}").format(Identifier(copy.name))
    try:
        admin.execute(drop)  # left by a killed restore
    except psycopg.errors.ObjectInUse as error:
        raise BackupRefused(f"Another restore is under way in {copy}.") from error
    make = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
    admin.execute(SQL(make).format(Identifier(copy.name)))
    try:
        _run(copy, program, "--single-transaction", "--exit-on-error", str(source))
        yield copy
    finally:
        with contextlib.suppress(psycopg.Error):  # otherwise the next restore drops it
            admin.execute(drop)


def _refuse_other_source(source: Path) -> None:
    check_source(source)
    with source.open("rb") as file:
        if file.read(len(DATABASE)) == DATABASE:
            raise BackupRefused(
                f"{source} is a copy of books in a file. Restore it to a file, and take that to the"
                " server with `timebank move`."
            )


def _shortened(name: str) -> str:
    return name.encode()[:NAME_BYTES].decode("utf-8", "ignore")


def _free_aside(admin: Connection, server: ServerPlace, now: datetime) -> ServerPlace:
    name = f"{_shortened(server.name)}{ASIDE}{now:%Y%m%d_%H%M%S}"
    names = chain((name,), (f"{name}_{number}" for number in count(2)))
    return replace(
        server, name=next(each for each in names if not postgres.has_database(admin, each))
    )


def _rename(admin: Connection, old: str, new: str) -> None:
    """Rename a database. Raises `BackupRefused` while anybody has it open."""
    named = SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(old), Identifier(new))
    try:
        admin.execute(named)
    except psycopg.errors.ObjectInUse as error:
        raise BackupRefused(
            f"Another process has the database {old} open. Close the board, then restore."
        ) from error


def _is_there(admin: Connection, server: ServerPlace) -> bool:
    """Return whether the books are there. Raises `BackupRefused` if a killed restore left them."""
    if postgres.has_database(admin, server.name):
        return True
    left = postgres.latest_database(admin, f"{_shortened(server.name)}{ASIDE}")
    if left is not None:
        raise BackupRefused(
            f"A restore was cut off. The books are in the database {left}. Give them their name"
            f" again with {_renamed(left, server.name)}; then restore."
        )
    return False


def _renamed(old: str, new: str) -> str:
    return f'ALTER DATABASE "{old}" RENAME TO "{new}"'


def _give_name_back(admin: Connection, aside: ServerPlace, server: ServerPlace) -> None:
    try:
        _rename(admin, aside.name, server.name)
    except (psycopg.Error, BackupRefused) as error:
        raise BackupRefused(
            f"The restore failed. The books are unchanged in the database {aside.name}. Give them"
            f" their name again with {_renamed(aside.name, server.name)}."
        ) from error


# The books on the server.


def _refuse_while_on_call(server: ServerPlace, settings: BankSettings, now: datetime) -> None:
    _, on_call, _ = _read_prior(server, settings, now)
    if on_call:
        names = ", ".join(on_call)
        raise BackupRefused(f"On a call just now: {names}. Close the board, then restore.")


def _read_prior(
    place: ServerPlace, settings: BankSettings, now: datetime, copy: Desk | None = None
) -> Prior:
    """Return the state of the books to be replaced, who is online, and what `copy` lacks of them.

    Damaged books and an empty database yield an empty state. Raises `BackupRefused` for another
    program's database.
    """
    with contextlib.closing(PostgresDatabase(place)) as database:
        try:
            with database.reading(settings, now) as desk:
                if postgres.is_empty(desk.connection):
                    return PriorBooks(at=0), (), ""
                program, version = postgres.program_and_version(desk.connection)
                if program != APPLICATION_ID:
                    sentence = foreign_sentence(place, program)
                    raise BackupRefused(f"{sentence} Move it away first.")
                on_call = open_calls(desk) if version == migrations.newest_version() else ()
                names = tuple(f"{call.name} (node {call.node})" for call in on_call if call.live)
                run = partial(_run_on, desk)
                undone = "" if copy is None else restored_books.undone(copy, run)
                return restored_books.prior_books_in(desk), names, undone
        except (BooksUnavailable, DBAPIError):
            return PriorBooks(at=0), (), restored_books.UNKNOWN_UNDONE


def _run_on(desk: Desk, statement: Prepared, **values: object) -> Any:
    return statement(desk.connection, **values)


def _treat_copy(
    copy: ServerPlace,
    settings: BankSettings,
    now: datetime,
    given: PriorBooks,
    source: Path,
    by: str = BY_COMMAND,
) -> SettledCopy:
    with contextlib.closing(PostgresDatabase(copy)) as database:
        try:
            with database.transaction(settings, now) as desk:
                postgres.keep_open(desk.connection)
                why = f"restored from {source.name}"
                return restored_books.settle_copy(desk, given, by, why)
        except (BooksFailed, DBAPIError) as error:
            raise BackupRefused(
                f"The copy cannot be made ready: {failures.sentence(error)}."
            ) from error
