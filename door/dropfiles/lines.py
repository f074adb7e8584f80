"""The lines of a drop file, from a bounded read, in a form that cannot be misread.

Lines end with CR LF, LF or (rarely) CR. A file may begin with a byte order mark. It may end in ^Z,
followed by leftovers of DOS. It is in CP437 or UTF-8, or is no drop file at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from door.dropfiles.dropfile import Limit, TimeLeft
from door.errors import DropFileRefused
from door.lines import hand_over
from timebank import files
from timebank.errors import NotPlain
from timebank.words import clean

if TYPE_CHECKING:
    from door.dropfiles.disk import HostFiles

LARGEST = hand_over.LARGEST_FILE
LONGEST_LINE = 1024  # bytes
MOST_LINES = 100  # DOOR.SYS has 52
LONGEST_TEXT = 80  # characters of a name; the rest is dropped
WRITTEN_AGAIN = "Have the board write it again, or look who else writes there."

DOS_END = b"\x1a"
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BLANKS = " \t\r"
_WHOLE = re.compile(r"[+-]?[0-9]{1,10}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,10}(\.[0-9]{0,9})?")


@dataclass(frozen=True, slots=True, repr=False)
class Raw:
    """The bytes of a file. They may hold a password, so `repr` does not show them."""

    content: bytes

    def __repr__(self) -> str:
        return f"Raw({len(self.content)} bytes)"


def raw(path: Path, at: HostFiles | None = None) -> Raw:
    """Read a file of at most LARGEST bytes, from `at` or from the disk. Refuse a pipe or a device
    without waiting for it."""
    if at is None:
        with opened(path) as file:
            return raw_of(path, file)
    with _refusals(path):
        content = at.content(path)
    return _checked(path, content)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a drop file; raise `DropFileRefused` for any error."""
    with _refusals(path), files.opened(path, os.O_RDONLY) as file:
        yield file


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        remedy = "See which drop file the board writes, and where."
        raise DropFileRefused(path, None, "there is no such file", remedy) from None
    except NotPlain as error:
        raise DropFileRefused(path, None, str(error.strerror), WRITTEN_AGAIN) from None
    except OSError as error:
        remedy = "Let the user that runs the door read it."
        raise DropFileRefused(path, None, f"it cannot be read: {error.strerror}", remedy) from None


def raw_of(path: Path, file: int) -> Raw:
    """Read an open drop file."""
    return _checked(path, hand_over.content(file))


def _checked(path: Path, content: bytes) -> Raw:
    if not content:
        raise DropFileRefused(path, None, "it is empty", WRITTEN_AGAIN)
    if len(content) > LARGEST:
        what = f"it has more than {LARGEST} bytes, which no drop file has"
        raise DropFileRefused(path, None, what, WRITTEN_AGAIN)
    return Raw(content)


