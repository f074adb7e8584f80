"""The books' record of imported files: how far each was read, and the outcome of each line.

Each file has one row in `imports`, under whatever name the file has:

    reading -> taking -> taken -> keeping -> kept -> closed

- `reading`: the file has its original name, and its last line has no end yet.
- `taking`: it is being renamed to `taken`.
- `taken`: it has that name, which no other file ever had.
- `keeping`: it is being renamed to its .BAK name.
- `kept`: all of it is in the books. A program that still has it open may add lines.
- `closed`: it is no longer read.

`book` moves the position of a file forward in the same transaction as the minutes, and only from
the position at which the lines were read. So no line is ever booked twice.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import ColumnElement, Text, and_, bindparam, or_, select

from timebank import files
from timebank.callers import callers, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import Amount, add_notice
from timebank.errors import NotARecord, Overtaken
from timebank.language import N_
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.reasons import CameIn, TakenOut
from timebank.ledger.schema import accounts, import_lines, imports, stamp
from timebank.ledger.sql import Prepared, Reader, change, equal, value
from timebank.ledger.transfers import EXTERNAL, Account, Movement, transfer
from timebank.thebank import format
from timebank.thebank.format import NOWHERE, Position, RawLine, Record
from timebank.words import MINUTE, span

LONGEST_SHOWN = 120  # characters of a refused line
LONGEST_SOURCE = 40


class Import(NamedTuple):
    """A file that is imported: its row in `imports`."""

    id: int
    path: Path
    taken: Path
    # Its .BAK name; None before it has one.
    backup: Path | None
    state: str
    position: Position
    # When it was taken over, or last had new lines: seconds since 1970.
    changed: int

    @property
    def place(self) -> Path:
        """Where the file is now, unless a rename was interrupted."""
        if self.state in ("kept", "keeping") and self.backup is not None:
            return self.backup
        return self.path if self.state == "reading" else self.taken


class RefusedLine(NamedTuple):
    """A line that was not applied: its number in the file, the reason, and its printable text."""

    import_id: int
    start: int
    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class BookedLines:
    """The outcome of some lines: the number of records applied, seconds moved, and refusals."""

    applied: int
    seconds_in: int
    seconds_out: int
    refused: tuple[RefusedLine, ...]


class _Row(NamedTuple):
    id: int
    path: str
    taken: str
    kept: str | None
    state: str
    bytes: int
    lines: int
    recent: str
    changed: int

    def read(self) -> Import:
        position = Position(self.bytes, self.lines, self.recent)
        backup = None if self.kept is None else Path(self.kept)
        places = (Path(self.path), Path(self.taken), backup)
        return Import(self.id, *places, self.state, position, self.changed)


_IMPORT, _LINE, _BANK = imports.c, import_lines.c, accounts.c
_PATH = bindparam("path", type_=Text)
_OPEN = sql.read(
    _Row,
    lambda: (
        sql.fields_of(_Row, imports)
        .where(_IMPORT.state != "closed", or_(_PATH.is_(None), _IMPORT.path == _PATH))
        .order_by(_IMPORT.id)
    ),
)
_BACKUP_OWNER: Reader[int] = value(lambda: select(_IMPORT.id).where(equal(_IMPORT.kept)))
_BACKUPS: Reader[str] = value(lambda: select(_IMPORT.kept).where(_IMPORT.kept.is_not(None)))
_PATHS: Reader[str] = value(lambda: select(_IMPORT.path))
_BEGIN = Prepared(lambda: sql.insert_into(imports, "path taken state bytes lines recent changed"))


def _is_unchanged() -> ColumnElement[bool]:
    """Select an import if no other process has continued it since it was read."""
    before = (_IMPORT.state == bindparam("old_state"), _IMPORT.bytes == bindparam("old_bytes"))
    return and_(equal(_IMPORT.id), *before)


_ADVANCE = Prepared(lambda: change(imports, "state kept", _is_unchanged()))
_BOOK = Prepared(lambda: change(imports, "bytes lines recent changed", _is_unchanged()))
_APPLIED = Prepared(
    lambda: sql.insert_into(import_lines, "import_id start line transfer_id", told=1)
)
_REFUSED = Prepared(lambda: sql.insert_into(import_lines, " ".join(RefusedLine._fields), told=1))
_ACCOUNT = Prepared(
    lambda: select(_BANK.id, _BANK.balance).where(
        equal(_BANK.caller_id), _BANK.kind == "bank", _BANK.unit == "second"
    )
)


def open_imports(desk: Desk, path: Path | None) -> list[Import]:
    """Return the imports of files at `path`, or of all files, that are not closed."""
    rows = _OPEN.all(desk.connection, path=None if path is None else str(path))
    return [row.read() for row in rows]


def import_of_backup(desk: Desk, path: Path) -> int | None:
    """Return the number of the import whose .BAK file is `path`; None if there is none."""
    return _BACKUP_OWNER.first(desk.connection, kept=str(path))


def begin(desk: Desk, path: Path, taken: Path | None) -> Import:
    """Open the row of an unread file, which has its original name or the name `taken`."""
    now = stamp(desk.now)
    state = "reading" if taken is None else "taken"
    if taken is None:
        taken = path.with_name(f"{path.name}.{secrets.token_hex(8)}.taken")
    row = {"path": str(path), "taken": str(taken), "state": state, "changed": now}
    number = _BEGIN.insert(desk.connection, **row, **_columns(NOWHERE))
    return Import(number, path, taken, None, state, NOWHERE, now)


def advance(desk: Desk, old: Import, state: str, backup: Path | None) -> Import:
    """Change the state and the .BAK name of an import.

    Raises `Overtaken` if another process has continued it.
    """
    now = {"state": state, "kept": None if backup is None else str(backup)}
    if _ADVANCE(desk.connection, **now, **_expected(old)).rowcount != 1:
        raise Overtaken
    return old._replace(state=state, backup=backup)


def relocate_files(desk: Desk) -> tuple[Path, ...]:
    """Find the files of open imports after the books were restored.

    A file that the replaced books finished is a .BAK now. These books read the rest of it there.
    Return the .BAK files that are unknown to these books: other books have read them.
    """
    for row in open_imports(desk, None):
        if row.state in ("kept", "keeping") or _contains(row.place, row):
            continue
        if row.state == "taking" and _contains(row.path, row):
            continue
        backups = _backup_files(row.path, row.id)
        backup = next((file for file in backups if _contains(file, row)), None)
        if row.position.offset and backup is not None:
            advance(desk, row, "kept", backup)
        elif row.state != "reading":
            advance(desk, row, "closed", None)
    if desk.settings.mode != "built-in":
        return ()
    known = set(_BACKUPS.all(desk.connection))
    paths = {str(files.place_of(path)) for path in desk.settings.imports}
    paths |= set(_PATHS.all(desk.connection))
    backups = [file for path in sorted(paths) for file in _backup_files(Path(path), None)]
    return tuple(file for file in backups if str(file) not in known and os.lstat(file).st_size)


def _backup_files(path: Path, number: int | None) -> list[Path]:
    """Return the .BAK files of a path, of one import or of all."""
    digits = r"\d+" if number is None else str(number)
    pattern = re.compile(rf"{re.escape(path.name)}\.{digits}(-\d+)?\.BAK")
    try:
        return sorted(file for file in path.parent.iterdir() if pattern.fullmatch(file.name))
    except OSError:
        return []


def _contains(place: Path, row: Import) -> bool:
    try:
        with files.opened(place, os.O_RDONLY) as file:
            return row.position.is_in(file)
    except OSError:
        return False


def book(
    desk: Desk, old: Import, lines: Sequence[RawLine], after: Position
) -> tuple[Import, BookedLines]:
    """Apply the next lines of a file, and move its position to `after`.

    Each record is one entry. Raises `Overtaken` if another process moved the position meanwhile.
    """
    now = stamp(desk.now)
    changed = _BOOK(desk.connection, **_columns(after), changed=now, **_expected(old))
    if changed.rowcount != 1:
        raise Overtaken
    applied = seconds_in = seconds_out = 0
    refused = []
    for line in lines:
        try:
            record = _parse(line)
            if record is None:
                continue
            seconds, transfer_id = _apply(desk, old, line, record)
        except _NotApplied as error:
            refused.append(refuse(desk, old, line, str(error)))
            continue
        place = {"import_id": old.id, "start": line.start, "line": line.number}
        _APPLIED(desk.connection, **place, transfer_id=transfer_id)
        applied += 1
        seconds_in += max(0, seconds)
        seconds_out -= min(0, seconds)
    outcome = BookedLines(applied, seconds_in, seconds_out, tuple(refused))
    return old._replace(position=after, changed=now), outcome


def refuse(desk: Desk, old: Import, line: RawLine, reason: str) -> RefusedLine:
    """Note a line that is not applied in the books and in the sysop's log."""
    text = "" if line.content is None else shown(line.content.decode("cp437"), LONGEST_SHOWN)
    refusal = RefusedLine(old.id, line.start, line.number, reason, text)
    words = f"{old.path.name}, line {line.number} of import {old.id} was refused: {reason}: {text}"
    sysop_log.note(desk, "import", None, words)
    _REFUSED(desk.connection, **refusal._asdict())
    return refusal


