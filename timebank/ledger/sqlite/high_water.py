"""How far the books have come: a count in them, and a small file beside them that remembers it.

Every transaction adds one to a count in the books. After its COMMIT the count is written into a
file (`board.sqlite3.high-water`), by any process, without a sync. Books whose count is lower than
the file says have lost their end: their log was removed after a kill, or an older copy was put in
their place.

The file never says too much. It is written after the COMMIT is on the disk, and a process that is
killed leaves what it wrote to the system. After a power loss it may say too little, or be gone.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Integer, bindparam, select

from timebank.ledger.schema import identity
from timebank.ledger.sql import Prepared, Reader, greatest, insert_or_change, parameters, value

_COMMITS = identity.c.commits
# Adds one, also in books that were never served from and have no mark yet.
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
# A record is the count, its checksum, and the end of a line. No sector cuts one in two.
RECORD_BYTES: Final = 32
# Counts take turns at the records. So a process that is late overwrites nothing that is newer,
# and the highest record counts.
RECORDS: Final = 64
DIGITS: Final = 20


def file_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.high-water")


def count_transaction(connection: Connection) -> int:
    """Add one to the count of the books, in the open transaction; returns it."""
    return _ADD_ONE.one(connection)


def read_count(connection: Connection) -> int:
    return _COUNT.first(connection) or 0


def raise_count(connection: Connection, number: int) -> None:
    """Let the books count from `number` at least, as restored ones must."""
    _GO_ON(connection, commits=number)


def read(path: Path) -> int:
    """Tell the highest count that was noted beside the books at `path`, 0 where none was.

    To be read before the books are: they may go on meanwhile. Raises `OSError`.
    """
    try:
        text = file_path(path).read_bytes()
    except FileNotFoundError:
        return 0
    starts = range(0, min(len(text), RECORDS * RECORD_BYTES), RECORD_BYTES)
    highest_first = sorted((text[start : start + RECORD_BYTES] for start in starts), reverse=True)
    return next(filter(None, map(_number, highest_first)), 0)


def has_noted(path: Path, number: int) -> bool:
    """Return whether somebody has noted this very number, one of the last. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError), file_path(path).open("rb") as file:
        return os.pread(file.fileno(), RECORD_BYTES, _place(number)) == _record(number)
    return False


def lost_end(connection: Connection, noted: int, path: Path) -> str | None:
    """Tell what the books lack of `noted`, which was read before their transaction began."""
    missing = noted - read_count(connection)
    if missing <= 0:
        return None
    what = "the last transaction" if missing == 1 else f"the last {missing} transactions"
    return f"{path.name} has lost its end, {what}"


class HighWater:
    """The file beside the books, as a process that writes into them has it."""

    def __init__(self, path: Path) -> None:
        """Name the books; nothing is opened before the first `note`."""
        self._name = file_path(path)
        self._file: int | None = None
        self._taking_turns = threading.Lock()
        # The highest count that was noted since the books were opened.
        self.highest = 0

    def note(self, number: int) -> None:
        """Write down a count that is in the books for good; raises `OSError`."""
        with self._taking_turns:
            file = self._opened()
            self.highest = max(self.highest, number)
            os.pwrite(file, _record(number), _place(number))

    def close(self) -> None:
        """Close the file; the next `note` opens it again, perhaps beside other books."""
        with self._taking_turns:
            self.highest = 0
            self._close()

    def _opened(self) -> int:
        if self._file is not None and not os.fstat(self._file).st_nlink:
            self._close()  # somebody has removed it
        if self._file is None:
            self._file = os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
