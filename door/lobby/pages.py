"""Pages of text: paged, and interrupted by a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.canvas import Canvas, Row
from door.display import LAYOUT_COLUMNS, wrap

if TYPE_CHECKING:
    from door.console import Console


@dataclass(frozen=True)
class Page:
    """A title and lines of text, pipe codes allowed, as many as fit."""

    title: str
    body: Sequence[str]

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        """Paint the title as a bar and the body below it."""
        body = tuple(self.body[: rows - 2])
        canvas.paste(0, _painted(self.title, body, canvas.columns, rows, left, canvas.colour))

    def lines(self) -> Sequence[str]:
        """Return title and body."""
        return [f"|15{self.title}", "", *self.body]


@lru_cache(maxsize=64)
def _painted(
    title: str, body: tuple[str, ...], columns: int, rows: int, left: int, colour: bool
) -> tuple[Row, ...]:
    """Paint a page once for all callers who read it; many leaf back and forth in the rules."""
    canvas = Canvas(columns, rows, colour=colour)
    canvas.put_pipe(0, 0, "|17" + " " * canvas.width)
    canvas.put_pipe(0, left + 1, f"|17|15{title}")
    for number, line in enumerate(body):
        canvas.put_pipe(number + 2, left + 1, line)
    return canvas.painted(0, rows)


async def read(console: Console, title: str, text: str) -> None:
    """Let the caller read a text of any length, page by page."""
    width = min(console.line.columns - 1, LAYOUT_COLUMNS) - 2
    body = wrap(text, width)
    room = console.page_rows - 2
    pages = [body[start : start + room] for start in range(0, len(body), room)]
    if len(pages) == 1:
        console.stage(Page(title, pages[0]))
        await console.any_key()
        return
    number = 0
    while True:
        console.stage(Page(f"{title} ({number + 1} of {len(pages)})", pages[number]))
        is_last = number + 1 == len(pages)
        choices = {} if is_last else {"N": "Next"}
        if number > 0:
            choices["P"] = "Previous"
        choices["Q"] = "Quit"
        choice = await console.ask(choices, default="Q" if is_last else "N", cancel="Q")
        if choice == "Q":
            return
        number += 1 if choice == "N" else -1
