"""The screen as a grid of cells: paint it, then send all of it or only the changes.

A row is two immutable strings, its characters and its styles. Painting replaces rows. So a thousand
callers who see the same page share its rows, and the change from one row to another is computed
once for all of them.

The last column stays empty. Some terminals wrap at once after it, others with the next character,
and a full last row would scroll. If a row ends with a background, the last column is erased in that
colour, so that bars reach the edge; a terminal that erases in black leaves it black. A canvas has
the size of its terminal. Make a new canvas when the size changes.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import ne
from typing import NamedTuple

from ansi.style import PLAIN, Colour, Style, change, from_pipe, sgr_of, style_of
from ansi.width import STEADY, character_width


class Frame(NamedTuple):
    top_left: str
    top_right: str
    bottom_left: str
    bottom_right: str
    across: str
    down: str


SINGLE = Frame(*"┌┐└┘─│")
DOUBLE = Frame(*"╔╗╚╝═║")

# Up to so many equal cells between two changes are sent again, because a jump takes four bytes.
_WIDEST_GAP = 4

# The cells to send in one piece, in a string with a byte for each cell: 1 if it has changed.
_SPAN = re.compile(rb"\x01(?:\x00{0,%d}\x01)*" % _WIDEST_GAP)

# The second cell of a character that takes two cells.
_HALF = "\0"
# The plain style as a character of `Row.inks`.
_PLAIN_INK = chr(PLAIN.number)
_RUN = re.compile(r"(.)\1*", re.DOTALL)


class Row(NamedTuple):
    """A painted row: one character for each cell, and one for the style of each cell.

    The code point of an ink is the number of the style. Strings are fast to share, compare and
    look up.
    """

    cells: str
    inks: str


class _Change(NamedTuple):
    """The output that turns a row of the terminal into another row.

    First send the cells in the spans `unsteady` one by one, because terminals disagree about their
    width. Then go to column `start`, set the style `ink` and send `text`, which contains its own
    jumps and styles. The cursor is at column `end` afterwards, and the style is `pen`. An empty
    `text` needs none of this.
    """

    row: Row  # the new row, the same object for all callers
    start: int
    ink: int
    text: str
    end: int
    pen: int
    unsteady: tuple[tuple[int, int], ...]


class Hyperlink(NamedTuple):
    """A link (OSC 8) on the cells of a row from `column` to before `end`."""

    row: int
    column: int
    end: int
    address: str  # of printable ASCII


@lru_cache(maxsize=64)
def _blank(width: int, ink: str) -> Row:
    return Row(" " * width, ink * width)


@lru_cache(maxsize=1024)
def _cells_of(text: str) -> str:
    if STEADY.issuperset(text):
        return text
    cells: list[str] = []
    for character in unicodedata.normalize("NFC", text):
        if character.isprintable():
            cells.append((character + _HALF)[: character_width(character)])
    return "".join(cells)


@lru_cache(maxsize=1024)
def _piped(text: str, number: int) -> Row:
    pieces = [
        (_cells_of(piece), style.number) for style, piece in from_pipe(text, style_of(number))
    ]
    return Row(
        "".join(cells for cells, _ in pieces),
        "".join(chr(number) * len(cells) for cells, number in pieces),
    )


def _with_sgr(row: Row) -> str:
    parts = []
    for run in _RUN.finditer(row.inks):
        cells = row.cells[run.start() : run.end()].replace(_HALF, "")
        parts.append(f"{sgr_of(ord(run[1]))}{cells}")
    return "".join(parts)


@lru_cache(maxsize=1024)
def _shared(row: Row) -> Row:
    return row


@lru_cache(maxsize=512)
def _full_row(row: Row) -> _Change:
    end = len(row.cells) if row.inks.strip(_PLAIN_INK) else len(row.cells.rstrip(" "))
    return _rewrite(row, [(0, end)] if end else [], -1, to_edge=_edge(row) is not None)


def _stretch(before: str, after: str) -> tuple[int, int]:
    """Return the start and the end of the difference between two texts of one length.

    Compares halves, because most rows change only by a second of a clock.

    >>> _stretch("Time 1:07", "Time 1:06"), _stretch("same", "same")
    ((8, 9), (4, 0))
    """
    if before == after:
        return len(before), 0
    first, differs = 0, len(before)  # equal before `first`; different from there to `differs`
    while differs - first > 1:
        half = (first + differs) // 2
        if before[first:half] == after[first:half]:
            first = half
        else:
            differs = half
    differs, last = first, len(before)
    while last - differs > 1:
        half = (differs + last) // 2
        if before[half:last] == after[half:last]:
            last = half
        else:
            differs = half
    return first, last


def _few_cells(before: Row, row: Row) -> _Change | None:
    """Return the change of a few cells in one style, as by a clock; None for any other change.

    The rows must have equal styles. There is no cache: the clocks of all callers would push out the
    changes that callers share.
    """
    first, last = _stretch(before.cells, row.cells)
    ink, text = row.inks[first:last][:1], row.cells[first:last]
    if not 0 < len(text) <= _WIDEST_GAP or not STEADY.issuperset(text):
        return None
    if row.inks[first:last] != ink * len(text):
        return None
    return _Change(row, first, ord(ink), text, last, ord(ink), ())


@lru_cache(maxsize=1024)  # some 800 bytes each
def _difference(before: Row, row: Row) -> _Change:
    old_cells, new_cells = zip(*before, strict=True), zip(*row, strict=True)
    differs = bytes(map(ne, old_cells, new_cells))
    low, high = differs.find(1), differs.rfind(1) + 1
    if not high:
        return _rewrite(before, [], -1)
    erased = -1
    edge = _edge(row)
    to_edge = edge != _edge(before)
    blank = max(low, _blank_from(row))
    if high - blank > _WIDEST_GAP or (to_edge and edge is None):
        erased = high = blank
    spans = [span.span() for span in _SPAN.finditer(differs, 0, high)]
    if spans and 0 < erased - spans[-1][1] <= _WIDEST_GAP:
        spans[-1] = spans[-1][0], erased
    return _rewrite(row, spans, erased, to_edge=to_edge and edge is not None)


def _edge(row: Row) -> Colour | None:
    """Return the background at the end of a row, for the column after it."""
    return style_of(ord(row.inks[-1])).background


def _blank_from(row: Row) -> int:
    return max(len(row.cells.rstrip(" ")), len(row.inks.rstrip(_PLAIN_INK)))


def _rewrite(
    row: Row, spans: Sequence[tuple[int, int]], erased: int, *, to_edge: bool = False
) -> _Change:
    """Return the change that writes `spans` of a row and erases it from column `erased` on, or -1.

    `to_edge` also erases the last column of the terminal, in the background at the row's end.
    """
    unsteady = () if all(STEADY.issuperset(row.cells[a:b]) for a, b in spans) else tuple(spans)
    if unsteady:
        spans = []
    parts: list[str] = []
    start = spans[0][0] if spans else erased
    pen = ink = ord(row.inks[start]) if spans else PLAIN.number
    if to_edge and not spans:
        start = len(row.cells)
        pen = ink = ord(row.inks[-1])
    at = start
    for low, high in spans:
        if low > at:
            parts.append(f"\x1b[{low - at}C")
        at = low
        for run in _RUN.finditer(row.inks, low, high):
            number = ord(run[1])
            if number != pen:
                parts.append(change(pen, number))
                pen = number
            parts.append(row.cells[at : run.end()])
            at = run.end()
    if erased >= 0:
        if erased > at:
            parts.append(f"\x1b[{erased - at}C")
            at = erased
        if pen != PLAIN.number:
            parts.append(change(pen, PLAIN.number))
            pen = PLAIN.number
        parts.append("\x1b[K")
    if to_edge:  # the last ink has changed, so the cursor is at the end
        parts.append("\x1b[K")
    return _Change(row, start, ink, "".join(parts), at, pen, unsteady)


def _overlaid(below: Row, first: int, cells: str, inks: str) -> Row:
    """Return a row with other cells from column `first` on."""
    last = first + len(cells)
    left, right = below.cells[:first], below.cells[last:]
    if below.cells[first] == _HALF:  # half of a character that begins to the left
        left = left[:-1] + " "
    if right.startswith(_HALF):
        right = " " + right[1:]
    return Row(left + cells + right, below.inks[:first] + inks + below.inks[last:])


# Tables write the same cells again and again, and callers who see the same share the row. An entry
# takes some 700 bytes.
_overlaid_cached = lru_cache(maxsize=1024)(_overlaid)


class Canvas:
    """A screen of `columns` by `rows`, both from 0. The last column, number `width`, stays empty.

    Text outside is clipped. `cursor` is the row and column of the terminal's cursor after the next
    update, or None to hide it. `links` are for terminals that support them. A change of links sends
    the whole screen, because a terminal keeps a link until its cells are cleared.
    """

    __slots__ = (
        "_at_column",
        "_at_row",
        "_cursor_shown",
        "_pen",
        "_rows",
        "_sent",
        "_sent_links",
        "colour",
        "columns",
        "cursor",
        "links",
        "rows",
        "width",
    )

    def __init__(self, columns: int, rows: int, *, colour: bool = True) -> None:
        """Make a blank canvas. Without `colour` no styles are sent, only positions."""
        self.columns = columns
        self.rows = rows
        self.width = columns - 1
        self.colour = colour
        self.cursor: tuple[int, int] | None = None
        self.links: tuple[Hyperlink, ...] = ()
        self._sent_links: tuple[Hyperlink, ...] = ()  # as last sent
        self._rows = [_blank(self.width, _PLAIN_INK)] * rows
        self._sent: list[Row] = []  # as last sent; empty before the first render
        self._pen = 0  # number of the terminal's current style
        self._at_row = self._at_column = -1  # its cursor; row -1 if unknown
        self._cursor_shown = True

    # Painting

    def put(self, row: int, column: int, text: str, style: Style = PLAIN) -> int:
        """Write a line of text; return the column after it, before clipping.

        Controls and characters of no width are left out. A wide character that the edge or another
        text cuts in half becomes a blank.
        """
        if not (text.isascii() and text.isprintable()):
            text = _cells_of(text)
        ink = chr(style.number) if self.colour else _PLAIN_INK
        return self._lay(row, column, text, ink * len(text))

    def put_pipe(self, row: int, column: int, text: str, style: Style = PLAIN) -> int:
        """Write a line with pipe codes, beginning in `style`; return the column after it."""
        cells, inks = _piped(text, style.number)
        return self._lay(row, column, cells, inks if self.colour else _PLAIN_INK * len(inks))

    def put_clock(self, row: int, column: int, text: str, style: Style = PLAIN) -> int:
        """Write a line like `put_pipe`, but do not cache the row.

        The clocks of a thousand callers would push the rows of tables out of the cache.
        """
        cells, inks = _piped(text, style.number)
        inks = inks if self.colour else _PLAIN_INK * len(inks)
        return self._lay(row, column, cells, inks, _overlaid)

    def put_pieces(self, row: int, column: int, texts: Sequence[str], style: Style = PLAIN) -> int:
        """Write texts with pipe codes next to each other; return the column after them.

        Each begins in `style`. Each text is cached, but the row is not. Use it for a line in which
        a single piece changes.
        """
        pieces = [_piped(text, style.number) for text in texts]
        cells = "".join([piece.cells for piece in pieces])
        inks = "".join([piece.inks for piece in pieces])
        inks = inks if self.colour else _PLAIN_INK * len(inks)
        return self._lay(row, column, cells, inks, _overlaid)

    def _lay(
        self,
        row: int,
        column: int,
        cells: str,
        inks: str,
        overlay: Callable[..., Row] = _overlaid_cached,
    ) -> int:
        end = column + len(cells)
        first = column
        if column < 0 or end > self.width:
            first, last = max(column, 0), min(end, self.width)
            if first >= last:
                return end
            halved = last < end and cells[last - column] == _HALF
            cells = cells[first - column : last - column]
            inks = inks[first - column : last - column]
            if halved:
                cells = cells[:-1] + " "
            if cells.startswith(_HALF):
                cells = " " + cells[1:]
        if cells and 0 <= row < self.rows:
            self._rows[row] = overlay(self._rows[row], first, cells, inks)
        return end

    def box(
        self,
        row: int,
        column: int,
        width: int,
        height: int,
        style: Style = PLAIN,
        *,
        frame: Frame = SINGLE,
    ) -> None:
        """Draw the frame of a box, at least 2 by 2 cells, and keep its inside."""
        across = frame.across * (width - 2)
        right = column + width - 1
        self.put(row, column, frame.top_left + across + frame.top_right, style)
        for side in range(row + 1, row + height - 1):
            self.put(side, column, frame.down, style)
            self.put(side, right, frame.down, style)
        bottom = row + height - 1
        self.put(bottom, column, frame.bottom_left + across + frame.bottom_right, style)

    def blank(self, row: int, column: int, width: int, height: int, style: Style = PLAIN) -> None:
        if column <= 0 and column + width >= self.width:
            ink = chr(style.number) if self.colour else _PLAIN_INK
            first, last = max(row, 0), min(row + height, self.rows)
            self._rows[first:last] = [_blank(self.width, ink)] * (last - first)
            return
        for line in range(row, row + height):
            self.put(line, column, " " * width, style)

    def copy(self, row: int, height: int) -> tuple[Row, ...]:
        """Return rows of the canvas, for `paste` and `stamp`. Equal rows are one object."""
        return tuple(map(_shared, self._rows[row : row + height]))

    def paste(self, row: int, copied: Sequence[Row]) -> None:
        """Replace rows from `row` on by copied rows of the same width."""
        self._rows[row : row + len(copied)] = copied

    def stamp(self, row: int, column: int, copied: Sequence[Row]) -> None:
        """Write copied rows of any width, with their upper left corner at `row` and `column`.

        The other canvas must have the same `colour`.
        """
        for number, (cells, inks) in enumerate(copied, row):
            self._lay(number, column, cells, inks)

    # Reading back

    def text(self, row: int) -> str:
        """Return the text of a row, without the blanks at its end."""
        return self._rows[row].cells.replace(_HALF, "").rstrip(" ")

    def style_at(self, row: int, column: int) -> Style:
        return style_of(ord(self._rows[row].inks[column]))

    # Sending

    def render(self) -> str:
        """Return the output for the whole screen, whatever the terminal shows."""
        parts = ["\x1b[?25l\x1b[0m\x1b[2J\x1b[H" if self.colour else "\x1b[?25l\x1b[2J\x1b[H"]
        self._pen = self._at_row = self._at_column = 0
        self._cursor_shown = False
        for number, row in enumerate(self._rows):
            step = _full_row(row)
            self._write(number, step, parts)
            self._rows[number] = step.row
        self._sent = self._rows[:]
        for link in self.links:
            self._write_link(link, parts)
        self._sent_links = self.links
        self._park(parts)
        return "".join(parts)

    def sent_rows(self) -> list[str]:
        """Return the rows as last sent, with the SGR sequences of their styles.

        The list is empty before the first update.
        """
        return [_with_sgr(row) for row in self._sent]

    def update(self) -> str:
        """Return the output from the last sent screen to this one. The first is a render."""
        if not self._sent or self.links != self._sent_links:
            return self.render()
        parts: list[str] = []
        rows, shown = self._rows, self._sent
        for number, (before, row) in enumerate(zip(shown, rows, strict=True)):
            if row is not before:
                is_restyled = before.inks != row.inks
                step = (None if is_restyled else _few_cells(before, row)) or _difference(
                    before, row
                )
                self._write(number, step, parts)
                rows[number] = shown[number] = step.row
        self._park(parts)
        return "".join(parts)

    def _write(self, row: int, step: _Change, parts: list[str]) -> None:
        cells, start, ink, text, end, pen, unsteady = step
        for first, last in unsteady:
            self._write_unsteady(row, cells, first, last, parts)
        if text:
            if row != self._at_row or start != self._at_column:
                self._move(row, start, parts)
            if ink != self._pen:
                parts.append(change(self._pen, ink))
            parts.append(text)
            self._at_column = end
            self._pen = pen

    def _write_unsteady(
        self, number: int, row: Row, start: int, end: int, parts: list[str]
    ) -> None:
        """Send cells one by one, with a new position after each that terminals disagree about."""
        for column in range(start, end):
            character = row.cells[column]
            if character != _HALF:
                ink = ord(row.inks[column])
                self._move(number, column, parts)
                if ink != self._pen:
                    parts.append(change(self._pen, ink))
                    self._pen = ink
                parts.append(character)
                self._at_column = column + 1
                if character not in STEADY:
                    self._at_row = -1

    def _write_link(self, link: Hyperlink, parts: list[str]) -> None:
        row = self._rows[link.row]
        self._move(link.row, link.column, parts)
        parts.append(f"\x1b]8;;{link.address}\x1b\\")
        for run in _RUN.finditer(row.inks, link.column, link.end):
            ink = ord(run[1])
            if ink != self._pen:
                parts.append(change(self._pen, ink))
                self._pen = ink
            parts.append(row.cells[run.start() : run.end()].replace(_HALF, ""))
        parts.append("\x1b]8;;\x1b\\")
        self._at_row = -1  # terminals may disagree about the width of the text

    def _move(self, row: int, column: int, parts: list[str]) -> None:
        distance = column - self._at_column
        if row != self._at_row:
            parts.append(f"\x1b[{row + 1};{column + 1}H" if column else f"\x1b[{row + 1}H")
        elif distance > 0:
            parts.append(f"\x1b[{distance}C")
        elif -4 < distance < 0:
            parts.append("\b" * -distance)
        elif distance:
            parts.append(f"\x1b[{-distance}D" if column else "\r")
        self._at_row, self._at_column = row, column

    def _park(self, parts: list[str]) -> None:
        if self.cursor is None:
            if self._cursor_shown:
                parts.append("\x1b[?25l")
                self._cursor_shown = False
            return
        row = min(max(self.cursor[0], 0), self.rows - 1)
        column = min(max(self.cursor[1], 0), self.width - 1)
        self._move(row, column, parts)
        if not self._cursor_shown:
            parts.append("\x1b[?25h")
            self._cursor_shown = True
