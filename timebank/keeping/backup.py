"""Copies of the books: taken while the board serves, and put back in its place.

Nothing here is ever half: a copy gets its name when all of it is on the disk, and the books that
are put back take the place of the old ones in one rename, after they were found to be in order and
everything that was open in them was closed (restore.py). A copy says of itself that it is one.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from timebank import files, serving
from timebank.audit.accounts import audit
from timebank.audit.findings import Finding
from timebank.errors import (
    BackupRefused,
    BooksTaken,
    BooksUnavailable,
    DatabaseRefused,
    NotCopied,
    NotInOrder,
)
from timebank.files import sync
from timebank.keeping import restore as restoring
from timebank.keeping.restore import Given, Treated
from timebank.ledger import failures
from timebank.ledger import transfers as ledger
from timebank.ledger.database import Database, not_ours
from timebank.ledger.schema import APPLICATION_ID, callers, calls
from timebank.ledger.sql import Prepared
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.live_mark import Note
from timebank.settings.place import ServerPlace
from timebank.settings.settings import BankSettings
from timebank.words import BY_COMMAND

# How long a process that has the books to itself is waited for.
LOCK_SECONDS = 2.0

# What SQLite keeps beside a database; it must never meet another database than its own.
COMPANIONS = ("-wal", "-shm", "-journal")
# A file of pg_dump's begins with it.
DUMP = b"PGDMP"
# The beginning of every SQLite file, without which it is none.
HEADER_BYTES = 100


@dataclass(frozen=True)
class Copied:
    """A copy that was made: its number of transfers, and what the audit found in it."""

    transfers: int
    findings: list[Finding]


@dataclass(frozen=True)
class Restored:
    """What a restore did: `transfers` of the copy are in the books, the old ones are in `aside`.

    `treated` says what was closed in them. Of a rehearsal, all of it is what would have been done,
    and `on_call` names who is on a call, each with the node: a restore would be refused.
    """

    transfers: int
    aside: Path | ServerPlace | None
    treated: Treated
    on_call: tuple[str, ...] = ()


def back_up(
    database: SqliteDatabase, settings: BankSettings, now: datetime, target: Path
) -> Copied:
    """Copy the books as they are at one moment to a new file, and audit the copy.

    Others may write meanwhile. The copy is one file, for its owner's eyes only; it is kept even if
    the audit finds something, for it is what there is. Raises `BackupRefused`.
    """
    with new_file(target) as part:
        _copy(database.path, part)
        with contextlib.closing(SqliteDatabase(part)) as copy:
            copied = _audited(copy, settings, now)
        with contextlib.closing(_connected(part)) as connection:
            restoring.marked_as_copy(connection, now)
        return copied


def restore(source: Path, settings: BankSettings, now: datetime, by: str = BY_COMMAND) -> Restored:
    """Put a backup in the place of the books, once it is known to be ours and in order.

    A backup of an older version is brought forward first, and whatever is open in it is closed. The
    old books are kept beside the new, with the time in their name. Raises `BackupRefused`; nothing
    has changed then.
    """
    path = settings.database
    _refuse_forbidden(path)
    _refuse_other_source(source, path)
    with _sentences(path):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
    with kept_from_servers(settings), _sentences(path), _room_beside(path) as room:
        copy = room / path.name
        copy.touch(0o600, exist_ok=False)
        _copy(source, copy)
        transfers = made_ready(SqliteDatabase(copy), settings, now, source)
        sync(copy)
        aside = _free_aside(path, now)
        if not path.exists():
            given = restoring.given_by_note(path)
            treated, note = _treated(copy, settings, now, given, source, by)
            _put_log_aside(path, aside)
            _put_in_place(copy, path, note)
            return Restored(transfers, None, treated)
        with _kept_to_ourselves(path) as (old, given):
            treated, note = _treated(copy, settings, now, given, source, by)
            _put_aside(old, path, aside)
            _put_in_place(copy, path, note)
        return Restored(transfers, aside, treated)


@contextlib.contextmanager
def kept_from_servers(settings: BankSettings) -> Iterator[None]:
    """Let no server of this machine begin to serve from the books while they are put back.

    Raises `BackupRefused` where one does.
    """
    place = settings.lock
    try:
        lock = serving.take(place, serving.RESTORING)
    except (BooksTaken, DatabaseRefused) as refused:
        raise BackupRefused(f"{refused} Close the board, then restore.") from refused
    with lock:
        yield


def rehearse(source: Path, settings: BankSettings, now: datetime) -> Restored:
    """Tell what `restore` would do just now, and leave everything as it is.

    All is done with copies, in a folder for temporary files: nothing is made, changed or locked
    where the backup and the books are, and the board may be open. Raises `BackupRefused` for a
    backup that a restore would refuse.
    """
    path = settings.database
    _refuse_forbidden(path)
    _refuse_other_source(source, path)
    with (
        _sentences(Path(tempfile.gettempdir())),
        tempfile.TemporaryDirectory(prefix="timebank-restore-") as room,
    ):
        copy, before = Path(room, path.name), Path(room, "before")
        _copy_apart(source, copy)
        transfers = made_ready(SqliteDatabase(copy), settings, now, source)
        aside = _free_aside(path, now) if path.exists() else None
        given, on_call = _known_beside(settings, before)
        treated, _ = _treated(copy, settings, now, given, source)
        return Restored(transfers, aside, treated, on_call)


def _known_beside(settings: BankSettings, copy: Path) -> tuple[Given, tuple[str, ...]]:
    """Tell what the books know of numbers that were given, and who is on a call by them.

    They are read from a copy that is made for it; broken ones know nothing, as in a restore.
    """
    path = settings.database
    given = restoring.given_by_note(path)
    if not path.exists():
        return given, ()
    try:
        _copy_apart(path, copy)
        with contextlib.closing(_connected(copy)) as old:
            if not sqlite.tables_of(old):
                return given, ()
            _refuse_other_program(old, path)
            on_call = _on_call(old) if serving.is_held(settings.lock) else ()
            return given.and_also(restoring.given_by_old(old, path)), on_call
    except (NotCopied, sqlite3.DatabaseError):
        return given, ()


def refuse_source(source: Path, path: Path | None = None) -> None:
    """Refuse what is no file, or what is at `path`, where the books are."""
    try:
        if not source.is_file():
            raise BackupRefused(f"There is no file {source}.")
        if path is not None and path.exists() and source.samefile(path):
            raise BackupRefused(f"{source} is the database itself.")
    except OSError as error:
        said = files.forbidden(source)
        raise BackupRefused(said or f"{source} cannot be read: {error.strerror}.") from error


def _refuse_forbidden(path: Path) -> None:
    if said := files.forbidden(path):
        raise BackupRefused(said)


def _refuse_other_source(source: Path, path: Path) -> None:
    refuse_source(source, path)
    with _sentences(source), source.open("rb") as file:
        if file.read(len(DUMP)) == DUMP:
            raise BackupRefused(
                f"{source} is a copy of books on a server, and goes to a server: name one as"
                " database in [timebank] of sysop.toml."
            )


def _free_aside(path: Path, now: datetime) -> Path:
    return _free_name(path.with_name(f"{path.name}.replaced-{now:%Y%m%dT%H%M%SZ}"))


def _copy_apart(source: Path, target: Path) -> None:
    """Copy a database to a place of its own, with nothing made or changed beside the source.

    One that somebody has open is copied as of one moment. To open any other could leave files
    beside it, so its files are copied as they are.
    """
    if Path(f"{source}-shm").exists():
        target.touch(0o600, exist_ok=False)
        _copy(source, target, "ro")
        return
    for ending in ("", *COMPANIONS):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{source}{ending}", f"{target}{ending}")


def _treated(
    copy: Path,
    settings: BankSettings,
    now: datetime,
    given: Given,
    source: Path,
    by: str = BY_COMMAND,
) -> tuple[Treated, Note]:
    """Close what the copy has open, and give it a mark; returns what stands beside it then."""
    database = SqliteDatabase(copy)
    mark, why = live_mark.new_mark(), f"restored from {source.name}"
    try:
        with database.transaction(settings, now) as desk:
            treated = restoring.treat(desk, given, by, why)
            live_mark.set_mark(desk.connection, mark, None)
            note = live_mark.note_of(desk.connection, [mark], now)
    except (BooksUnavailable, DBAPIError) as error:
        raise BackupRefused(
            f"The copy cannot be made ready: {failures.sentence(error)}."
        ) from error
    finally:
        database.close()
    sync(copy)
    return treated, note


def _put_in_place(copy: Path, path: Path, note: Note) -> None:
    """Let the copy be the books. Killed at any step, one of the two has the mark that is known."""
    before = live_mark.read_note(path)
    old_marks = [live_mark.UNMARKED] if before is None else before.marks
    live_mark.write_note(path, replace(note, marks=[*old_marks, *note.marks]))
    with copy.open("rb") as file:
        files.give_to_owner(file.fileno(), path.parent)
    os.replace(copy, path)
    sync(path.parent)
    # What is there knows the new mark already.
    with contextlib.suppress(OSError):
        live_mark.write_note(path, note)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a file to be filled, only for its owner to read, that takes the name `path` at the end.

    What was written is on the disk before it has the name; when the block raises there is no file.
    Raises `BackupRefused` when `path` is there already, or cannot be written.
    """
    with _sentences(path):
        _refuse_existing(path)
        if not files.keeps_our_names(path.parent):
            with _made_elsewhere(path) as part:
                yield part
            return
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            yield part
            sync(part)
            with _refusing_existing(path):
                files.name_new(part, path)
            sync(path.parent)
        finally:
            _unlink(part, ("", *COMPANIONS))


