"""The mark by which the books are told from a copy of them that was put in their place.

The books hold a random mark, and so does a small file beside them (`board.sqlite3.mark`). Whoever
serves from the books changes both when it begins and every `RENEW_SECONDS`, so a file that was
copied earlier has a mark that the file beside it no longer knows. A backup also says of itself
that it is a copy. The file beside them knows the highest numbers that were given, too: they are
not in a copy that is older.

A change is safe at every instant: the file first accepts the old mark and the new one, then the new
one is committed, then the file accepts that alone.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select

from timebank import files
from timebank.ledger import generations
from timebank.ledger.schema import identity, instant, stamp
from timebank.ledger.sql import Prepared, Reader, columns_of, insert_or_change, parameters, value

RENEW_SECONDS = 600.0  # how young a copy of running books may be that nobody tells from them
# What books have in the place of a mark before they are served for the first time.
UNMARKED = ""


@dataclass(frozen=True)
class Note:
    """What the file beside the books says.

    `marks` are those that the books may have; `at` is when it was written (whole seconds since
    1970), `generation` and `numbers` what had been given by then.
    """

    marks: list[str]
    at: int
    generation: int
    numbers: dict[str, int]


def file_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.mark")


def read_note(path: Path) -> Note | None:
    """Read the file beside the books; None where there is none that makes sense.

    Raises `OSError` when there may be one, and it cannot be read.
    """
    try:
        text = file_path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
        note = Note(**found)
        sane = all(isinstance(mark, str) for mark in note.marks) and all(
            isinstance(number, int) for number in (note.at, note.generation, *note.numbers.values())
        )
    except (ValueError, TypeError, AttributeError):
        return None
    return note if sane else None


def write_note(path: Path, note: Note) -> None:
    """Put the file beside the books, whole and on the disk; raises `OSError`."""
    files.replace(file_path(path), json.dumps(asdict(note)).encode())


def new_mark() -> str:
    return secrets.token_hex(8)


_MARK: Reader[str] = value(lambda: select(identity.c.mark))
_COPIED: Reader[int] = value(lambda: select(identity.c.copied))
# For files that the driver alone has open.
IDENTITY = Prepared(lambda: select(*columns_of(identity, "mark copied commits")))
MARK_AS_COPY = Prepared(
    lambda: insert_or_change(
        identity, {"id": 1, "mark": UNMARKED, **parameters("copied")}, **parameters("copied")
    )
)
_SET = Prepared(
    lambda: insert_or_change(
        identity, {"id": 1, **parameters("mark copied")}, **parameters("mark copied")
    )
)


def mark_of(connection: Connection) -> str:
    return _MARK.first(connection) or UNMARKED


def copied_at(connection: Connection) -> int | None:
    return _COPIED.first(connection)


def set_mark(connection: Connection, mark: str, copied: int | None) -> None:
    _SET(connection, mark=mark, copied=copied)


def note_of(connection: Connection, marks: list[str], now: datetime) -> Note:
    numbers = generations.last_numbers(connection)
    return Note(marks, stamp(now), generations.current(connection), numbers)


def mismatch(connection: Connection, note: Note | None, path: Path) -> str | None:
    copied, mark = copied_at(connection), mark_of(connection)
    if copied is not None:
        return f"{path.name} is a copy, taken on {instant(copied):%Y-%m-%d at %H:%M} UTC"
    if note is None:
        missing = f"{file_path(path).name} is missing or damaged"
        return None if mark == UNMARKED else f"{missing}, which only the books themselves have"
    if mark not in note.marks:
        return f"{path.name} is not the file that was served last, or an older state of it"
    return None


def renew(connection: Connection, path: Path, now: datetime) -> None:
    """Give the books another mark, in this transaction; `settle` follows its COMMIT.

    Only for books of which there is no `doubt`. Raises `OSError`; nothing has changed then.
    """
    mark = new_mark()
    write_note(path, note_of(connection, [mark_of(connection), mark], now))
    set_mark(connection, mark, None)


def settle(connection: Connection, path: Path, now: datetime) -> None:
    """Have the file accept the mark of the books alone, while nobody else writes; `OSError`."""
    write_note(path, note_of(connection, [mark_of(connection)], now))
