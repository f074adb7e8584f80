"""The number of transactions in the books, and a small file that remembers it.

Every transaction adds one to a count in the books. After the COMMIT its process writes the count
into the file `board.sqlite3.high-water`, without a sync. If the count in the books is lower than
the count in the file, the books have lost their end: the log was removed after a kill, or an older
copy replaced the books.

The count in the file is never too high, because it is written after the COMMIT is on the disk. A
killed process loses none of its writes. After a power loss the count may be too low, or missing.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Integer, bindparam, select

from timebank import files
from timebank.ledger.schema import identity
from timebank.ledger.sql import Prepared, Reader, greatest, insert_or_change, parameters, value

_COMMITS = identity.c.commits
# Adds one, also in books that were never served and have no mark yet.
_ADD_ONE: Reader[int] = value(
    lambda: insert_or_change(
        identity, {"id": 1, "mark": "", "commits": 1}, commits=_COMMITS + 1
    ).returning(_COMMITS)
)
_GO_ON = Prepared(
    lambda: insert_or_change(
        identity,
        {"id": 1, "mark": "", **parameters("commits")},
        commits=greatest(_COMMITS, bindparam("commits", type_=Integer)),
    )
)
_COUNT: Reader[int] = value(lambda: select(_COMMITS))
# A record is the count, its checksum and a line feed. It never crosses the border of a sector.
RECORD_BYTES: Final = 32
# Counts are written to the records in turn, so a late process overwrites no newer count. The
# highest record is valid.
RECORDS: Final = 64
DIGITS: Final = 20


def file_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.high-water")


def count_transaction(connection: Connection) -> int:
    """Add one to the count of the books in the open transaction, and return the count."""
    return _ADD_ONE.one(connection)


def read_count(connection: Connection) -> int:
    return _COUNT.first(connection) or 0


def raise_count(connection: Connection, number: int) -> None:
    """Raise the count of the books to `number` if it is lower, as after a restore."""
    _GO_ON(connection, commits=number)


def read(path: Path) -> int:
    """Return the highest count in the file of the books at `path`, 0 without one.

    Read it before the count in the books, which may grow meanwhile. Raises `OSError`.
    """
    try:
        text = file_path(path).read_bytes()
    except FileNotFoundError:
        return 0
    starts = range(0, min(len(text), RECORDS * RECORD_BYTES), RECORD_BYTES)
    highest_first = sorted((text[start : start + RECORD_BYTES] for start in starts), reverse=True)
    return next(filter(None, map(_number, highest_first)), 0)


def has_noted(path: Path, number: int) -> bool:
    """Return whether the file has exactly this count, one of the latest. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError), file_path(path).open("rb") as file:
        return os.pread(file.fileno(), RECORD_BYTES, _place(number)) == _record(number)
    return False


def lost_end(connection: Connection, noted: int, path: Path) -> str | None:
    """Return a sentence if the books lack transactions up to count `noted`, otherwise None.

    `noted` must be read before this transaction began. The sentence has no full stop.
    """
    missing = noted - read_count(connection)
    if missing <= 0:
        return None
    what = "the last transaction" if missing == 1 else f"the last {missing} transactions"
    return f"{path.name} has lost its end, {what}"


class HighWater:
    """The high-water file of a process that writes into the books."""

    def __init__(self, path: Path) -> None:
        """Set the path of the books; the first `note` opens the file."""
        self._name = file_path(path)
        self._file: int | None = None
        self._taking_turns = threading.Lock()
        # The highest count noted since the books were opened.
        self.highest = 0

    def note(self, number: int) -> None:
        """Write a count whose COMMIT is on the disk; raises `OSError`."""
        with self._taking_turns:
            file = self._opened()
            self.highest = max(self.highest, number)
            os.pwrite(file, _record(number), _place(number))

    def close(self) -> None:
        """Close the file; the next `note` opens it again, perhaps for other books."""
        with self._taking_turns:
            self.highest = 0
            self._close()

    def _opened(self) -> int:
        if self._file is not None and not os.fstat(self._file).st_nlink:
            self._close()  # the file was removed
        if self._file is None:
            self._file = os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not os.fstat(self._file).st_size:  # new
                files.give_to_owner(self._file, self._name.parent)
        return self._file

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                os.close(file)


def _place(number: int) -> int:
    return number % RECORDS * RECORD_BYTES


def _record(number: int) -> bytes:
    text = f"{number:0{DIGITS}}"
    return f"{text} {zlib.crc32(text.encode()):08x}".encode().ljust(RECORD_BYTES - 1) + b"\n"


def _number(record: bytes) -> int:
    digits = record[:DIGITS]
    if not digits.isdigit():
        return 0
    number = int(digits)
    return number if record == _record(number) else 0
