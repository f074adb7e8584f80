"""Backup of books in a file while the board serves from them, and restore.

A backup gets its name when all of it is on the disk, and is marked as a copy inside. A restore
audits the copy and closes everything open in it (restored_books.py). Then one rename puts it in the
place of the old books.
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
from functools import partial
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
from timebank.keeping import restored_books
from timebank.keeping.restored_books import PriorBooks, SettledCopy
from timebank.ledger import failures
from timebank.ledger import transfers as ledger
from timebank.ledger.database import Database, Desk, foreign_sentence
from timebank.ledger.schema import APPLICATION_ID, callers, calls
from timebank.ledger.sql import Prepared
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.live_mark import Note
from timebank.settings.place import ServerPlace
from timebank.settings.settings import BankSettings
from timebank.words import BY_COMMAND

# How long to wait for a process that has locked the books.
LOCK_SECONDS = 2.0

# Endings of the files next to an SQLite database, which must never meet another database.
COMPANIONS = ("-wal", "-shm", "-journal")
# The ending of an unfinished file, and what begins the name of a whole board's folder.
PART, ROOM = ".part", ".timebank-"
# The first bytes of a pg_dump file, and of an SQLite file.
DUMP, DATABASE = b"PGDMP", b"SQLite format 3\0"
# The header of an SQLite file; a file without it is not a database.
HEADER_BYTES = 100


@dataclass(frozen=True)
class Copied:
    """A finished backup: the number of its transfers, and the findings of its audit."""

    transfers: int
    findings: list[Finding]


@dataclass(frozen=True)
class Restored:
    """The outcome of a restore: the number of transfers, and the place of the old books.

    `settled_copy` lists everything that was closed in the copy. After a rehearsal, all of this is
    what a restore would do. `on_call` has the callers online and their nodes: they prevent it.
    `undone` is a sentence about what the copy lacks, "" if there are no books to be replaced.
    """

    transfers: int
    aside: Path | ServerPlace | None
    settled_copy: SettledCopy
    on_call: tuple[str, ...] = ()
    undone: str = ""


def back_up(
    database: SqliteDatabase, settings: BankSettings, now: datetime, target: Path
) -> Copied:
    """Copy the books of one moment to a new file, and audit the copy.

    Other processes may write meanwhile. Only the owner can read the file. It stays even if the
    audit finds errors, because there may be no better one. Raises `BackupRefused`.
    """
    with new_file(target) as part:
        _copy(database.path, part)
        with contextlib.closing(SqliteDatabase(part)) as copy:
            copied = _audit_copy(copy, settings, now)
        with contextlib.closing(_connect(part)) as connection:
            restored_books.marked_as_copy(connection, now)
        return copied


def restore(source: Path, settings: BankSettings, now: datetime, by: str = BY_COMMAND) -> Restored:
    """Check a backup, and put it in the place of the books.

    A backup of an older version is upgraded first, and everything open in it is closed. The old
    books stay in the same folder, with the time in their name. Raises `BackupRefused` before
    anything has changed.
    """
    path = settings.database
    _refuse_forbidden(path)
    _refuse_other_source(source, path)
    with _sentences(path):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
    with locked_for_restore(settings), _sentences(path), _room_beside(path) as room:
        copy = room / path.name
        copy.touch(0o600, exist_ok=False)
        _copy(source, copy)
        transfers = make_ready(SqliteDatabase(copy), settings, now, source)
        sync(copy)
        aside = _free_aside(path, now)
        if not path.exists():
            given = restored_books.prior_by_note(path)
            settled_copy, note = _treat_copy(copy, settings, now, given, source, by)
            _put_log_aside(path, aside)
            _put_in_place(copy, path, note)
            return Restored(transfers, None, settled_copy)
        with _locked_old_books(path) as (old, given):
            settled_copy, note = _treat_copy(copy, settings, now, given, source, by)
            _put_aside(old, path, aside)
            _put_in_place(copy, path, note)
        return Restored(transfers, aside, settled_copy)


@contextlib.contextmanager
def locked_for_restore(settings: BankSettings) -> Iterator[None]:
    """Keep the servers of this machine from the books during a restore.

    Raises `BackupRefused` if one serves from them.
    """
    place = settings.lock
    try:
        lock = serving.take(place, serving.RESTORING)
    except (BooksTaken, DatabaseRefused) as refused:
        raise BackupRefused(f"{refused} Close the board, then restore.") from refused
    with lock:
        yield


def rehearse(source: Path, settings: BankSettings, now: datetime) -> Restored:
    """Return what `restore` would do now, and change nothing.

    Works on copies in a temporary folder, and neither creates, changes nor locks a file next to the
    backup or the books. The board may be open. Raises `BackupRefused` if a restore would.
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
        transfers = make_ready(SqliteDatabase(copy), settings, now, source)
        aside = _free_aside(path, now) if path.exists() else None
        with (
            contextlib.closing(SqliteDatabase(copy)) as database,
            database.reading(settings, now) as desk,
        ):
            given, on_call, undone = _known_beside(settings, before, desk)
        settled_copy, _ = _treat_copy(copy, settings, now, given, source)
        return Restored(transfers, aside, settled_copy, on_call, undone)


