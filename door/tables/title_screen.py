"""What a caller sees for a moment on the way to a table: the name of the game, drawn on felt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.style import Colour, Style
from door.call.scene import WholeWidth
from door.lobby import texts
from door.tables.scene import FELT

if TYPE_CHECKING:
    from ansi.art import Art
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.scene import Area

SECONDS = 1.0
RAIL = Style(Colour.WHITE, Colour.BROWN)


@dataclass(frozen=True)
class WayIn(WholeWidth):
    """Felt across the whole screen, with the drawn header of a game in its middle."""

    title: str
    header: Art

    def paint(self, canvas: Canvas, area: Area) -> None:
        canvas.blank(0, 0, canvas.columns, area.rows, FELT)
        for rail in (0, area.rows - 1):
            canvas.blank(rail, 0, canvas.columns, 1, RAIL)
        top = max(0, area.rows - texts.header_rows(self.header)) // 2
        texts.paint_header(canvas, self.header, area, top)

    def lines(self) -> Sequence[str]:
        return [f"|15{self.title}"]


async def walk_in(caller: Caller, game: str, title: str) -> None:
    """Show the header of a game for a moment; any key skips it, and counts for the table.

    Nothing is shown in plain lines, with animation off, or to a caller who has typed ahead.
    """
    console = caller.console
    if not (console.pace and console.is_painted) or console.next_key():
        return
    header = texts.find(console, caller.config.board.texts, game)
    if header is not None:
        console.stage(WayIn(title, header))
        await console.beat(SECONDS)
