"""Drawn screens: the sysop's own from the texts folder, else ours.

Each has a name, a file for painted screens (`.ans`) and one of plain letters (`.asc`); screens of
less than 80 columns have their own (`.40.ans`, `.40.asc`). A name may be followed by a language, as
in `news.fr.ans`, for callers who read it. Plain lines show a sysop's drawing but
none of ours, as many callers listen to them.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ansi import art
from ansi.canvas import Canvas
from ansi.charset import Charset
from door.call.markup import literal, wrap
from door.call.page import MARGIN, Page
from door.call.scene import LAYOUT_COLUMNS, WholeNarrow
from door.call.screen import Paint
from timebank import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansi.art import Art
    from ansi.canvas import Row
    from door.call.console import Console
    from door.call.scene import Area

LARGEST = 256 * 1024  # bytes read of a file
OURS = Path(__file__).parents[1] / "screens"
# Types of terminals that can be switched to show blinking text on a bright background instead.
SWITCHING = ("syncterm",)

_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")  # all that `art.read` leaves, and more
_BRIGHT = re.compile(r"(?<=[\[;])10[0-7](;|(?=m))")
_SWITCH_ON, _SWITCH_OFF = "\x1b[?33h", "\x1b[?33l"

log = logging.getLogger("door.texts")


# Drawings have named fields that we fill in.
#
# A field is its name between at-signs, such as ``@BALANCE@``. The value is as wide as the field, so
# that nothing behind it moves. Dots before the second at-sign make a field wider,
# ``@NAME................@``, and dots on both sides centre the value. Unknown fields are kept.

_FIELD = re.compile(r"@(\.*)([A-Z]+)\.*@")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its fields filled, none changing its width.

    >>> fill("[@NAME......@] [@WHAT@]", {"NAME": "Alice"})
    '[Alice       ] [@WHAT@]'
    >>> fill("[@...NAME...@]", {"NAME": "Alice"})
    '[   Alice    ]'
    """

    def value(field: re.Match[str]) -> str:
        dots, name = field.groups()
        if name not in values:
            return field[0]
        width = len(field[0])
        shown = values[name][:width]
        return shown.center(width) if dots else shown.ljust(width)

    return _FIELD.sub(value, text)


def filled(picture: Art, values: Mapping[str, str]) -> Art:
    return replace(picture, text=fill(picture.text, values))


def show(
    console: Console,
    folder: Path,
    name: str,
    values: Mapping[str, str] | None = None,
    above: str = "",
) -> bool:
    """Show the screen of that name on scrolling lines, its fields filled.

    The line `above` comes first, in the first row of a painted one. Return False if there is none
    for this terminal.
    """
    picture = find(console, folder, name)
    if picture is None:
        return False
    picture = filled(picture, values or {})
    if console.screen.can_paint:
        columns, rows = console.line.columns, console.line.rows
        colour = console.screen.look.paint is Paint.COLOUR
        _send(console, *_as_sent(picture, columns, rows, colour, above))
        console.display.indent = _middle(picture, columns) + 1
    else:
        for line in (*([above] if above else ()), *lines(picture)):
            console.screen.say(line)
    return True


def clear(console: Console, title: str) -> bool:
    """Clear the screen and go on below a title; on plain lines do nothing and return False."""
    if not console.screen.can_paint:
        return False
    columns, rows = console.line.columns, console.line.rows
    left = max(0, columns - LAYOUT_COLUMNS - 1) // 2 + 1
    canvas = Canvas(columns, rows, colour=console.screen.look.paint is Paint.COLOUR)
    canvas.put_pipe(0, 0, "|17" + " " * canvas.width)
    canvas.put_pipe(0, left, f"|17|15{title}")
    _send(console, canvas.render(), 3)
    console.display.indent = left
    return True


def find(console: Console, folder: Path, name: str) -> Art | None:
    """Return the screen of that name for this terminal, the sysop's or ours, else None."""
    narrow = console.line.columns <= LAYOUT_COLUMNS
    painted: tuple[str, ...] = (".40.ans", ".ans") if narrow else (".ans",)
    plain = (".40.asc", ".asc") if narrow else (".asc",)
    charset = console.screen.look.charset
    # A Commodore shows our drawings in its colours; others for ANSI need not suit it.
    drawn = () if charset.is_of_home_computer else painted
    named = (f"{name}.{console.viewer.language}", name)
    for ending in (*drawn, *plain) if console.screen.can_paint else plain:
        for each in named:
            data = _read(folder / f"{each}{ending}")
            if data is not None:
                return art.read(data)
    if not console.screen.can_paint:
        return None
    # Charsets without block characters have pictures of their own.
    ours = painted if charset.has_shapes and charset is not Charset.ATASCII else plain
    return _ours(f"{named[0]}{ours[0]}") or _ours(f"{name}{ours[0]}")


def painted(folder: Path, name: str) -> Art | None:
    """Return the painted screen of that name for 80 columns, the sysop's or ours, else None."""
    data = _read(folder / f"{name}.ans")
    return _ours(f"{name}.ans") if data is None else art.read(data)


@lru_cache(maxsize=64)
def _ours(name: str) -> Art | None:
    file = OURS / name
    return art.read(file.read_bytes()) if file.exists() else None


def lines(picture: Art) -> list[str]:
    """Return a picture as lines without escape sequences; moves to the right become spaces."""
    return [literal(line) for line in _SEQUENCE.sub(_unpainted, picture.text).splitlines()]


