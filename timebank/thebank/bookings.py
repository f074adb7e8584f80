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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from timebank import files
from timebank.callers import callers, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.errors import NotARecord, Overtaken
from timebank.ledger.database import Desk
from timebank.ledger.reasons import CameIn, TakenOut
from timebank.ledger.schema import stamp
from timebank.ledger.transfers import EXTERNAL, Account, Movement, transfer
from timebank.thebank.format import (
    LONGEST_LINE,
    NOWHERE,
    Position,
    RawLine,
    Record,
    RecordLayout,
    spellings,
)
from timebank.words import MINUTE, span

LONGEST_SHOWN = 120  # characters of a line that is told of
LONGEST_SOURCE = 40


class Import(NamedTuple):
    """A file that is taken over; `path` is where other programs write it."""

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


_SELECT = "SELECT id, path, taken, kept, state, bytes, lines, recent, changed FROM imports"


def open_imports(desk: Desk, path: Path | None) -> list[Import]:
    """List the files that are not closed, oldest first; those of one path, or all of them."""
    found = desk.connection.exec_driver_sql(
        f"{_SELECT} WHERE state <> 'closed' AND (?1 IS NULL OR path = ?1) ORDER BY id",
        (None if path is None else str(path),),
    )
    return [_import(*row) for row in found]


def kept_as(desk: Desk, path: Path) -> int | None:
    """Tell which import a file was read by, when it is the .BAK of one."""
    number: int | None = desk.connection.exec_driver_sql(
        "SELECT id FROM imports WHERE kept = ?", (str(path),)
    ).scalar()
    return number


def begin(desk: Desk, path: Path, taken: Path | None) -> Import:
    """Open the row of a file that nothing was read of, under its path or already `taken`."""
    now = stamp(desk.now)
    state = "reading" if taken is None else "taken"
    if taken is None:
        taken = path.with_name(f"{path.name}.{secrets.token_hex(8)}.taken")
    row = desk.connection.exec_driver_sql(
        "INSERT INTO imports (path, taken, state, bytes, lines, recent, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (str(path), str(taken), state, *_columns(NOWHERE), now),
    )
    return Import(row.lastrowid, path, taken, None, state, NOWHERE, now)


def advance(desk: Desk, old: Import, state: str, kept: Path | None) -> Import:
    """Take a file from one state to the next; raises `Overtaken`."""
    changed = desk.connection.exec_driver_sql(
        "UPDATE imports SET state = ?, kept = ? WHERE id = ? AND state = ? AND bytes = ?",
        (state, None if kept is None else str(kept), old.id, old.state, old.position.offset),
    )
    if changed.rowcount != 1:
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
    run = desk.connection.exec_driver_sql
    known = set(run("SELECT kept FROM imports WHERE kept IS NOT NULL").scalars())
    paths = {os.path.realpath(path) for path in desk.settings.imports}
    paths |= set(run("SELECT path FROM imports").scalars())
    kept_files = [file for path in sorted(paths) for file in _kept_files(Path(path), None)]
    return tuple(file for file in kept_files if str(file) not in known and file.stat().st_size)


def _kept_files(path: Path, number: int | None) -> list[Path]:
    """List the .BAK files of a path: those of one import, or all."""
    which = r"\d+" if number is None else str(number)
    pattern = re.compile(rf"{re.escape(path.name)}\.{which}(-\d+)?\.BAK")
    try:
        return sorted(file for file in path.parent.iterdir() if pattern.fullmatch(file.name))
    except OSError:
        return []


def _holds(place: Path, row: Import) -> bool:
    """Tell whether a file is there and begins with what was read of an import."""
    try:
        with files.opened(place, os.O_RDONLY) as file:
            return row.position.is_in(file)
    except OSError:
        return False


def book(
    desk: Desk, old: Import, lines: Sequence[RawLine], after: Position, layout: RecordLayout
) -> tuple[Import, Booked]:
    """Apply lines that were read at the position of the file, which moves to `after`.

    Each record is one entry. Raises `Overtaken` when the position has moved meanwhile.
    """
    now = stamp(desk.now)
    changed = desk.connection.exec_driver_sql(
        "UPDATE imports SET bytes = ?, lines = ?, recent = ?, changed = ?"
        " WHERE id = ? AND state = ? AND bytes = ?",
        (*_columns(after), now, old.id, old.state, old.position.offset),
    )
    if changed.rowcount != 1:
        raise Overtaken
    applied = came = went = 0
    refused = []
    for line in lines:
        try:
            record = _parse(line, layout)
            if record is None:
                continue
            seconds, transfer_id = _apply(desk, old, line, record)
        except _NotApplied as error:
            refused.append(refuse(desk, old, line, str(error)))
            continue
        desk.connection.exec_driver_sql(
            "INSERT INTO import_lines (import_id, start, line, transfer_id, told)"
            " VALUES (?, ?, ?, ?, 1)",
            (old.id, line.start, line.number, transfer_id),
        )
        applied += 1
        came += max(0, seconds)
        went -= min(0, seconds)
    return old._replace(position=after, changed=now), Booked(applied, came, went, tuple(refused))


