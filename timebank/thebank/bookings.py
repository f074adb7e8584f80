"""What the books know of files that are taken over: how far each was read, and what came of it.

One row of `imports` for each file, whatever name it has at the moment:

    reading -> taking -> taken -> keeping -> kept -> closed

`reading`: it stands where it was written, its last line not yet ended. `taking`: it is about to be
renamed to `taken`, or just was. `taken`: it has that name, which no other file ever had. `keeping`:
it is about to be renamed to `kept`, its .BAK, or just was. `kept`: all of it is in the books; a
program that still had it open may yet add lines. `closed`: nobody looks at it any more.

`book` moves the position of a file forward in the same transaction as the minutes, and only from
the position at which the lines were read. That is why no line is ever booked twice.
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

LONGEST_SHOWN = 120  # characters of a line that is told of
LONGEST_SOURCE = 40


class Import(NamedTuple):
    id: int
    path: Path
    taken: Path
    kept: Path | None
    state: str
    position: Position
    # When it was taken over, or last had new lines: whole seconds since 1970.
    changed: int

    @property
    def place(self) -> Path:
        """Where the file is now, unless a rename was cut short."""
        if self.state in ("kept", "keeping") and self.kept is not None:
            return self.kept
        return self.path if self.state == "reading" else self.taken


class RefusedLine(NamedTuple):
    """A line that was not applied: its number in the file, why, and the line fit for showing."""

    import_id: int
    start: int
    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class Booked:
    """What came of some lines: records applied, seconds that came in and went out, refusals."""

    applied: int
    came: int
    went: int
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
        kept = None if self.kept is None else Path(self.kept)
        places = (Path(self.path), Path(self.taken), kept)
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
_KEPT_AS: Reader[int] = value(lambda: select(_IMPORT.id).where(equal(_IMPORT.kept)))
_KEPT: Reader[str] = value(lambda: select(_IMPORT.kept).where(_IMPORT.kept.is_not(None)))
_PATHS: Reader[str] = value(lambda: select(_IMPORT.path))
_BEGIN = Prepared(lambda: sql.insert_into(imports, "path taken state bytes lines recent changed"))


def _as_it_was() -> ColumnElement[bool]:
    """Choose an import as long as nobody has gone on with it."""
    was = (_IMPORT.state == bindparam("old_state"), _IMPORT.bytes == bindparam("old_bytes"))
    return and_(equal(_IMPORT.id), *was)


_ADVANCE = Prepared(lambda: change(imports, "state kept", _as_it_was()))
_BOOK = Prepared(lambda: change(imports, "bytes lines recent changed", _as_it_was()))
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
    found = _OPEN.all(desk.connection, path=None if path is None else str(path))
    return [row.read() for row in found]


def kept_as(desk: Desk, path: Path) -> int | None:
    return _KEPT_AS.first(desk.connection, kept=str(path))


def begin(desk: Desk, path: Path, taken: Path | None) -> Import:
    """Open the row of a file that nothing was read of, under its path or already `taken`."""
    now = stamp(desk.now)
    state = "reading" if taken is None else "taken"
    if taken is None:
        taken = path.with_name(f"{path.name}.{secrets.token_hex(8)}.taken")
    row = {"path": str(path), "taken": str(taken), "state": state, "changed": now}
    number = _BEGIN.number(desk.connection, **row, **_columns(NOWHERE))
    return Import(number, path, taken, None, state, NOWHERE, now)


def advance(desk: Desk, old: Import, state: str, kept: Path | None) -> Import:
    now = {"state": state, "kept": None if kept is None else str(kept)}
    if _ADVANCE(desk.connection, **now, **_known(old)).rowcount != 1:
        raise Overtaken
    return old._replace(state=state, kept=kept)


def find_again(desk: Desk) -> tuple[Path, ...]:
    """Look where files have gone that the books have open, after these were restored.

    A file that was taken further since is a .BAK now: what these books have not read of it yet is
    read there. Returns the .BAK files that these books know nothing of: other books have read them.
    """
    for row in open_imports(desk, None):
        if row.state in ("kept", "keeping") or _holds(row.place, row):
            continue
        if row.state == "taking" and _holds(row.path, row):
            continue
        kept = next((file for file in _kept_files(row.path, row.id) if _holds(file, row)), None)
        if row.position.offset and kept is not None:
            advance(desk, row, "kept", kept)
        elif row.state != "reading":
            advance(desk, row, "closed", None)
    if desk.settings.mode != "built-in":
        return ()
    known = set(_KEPT.all(desk.connection))
    paths = {str(files.place_of(path)) for path in desk.settings.imports}
    paths |= set(_PATHS.all(desk.connection))
    kept_files = [file for path in sorted(paths) for file in _kept_files(Path(path), None)]
    return tuple(file for file in kept_files if str(file) not in known and os.lstat(file).st_size)


def _kept_files(path: Path, number: int | None) -> list[Path]:
    which = r"\d+" if number is None else str(number)
    pattern = re.compile(rf"{re.escape(path.name)}\.{which}(-\d+)?\.BAK")
    try:
        return sorted(file for file in path.parent.iterdir() if pattern.fullmatch(file.name))
    except OSError:
        return []


def _holds(place: Path, row: Import) -> bool:
    try:
        with files.opened(place, os.O_RDONLY) as file:
            return row.position.is_in(file)
    except OSError:
        return False


def book(
    desk: Desk, old: Import, lines: Sequence[RawLine], after: Position
) -> tuple[Import, Booked]:
    """Apply lines that were read at the position of the file, which moves to `after`.

    Each record is one entry. Raises `Overtaken` when the position has moved meanwhile.
    """
    now = stamp(desk.now)
    changed = _BOOK(desk.connection, **_columns(after), changed=now, **_known(old))
    if changed.rowcount != 1:
        raise Overtaken
    applied = came = went = 0
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
        came += max(0, seconds)
        went -= min(0, seconds)
    return old._replace(position=after, changed=now), Booked(applied, came, went, tuple(refused))


def refuse(desk: Desk, old: Import, line: RawLine, reason: str) -> RefusedLine:
    """Note a line that is not applied, in the sysop's log too."""
    text = "" if line.content is None else shown(line.content.decode("cp437"), LONGEST_SHOWN)
    refusal = RefusedLine(old.id, line.start, line.number, reason, text)
    said = f"{old.path.name}, line {line.number} of import {old.id} was refused: {reason}: {text}"
    sysop_log.note(desk, "import", None, said)
    _REFUSED(desk.connection, **refusal._asdict())
    return refusal


