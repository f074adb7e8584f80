"""Whether somebody else has written into the files of the books that are open, or cut one off.

`cp` and `>` keep the file and change what is in it, so its name tells nothing. SQLite takes what it
finds for its own, and spoils the rest with it. But all who use the books by SQLite leave traces in
the index of the log, which they share (https://sqlite.org/walformat.html):

- The database is written by checkpoints alone. The index counts what they have carried over, and
  before they begin, how far they mean to come. While neither has moved, no byte may have.
- The log holds as many frames as the index counts, each with a running checksum, and the index
  knows the last. Frames that count are never written again before the log begins anew, with other
  salts.
- What the log does not hold is in the database. So with all of the log carried over, its count of
  transactions (high_water.py) is the last that was noted; and it is never lower than it was.

So nothing that SQLite does in any process can look like this. What is looked at is little: of the
database its size, its first page, and the page with the count, which every transaction changes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, TypeVar

from timebank.errors import LogUnreadable
from timebank.ledger.sqlite import high_water, wal

# What is wrong is looked at again before anybody is told; what is right is seen at once.
LOOKS = 4
AGAIN_SECONDS = 0.02

T = TypeVar("T")
Identity = tuple[int, int]
MAGIC = b"SQLite format 3\0"
# What the page of the count begins with: a leaf of a table, with one row (sqlite.org/fileformat).
LEAF, ROWS_AT, FIRST_ROW_AT = 0x0D, 3, 8
BYTES_OF_INTEGER = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


@dataclass(frozen=True, slots=True)
class Seen:
    """Of a database: its size in bytes, its first page, and the page of the count."""

    size: int
    first: bytes
    page: bytes


class OpenFile:
    """A file that SQLite has open in this process, read without opening it once more.

    To close another descriptor of the file would drop the locks that this process has on it.
    """

    def __init__(self, identity: Identity | None) -> None:
        """Name the file by its device and inode; None cannot be read."""
        self._identity = identity
        self._number: int | None = None

    def read(self, size: int, offset: int) -> bytes:
        """Read what there is of so many bytes; raises `wal.LogUnreadable`."""
        return self._asked(lambda number: os.pread(number, size, offset))

    def size(self) -> int:
        return self._asked(lambda number: os.fstat(number).st_size)

    def _asked(self, question: Callable[[int], T]) -> T:
        """Ask of a descriptor that is of this file before and afterwards: others may close it."""
        if self._identity is None:
            raise LogUnreadable("there is no such file")
        try:
            if not self._is_of_it(self._number):
                self._number = wal.open_file(self._identity)
            answer = question(self._number)
        except OSError as error:
            raise LogUnreadable(str(error)) from error
        if not self._is_of_it(self._number):
            raise LogUnreadable("the file was closed")
        return answer

    def _is_of_it(self, number: int | None) -> TypeGuard[int]:
        try:
            return number is not None and wal.identity_of(number) == self._identity
        except OSError:  # whoever opened it has closed it
            return False


@dataclass(frozen=True, slots=True)
class _Frame:
    salts: bytes
    number: int
    header: bytes


class Watch:
    """What the open files of the books held when they were last looked at."""

    def __init__(
        self, path: Path, files: Sequence[Identity | None], page: int, page_size: int
    ) -> None:
        """Watch the database, its log and the index of that, which a connection keeps open.

        `page` is the number of the page that every transaction changes, `page_size` how many bytes
        one has: the index tells it only once something was put into its log.
        """
        self._path = path
        self._database, self._log, self._index = map(OpenFile, files)
        self._page, self._page_size = page, page_size
        self._looking = threading.Lock()
        self._frame: _Frame | None = None
        self._carried: wal.Carried | None = None
        self._seen: Seen | None = None
        self._count = 0  # the highest that was seen in the database

    def look(self) -> Path | None:
        found = None
        with self._looking:
            for look in range(LOOKS):
                if look:
                    time.sleep(AGAIN_SECONDS)
                try:
                    found = self._look()
                except LogUnreadable:
                    return None
                if found is None:
                    return None
        return found

    def frames(self) -> int | None:
        """Tell how many frames of the log count, None when that cannot be told just now.

        When the log was begun anew or carried over since the last look, it looks as well.
        """
        try:
            state = self._state()
        except LogUnreadable:
            return None
        if state.carried_over != self._carried:
            self.look()
        return state.frames

    def _state(self) -> wal.State:
        return wal.state(self._index.read(wal.STATE_BYTES, 0))

    def _look(self) -> Path | None:
        try:
            noted = high_water.read(self._path)
        except OSError:
            noted = 0
        state = self._state()
        frame, is_whole = self._look_at_log(state)
        found = None if is_whole else Path(f"{self._path}-wal")
        seen = self._look_at_database() if state.is_at_rest else None
        if seen is not None and not self._may_be(seen, state, noted):
            found = self._path
        if self._state() != state:
            return None  # somebody was at work; the next look will tell
        if found is None:
            self._frame, self._carried, self._seen = frame, state.carried_over, seen
            self._count = max(self._count, 0 if seen is None else count_on(seen.page) or 0)
        return found

    def _look_at_database(self) -> Seen:
        size, read = self._page_size, self._database.read
        return Seen(self._database.size(), read(size, 0), read(size, (self._page - 1) * size))

    def _may_be(self, seen: Seen, state: wal.State, noted: int) -> bool:
        if state.carried_over == self._carried and self._seen not in (None, seen):
            return False
        is_all_there = state.frames == state.carried_over.frames
        if is_all_there and not seen.first.startswith(MAGIC):
            return False
        count = count_on(seen.page)
        return count is None or count >= max(self._count, noted if is_all_there else 0)

    def _look_at_log(self, state: wal.State) -> tuple[_Frame | None, bool]:
        if not state.frames:
            return None, True
        log = self._log
        frame = _Frame(
            state.salts,
            state.frames,
            log.read(wal.FRAME_HEADER.size, wal.offset(state, state.frames - 1)),
        )
        before = self._frame
        whole = (
            log.size() >= wal.offset(state, state.frames)
            and wal.is_header_of(log.read(wal.LOG_HEADER.size, 0), state)
            and wal.is_last_of(frame.header, state)
        )
        if whole and before is not None and before.salts == state.salts:
            start = wal.offset(state, before.number - 1)
            whole = log.read(wal.FRAME_HEADER.size, start) == before.header
        return frame, whole


def count_on(page: bytes) -> int | None:
    """Read the count of transactions off its page, None when something else is there.

    The row is (NULL for the number 1, the mark, NULL or an instant, the count).
    """
    if len(page) <= FIRST_ROW_AT + 2 or page[0] != LEAF:
        return None
    if int.from_bytes(page[ROWS_AT : ROWS_AT + 2]) != 1:
        return None
    start = int.from_bytes(page[FIRST_ROW_AT : FIRST_ROW_AT + 2])
    length, number, header, id_, mark, copied, commits = page[start : start + 7].ljust(7, b"\0")
    is_ours = (number, header, id_) == (1, 5, 0) and mark >= 13 and mark % 2 == 1 and mark < 0x80
    if not is_ours or length >= 0x80:
        return None
    if commits in (8, 9):  # 0 and 1 have no bytes
        return commits - 8
    size = BYTES_OF_INTEGER.get(commits)
    skipped = 0 if copied in (0, 8, 9) else BYTES_OF_INTEGER.get(copied)
    if size is None or skipped is None:
        return None
    at = start + 7 + (mark - 13) // 2 + skipped
    end = start + 2 + length
    return int.from_bytes(page[at : at + size], signed=True) if at + size == end else None
