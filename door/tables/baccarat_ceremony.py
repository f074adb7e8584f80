"""What happens when the bank is broken: the black cloth, the plaque, the champagne.

At Monte Carlo a table whose bank was broken was covered with a black cloth until it had money
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.canvas import DOUBLE
from ansi.style import Colour, Style
from door.display import LAYOUT_COLUMNS
from door.tables import baccarat_words as words
from door.tables.baccarat_scene import LIGHTS, LIGHTS_ROW

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.console import Console
    from door.tables.baccarat_dialogue import Dialogue
    from door.tables.baccarat_stakes import ForTheBank

TABLE_ROW, TABLE_ROWS = 5, 14
PLAQUE_ROW = 6
FALL_SECONDS = 0.15  # for a row of the cloth
LINE_SECONDS = 0.8

_BAIZE = Style(Colour.WHITE, Colour.GREEN)
_CLOTH = Style(Colour.DARK_GREY)
_GOLD = Style(Colour.YELLOW)
_NAME = Style(Colour.WHITE)


@dataclass
class Ceremony:
    """The table of a broken bank: `fallen` rows of cloth, `told` lines of the plaque.

    The announcement, the order for the cloth, the lines of the plaque.
    """

    title: str
    announced: str
    ordered: str
    plaque: Sequence[str]
    fallen: int = 0
    told: int = 0

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        """Paint the table into the 79 columns from `left` on."""
        canvas.put_pipe(0, 0, "|18" + " " * (canvas.columns - 1))
        canvas.put_pipe(0, left + 1, f"|18|15{self.title}")
        for number, line in enumerate(LIGHTS):
            column = left + (LAYOUT_COLUMNS - len(line)) // 2
            canvas.put(LIGHTS_ROW + number, column, line, _GOLD)
        canvas.blank(TABLE_ROW, left, LAYOUT_COLUMNS, TABLE_ROWS, _BAIZE)
        for row in range(TABLE_ROW, TABLE_ROW + self.fallen):
            canvas.put(row, left, "▒" * LAYOUT_COLUMNS, _CLOTH)
        if self.told:
            self._paint_plaque(canvas, left)

    def lines(self) -> Sequence[str]:
        """Return the ceremony in words."""
        return [f"|15{self.announced}", f"|07{self.ordered}", *(f"|14{x}" for x in self.plaque)]

    def _paint_plaque(self, canvas: Canvas, left: int) -> None:
        width = max(map(len, self.plaque)) + 6
        height = 2 * len(self.plaque) + 1
        column = left + (LAYOUT_COLUMNS - width) // 2
        canvas.blank(PLAQUE_ROW, column, width, height)
        canvas.box(PLAQUE_ROW, column, width, height, _GOLD, frame=DOUBLE)
        for number, line in enumerate(self.plaque[: self.told]):
            start = left + (LAYOUT_COLUMNS - len(line)) // 2
            canvas.put(PLAQUE_ROW + 1 + 2 * number, start, line, _GOLD if number else _NAME)


async def celebrate(console: Console, said: Dialogue, stakes: ForTheBank, name: str) -> None:
    """Celebrate the caller of this name, who has broken the bank."""
    told = {
        "name": name,
        "bankroll": words.money(said, stakes.bankroll, stakes.unit),
        "coups": words.coups(said, stakes.sitting.coups),
    }
    plaque = [line.format(**told) for line in said.plaque]
    await hold(console, Ceremony(said.title, said.bank_breaks, said.black_cloth, plaque))
    console.forget_keys()
    await console.any_key(said.any_key)


async def hold(console: Console, ceremony: Ceremony) -> None:
    """Hold the ceremony, after a moment for the last coup; a key shortens it."""
    if not console.is_painted:
        console.stage(ceremony)
        return
    await console.pause(2 * LINE_SECONDS)
    console.stage(ceremony)
    console.bell()
    console.say(f"|15{ceremony.announced}")
    await console.pause(2 * LINE_SECONDS)
    console.say(f"|07{ceremony.ordered}")
    for row in range(1, TABLE_ROWS + 1):
        ceremony.fallen = row
        console.display.refresh()
        await console.pause(FALL_SECONDS)
    for line in range(1, len(ceremony.plaque) + 1):
        ceremony.told = line
        console.display.refresh()
        await console.pause(LINE_SECONDS)