@contextlib.contextmanager
def _made_elsewhere(path: Path) -> Iterator[Path]:
    """Do the same where others may put another file under a name while it is written to."""
    with tempfile.TemporaryDirectory(prefix="timebank-") as room:
        part = Path(room, path.name)
        part.touch(0o600, exist_ok=False)
        yield part
        with part.open("rb") as whole, _refusing_existing(path):
            files.put_new(path, whole)


def _unlink(path: Path, endings: Iterable[str]) -> None:
    for ending in endings:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise BackupRefused(f"{path} is there already, and is not overwritten.")


@contextlib.contextmanager
def _refusing_existing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        _refuse_existing(path)
        raise


@contextlib.contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = files.forbidden(path, writes=True)
        raise BackupRefused(said or f"{path} cannot be written: {error.strerror}.") from error
    except sqlite3.Error as error:
        raise BackupRefused(f"{path} cannot be written: {failures.sentence(error)}.") from error


def _copy(source: Path, target: Path, mode: str = "rw") -> None:
    with (
        contextlib.closing(_connected(source, mode)) as a,
        contextlib.closing(_connected(target)) as b,
    ):
        try:
            # Who has the file alone is waited for here; `backup` would wait for ever.
            a.execute("BEGIN")
            sqlite.tables_of(a)
            sqlite.copy(a, b)
        except sqlite3.DatabaseError as error:
            raise NotCopied(f"{source} cannot be copied: {failures.sentence(error)}.") from error


