"""Pages of text: paged, and interrupted by a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.canvas import Canvas, Row
from door.call.display import LAYOUT_COLUMNS, wrap

if TYPE_CHECKING:
    from door.call.console import Console


@dataclass(frozen=True)
class Page:
    """A title and lines of text, pipe codes allowed, as many as fit."""

    title: str
    body: Sequence[str]

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        body = tuple(self.body[: rows - 2])
        canvas.paste(0, _painted(self.title, body, canvas.columns, rows, left, canvas.colour))

    def lines(self) -> Sequence[str]:
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


@dataclass(frozen=True)
class Turning:
    """What is said to one who turns pages; `of` has "{number}" and "{pages}" in it."""

    choices: Mapping[str, str]
    of: str
    any_key: str


IN_ENGLISH = Turning(
    {"N": "Next", "P": "Previous", "Q": "Quit"}, "{number} of {pages}", "|08Press any key"
)


async def read(console: Console, title: str, text: str, said: Turning = IN_ENGLISH) -> None:
    """Let the caller read a text of any length, page by page, in the words of `said`."""
    width = min(console.line.columns - 1, LAYOUT_COLUMNS) - 2
    body = wrap(text, width)
    room = console.page_rows - 2
    pages = [body[start : start + room] for start in range(0, len(body), room)]
    if len(pages) == 1:
        console.stage(Page(title, pages[0]))
        await console.any_key(said.any_key)
        return
    number = 0
    while True:
        of = said.of.format(number=number + 1, pages=len(pages))
        console.stage(Page(f"{title} ({of})", pages[number]))
        is_last = number + 1 == len(pages)
        shown = {"N": not is_last, "P": number > 0, "Q": True}
        choices = {letter: label for letter, label in said.choices.items() if shown[letter]}
        choice = await console.ask(choices, default="Q" if is_last else "N", cancel="Q")
        if choice == "Q":
            return
        number += 1 if choice == "N" else -1