def shown(text: str, longest: int) -> str:
    """Return a text without control characters, of at most `longest` characters."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text[: longest + 1])
    return clean if len(clean) <= longest else f"{clean[: longest - 3]}..."


class _NotApplied(Exception):
    """A line is not applied. `str()` is the reason, for the sysop."""


def _parse(line: RawLine) -> Record | None:
    if line.content is None:
        raise _NotApplied(f"it is longer than {format.LONGEST_LINE} bytes")
    try:
        return format.parse_record(line.content)
    except NotARecord as error:
        raise _NotApplied(str(error)) from error


def _apply(desk: Desk, file: Import, line: RawLine, record: Record) -> tuple[int, int]:
    """Move the minutes of a record, and leave their owner a notice.

    Return the seconds, negative if they left the account, and the number of the transfer.
    """
    caller = _owner(desk, record.name)
    number, balance = _ACCOUNT(desk.connection, caller_id=caller.id).one()
    bank = Account(number, "bank", "second")
    seconds = record.minutes * MINUTE
    source = shown(record.source, LONGEST_SOURCE) or "an unnamed program"
    origin = (source, file.path.name, line.number, file.id, record.number)
    if seconds == 0:
        raise _NotApplied("it moves no minutes")
    if seconds > 0:
        most = desk.settings.limits.balance
        if balance + seconds > most:
            raise _NotApplied(f"the account holds {span(balance)}, and {span(most)} is the most")
        moved = Movement(EXTERNAL, bank, seconds, CameIn(*origin), None, None)
        came = N_("{amount} came into your time bank from {program}.")
        add_notice(desk, caller.id, came, amount=Amount(seconds), program=source)
    else:
        if balance + seconds < 0:
            raise _NotApplied(f"the account holds only {span(balance)}")
        moved = Movement(bank, EXTERNAL, -seconds, TakenOut(*origin), None, None)
        went = N_("{program} took {amount} out of your time bank.")
        add_notice(desk, caller.id, went, amount=Amount(-seconds), program=source)
    (row,) = transfer(desk, [moved])
    return seconds, row.number


def _owner(desk: Desk, name: str) -> CallerRecord:
    for spelling in format.spellings(name):
        caller = callers.find(desk, spelling)
        if caller is not None:
            break
    else:
        raise _NotApplied(f"no caller here is called {shown(name, LONGEST_SOURCE)}")
    if caller.frozen:
        raise _NotApplied(f"the account of {caller.name} is frozen")
    if desk.settings.is_barred(caller.name):
        raise _NotApplied(f"{caller.name} may not use the bank")
    return caller


def _columns(position: Position) -> dict[str, object]:
    return {"bytes": position.offset, "lines": position.lines, "recent": position.recent}


def _expected(file: Import) -> dict[str, object]:
    return {"id": file.id, "old_state": file.state, "old_bytes": file.position.offset}