def _connected(path: Path, mode: str = "rw") -> sqlite3.Connection:
    return sqlite.opened(path, LOCK_SECONDS, mode)


def _audited(database: Database, settings: BankSettings, now: datetime) -> Copied:
    with database.reading(settings, now) as desk:
        return Copied(ledger.count(desk), audit(desk))


@contextlib.contextmanager
def _room_beside(path: Path) -> Iterator[Path]:
    """Make a folder for the copy; the lock is held, so those that are there are of killed ones."""
    begins = f".restore-{path.name}-"
    for left in path.parent.glob(f"{glob.escape(begins)}*"):
        shutil.rmtree(left, ignore_errors=True)
    room = Path(tempfile.mkdtemp(prefix=begins, dir=path.parent))
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def made_ready(copy: Database, settings: BankSettings, now: datetime, source: Path) -> int:
    """See that the copy of a backup is ours, of today's version and in order; count transfers.

    `copy` is not open yet, nor is it afterwards. Raises `BackupRefused`.
    """
    try:
        with contextlib.closing(copy):
            copy.upgrade(alone=True)
            copy.open_existing()
            copy.open()
            audited = _audited(copy, settings, now)
    except (DatabaseRefused, BooksUnavailable, DBAPIError) as error:
        # The sysop knows the backup, not the copy that was looked at.
        said = failures.sentence(error).replace(copy.place, str(source))
        raise BackupRefused(f"{said}.") from error
    if audited.findings:
        raise NotInOrder(source, audited.findings)
    return audited.transfers


