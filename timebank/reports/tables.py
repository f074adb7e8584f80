"""Tables for the sysop, never wider than the window.

Rows are written page by page, because there may be more of them than memory holds. So no library is
used that needs all of them first. For files and other programs, columns are as wide as their
content.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

PAGE = 500  # rows measured together
BETWEEN = "  "
NARROWEST = 40  # the least width of a window
LEAST = 10  # the least width of a column that may wrap
# Escape sequences of styles.
_BOLD, _FAINT, _RED, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"


class Loud(str):
    """A cell or a line about a problem, which is shown in red."""

    __slots__ = ()


class Column(NamedTuple):
    """A column: figures are aligned right, words left."""

    heading: str
    right: bool = False
    # The order in which columns are dropped in a narrow window, 1 first; 0 is never dropped.
    goes: int = 0
    # The least width of a column that may wrap; 0 for a column that may not.
    least: int = 0


def figures(*headings: str) -> tuple[Column, ...]:
    return tuple(Column(heading, right=True) for heading in headings)


# A string is a line of its own between the rows.
Row = Sequence[str] | str


class Listing(NamedTuple):
    columns: Sequence[Column]
    rows: Iterable[Row]
    empty: str  # the text shown without rows


Piece = Listing | str


class Sheet(NamedTuple):
    """The output: its width, None for any, and whether it has colours."""

    width: int | None = None
    colour: bool = False

    def _in(self, style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if self.colour and text else text

    def cell(self, text: str, whole: str) -> str:
        """Return a part of the cell `whole` in the colour of that cell."""
        return self._in(_RED, text) if self.colour and isinstance(whole, Loud) else text

    def heading(self, text: str) -> str:
        return self._in(_BOLD, text)

    def remark(self, text: str) -> str:
        return self._in(_FAINT, text)


ANYWHERE = Sheet()


def written(parts: Iterable[Piece], sheet: Sheet = ANYWHERE) -> Iterator[str]:
    """Yield texts and tables line by line."""
    for part in parts:
        if isinstance(part, str):
            yield from _paragraph(part, sheet)
        else:
            yield from _Writing(part.columns, sheet).lines(part)


def width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # noqa: PLC0415 - late: most names need no table of Unicode

    counted = wcswidth(text)
    return len(text) if counted < 0 else counted


def folded(text: str, most: int) -> list[str]:
    """Wrap a text into lines of at most `most` columns, between words if possible.

    >>> folded("60 minutes for 1 March", 10)
    ['60 minutes', 'for 1', 'March']
    """
    if text.isascii():
        return textwrap.wrap(text, most, break_on_hyphens=False) or [""]
    lines, line = [], ""
    for word in text.split():
        if width(f"{line} {word}".strip()) <= most:
            line = f"{line} {word}".strip()
            continue
        lines.append(line)
        line = ""
        for letter in word:  # a word longer than a line is cut
            if width(line + letter) > most:
                lines.append(line)
                line = ""
            line += letter
    return [each for each in (*lines, line) if each] or [""]


def _paragraph(text: str, sheet: Sheet) -> Iterator[str]:
    """Yield the lines of a text between the rows, with the second line and later ones indented."""
    if sheet.width is None or width(text) <= sheet.width:
        yield sheet.cell(text, text)
        return
    words = text.lstrip(" ")
    indent = " " * (len(text) - len(words))
    first, *_ = folded(words, max(sheet.width - len(indent), 1))
    yield sheet.cell(indent + first, text)
    rest = words[len(first) :].lstrip(" ")
    for line in folded(rest, max(sheet.width - len(indent) - 2, 1)) if rest else ():
        yield sheet.cell(f"{indent}  {line}", text)


class _Writing:
    """Writes a table page by page. Columns may become wider from page to page, never narrower."""

    def __init__(self, columns: Sequence[Column], sheet: Sheet) -> None:
        self._columns, self._sheet = columns, sheet
        self._wanted = [width(column.heading) for column in columns]
        # The widths of the shown columns, by number.
        self._shown: dict[int, int] = {}
        self._left_out: dict[str, None] = {}  # headings of dropped columns, in order

    def lines(self, table: Listing) -> Iterator[str]:
        rows = iter(table.rows)
        # Read before the headings are written, so that unreadable books show none.
        page = list(islice(rows, PAGE))
        if not page:
            yield from _paragraph(table.empty, self._sheet)
            return
        while page:
            if self._measure(page):
                yield self._sheet.heading(self._heading())
            for row in page:
                if isinstance(row, str):
                    yield from _paragraph(row, self._sheet)
                else:
                    yield from self._row(row)
            page = list(islice(rows, PAGE))
        if self._left_out:
            names = ", ".join(self._left_out)
            line = f"No room for: {names}. --wide shows everything."
            yield from map(self._sheet.remark, _paragraph(line, Sheet(self._sheet.width)))

    def _measure(self, page: Sequence[Row]) -> bool:
        """Fit the columns to a page of rows. Return whether the headings must be written."""
        wanted = list(self._wanted)
        for row in page:
            if not isinstance(row, str):
                for number, cell in enumerate(row):
                    if len(cell) > wanted[number] or not cell.isascii():
                        wanted[number] = max(wanted[number], width(cell))
        is_first = not self._shown
        if wanted == self._wanted and not is_first:
            return False
        self._wanted = wanted
        before, self._shown = self._shown, self._fit()
        for number, column in enumerate(self._columns):
            if number not in self._shown and column.heading:
                self._left_out[column.heading] = None
        return is_first or (self._sheet.width is not None and before != self._shown)

    def _fit(self) -> dict[int, int]:
        """Return the widths of the columns that fit, by number."""
        numbers = range(len(self._columns))
        if self._sheet.width is None:
            return {number: self._wanted[number] for number in numbers}
        for gone in sorted({0, *(column.goes for column in self._columns)}):
            shown = [number for number in numbers if not 0 < self._columns[number].goes <= gone]
            widths = {number: self._narrowest(number) for number in shown}
            room = self._sheet.width - sum(widths.values()) - len(BETWEEN) * (len(shown) - 1)
            if room >= 0:
                break
        if room < 0:  # the longest names in the narrowest window
            for number in shown:
                less = max(widths[number] - LEAST, 0) if self._columns[number].least else 0
                widths[number] -= less
                room += less
        for number in shown:  # left columns, with names, get their full width first
            more = min(max(room, 0), self._wanted[number] - widths[number])
            widths[number] += more
            room -= more
        return widths

    def _narrowest(self, number: int) -> int:
        least, wanted = self._columns[number].least, self._wanted[number]
        if not least:
            return wanted
        return min(max(least, width(self._columns[number].heading)), wanted)

    def _heading(self) -> str:
        cells = {number: [self._columns[number].heading] for number in self._shown}
        return self._line(cells, 0, ())

    def _row(self, row: Sequence[str]) -> Iterator[str]:
        if self._sheet.width is None:
            yield self._line({number: [cell] for number, cell in enumerate(row)}, 0, row)
            return
        cells = {number: self._wrap(row[number], most) for number, most in self._shown.items()}
        for number in range(max(map(len, cells.values()))):
            yield self._line(cells, number, row)

    def _wrap(self, cell: str, most: int) -> list[str]:
        return [cell] if len(cell) <= most and cell.isascii() else folded(cell, most)

    def _line(self, cells: dict[int, list[str]], line: int, row: Sequence[str]) -> str:
        """Return line `line` of a row's wrapped cells. `row` has the whole cells, for colours."""
        parts = []
        for number, wide in self._shown.items():
            text = cells[number][line] if line < len(cells[number]) else ""
            blank = " " * (wide - width(text))
            shown = self._sheet.cell(text, row[number]) if row else text
            parts.append(blank + shown if self._columns[number].right else shown + blank)
        return BETWEEN.join(parts).rstrip()
