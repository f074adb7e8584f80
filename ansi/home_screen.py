"""The screen of a home computer: turns the board's ANSI into the computer's own codes.

It keeps two screens of cells: what the board has written, and what the terminal shows. After each
piece of output it sends the difference, or clears the screen first if that takes fewer bytes. The
lines of these modems carry 30 to 240 bytes a second.

The last column stays empty, as on a canvas: a full row would join the next one into one line of the
computer, and such lines scroll together. So the screen scrolls only where the board moves on from
the last row.
"""

import re
import textwrap
from itertools import repeat

from ansi.charset import Charset
from ansi.home_computer import BLANK, BLOCKS, COMPUTERS, REVERSED, SHADES
from ansi.style import PLAIN, Style, from_sgr
from ansi.width import STEADY, text_width

_TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n\a\b])|([^\x00-\x1f\x7f]+)")
_COLOURED = frozenset(BLOCKS + SHADES)  # where both colours of a cell count
_NEVER = -1  # no colour, so that the first one is sent

Row = list[int]  # cells: a byte, its colour from bit 8 on, and `REVERSED`; a blank is `BLANK`


def notice(charset: Charset, words: str) -> bytes:
    """Return words alone on a cleared screen, for a caller who gets no other output."""
    computer = COMPUTERS[charset]
    lines = textwrap.wrap(words, computer.columns - 1)
    screen = HomeScreen(charset, computer.columns, computer.rows)
    return screen.feed("".join(f"{line}\r\n" for line in lines))


class HomeScreen:
    """One terminal of a home computer, of `columns` by `rows`."""

    def __init__(self, charset: Charset, columns: int, rows: int) -> None:
        self._computer = COMPUTERS[charset]
        self._width = columns - 1
        self._rows = rows
        # As the board has written it.
        self._wanted = self._blank()
        self._row = self._column = 0
        self._style: Style = PLAIN
        self._has_cursor = True
        # As the terminal shows it.
        self._shown = self._blank()
        self._at = (0, 0)
        self._ink = _NEVER
        self._is_reversed = False
        self._output = bytearray(self._computer.begin + self._computer.clear)

    def feed(self, text: str) -> bytes:
        """Return the bytes that bring the terminal from the screen before `text` to the one after.

        Sequences that move, colour and erase are understood; all others are left out.
        """
        for token in _TOKEN.finditer(text):
            parameters, final, control, letters = token.groups()
            if letters:
                self._write(letters)
            elif control:
                self._obey(control)
            else:
                self._obey_sequence(parameters, final)
        self._send_changes()
        if self._has_cursor:
            self._move((self._row, self._column))
        output = bytes(self._output)
        self._output.clear()
        return output

    def _blank(self) -> list[Row]:
        return [[BLANK] * self._width for _ in range(self._rows)]

    # What the board writes

    def _write(self, text: str) -> None:
        ink = self._computer.ink(self._style.number)
        for character in text:
            for _ in repeat(None, 1 if character in STEADY else text_width(character)):
                if self._column >= self._width:
                    self._column = 0
                    self._feed_line()
                self._wanted[self._row][self._column] = self._cell(character, ink)
                self._column += 1

    def _cell(self, character: str, ink: int) -> int:
        if self._computer.has_colours and character in _COLOURED:
            return self._computer.block(character, self._style.number)
        cell = self._computer.glyph(character) ^ ink
        if cell & (REVERSED | 0xFF) == BLANK:
            return BLANK
        if not self._computer.has_colours and cell & REVERSED:
            return (cell ^ REVERSED ^ 0x80) or 0x80
        return cell

    def _obey(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control == "\n":
            self._feed_line()
        elif control == "\b":
            self._column = max(0, self._column - 1)
        else:
            self._output += self._computer.bell

    def _obey_sequence(self, parameters: str, final: str) -> None:
        first, _, second = parameters.partition(";")
        number = int(first) if first.isdigit() else 0
        if final == "m":
            self._style = from_sgr(parameters, self._style)
        elif final == "H":
            self._row = min(max(number, 1), self._rows) - 1
            self._column = min(int(second) if second.isdigit() else 1, self._width + 1) - 1
        elif final == "C":
            self._column = min(self._column + max(number, 1), self._width)
        elif final == "D":
            self._column = max(self._column - max(number, 1), 0)
        elif final == "K":
            blank = self._cell(" ", self._computer.ink(self._style.number))
            erased = self._width - self._column
            self._wanted[self._row][self._column :] = [blank] * erased
        elif final == "J":
            self._clear()
            self._wanted = self._blank()
        elif parameters == "?25":
            self._has_cursor = final == "h"

    def _feed_line(self) -> None:
        if self._row < self._rows - 1:
            self._row += 1
            return
        self._send_changes()
        self._move((self._rows - 1, self._at[1]))
        self._send_newline()
        self._at = (self._rows - 1, 0)
        for screen in (self._wanted, self._shown):
            del screen[0]
            screen.append([BLANK] * self._width)

    # What the terminal shows

    def _clear(self) -> None:
        if not self._output.endswith(self._computer.clear):
            self._output += self._computer.clear
        self._shown = self._blank()
        self._at = (0, 0)

    def _send_changes(self) -> None:
        """Send the cells that differ, on a cleared screen if that takes fewer bytes."""
        if self._wanted == self._shown:
            return
        start, before = len(self._output), (self._at, self._ink, self._is_reversed)
        self._send_cells()
        changes, after = self._output[start:], (self._at, self._ink, self._is_reversed)
        if len(changes) <= self._width:  # a cleared screen would take more
            return
        del self._output[start:]
        self._at, self._ink, self._is_reversed = before
        self._clear()
        self._send_cells()
        if len(self._output) - start >= len(changes):
            self._output[start:] = changes
            self._at, self._ink, self._is_reversed = after

    def _send_cells(self) -> None:
        for row, (wanted, shown) in enumerate(zip(self._wanted, self._shown, strict=True)):
            if wanted != shown:
                for column, cell in enumerate(wanted):
                    if cell != shown[column]:
                        self._send_cell(row, column, cell)
        self._shown = [row[:] for row in self._wanted]

    def _send_cell(self, row: int, column: int, cell: int) -> None:
        self._move((row, column))
        if self._computer.has_colours:
            is_reversed = bool(cell & REVERSED)
            if is_reversed != self._is_reversed:
                self._output.append(18 if is_reversed else 146)
                self._is_reversed = is_reversed
            ink = cell >> 8 & 0xFF
            if ink not in (0, self._ink):
                self._output.append(ink)
                self._ink = ink
        self._output.append(cell & 0xFF)
        self._at = (row, column + 1)

    def _move(self, to: tuple[int, int]) -> None:
        """Move the terminal's cursor by the fewest codes: steps, new lines, or home and steps."""
        computer, (row, column) = self._computer, to
        down, right = row - self._at[0], column - self._at[1]
        steps = abs(down) + abs(right)
        if not steps:
            return
        home = row + column + 1 if computer.home else steps
        if down > 0 and down + column < min(steps, home):
            self._send_newline()
            self._output += computer.down * (down - 1) + computer.right * column
        elif home < steps:
            self._output += computer.home + computer.down * row + computer.right * column
        else:
            self._output += computer.down * down + computer.up * -down
            self._output += computer.right * right + computer.left * -right
        self._at = to

    def _send_newline(self) -> None:
        self._output += self._computer.newline
        self._is_reversed = False
