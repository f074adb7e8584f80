"""The mark that distinguishes the books from a copy that was put in their place.

The books contain a random mark, and so does a small file next to them (`board.sqlite3.mark`). The
process that serves changes both when it starts and every `RENEW_SECONDS`. So an earlier copy has a
mark that the mark file does not accept. A backup is also marked as a copy. The mark file has the
highest row numbers too, which an older copy does not know.

A change is safe at every moment. First the mark file accepts the old mark and the new one, then the
new mark is committed, and then the mark file accepts the new mark alone.
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

# The interval between changes. A younger copy of served books cannot be distinguished from them.
RENEW_SECONDS = 600.0
# The mark of books before they are served for the first time.
UNMARKED = ""


@dataclass(frozen=True)
class Note:
    """The content of the mark file.

    `marks` are the accepted marks of the books. `at` is the time of writing in whole seconds since
    1970. `generation` and `numbers` are the highest generation and row numbers at that time.
    """

    marks: list[str]
    at: int
    generation: int
    numbers: dict[str, int]


def file_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.mark")


def read_note(path: Path) -> Note | None:
    """Return the content of the mark file; None if it is missing or damaged.

    Raises `OSError` if it cannot be read.
    """
    try:
        text = file_path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        note = Note(**json.loads(text))
        is_valid = all(isinstance(mark, str) for mark in note.marks) and all(
            isinstance(number, int) for number in (note.at, note.generation, *note.numbers.values())
        )
    except (ValueError, TypeError, AttributeError):
        return None
    return note if is_valid else None


def write_note(path: Path, note: Note) -> None:
    """Replace the mark file at once and sync it; raises `OSError`."""
    files.replace(file_path(path), json.dumps(asdict(note)).encode())


def new_mark() -> str:
    return secrets.token_hex(8)


_MARK: Reader[str] = value(lambda: select(identity.c.mark))
_COPIED: Reader[int] = value(lambda: select(identity.c.copied))
# For connections of the bare driver.
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
    """Return why the books at `path` are not the ones that were served last, None if they are.

    `note` is the content of the mark file. The sentence has no full stop.
    """
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
    """Change the mark of the books in this transaction; call `settle` after its COMMIT.

    The books must have no `mismatch`. Raises `OSError` before any change.
    """
    mark = new_mark()
    write_note(path, note_of(connection, [mark_of(connection), mark], now))
    set_mark(connection, mark, None)


def settle(connection: Connection, path: Path, now: datetime) -> None:
    """Make the mark file accept the mark of the books alone, in a transaction that may write.

    Raises `OSError`.
    """
    write_note(path, note_of(connection, [mark_of(connection)], now))