class Lines:
    """The lines of a text file, numbered from 1. Raises `DropFileRefused` if it is no text.

    A last line without an end may be cut off; `whole` is false for it. `doubts` are sentences
    about lines that were not understood.
    """

    __slots__ = ("_lines", "_whole", "doubts", "path", "utf8")

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        self.doubts: list[str] = []
        if content.startswith(_UTF_16):
            remedy = "Have the board write it in CP437 or UTF-8."
            raise DropFileRefused(path, None, "it is written in UTF-16", remedy)
        text, ended, _ = content.removeprefix(_BOM).partition(DOS_END)
        if b"\0" in text:
            raise DropFileRefused(path, None, "it is not a text", WRITTEN_AGAIN)
        pieces = text.split(b"\n") if b"\n" in text else text.split(b"\r")
        # A text after the last line end is a line only if it is not empty.
        last = pieces.pop()
        self._whole = len(pieces) + (1 if last and ended else 0)
        if last:
            pieces.append(last)
        if len(pieces) > MOST_LINES:
            what = f"it has {len(pieces)} lines, more than any drop file"
            raise DropFileRefused(path, None, what, WRITTEN_AGAIN)
        for number, piece in enumerate(pieces, 1):
            if len(piece) > LONGEST_LINE:
                what = f"it has more than {LONGEST_LINE} bytes"
                raise DropFileRefused(path, number, what, WRITTEN_AGAIN)
        charset = "utf-8" if _is_utf8(text) else "cp437"
        self.utf8 = charset == "utf-8"
        self._lines = [piece.rstrip(b"\r").decode(charset) for piece in pieces]

    def __repr__(self) -> str:
        return f"Lines({len(self._lines)} of {self.path.name})"

    def __len__(self) -> int:
        return len(self._lines)

    def whole(self, number: int) -> bool:
        return number <= self._whole

    def field(self, number: int) -> str:
        """Return the line without blanks around it, "" if it is missing or cut off."""
        return self._lines[number - 1].strip() if 1 <= number <= self._whole else ""

    def plain(self, number: int) -> str:
        """Return the line without spaces and tabs around it; other blanks count as letters."""
        return self._lines[number - 1].strip(_BLANKS) if 1 <= number <= self._whole else ""

    def empty(self, number: int) -> bool:
        """Return whether the line exists and is empty, without even a blank."""
        return 1 <= number <= self._whole and not self._lines[number - 1]

    def text(self, number: int) -> str:
        """Return the line as a text for screens: printable, at most LONGEST_TEXT long."""
        return clean(self.field(number), LONGEST_TEXT)

    def number(self, number: int) -> int | None:
        """Return the line as a whole number in ASCII; None if it is not one, or may be cut off."""
        text = self.plain(number)
        return None if _WHOLE.fullmatch(text) is None else int(text)

    def node(self, number: int) -> int | None:
        """Return the line as a node, 1 or more. This last line of DOOR32.SYS may lack an end."""
        text = self._lines[number - 1].strip() if number <= len(self._lines) else ""
        node = 0 if _WHOLE.fullmatch(text) is None else int(text)
        return node if node > 0 else None

    def cells(self, number: int) -> int | None:
        """Return the line as a screen's rows or columns; None if no screen has so many."""
        return cells(self.number(number))

    def user(self, number: int) -> int | None:
        """Return the line as a record number, 1 or more, or note a doubt; some hosts write zero."""
        record = self.number(number) or 0
        if record > 0:
            return record
        self.doubts.append(f"{self.place(number)} has no user number.")
        return None

    def time(self, number: int, size: int, *, fractions: bool = False) -> TimeLeft:
        """Return the line as a time left, counted in units of `size` seconds.

        An empty line says nothing. A text that is no number from 0 up is unreadable. `fractions`
        after the number are dropped if they are allowed.
        """
        text, place = self.plain(number), self.place(number)
        if not text:
            return TimeLeft(Limit.UNKNOWN, place)
        form = _DECIMAL if fractions else _WHOLE
        if form.fullmatch(text) is None:
            return TimeLeft(Limit.UNREADABLE, place, why="is not a number")
        if text.startswith("-"):
            return TimeLeft(Limit.UNREADABLE, place, why="is less than nothing")
        return TimeLeft.left(int(text.partition(".")[0]) * size, place)

    def noted(self, time: TimeLeft) -> TimeLeft:
        if time.doubt:
            self.doubts.append(time.doubt)
        return time

    def place(self, number: int) -> str:
        return f"line {number} of {self.path.name}"

    def refusal(self, number: int | None, what: str) -> DropFileRefused:
        return DropFileRefused(self.path, number, what, WRITTEN_AGAIN)

    def need(self, least: int, kind: str) -> None:
        """Refuse the file unless the lines up to `least` are there and not cut off."""
        if not self.whole(least):
            at = min(len(self._lines) + 1, least)
            what = f"the file breaks off before the end of line {least}, too early for {kind}"
            raise self.refusal(at, what)


def cells(number: int | None) -> int | None:
    return number if number is not None and 1 <= number <= 255 else None


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
