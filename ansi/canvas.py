"""The screen as a grid of cells: paint it, then send it whole or only what changed.

Painting touches lists of characters and of style numbers and notes which part of a row it
touched; `update` compares just those parts with what the terminal shows. So a keystroke costs
what it changes, not what the screen holds.

Nothing is ever drawn in the last column: some terminals wrap at once when they print there,
others wait for the next character, and a full last row would scroll. A canvas has the size of
its terminal; when that changes, make a new one.
"""

import unicodedata
from typing import NamedTuple

from ansi.style import PLAIN, Style, change, from_pipe, style_of
from ansi.width import STEADY, character_width, text_width


class Frame(NamedTuple):
    """The six characters that a box is made of."""

    top_left: str
    top_right: str
    bottom_left: str
    bottom_right: str
    across: str
    down: str


SINGLE = Frame(*"┌┐└┘─│")
DOUBLE = Frame(*"╔╗╚╝═║")

# Cells alike between two changes are sent again rather than jumped over up to this number: the
# jump itself takes four bytes.
_WIDEST_GAP = 4


class Canvas:
    """A screen of `columns` by `rows`; rows and columns count from 0, column `width` is barred.

    What lies outside is clipped, never an error. `cursor` is where the terminal's cursor shall
    stand after the next update, or None to hide it.
    """

    __slots__ = (
        "_at_column",
        "_at_row",
        "_blank_styles",
        "_cells",
        "_cursor_shown",
        "_dirty",
        "_pen",
        "_rendered",
        "_shown_cells",
        "_shown_styles",
        "_styles",
        "_unsteady",
        "colour",
        "columns",
        "cursor",
        "rows",
        "width",
    )

    def __init__(self, columns: int, rows: int, *, colour: bool = True) -> None:
        """Blank, and nothing shown yet; without `colour` positions are sent but no styles."""
        self.columns = columns
        self.rows = rows
        self.width = columns - 1
        self.colour = colour
        self.cursor: tuple[int, int] | None = None
        self._blank_styles = [0] * self.width
        self._cells = [[" "] * self.width for _ in range(rows)]
        self._styles = [[0] * self.width for _ in range(rows)]
        self._shown_cells: list[list[str]] = []
        self._shown_styles: list[list[int]] = []
        self._dirty: dict[int, tuple[int, int]] = {}  # row -> first column touched, end
        self._unsteady: set[int] = set()  # rows that hold, or held, a character not STEADY
        self._rendered = False
        self._pen = 0  # number of the style that the terminal writes in now
        self._at_row = self._at_column = -1  # where its cursor is now; row -1 when uncertain
        self._cursor_shown = True

    # Painting

    def put(self, row: int, column: int, text: str, style: Style = PLAIN) -> int:
        """Write a line of text; returns the column after it (before clipping).

        Characters of two cells take two, those of none (and controls) are left out; where one of
        two is cut in half, by the edge or by other text, a blank takes its place.
        """
        end = column + len(text)
        steady = text.isprintable() if text.isascii() else STEADY.issuperset(text)
        if (
            not steady
            or column < 0
            or end > self.width
            or not 0 <= row < self.rows
            or row in self._unsteady
        ):
            return self._put_any(row, column, text, style)
        self._cells[row][column:end] = text
        self._styles[row][column:end] = [style.number if self.colour else 0] * (end - column)
        touched = self._dirty.get(row)
        if touched is None:
            self._dirty[row] = (column, end)
        elif column < touched[0] or end > touched[1]:
            self._dirty[row] = (min(column, touched[0]), max(end, touched[1]))
        return end

    def _put_any(self, row: int, column: int, text: str, style: Style) -> int:
        cells: list[str] = []
        for character in unicodedata.normalize("NFC", text):
            if character.isprintable():
                cells.extend((character, "")[: character_width(character)])
        end = column + len(cells)
        first, last = max(column, 0), min(end, self.width)
        if not 0 <= row < self.rows or first >= last:
            return end
        visible = cells[first - column : last - column]
        if visible[0] == "":
            visible[0] = " "
        if last < end and cells[last - column] == "":
            visible[-1] = " "
        if not STEADY.issuperset(visible):
            self._unsteady.add(row)
        line = self._cells[row]
        low, high = first, last
        if line[first] == "":  # the second half of a character that begins before us
            low = first - 1
            line[low] = " "
        if last < self.width and line[last] == "":
            line[last] = " "
            high = last + 1
        line[first:last] = visible
        self._styles[row][first:last] = [style.number if self.colour else 0] * (last - first)
        touched = self._dirty.get(row, (low, high))
        self._dirty[row] = (min(low, touched[0]), max(high, touched[1]))
        return end

    def put_pipe(self, row: int, column: int, text: str, style: Style = PLAIN) -> int:
        """Write a line of text with pipe codes, from `style` on; returns the column after it."""
        for piece_style, piece in from_pipe(text, style):
            column = self.put(row, column, piece, piece_style)
        return column

    def centre(self, row: int, text: str, style: Style = PLAIN) -> int:
        """Write a line of text in the middle of the row; returns the column after it."""
        return self.put(row, (self.width - text_width(text)) // 2, text, style)

    def centre_pipe(self, row: int, text: str, style: Style = PLAIN) -> int:
        """Write a line of text with pipe codes in the middle of the row."""
        width = sum(text_width(piece) for _, piece in from_pipe(text))
        return self.put_pipe(row, (self.width - width) // 2, text, style)

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
        """Draw the frame of a box, at least 2 by 2; what is inside stays."""
        across = frame.across * (width - 2)
        right = column + width - 1
        self.put(row, column, frame.top_left + across + frame.top_right, style)
        for side in range(row + 1, row + height - 1):
            self.put(side, column, frame.down, style)
            self.put(side, right, frame.down, style)
        bottom = row + height - 1
        self.put(bottom, column, frame.bottom_left + across + frame.bottom_right, style)

    def blank(self, row: int, column: int, width: int, height: int, style: Style = PLAIN) -> None:
        """Fill a rectangle with blanks."""
        for line in range(row, row + height):
            self.put(line, column, " " * width, style)

    def fill(self, style: Style = PLAIN, character: str = " ") -> None:
        """Fill the whole canvas with one character of one cell."""
        self._unsteady.clear()  # all is overwritten: rows may be written in one piece again
        for row in range(self.rows):
            self.put(row, 0, character * self.width, style)

    def clear(self) -> None:
        """Blank the whole canvas."""
        self.fill()

    # Reading back

    def text(self, row: int) -> str:
        """What stands in a row, without the blanks at its end."""
        return "".join(self._cells[row]).rstrip(" ")

    def style_at(self, row: int, column: int) -> Style:
        """A style that looks like the cell's."""
        return style_of(self._styles[row][column])

    # Sending

    def render(self) -> str:
        """The whole screen, whatever the terminal shows now; updates go on from here."""
        self._rendered = True
        self._dirty.clear()
        parts = ["\x1b[?25l\x1b[0m\x1b[2J\x1b[H" if self.colour else "\x1b[?25l\x1b[2J\x1b[H"]
        self._pen = self._at_row = self._at_column = 0
        self._cursor_shown = False
        for row in range(self.rows):
            cells, styles = self._cells[row], self._styles[row]
            end = len(cells)
            if styles == self._blank_styles:
                end = self._blank_from(row, 0)
            if end:
                self._write(row, 0, end, parts)
        self._shown_cells = [line[:] for line in self._cells]
        self._shown_styles = [line[:] for line in self._styles]
        self._park(parts)
        return "".join(parts)

    def update(self) -> str:
        """What turns the screen last rendered or updated into this one; "" when they are equal.

        The first update is a render.
        """
        if not self._rendered:
            return self.render()
        parts: list[str] = []
        if self._dirty:
            for row, (low, high) in sorted(self._dirty.items()):
                self._update_row(row, low, high, parts)
            self._dirty.clear()
        self._park(parts)
        return "".join(parts)

    def _update_row(self, row: int, low: int, high: int, parts: list[str]) -> None:
        cells, styles = self._cells[row], self._styles[row]
        shown, shown_styles = self._shown_cells[row], self._shown_styles[row]
        while low < high and cells[low] == shown[low] and styles[low] == shown_styles[low]:
            low += 1
        if low == high:
            return
        while cells[high - 1] == shown[high - 1] and styles[high - 1] == shown_styles[high - 1]:
            high -= 1
        blank_from = self._blank_from(row, low) if high == self.width else high
        if high - blank_from > _WIDEST_GAP:
            self._update_spans(row, low, blank_from, parts)
            self._move(row, blank_from, parts)
            self._dip(0, parts)
            parts.append("\x1b[K")
        else:
            self._update_spans(row, low, high, parts)
        shown[low:high] = cells[low:high]
        shown_styles[low:high] = styles[low:high]

    def _blank_from(self, row: int, low: int) -> int:
        """First column from which on, not before `low`, the row is blank to its end."""
        cells, styles = self._cells[row], self._styles[row]
        column = self.width
        while column > low and cells[column - 1] == " " and not styles[column - 1]:
            column -= 1
        return column

    def _update_spans(self, row: int, low: int, high: int, parts: list[str]) -> None:
        """Write what differs between two columns, leaving out stretches that are the same."""
        if high - low <= _WIDEST_GAP:
            if low < high:
                self._write(row, low, high, parts)
            return
        cells, styles = self._cells[row], self._styles[row]
        shown, shown_styles = self._shown_cells[row], self._shown_styles[row]
        start = end = low  # the stretch to write, as far as it is known
        for column in range(low, high):
            if cells[column] == shown[column] and styles[column] == shown_styles[column]:
                continue
            if column - end > _WIDEST_GAP:
                self._write(row, start, end, parts)
                start = column
            end = column + 1
        if start < end:
            self._write(row, start, end, parts)

    def _write(self, row: int, start: int, end: int, parts: list[str]) -> None:
        if row in self._unsteady:
            self._write_unsteady(row, start, end, parts)
            return
        if row != self._at_row or start != self._at_column:
            self._move(row, start, parts)
        cells, styles = self._cells[row], self._styles[row]
        while start < end:
            number = styles[start]
            stop = start + 1
            while stop < end and styles[stop] == number:
                stop += 1
            if number != self._pen:
                self._dip(number, parts)
            parts.append("".join(cells[start:stop]))
            start = stop
        self._at_column = end

    def _write_unsteady(self, row: int, start: int, end: int, parts: list[str]) -> None:
        """Cell by cell, saying the column again after what terminals disagree about."""
        cells, styles = self._cells[row], self._styles[row]
        for column in range(start, end):
            character = cells[column]
            if character:
                self._move(row, column, parts)
                self._dip(styles[column], parts)
                parts.append(character)
                self._at_column = column + 1
                if character not in STEADY:
                    self._at_row = -1

    def _dip(self, number: int, parts: list[str]) -> None:
        if number != self._pen:
            parts.append(change(self._pen, number))
            self._pen = number

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
        """Leave the terminal's cursor where `cursor` says, shown or hidden."""
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