@contextlib.contextmanager
def _kept_to_ourselves(path: Path) -> Iterator[tuple[BinaryIO, Given]]:
    """Lock everybody out of the books to be replaced; gives their file and the numbers they know.

    Somebody may have opened the file already and wait for the lock: what they would then write to
    had no name any more. So the beginning of the old file is wiped before the lock is given up,
    and they are told that it is no database.
    """
    # The file is closed last: closing it in any way drops the locks that SQLite has on it.
    with (
        path.open("r+b", buffering=0) as old,
        contextlib.closing(_connected(path)) as lock,
    ):
        given = restoring.given_by_note(path)
        if _locked_out(lock, path):
            # All that SQLite kept beside the file is in it by now.
            _unlink(path, COMPANIONS)
            given = given.and_also(restoring.given_by_old(lock, path))
        yield old, given
        if os.fstat(old.fileno()).st_nlink == 0:
            old.seek(0)
            old.write(bytes(HEADER_BYTES))


def _in_use(path: Path) -> BackupRefused:
    return BackupRefused(f"Another process has {path} open. Close the board, then restore.")


def _locked_out(lock: sqlite3.Connection, path: Path) -> bool:
    """Take the lock that no other process can share; False for broken books, which have none."""
    try:
        sqlite.lock_out(lock)
        if not sqlite.tables_of(lock):
            return False
        _refuse_other_program(lock, path)
        sqlite.locked_out(lock)
    except sqlite3.DatabaseError as error:
        if failures.is_busy(error):
            raise _in_use(path) from error
        if failures.is_damaged(error):
            return False
        raise
    return True


_ON_CALL = Prepared(
    lambda: (
        select(callers.c.name, calls.c.node)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(calls.c.closed.is_(None))
    )
)


def _on_call(books: sqlite3.Connection) -> tuple[str, ...]:
    """Name who is on a call, with their nodes, by books that are served."""
    return tuple(f"{name} (node {node})" for name, node in sqlite.ask(books, _ON_CALL))


def _refuse_other_program(books: sqlite3.Connection, path: Path) -> None:
    program = sqlite.program_of(books)
    if program != APPLICATION_ID:
        raise BackupRefused(f"{not_ours(path, program)} Move it away first.")


def _free_name(path: Path) -> Path:
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(name for name in chain((path,), numbered) if not os.path.lexists(name))


def _put_aside(old: BinaryIO, path: Path, aside: Path) -> None:
    """Copy the old books, with a write-ahead log that broken ones may still have beside them."""
    _copy_file(old, aside)
    for ending in COMPANIONS:
        beside = Path(f"{path}{ending}")
        if beside.exists():
            with beside.open("rb") as file:
                _copy_file(file, Path(f"{aside}{ending}"))
            beside.unlink()
    sync(path.parent)


def _put_log_aside(path: Path, aside: Path) -> None:
    """Rename what books that are gone have left; SQLite would take it for a part of the copy."""
    for ending in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{ending}", f"{aside}{ending}")


def _copy_file(source: BinaryIO, target: Path) -> None:
    part = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(part, "wb") as file:
        files.give_to_owner(part, target.parent)
        shutil.copyfileobj(source, file)
        file.flush()
        os.fsync(file.fileno())
