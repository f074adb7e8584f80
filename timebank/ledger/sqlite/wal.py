"""What a COMMIT that failed has left in SQLite's write-ahead log.

When the last step of a COMMIT fails, the sync, SQLite reports an error and forgets the transaction.
Its frames stay in the log, behind the last frame that the wal-index counts, with a commit frame and
checksums that are in order. Nobody who has the file open sees them, and the next COMMIT writes over
them. But if every process dies before that, recovery reads the log to its end and makes them part
of the books. (The formats are those of https://sqlite.org/walformat.html.)
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from timebank.errors import LogUnreadable

# Both magic numbers of a log; the last bit tells in which order of bytes its checksums are.
MAGIC = 0x377F0682
LOG_HEADER = struct.Struct(">8I")
LOG_HEADER_SUMMED = 24  # bytes of it that its own checksum covers
FRAME_HEADER = struct.Struct(">2I8s2I")
FRAME_HEADER_SUMMED = 8
# The wal-index begins with two copies of this, in the machine's own order of bytes.
INDEX_HEADER = struct.Struct("=3I2BH4I8s2I")
OPEN_FILES = "/dev/fd"

Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DeadCommit:
    """The end of a transaction that failed: the number of its last frame, and that frame's header.

    The header holds the log's salts and a checksum of everything before it, so no other frame has
    the same one.
    """

    frame: int
    header: bytes


@dataclass(frozen=True, slots=True)
class Index:
    """How far the log counts for all who have the database open."""

    frames: int
    page_size: int
    salts: bytes
    sums: Sums
    order: Literal["little", "big"]


def dead_commit(database: Path) -> DeadCommit | None:
    """Find the last transaction that recovery would revive.

    To be asked by one who holds the lock to write. Raises `LogUnreadable`.
    """
    with _log(database) as log:
        index = _index(database)
        if not index.frames:
            begun = _begin_anew(log, index)
            return None if begun is None else _last_commit(log, begun)
        return _last_commit(log, index)


def counts(database: Path, dead: DeadCommit) -> bool:
    """Tell whether somebody has recovered a dead commit; asked, and raises, as `dead_commit`."""
    with _log(database) as log:
        index = _index(database)
        if dead.frame > index.frames:
            return False
        start = _offset(index, dead.frame - 1)
        return os.pread(log, FRAME_HEADER.size, start) == dead.header


@contextlib.contextmanager
def _log(database: Path) -> Iterator[int]:
    """Open the log. SQLite keeps no locks on this file that closing it could drop."""
    try:
        file = os.open(f"{os.path.realpath(database)}-wal", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise LogUnreadable(str(error)) from error


def _index(database: Path) -> Index:
    """Read the header of the wal-index from the file that SQLite itself has open.

    To open and close it once more would drop the locks that this process has on it.
    """
    status = Path(f"{os.path.realpath(database)}-shm").stat()
    file = open_file((status.st_dev, status.st_ino))
    both = os.pread(file, 2 * INDEX_HEADER.size, 0)
    first, second = both[: INDEX_HEADER.size], both[INDEX_HEADER.size :]
    if first != second or len(first) != INDEX_HEADER.size:
        raise LogUnreadable("the wal-index is being written")
    _, _, _, begun, big, size, frames, _, *sums, salts, _, _ = INDEX_HEADER.unpack(first)
    if not begun:
        raise LogUnreadable("the wal-index is empty")
    # A page of 65,536 bytes does not go into 16 bits, and is written as 1.
    page_size = (size & 0xFE00) + ((size & 1) << 16)
    return Index(frames, page_size, salts, (sums[0], sums[1]), "big" if big else "little")


def _offset(index: Index, frames: int) -> int:
    return LOG_HEADER.size + frames * (FRAME_HEADER.size + index.page_size)


def open_file(identity: tuple[int, int]) -> int:
    """Find a descriptor that this process has of a file already, by its device and inode."""
    for name in os.listdir(OPEN_FILES):
        with contextlib.suppress(OSError, ValueError):
            status = os.fstat(int(name))
            if (status.st_dev, status.st_ino) == identity:
                return int(name)
    raise LogUnreadable("the file is not open")


def _begin_anew(log: int, index: Index) -> Index | None:
    """Go by the header of a log that begins anew: it is written with the first of its frames."""
    header = os.pread(log, LOG_HEADER.size, 0)
    if len(header) < LOG_HEADER.size:
        return None
    magic, _, page_size, _, first_salt, _, *stored = LOG_HEADER.unpack(header)
    order: Literal["little", "big"] = "big" if magic & 1 else "little"
    sums = _summed(header[:LOG_HEADER_SUMMED], (0, 0), order)
    if magic & ~1 != MAGIC or sums != (stored[0], stored[1]):
        return None
    (coming_salt,) = struct.unpack_from(">I", index.salts)
    if (first_salt + 1) & 0xFFFFFFFF == coming_salt:
        return None  # the header is still that of the log before, all of which is in the database
    return Index(0, page_size, header[16:24], sums, order)


def _last_commit(log: int, index: Index) -> DeadCommit | None:
    """Read frames behind the last one that counts, as long as they are in order."""
    frame, sums, last = index.frames, index.sums, None
    size = FRAME_HEADER.size + index.page_size
    while True:
        content = os.pread(log, size, _offset(index, frame))
        if len(content) < size:
            return last
        header, page = content[: FRAME_HEADER.size], content[FRAME_HEADER.size :]
        number, pages_then, salts, *stored = FRAME_HEADER.unpack(header)
        if not number or salts != index.salts:
            return last
        sums = _summed(header[:FRAME_HEADER_SUMMED], sums, index.order)
        sums = _summed(page, sums, index.order)
        if sums != (stored[0], stored[1]):
            return last
        frame += 1
        if pages_then:  # only the last frame of a transaction tells the size of the database
            last = DeadCommit(frame, header)


def _summed(content: bytes, sums: Sums, order: Literal["little", "big"]) -> Sums:
    one, two = sums
    words = struct.unpack(f"{'<' if order == 'little' else '>'}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return one, two
