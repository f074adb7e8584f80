"""A sheet of square dots and letters, and how it becomes a file that every ANSI editor opens."""

from __future__ import annotations

import struct

from ansi.art import encode
from ansi.style import Colour
from tools.draw.letters import Dots

AUTHOR = "Black Jack For Time"
MADE = b"20261123"
FONT = b"IBM VGA"
_RECORD = struct.Struct("<7s35s20s20s8sIBBHHIBB22s")  # SAUCE, revision 5


def as_file(text: str, title: str, file_type: int, columns: int, rows: int) -> bytes:
    """Return a picture with its SAUCE record; `file_type` is 1 for ANSI, 0 for plain letters."""
    picture, author = encode(text), AUTHOR.encode().ljust(20)
    head = (b"SAUCE00", title.encode().ljust(35), author, author, MADE, len(picture))
    return picture + b"\x1a" + _RECORD.pack(*head, 1, file_type, columns, rows, 0, 0, 0, FONT)


class Paper:
    """`rows` of at most `columns` cells, each of two dots, one above the other.

    A cell shows two colours; on a PC the second is a dark one.
    """

    def __init__(self, columns: int, rows: int) -> None:
        """Leave the last column of the screen free: a line never wraps."""
        self.columns, self.rows = columns - 1, rows
        self._screen = columns
        self.dots = [[Colour.BLACK] * self.columns for _ in range(rows * 2)]
        self._signs: dict[tuple[int, int], tuple[str, Colour, Colour | None]] = {}

    # In dots

    def dot(self, x: int, y: int, colour: Colour) -> None:
        if 0 <= x < self.columns and 0 <= y < self.rows * 2:
            self.dots[y][x] = colour

    def spread(self, dots: Dots, x: int, y: int, colour: Colour) -> None:
        for across, down in dots:
            self.dot(x + across, y + down, colour)

    def fill(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        for down in range(height):
            for across in range(width):
                self.dot(x + across, y + down, colour)

    # In cells

    def sign(
        self, row: int, column: int, text: str, colour: Colour, behind: Colour | None = None
    ) -> None:
        """Draw letters, on the colour of each dot unless given another."""
        for number, letter in enumerate(text, column):
            if 0 <= number < self.columns and 0 <= row < self.rows:
                self._signs[row, number] = letter, colour, behind

    def clear_signs(self, row: int, column: int, width: int, height: int) -> None:
        for r in range(row, row + height):
            for c in range(column, column + width):
                self._signs.pop((r, c), None)

    def centre(self, row: int, text: str, colour: Colour, behind: Colour | None = None) -> None:
        self.sign(row, (self.columns - len(text)) // 2, text, colour, behind)

    def is_solid(self, row: int, column: int, colour: Colour) -> bool:
        """Whether both dots of a cell are of that colour, and no letter is upon them."""
        upper, lower = self.dots[row * 2][column], self.dots[row * 2 + 1][column]
        return upper == lower == colour and (row, column) not in self._signs

    def cell(self, row: int, column: int) -> tuple[str, Colour, Colour]:
        """Return the letter, its colour and the dark colour behind it."""
        upper, lower = self.dots[row * 2][column], self.dots[row * 2 + 1][column]
        if (row, column) in self._signs:
            letter, colour, behind = self._signs[row, column]
            return letter, colour, _dark(lower if behind is None else behind)
        if upper == lower:
            return (" ", Colour.GREY, upper) if upper <= Colour.GREY else ("█", upper, Colour.BLACK)
        if lower > Colour.GREY and upper <= Colour.GREY:
            return "▄", lower, upper
        return "▀", upper, _dark(lower)

    # As a file

    def ansi(self, title: str) -> bytes:
        lines = (self._line(row) for row in range(self.rows))
        text = "".join(f"{line}\r\n" for line in lines)
        return as_file(text, title, 1, self._screen, self.rows)

    def _line(self, row: int) -> str:
        """Return a row without the blanks at its end; it begins and ends in the plain colours."""
        cells = [self.cell(row, column) for column in range(self.columns)]
        while cells and cells[-1][0] == " " and cells[-1][2] == Colour.BLACK:
            cells.pop()
        line, pen = "", (Colour.GREY, Colour.BLACK)
        for letter, colour, behind in cells:
            wanted = (pen[0] if letter == " " else colour, behind)
            if wanted != pen:
                line += _sgr(*pen, *wanted)
                pen = wanted
            line += letter
        return line if pen == (Colour.GREY, Colour.BLACK) else f"{line}\x1b[0m"


def _dark(colour: Colour) -> Colour:
    return Colour(colour & 7)


def _sgr(colour: Colour, behind: Colour, new: Colour, new_behind: Colour) -> str:
    codes = []
    if colour > Colour.GREY >= new:  # "22" is not known everywhere
        codes, colour, behind = ["0"], Colour.GREY, Colour.BLACK
    if new > Colour.GREY >= colour:
        codes.append("1")
    if new & 7 != colour & 7:
        codes.append(str(30 + (new & 7)))
    if new_behind != behind:
        codes.append(str(40 + new_behind))
    return f"\x1b[{';'.join(codes)}m"


def plain(lines: list[str], title: str, columns: int) -> bytes:
    """Return a picture of plain letters as a file."""
    assert all(len(line) < columns and line.isascii() for line in lines), title
    text = "".join(f"{line.rstrip()}\r\n" for line in lines)
    return as_file(text, title, 0, columns, len(lines))