def _known_beside(
    settings: BankSettings, before: Path, copy: Desk
) -> tuple[PriorBooks, tuple[str, ...], str]:
    """Return the state of the books to be replaced, who is online, and what `copy` lacks of them.

    Reads a copy of these books, at `before`. Damaged books yield an empty state, as in a restore.
    """
    path = settings.database
    given = restored_books.prior_by_note(path)
    if not path.exists():
        return given, (), ""
    try:
        _copy_apart(path, before)
        with contextlib.closing(_connect(before)) as old:
            if not sqlite.object_names(old):
                return given, (), ""
            _refuse_other_program(old, path)
            rows = sqlite.run_prepared(old, _ON_CALL) if serving.is_held(settings.lock) else ()
            on_call = tuple(f"{name} (node {node})" for name, node in rows)
            undone = restored_books.undone(copy, partial(sqlite.run_prepared, old))
            return given.merged_with(restored_books.prior_by_file(old, path)), on_call, undone
    except (NotCopied, sqlite3.DatabaseError):
        return given, (), restored_books.UNKNOWN_UNDONE


def check_source(source: Path, path: Path | None = None) -> None:
    """Raise `BackupRefused` if `source` is not a readable file, or is the books at `path`."""
    try:
        if not source.is_file():
            raise BackupRefused(f"There is no file {source}.")
        if path is not None and path.exists() and source.samefile(path):
            raise BackupRefused(f"{source} is the database itself.")
    except OSError as error:
        reason = files.forbidden(source)
        raise BackupRefused(reason or f"{source} cannot be read: {error.strerror}.") from error


def _refuse_forbidden(path: Path) -> None:
    if reason := files.forbidden(path):
        raise BackupRefused(reason)


def _refuse_other_source(source: Path, path: Path) -> None:
    check_source(source, path)
    with _sentences(source), source.open("rb") as file:
        begins = file.read(len(DATABASE))
    if begins.startswith(DUMP):
        raise BackupRefused(
            f"{source} is a copy of books on a server, and goes to a server: name one as"
            " database in [timebank] of sysop.toml."
        )
    if begins != DATABASE:
        raise BackupRefused(f"{source} is not a backup of books.")


def _free_aside(path: Path, now: datetime) -> Path:
    return files.free_name(path.with_name(f"{path.name}.replaced-{now:%Y%m%dT%H%M%SZ}"))


def _copy_apart(source: Path, target: Path) -> None:
    """Copy a database without creating or changing a file next to it.

    A database in use is copied as of one moment. Opening an unused one could leave files next to
    it, so its files are copied instead.
    """
    if Path(f"{source}-shm").exists():
        target.touch(0o600, exist_ok=False)
        _copy(source, target, "ro")
        return
    for ending in ("", *COMPANIONS):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{source}{ending}", f"{target}{ending}")


