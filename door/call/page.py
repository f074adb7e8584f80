"""A page of text, a title with paragraphs; and how a long text is divided into pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.canvas import Canvas
from door.call.markup import plain, wrap
from door.call.scene import WholeNarrow

if TYPE_CHECKING:
    from ansi.canvas import Row
    from door.call.scene import Area

TITLE_ROWS = 2  # the bar, and an empty row or the rest of a long title
MARGIN = 2
TEXT_COLUMNS = 98  # longer lines are hard to read: on a wide screen the text is centred


def page_columns(columns: int) -> int:
    """Return how many of `columns` a page takes, with its margin."""
    return min(columns, TEXT_COLUMNS + MARGIN)


@dataclass(frozen=True)
class Page(WholeNarrow):
    """A title and paragraphs with pipe codes; the end is cut if it does not fit."""

    title: str
    body: Sequence[str]

    def paint(self, canvas: Canvas, area: Area) -> None:
        columns = page_columns(area.columns)
        lines = tuple(line for each in self.body for line in wrap(each, columns - MARGIN))
        shown = lines[: area.rows - TITLE_ROWS]
        canvas.paste(0, _painted(self.title, shown, canvas.columns, area, canvas.colour))

    def lines(self) -> Sequence[str]:
        return [f"|15{self.title}", "", *self.body]


@lru_cache(maxsize=64)
def _painted(
    title: str, lines: tuple[str, ...], columns: int, area: Area, colour: bool
) -> tuple[Row, ...]:
    """Paint a page; cached, as many callers read the same rules."""
    canvas = Canvas(columns, area.rows, colour=colour)
    width = page_columns(area.columns)
    left = area.centred(width) + 1
    for row, line in enumerate(wrap(title, width - MARGIN)[:TITLE_ROWS]):
        canvas.put_pipe(row, 0, "|17" + " " * canvas.width)
        canvas.put_pipe(row, left, f"|17|15{line}")
    for number, line in enumerate(lines):
        canvas.put_pipe(number + TITLE_ROWS, left, line)
    return canvas.copy(0, area.rows)


@lru_cache(maxsize=64)
def pages_of(text: str, columns: int, rows: int) -> tuple[tuple[str, ...], ...]:
    """Break a text into pages of at most `rows` lines.

    Pages break between paragraphs, unless a paragraph is longer than a page. Indented lines belong
    to the one above them.

    >>> pages_of("One two.\\nThree four five.", 9, 3)
    (('One two.',), ('Three', 'four', 'five.'))
    """
    pages: list[list[str]] = [[]]
    for block in _blocks(text, columns):
        lines = block
        if len(pages[-1]) + len(lines) > rows and pages[-1]:
            pages.append(_heading(pages[-1], lines, rows))
        while len(lines) > rows:
            pages[-1] = lines[:rows]
            lines = lines[rows:]
            pages.append([])
        if lines != [""] or pages[-1]:  # no page begins with an empty line
            pages[-1] += lines
    return tuple(tuple(page) for page in pages if page) or (("",),)


def _heading(page: list[str], lines: Sequence[str], rows: int) -> list[str]:
    """Return the last line of a full page, and remove it there, if it is a heading of `lines`.

    A heading has an empty line above it. It moves to the next page, unless that lacks the room.
    """
    stands_alone = len(page) > 2 and page[-1] != "" == page[-2]
    if not stands_alone or lines == [""] or 1 + len(lines) > rows:
        return []
    heading = page.pop()
    page.pop()
    return [heading]


def _blocks(text: str, columns: int) -> list[list[str]]:
    """Wrap a text and divide it into blocks that should not be broken across pages.

    A block is a paragraph, or a heading with the rows of its table.
    """
    blocks: list[list[str]] = []
    for paragraph in text.split("\n"):
        lines = wrap(paragraph, columns)
        if blocks and blocks[-1] != [""] and plain(paragraph).startswith("  "):
            blocks[-1] += lines
        else:
            blocks.append([*lines])
    return blocks