def refuse(desk: Desk, old: Import, line: RawLine, reason: str) -> RefusedLine:
    """Note a line that is not applied, to be told of in the .ERR file."""
    text = "" if line.content is None else shown(line.content.decode("cp437"), LONGEST_SHOWN)
    refusal = RefusedLine(old.id, line.start, line.number, reason, text)
    said = f"{old.path.name}, line {line.number} of import {old.id} was refused: {reason}: {text}"
    sysop_log.note(desk, "import", None, said)
    desk.connection.exec_driver_sql(
        "INSERT INTO import_lines (import_id, start, line, reason, text, told)"
        " VALUES (?, ?, ?, ?, ?, 0)",
        refusal,
    )
    return refusal


def untold(desk: Desk, path: Path, limit: int) -> list[RefusedLine]:
    """List refused lines of the files of a path that may not be in the .ERR file, in order."""
    found = desk.connection.exec_driver_sql(
        "SELECT l.import_id, l.start, l.line, l.reason, l.text FROM import_lines l"
        " JOIN imports i ON i.id = l.import_id WHERE l.told = 0 AND i.path = ?"
        " ORDER BY l.import_id, l.start LIMIT ?",
        (str(path), limit),
    )
    return [RefusedLine(*row) for row in found]


def mark_told(desk: Desk, refusals: Iterable[RefusedLine]) -> None:
    """Remember that lines are in the .ERR file."""
    desk.connection.exec_driver_sql(
        "UPDATE import_lines SET told = 1 WHERE import_id = ? AND start = ?",
        [(refusal.import_id, refusal.start) for refusal in refusals],
    )


def shown(text: str, longest: int) -> str:
    """Make text of another program fit for a line of a screen or a log."""
    kept = "".join(letter if letter.isprintable() else " " for letter in text[: longest + 1])
    return kept if len(kept) <= longest else f"{kept[: longest - 3]}..."


class _NotApplied(Exception):
    """Why a line is not applied, for the sysop."""


def _parse(line: RawLine, layout: RecordLayout) -> Record | None:
    if line.content is None:
        raise _NotApplied(f"it is longer than {LONGEST_LINE} bytes")
    try:
        return layout.parse_record(line.content)
    except NotARecord as error:
        raise _NotApplied(str(error)) from error


def _apply(desk: Desk, file: Import, line: RawLine, record: Record) -> tuple[int, int]:
    """Move the minutes of a record and tell their owner; returns seconds, signed, and transfer."""
    caller = _owner(desk, record.name)
    number, balance = desk.connection.exec_driver_sql(
        "SELECT id, balance FROM accounts"
        " WHERE caller_id = ? AND kind = 'bank' AND unit = 'second'",
        (caller.id,),
    ).one()
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
        number = _move(desk, EXTERNAL, bank, seconds, CameIn(*origin))
        add_notice(desk, caller.id, f"{span(seconds)} came in from {source}.")
    else:
        if balance + seconds < 0:
            raise _NotApplied(f"the account holds only {span(balance)}")
        number = _move(desk, bank, EXTERNAL, -seconds, TakenOut(*origin))
        add_notice(desk, caller.id, f"{source} took {span(-seconds)} out of your account.")
    return seconds, number


def _move(
    desk: Desk, source: Account, target: Account, amount: int, reason: CameIn | TakenOut
) -> int:
    (row,) = transfer(desk, [Movement(source, target, amount, reason, None, None)])
    return row.number


def _owner(desk: Desk, name: str) -> CallerRecord:
    """Find whose account a record is for, however the name is written."""
    for spelling in spellings(name):
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


def _columns(position: Position) -> tuple[int, int, str]:
    return position.offset, position.lines, position.recent


def _import(
    number: int,
    path: str,
    taken: str,
    kept: str | None,
    state: str,
    offset: int,
    lines: int,
    recent: str,
    changed: int,
) -> Import:
    position = Position(offset, lines, recent)
    where = None if kept is None else Path(kept)
    return Import(number, Path(path), Path(taken), where, state, position, changed)