def _treat_copy(
    copy: Path,
    settings: BankSettings,
    now: datetime,
    given: PriorBooks,
    source: Path,
    by: str = BY_COMMAND,
) -> tuple[SettledCopy, Note]:
    """Close everything open in the copy, and give it a mark. Return the note to put next to it."""
    database = SqliteDatabase(copy)
    mark, why = live_mark.new_mark(), f"restored from {source.name}"
    try:
        with database.transaction(settings, now) as desk:
            settled_copy = restored_books.settle_copy(desk, given, by, why)
            live_mark.set_mark(desk.connection, mark, None)
            note = live_mark.note_of(desk.connection, [mark], now)
    except (BooksUnavailable, DBAPIError) as error:
        raise BackupRefused(
            f"The copy cannot be made ready: {failures.sentence(error)}."
        ) from error
    finally:
        database.close()
    sync(copy)
    return settled_copy, note


def _put_in_place(copy: Path, path: Path, note: Note) -> None:
    """Make the copy the books.

    The note allows the marks of both until the rename is done, so the process may be killed at any
    step.
    """
    before = live_mark.read_note(path)
    old_marks = [live_mark.UNMARKED] if before is None else before.marks
    live_mark.write_note(path, replace(note, marks=[*old_marks, *note.marks]))
    with copy.open("rb") as file:
        files.give_to_owner(file.fileno(), path.parent)
    os.replace(copy, path)
    sync(path.parent)
    # The note already has the new mark, so a failure is harmless.
    with contextlib.suppress(OSError):
        live_mark.write_note(path, note)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a file to fill, which gets the name `path` when the block ends.

    Only its owner can read it. Its content is on the disk before it gets the name, and it is
    deleted if the block raises. Raises `BackupRefused` if `path` exists or cannot be written.
    """
    with _sentences(path):
        _refuse_existing(path)
        if not files.keeps_our_names(path.parent):
            with _made_elsewhere(path) as part:
                yield part
            return
        file, name = tempfile.mkstemp(PART, f".{path.name}.", path.parent)
        os.close(file)
        part = Path(name)
        try:
            yield part
            sync(part)
            with _refusing_existing(path):
                files.name_new(part, path)
            sync(path.parent)
        finally:
            _delete_files(part, ("", *COMPANIONS))


def unfinished(folder: Path) -> list[str]:
    """Return sentences about unfinished files, which a killed command has left."""
    return [
        f"{left} is unfinished: a killed command left it, or a running one still writes it. Delete"
        " it if none runs."
        for left in sorted([*folder.glob(f".*{PART}*"), *folder.glob(f"{ROOM}*")])
    ]


@contextlib.contextmanager
def _made_elsewhere(path: Path) -> Iterator[Path]:
    """Do the work of `new_file` in a folder where other users may replace our files."""
    with tempfile.TemporaryDirectory(prefix="timebank-") as room:
        part = Path(room, path.name)
        part.touch(0o600, exist_ok=False)
        yield part
        with part.open("rb") as whole, _refusing_existing(path):
            files.put_new(path, whole)


def _delete_files(path: Path, endings: Iterable[str]) -> None:
    for ending in endings:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise BackupRefused(f"{path} exists already and is not overwritten.")


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
        reason = files.forbidden(path, writes=True)
        raise BackupRefused(reason or f"{path} cannot be written: {error.strerror}.") from error
    except sqlite3.Error as error:
        raise BackupRefused(f"{path} cannot be written: {failures.sentence(error)}.") from error


def _copy(source: Path, target: Path, mode: str = "rw") -> None:
    with (
        contextlib.closing(_connect(source, mode)) as a,
        contextlib.closing(_connect(target)) as b,
    ):
        try:
            # Wait for a lock here, with a limit: `backup` would wait for ever.
            a.execute("BEGIN")
            sqlite.object_names(a)
            sqlite.copy(a, b)
        except sqlite3.DatabaseError as error:
            raise NotCopied(f"{source} cannot be copied: {failures.sentence(error)}.") from error


def _connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    return sqlite.open_file(path, LOCK_SECONDS, mode)


def _audit_copy(database: Database, settings: BankSettings, now: datetime) -> Copied:
    with database.reading(settings, now) as desk:
        return Copied(ledger.count(desk), audit(desk))


@contextlib.contextmanager
def _room_beside(path: Path) -> Iterator[Path]:
    """Make a folder for the copy, and delete what killed restores left: we hold the lock."""
    begins = f".restore-{path.name}-"
    for left in path.parent.glob(f"{glob.escape(begins)}*"):
        shutil.rmtree(left, ignore_errors=True)
    for unnamed in path.parent.glob(f".{glob.escape(path.name)}.replaced-*"):
        unnamed.unlink(missing_ok=True)
    room = Path(tempfile.mkdtemp(prefix=begins, dir=path.parent))
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def make_ready(copy: Database, settings: BankSettings, now: datetime, source: Path) -> int:
    """Upgrade and audit the copy of a backup, and return the number of its transfers.

    `copy` must not be open, and is closed afterwards. Raises `BackupRefused`, and `NotInOrder` if
    the audit finds errors.
    """
    try:
        with contextlib.closing(copy):
            copy.upgrade(alone=True)
            copy.open_existing()
            copy.open()
            audited = _audit_copy(copy, settings, now)
    except (DatabaseRefused, BooksUnavailable, DBAPIError) as error:
        if failures.is_damaged(error.__cause__ or error):
            raise BackupRefused(f"The backup {source} is damaged: restore another one.") from error
        # Name the backup instead of the copy, which the sysop does not know.
        sentence = failures.sentence(error).replace(copy.place, str(source))
        raise BackupRefused(f"{sentence}.") from error
    if audited.findings:
        raise NotInOrder(source, audited.findings)
    return audited.transfers


@contextlib.contextmanager
def _locked_old_books(path: Path) -> Iterator[tuple[BinaryIO, PriorBooks]]:
    """Lock the books to be replaced, and yield their file and their state.

    Another process may have opened the file and wait for the lock, and would write into a file
    without a name. So the header of the old file is wiped before the lock is released, which makes
    SQLite refuse the file.
    """
    # The file is closed last, because closing it drops SQLite's locks on it.
    with (
        path.open("r+b", buffering=0) as old,
        contextlib.closing(_connect(path)) as lock,
    ):
        given = restored_books.prior_by_note(path)
        if _locked_out(lock, path):
            # SQLite has written everything from these files into the database.
            _delete_files(path, COMPANIONS)
            given = given.merged_with(restored_books.prior_by_file(lock, path))
        yield old, given
        if os.fstat(old.fileno()).st_nlink == 0:
            old.seek(0)
            old.write(bytes(HEADER_BYTES))


def _locked_out(lock: sqlite3.Connection, path: Path) -> bool:
    """Take the exclusive lock. Return False for damaged books, which cannot be locked."""
    try:
        sqlite.request_exclusive(lock)
        if not sqlite.object_names(lock):
            return False
        _refuse_other_program(lock, path)
        sqlite.take_exclusive(lock)
    except sqlite3.DatabaseError as error:
        if failures.is_busy(error):
            sentence = f"Another process has {path} open. Close the board, then restore."
            raise BackupRefused(sentence) from error
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


def _refuse_other_program(books: sqlite3.Connection, path: Path) -> None:
    program = sqlite.program_of(books)
    if program != APPLICATION_ID:
        raise BackupRefused(f"{foreign_sentence(path, program)} Move it away first.")


def _put_aside(old: BinaryIO, path: Path, aside: Path) -> None:
    """Copy the old books, and the write-ahead log that damaged ones may still have."""
    files.put_new(aside, old, is_owners=True)
    for ending in COMPANIONS:
        companion = Path(f"{path}{ending}")
        if companion.exists():
            with companion.open("rb") as file:
                files.put_new(Path(f"{aside}{ending}"), file, is_owners=True)
            companion.unlink()
    sync(path.parent)


def _put_log_aside(path: Path, aside: Path) -> None:
    """Rename the files that missing books have left, or SQLite would add them to the copy."""
    for ending in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{ending}", f"{aside}{ending}")
