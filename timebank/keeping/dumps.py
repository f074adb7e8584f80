"""Copies of books on a server: taken by pg_dump while the board serves, put back by pg_restore.

What a restore owes the books is the same as in a file (restore.py). A copy is put into a database
of its own beside that of the books, brought forward, audited, and treated there. Then it takes the
name of the books, whose database keeps what it holds under another name. From the moment at which
the old books lose their name nobody can open them, and none has them open then, or the server says
so: nothing is written into them that the new books do not know.

psycopg is an extra, and so this is imported only where books are on a server.
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
from timebank.keeping import restore as restoring
from timebank.keeping.backup import (
    Copied,
    Restored,
    kept_from_servers,
    made_ready,
    new_file,
    refuse_source,
)
from timebank.keeping.restore import Given, Treated
from timebank.ledger import failures, migrations
from timebank.ledger import transfers as ledger
from timebank.ledger.database import not_ours
from timebank.ledger.postgres import dialect as postgres
from timebank.ledger.postgres.database import PostgresDatabase, reached_by
from timebank.ledger.schema import APPLICATION_ID
from timebank.settings.place import ServerPlace
from timebank.settings.settings import BankSettings
from timebank.words import BY_COMMAND

# Where databases are made and named from; every server has it.
MAINTENANCE = "postgres"
# How many bytes of its name a database keeps beside what we put behind it; names end at 63.
NAME_BYTES = 36
# A database as SQLite begins it.
SQLITE = b"SQLite format 3\0"

Connection = psycopg.Connection[Any]


def back_up(
    database: PostgresDatabase, settings: BankSettings, now: datetime, target: Path
) -> Copied:
    """Copy the books as they are at one moment to a new file, and audit them as of that moment.

    Others may write meanwhile. The copy is one file, for its owner's eyes only; it is kept even if
    the audit finds something, for it is what there is. Raises `BackupRefused`.
    """
    with new_file(target) as part, database.reading(settings, now) as desk:
        postgres.stay(desk.connection)
        program = _program("pg_dump", postgres.server_version(desk.connection))
        moment = postgres.exported_snapshot(desk.connection)
        _run(database.server, program, f"--snapshot={moment}", "--format=custom", f"--file={part}")
        return Copied(ledger.count(desk), audit(desk))


def restore(source: Path, settings: BankSettings, now: datetime, by: str = BY_COMMAND) -> Restored:
    """Put a backup in the place of the books, once it is known to be ours and in order.

    A backup of an older version is brought forward first, and whatever is open in it is closed. The
    old books are kept in a database beside the new, with the time in its name. Raises
    `BackupRefused`; nothing has changed then.
    """
    server = _server_of(settings)
    has_folder = settings.database.parent.is_dir()  # that of a board on this machine
    with (
        kept_from_servers(settings) if has_folder else contextlib.nullcontext(),
        _server(server) as admin,
        _copy(admin, server, source) as copy,
    ):
        transfers = made_ready(PostgresDatabase(copy), settings, now, source)
        aside = _free_aside(admin, server, now)
        is_there = postgres.has_database(admin, server.name)
        if is_there:
            _refuse_company(server, settings, now)
            _rename(admin, server.name, aside.name)
        try:
            given, _ = _known(aside, settings, now) if is_there else (Given(at=0), ())
            treated = _treated(copy, settings, now, given, source, by)
            _rename(admin, copy.name, server.name)
        except BaseException:
            if is_there:
                _give_name_back(admin, aside, server)
            raise
    return Restored(transfers, aside if is_there else None, treated)


def rehearse(source: Path, settings: BankSettings, now: datetime) -> Restored:
    """Tell what `restore` would do just now, and leave everything as it is; the board may be open.

    All is done in a database of its own, which is gone afterwards. Raises `BackupRefused` for a
    backup that a restore would refuse.
    """
    server = _server_of(settings)
    with _server(server) as admin, _copy(admin, server, source) as copy:
        transfers = made_ready(PostgresDatabase(copy), settings, now, source)
        is_there = postgres.has_database(admin, server.name)
        given, on_call = _known(server, settings, now) if is_there else (Given(at=0), ())
        treated = _treated(copy, settings, now, given, source)
        aside = _free_aside(admin, server, now) if is_there else None
    return Restored(transfers, aside, treated, on_call)


def _server_of(settings: BankSettings) -> ServerPlace:
    assert settings.server is not None
    return settings.server


# PostgreSQL's own programs.


def _program(name: str, version: int) -> str:
    """Find a program of PostgreSQL's, of this version or a later one; raises `BackupRefused`."""
    found = shutil.which(name)
    if found is None:
        raise BackupRefused(
            f"There is no {name} here. Install the client programs of PostgreSQL, version"
            f" {version} or later."
        )
    said = subprocess.run([found, "--version"], check=False, capture_output=True, text=True)
    number = re.search(r"\) (\d+)", said.stdout)
    if number is None:
        raise BackupRefused(f"{found} does not say of which version it is.")
    if int(number[1]) < version:
        raise BackupRefused(
            f"{found} is of version {number[1]}, and the server is of version {version}. Install"
            f" the client programs of version {version} or later."
        )
    return found


