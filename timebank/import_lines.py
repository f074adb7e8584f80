"""The lines of a file that other programs append to, in bounded memory.

A line ends with LF, with or without CR before it. The end-of-file mark of DOS (1A) ends a last line
that has no other end, and means nothing where a line begins: programs go on writing behind it.
What is not ended yet is not handed out.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from timebank.exchange import DOS_END_OF_FILE

LONGEST_LINE = 1024  # bytes, its end not counted; a record of ours has at most 100
CHUNK = 65536
RECENT = 4096  # bytes before a position by which the file is known again

_ENDS = re.compile(rb"[\n\x1a]")


@dataclass(frozen=True)
class Position:
    """How far a file was read: so many bytes, and so many ends of lines among them.

    `recent` tells whether they are still the same bytes, see `is_in`.
    """

    offset: int
    lines: int
    recent: str

    def is_in(self, file: int) -> bool:
        """Tell whether an open file still holds what was read up to here."""
        return os.fstat(file).st_size >= self.offset and digest(file, self.offset) == self.recent


def digest(file: int, end: int) -> str:
    """Describe the bytes before `end`, by the last RECENT of them."""
    start = max(0, end - RECENT)
    return hashlib.sha256(os.pread(file, end - start, start)).hexdigest()


NOWHERE = Position(0, 0, hashlib.sha256(b"").hexdigest())


@dataclass(frozen=True)
class RawLine:
    """A line from `start` up to `end` in the file, counted from 1; `content` without its end.

    `content` is None when it is longer than LONGEST_LINE.
    """

    number: int
    start: int
    end: int
    content: bytes | None
    # How many ends of lines the file has up to `end`.
    lines: int


class LineReader:
    """Hands out the ended lines of an open file from a position on."""

    def __init__(self, file: int, position: Position) -> None:
        """Begin at the position; other readers and writers of the file are not disturbed."""
        self._file = file
        self._offset = position.offset
        self._lines = position.lines
        # Bytes of the line that is not ended yet, known when all ended ones are handed out.
        self.unended = 0
        # The beginning of that line, up to LONGEST_LINE bytes.
        self.rest = b""

    def __iter__(self) -> Iterator[RawLine]:
        """Hand out lines up to the last end there is."""
        while chunk := os.pread(self._file, CHUNK, self._offset):
            begin = 0
            for end in _ENDS.finditer(chunk):
                self._add(chunk[begin : end.start()])
                begin = end.end()
                marks_end = end[0] == DOS_END_OF_FILE
                if not marks_end or self.unended:
                    # Behind a mark that was read nothing could be told from a file cut short.
                    yield self._line(self._offset + (end.start() if marks_end else begin), end[0])
            self._add(chunk[begin:])
            self._offset += len(chunk)

    def _add(self, piece: bytes) -> None:
        self.unended += len(piece)
        if len(self.rest) < LONGEST_LINE:
            self.rest += piece[: LONGEST_LINE - len(self.rest)]

    def _line(self, end: int, mark: bytes) -> RawLine:
        number = self._lines + 1
        if mark != DOS_END_OF_FILE:
            self._lines = number
        content = self.rest.removesuffix(b"\r")
        too_long = self.unended > LONGEST_LINE
        start = end - self.unended - (mark != DOS_END_OF_FILE)
        self.unended, self.rest = 0, b""
        return RawLine(number, start, end, None if too_long else content, self._lines)


def is_ended(file: int) -> bool:
    """Tell whether the last line of an open file has its end; of an empty file that it has."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) in (b"\n", DOS_END_OF_FILE)
