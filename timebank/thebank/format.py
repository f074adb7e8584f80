"""The format of the files by which time banks exchange minutes (docs/formats.md)."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from timebank.errors import NotARecord

LINE_END = b"\r\n"
DOS_END_OF_FILE = b"\x1a"


@dataclass(frozen=True)
class Record:
    """One line of the file: `minutes` for the account of `name`, negative to take them out.

    `at` is local time without a zone. `number` is None in records without one, which other programs
    may write.
    """

    name: str
    minutes: int
    source: str
    at: datetime
    number: int | None


# At a hundred transfers a second these last for three centuries.
NUMBERS_A_GENERATION = 10**12


def record_number(generation: int, transfer: int) -> int:
    """Return the number of a record: the number of its transfer, plus a part for the generation.

    So records before and after a restore never have the same number. The first generation adds
    nothing, so readers that do not know generations can read the number.

    >>> record_number(1, 4711), record_number(2, 4711)
    (4711, 2000000004711)
    """
    return transfer if generation == 1 else generation * NUMBERS_A_GENERATION + transfer


def transfer_number(record: int) -> int:
    """Return the number of the transfer of a record.

    >>> transfer_number(2000000004711)
    4711
    """
    return record % NUMBERS_A_GENERATION


# A record is a line in CP437: `name;minutes;source;YYYY-MM-DD HH:MM;number`. A line that begins
# with ; is a comment.


def format_record(record: Record) -> bytes:
    """Return a record as a line; letters that CP437 lacks are replaced (see `_cp437`)."""
    fields = [
        _cp437(record.name),
        b"%d" % record.minutes,
        _cp437(record.source),
        record.at.isoformat(" ", "minutes").encode("ascii"),
    ]
    if record.number is not None:
        fields.append(b"%d" % record.number)
    return b";".join(fields) + LINE_END


def parse_record(line: bytes) -> Record | None:
    """Read a line, with or without its end; None for a comment or an empty line.

    Raises `NotARecord`.
    """
    text = line.rstrip(b"\r\n" + DOS_END_OF_FILE).decode("cp437")
    if not text.strip() or text.startswith(";"):
        return None
    fields = [field.strip() for field in text.split(";")]
    if len(fields) not in (4, 5):
        raise NotARecord(f"it has {len(fields)} field{'s'[: len(fields) != 1]} instead of 5")
    name, minutes, source, at, *number = fields
    if not name:
        raise NotARecord("it has no name")
    return Record(
        name=name,
        minutes=_whole(minutes, "minutes are"),
        source=source,
        at=_local_time(at),
        number=_whole(number[0], "number is") if number else None,
    )


def spellings(name: str) -> tuple[str, ...]:
    """Return the possible readings of a name in a file, the likeliest first.

    These are the name as written, the name with its \\uXXXX escapes (see `_cp437`) turned into
    letters, and the name read as UTF-8, which some programs write.
    """
    readings = [name, _NUMBERED.sub(_letter, name)]
    with contextlib.suppress(UnicodeError):
        readings.append(name.encode("cp437").decode("utf-8"))
    return tuple(dict.fromkeys(readings))


_NUMBERED = re.compile(r"\\u([0-9A-Fa-f]{4})")


def _letter(numbered: re.Match[str]) -> str:
    letter = chr(int(numbered[1], 16))
    return letter if letter.isalpha() else numbered[0]


def _cp437(text: str) -> bytes:
    """Encode a field. A letter that CP437 lacks loses its accents, or is written as \\uXXXX.

    A semicolon becomes a comma, a control character a space.
    """
    encoded = bytearray()
    for character in text.replace(";", ","):
        bare = unicodedata.normalize("NFD", character)[0]
        for candidate in (character if character.isprintable() else " ", bare):
            with contextlib.suppress(UnicodeEncodeError):
                encoded += candidate.encode("cp437")
                break
        else:
            encoded += b"\\u%04x" % ord(character) if character <= "\uffff" else b"?"
    return bytes(encoded)


def _whole(field: str, what: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,18}", field) is None:
        raise NotARecord(f"its {what} not a whole number")
    return int(field)


def _local_time(field: str) -> datetime:
    try:
        return datetime.strptime(field, "%Y-%m-%d %H:%M")
    except ValueError:
        raise NotARecord("its time is not written YYYY-MM-DD HH:MM") from None


# Reading the lines of a file that other programs append to, in bounded memory.
#
# A line ends with LF, with or without CR before it. The end-of-file mark of DOS (1A) ends a last
# line that has no other end. At the beginning of a line it is ignored, because programs write on
# after it. A line without an end is not returned.

LONGEST_LINE = 1024  # bytes without the end; a record of ours has at most 100
CHUNK = 65536
# Bytes of a file that are read at once at most, because a sparse file can have any size.
MOST_READ = 64 * 1024 * 1024
RECENT = 4096  # bytes before a position, by which the file is recognised

_ENDS = re.compile(rb"[\n\x1a]")


@dataclass(frozen=True)
class Position:
    """How far a file was read: the number of bytes, and of the line ends among them.

    `recent` is a digest of the last of these bytes, see `is_in`.
    """

    offset: int
    lines: int
    recent: str

    def is_in(self, file: int) -> bool:
        """Return whether an open file still contains the bytes that were read up to here."""
        return os.fstat(file).st_size >= self.offset and digest(file, self.offset) == self.recent


def digest(file: int, end: int) -> str:
    """Return a digest of the last RECENT bytes before `end`."""
    start = max(0, end - RECENT)
    return hashlib.sha256(os.pread(file, end - start, start)).hexdigest()


NOWHERE = Position(0, 0, hashlib.sha256(b"").hexdigest())


@dataclass(frozen=True)
class RawLine:
    """A line of a file: its number, counted from 1, and its bytes from `start` to `end`.

    `content` has no line end. It is None if the line is longer than LONGEST_LINE.
    """

    number: int
    start: int
    end: int
    content: bytes | None
    # The number of line ends in the file up to `end`.
    lines: int


class LineReader:
    """Iterates over the complete lines of an open file from a position on.

    It stops after MOST_READ bytes, and another reader continues from the booked position. Raises
    `OSError` if there is no line end in MOST_READ bytes.
    """

    def __init__(self, file: int, position: Position) -> None:
        self._file = file
        self._offset = position.offset
        self._last = position.offset + MOST_READ
        self._lines = position.lines
        # The number of bytes after the last line end, once all complete lines were returned.
        self.unended = 0
        # The first LONGEST_LINE of these bytes.
        self.rest = b""

    def __iter__(self) -> Iterator[RawLine]:
        first = self._lines
        while chunk := os.pread(self._file, CHUNK, self._offset):
            if self._offset >= self._last:
                if self._lines > first:
                    return
                raise OSError(errno.EFBIG, f"no line ends within {MOST_READ >> 20} MiB")
            begin = 0
            for end in _ENDS.finditer(chunk):
                self._add(chunk[begin : end.start()])
                begin = end.end()
                marks_end = end[0] == DOS_END_OF_FILE
                if not marks_end or self.unended:
                    # A position after the mark could not be told from a file that was cut.
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
    """Return whether the last line of an open file has its end; True for an empty file."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) in (b"\n", DOS_END_OF_FILE)