def _run(server: ServerPlace, program: str, *words: str) -> None:
    """Run a program on a database; what it says first when it fails is the reason.

    The password is in its environment, where its owner alone can read it. The rest of what it says
    may have rows in it.
    """
    where = reached_by(server)
    password = where.pop("password", None)
    environment = {**os.environ, "LC_MESSAGES": "C"}
    if password is not None:
        environment["PGPASSWORD"] = password
    command = [program, f"--dbname={make_conninfo('', **where)}", "--no-password", *words]
    command += ["--no-owner", "--no-privileges", "--no-comments"]
    ran = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if ran.returncode:
        name = Path(program).name
        said = next(iter(ran.stderr.splitlines()), f"{name} ended with {ran.returncode}")
        raise BackupRefused(f"{name} failed: {said.removeprefix(f'{name}: error: ').rstrip('.')}.")


# Databases on the server.


@contextlib.contextmanager
def _server(server: ServerPlace) -> Iterator[Connection]:
    """Connect to where databases are made; the server's refusals become sentences."""
    try:
        with psycopg.connect(**reached_by(replace(server, name=MAINTENANCE))) as connection:
            postgres.set_up(connection)
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise BackupRefused(
            "A restore makes a database beside that of the books, and changes their names. The"
            " account of the board may not: give it that right with ALTER ROLE ... CREATEDB, and"
            " the database of the books with ALTER DATABASE ... OWNER TO ..."
        ) from error
    except psycopg.Error as error:
        said = failures.sentence(error)
        raise BackupRefused(f"{server} cannot be restored: {said}.") from error
    except DatabaseRefused as error:
        raise BackupRefused(str(error)) from error


@contextlib.contextmanager
def _copy(admin: Connection, server: ServerPlace, source: Path) -> Iterator[ServerPlace]:
    """Put a backup into a database of its own, which is gone at the end if it has this name yet."""
    _refuse_other_source(source)
    program = _program("pg_restore", admin.info.server_version // 10_000)
    copy = replace(server, name=f"{_shortened(server.name)}_restoring")
    drop = SQL("DROP DATABASE IF EXISTS {}").format(Identifier(copy.name))
    try:
        admin.execute(drop)  # of one that was killed
    except psycopg.errors.ObjectInUse as error:
        raise BackupRefused(f"Another restore is under way in {copy}.") from error
    make = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
    admin.execute(SQL(make).format(Identifier(copy.name)))
    try:
        _run(copy, program, "--single-transaction", "--exit-on-error", str(source))
        yield copy
    finally:
        with contextlib.suppress(psycopg.Error):  # the next restore does it then
            admin.execute(drop)


def _refuse_other_source(source: Path) -> None:
    refuse_source(source)
    with source.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            raise BackupRefused(
                f"{source} is a copy of books in a file. Restore it to a file, and take that to the"
                " server with `timebank move`."
            )


def _shortened(name: str) -> str:
    return name.encode()[:NAME_BYTES].decode("utf-8", "ignore")


def _free_aside(admin: Connection, server: ServerPlace, now: datetime) -> ServerPlace:
    name = f"{_shortened(server.name)}_replaced_{now:%Y%m%d_%H%M%S}"
    names = chain((name,), (f"{name}_{number}" for number in count(2)))
    return replace(
        server, name=next(each for each in names if not postgres.has_database(admin, each))
    )


def _rename(admin: Connection, old: str, new: str) -> None:
    """Give a database another name, which the server refuses while anybody has it open."""
    named = SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(old), Identifier(new))
    try:
        admin.execute(named)
    except psycopg.errors.ObjectInUse as error:
        raise BackupRefused(
            f"Another process has the database {old} open. Close the board, then restore."
        ) from error


def _give_name_back(admin: Connection, aside: ServerPlace, server: ServerPlace) -> None:
    try:
        _rename(admin, aside.name, server.name)
    except (psycopg.Error, BackupRefused) as error:
        raise BackupRefused(
            f"The restore broke off. The books are in the database {aside.name}, as they were: give"
            f' them their name again, with ALTER DATABASE "{aside.name}" RENAME TO "{server.name}".'
        ) from error


# The books there.


def _refuse_company(server: ServerPlace, settings: BankSettings, now: datetime) -> None:
    _, on_call = _known(server, settings, now)
    if on_call:
        names = ", ".join(on_call)
        raise BackupRefused(f"On a call just now: {names}. Close the board, then restore.")


def _known(
    place: ServerPlace, settings: BankSettings, now: datetime
) -> tuple[Given, tuple[str, ...]]:
    """Tell what books to be replaced know of numbers and lost powers, and who is on a call there.

    Broken ones know nothing, nor do those of a database that is empty. Refuses other programs'.
    """
    with contextlib.closing(PostgresDatabase(place)) as database:
        try:
            with database.reading(settings, now) as desk:
                if postgres.is_empty(desk.connection):
                    return Given(at=0), ()
                program, version = postgres.program_and_version(desk.connection)
                if program != APPLICATION_ID:
                    said = not_ours(place, program)
                    raise BackupRefused(f"{said} Move it away first.")
                on_call = open_calls(desk) if version == migrations.newest() else ()
                names = tuple(f"{call.name} (node {call.node})" for call in on_call if call.live)
                return restoring.given_in(desk), names
        except (BooksUnavailable, DBAPIError):
            return Given(at=0), ()


def _treated(
    copy: ServerPlace,
    settings: BankSettings,
    now: datetime,
    given: Given,
    source: Path,
    by: str = BY_COMMAND,
) -> Treated:
    with contextlib.closing(PostgresDatabase(copy)) as database:
        try:
            with database.transaction(settings, now) as desk:
                postgres.stay(desk.connection)
                why = f"restored from {source.name}"
                return restoring.treat(desk, given, by, why)
        except (BooksFailed, DBAPIError) as error:
            raise BackupRefused(
                f"The copy cannot be made ready: {failures.sentence(error)}."
            ) from error