def _send(console: Console, painted: str, below: int) -> None:
    """Clear the screen, send a painted picture and go on with lines from the row `below`."""
    painted = _as_bright_as_can_be(console, painted)
    console.screen.send(f"\x1b[2J{painted}\x1b[0m\x1b[{below};1H\x1b[?25h")


@lru_cache(maxsize=64)
def _as_sent(picture: Art, columns: int, rows: int, colour: bool, above: str) -> tuple[str, int]:
    """Return a picture as terminal codes, and the row below it; a line `above` needs no gap there.

    Cached: it takes 5 ms for each caller who connects, and most have the same size of terminal.
    """
    canvas = Canvas(columns, rows, colour=colour)
    lines, left = wrap(f"|07{above}", columns - MARGIN) if above else (), _middle(picture, columns)
    for row, line in enumerate(lines):
        canvas.put_pipe(row, left + 1, line)
    top = len(lines)
    art.paint(canvas, art=picture, row=top, column=left)
    used = max((row + 1 for row in range(rows) if canvas.text(row).strip()), default=0)
    return canvas.render(), min(used + (1 if above else 2), rows)


def _middle(picture: Art, columns: int) -> int:
    return max(0, (columns - picture.columns) // 2)


def _as_bright_as_can_be(console: Console, painted: str) -> str:
    """Encode bright backgrounds for this terminal.

    UTF-8 terminals have colours for them. SyncTERM shows them for "blink" once switched to that.
    All others get dark backgrounds.
    """
    if console.screen.look.charset is Charset.UTF8 or not _BRIGHT.search(painted):
        return painted
    types = console.line.hints.terminal_types
    if types and types[0].casefold().startswith(SWITCHING):
        console.screen.on_clear += _SWITCH_OFF
        return _SWITCH_ON + _BRIGHT.sub(r"5\1", painted)
    return _BRIGHT.sub("", painted).replace(";m", "m")


@dataclass(frozen=True)
class HeadedPage(WholeNarrow):
    """A page under a drawn header if the screen has room for both, else under its title.

    Header and page are centred vertically if `in_the_middle`, else at the top.
    """

    title: str
    body: Sequence[str]
    header: Art | None
    in_the_middle: bool = False

    def paint(self, canvas: Canvas, area: Area) -> None:
        if self.header is None or not self.has_room(area.columns, area.rows):
            Page(self.title, self.body).paint(canvas, area)
            return
        free = area.rows - self._rows(area.columns)
        top = free // 2 if self.in_the_middle else 0
        paint_header(canvas, self.header, area, top)
        first = top + header_rows(self.header) + 1
        for row, line in enumerate(self._wrapped(area.columns), first):
            canvas.put_pipe(row, area.centred() + 1, line)

    def has_room(self, columns: int, rows: int) -> bool:
        """Return whether header and page fit into an area of this size."""
        return self._rows(columns) <= rows

    def _rows(self, columns: int) -> int:
        header = 0 if self.header is None else header_rows(self.header)
        return header + 1 + len(self._wrapped(columns))

    def _wrapped(self, columns: int) -> list[str]:
        return [
            line for each in self.body for line in wrap(each, min(columns, LAYOUT_COLUMNS) - MARGIN)
        ]

    def lines(self) -> Sequence[str]:
        return Page(self.title, self.body).lines()


def headed(console: Console, folder: Path, name: str, page: Page) -> HeadedPage:
    """Put the header of that name above a page."""
    return HeadedPage(page.title, page.body, find(console, folder, name))


def headed_if_room(console: Console, folder: Path, name: str, page: Page) -> Page | HeadedPage:
    """Put the header of that name above the title, where a painted screen has room for all."""
    screen = console.screen
    header = find(console, folder, name) if screen.is_painted else None
    headed = HeadedPage(page.title, [f"|15{page.title}", "", *page.body], header)
    if header is None or not headed.has_room(screen.page_columns, screen.page_rows):
        return page
    return headed


def paint_header(canvas: Canvas, header: Art, area: Area, top: int = 0) -> None:
    rows = header_rows(header)
    canvas.paste(top, _painted(header, rows, canvas.columns, area.centred(), canvas.colour))


@lru_cache(maxsize=64)
def header_rows(picture: Art) -> int:
    return max(1, art.height(picture))


@lru_cache(maxsize=64)
def _painted(picture: Art, rows: int, columns: int, left: int, colour: bool) -> tuple[Row, ...]:
    """Paint a header; cached, as all callers with this size of terminal see the same."""
    canvas = Canvas(columns, rows, colour=colour)
    art.paint(canvas, picture, 0, left)
    return canvas.copy(0, rows)


def _unpainted(sequence: re.Match[str]) -> str:
    """Return spaces for a move to the right, nothing for any other sequence."""
    steps, final = sequence.groups()
    first = int(steps.partition(";")[0][:4] or 1)
    return " " * min(max(first, 1), LAYOUT_COLUMNS) if final == "C" else ""


def _read(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it is missing or, as the log says, cannot be read.

    Another user's link and a hard link are refused: with these, a user who can write the folder
    could show callers any file of the board.
    """
    try:
        place = files.own_links_followed(path)
        with files.opened(place, os.O_RDONLY) as file:
            return os.read(file, LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("%s cannot be read: %s", path, error.strerror)
        return None