def shown(text: str, longest: int) -> str:
    kept = "".join(letter if letter.isprintable() else " " for letter in text[: longest + 1])
    return kept if len(kept) <= longest else f"{kept[: longest - 3]}..."


class _NotApplied(Exception):
    """Why a line is not applied, for the sysop."""


def _parse(line: RawLine) -> Record | None:
    if line.content is None:
        raise _NotApplied(f"it is longer than {format.LONGEST_LINE} bytes")
    try:
        return format.parse_record(line.content)
    except NotARecord as error:
        raise _NotApplied(str(error)) from error


def _apply(desk: Desk, file: Import, line: RawLine, record: Record) -> tuple[int, int]:
    """Move the minutes of a record and tell their owner; returns seconds, signed, and transfer."""
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
        raise _NotApplied(f"nobody here is called {shown(name, LONGEST_SOURCE)}")
    if caller.frozen:
        raise _NotApplied(f"the account of {caller.name} is frozen")
    if desk.settings.is_barred(caller.name):
        raise _NotApplied(f"{caller.name} may not use the bank")
    return caller


def _columns(position: Position) -> dict[str, object]:
    return {"bytes": position.offset, "lines": position.lines, "recent": position.recent}


def _known(file: Import) -> dict[str, object]:
    return {"id": file.id, "old_state": file.state, "old_bytes": file.position.offset}
