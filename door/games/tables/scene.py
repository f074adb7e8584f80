"""A table for one caller as it is seen: title, cards, the figures beside them, the seal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ansi.canvas import Canvas
from door import wording
from door.call.display import LAYOUT_COLUMNS
from timebank.words import span

if TYPE_CHECKING:
    from ansi.canvas import Row
    from door.call.display import Area

PANEL = 54  # column of the figures at the right
FIRST_ROW = 2  # below the title
SEAL_ROW = 16


Ending = Literal["won", "lost", "push"]


@dataclass(slots=True)
class TableTally:
    """How a caller did since sitting down; `net` is what they are up in the unit played for."""

    turns: int = 0
    net: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    def told(self, title: str, turn: str, pushes: str, *, hand_is_open: bool) -> str:
        """Say how it went for time, for the menu and the good-bye; "" when nothing was played."""
        if not self.turns:
            return ""
        return (
            f"{title}: {wording.counted(self.turns, turn)}, {self.endings['won']} won, "
            f"{self.endings['lost']} lost, {pushes}; "
            f"{wording.leaves_table(self.net, hand_is_open=hand_is_open)}."
        )


def paint_title(canvas: Canvas, left: int, title: str, right: str = "") -> None:
    canvas.put_pipe(0, 0, "|18" + " " * (canvas.columns - 1))
    canvas.put_pipe(0, left + 1, f"|18|15{title}")
    canvas.put_pipe(0, left + LAYOUT_COLUMNS - 1 - len(right), f"|18|14{right}")


@dataclass(slots=True)
class TableScene:
    """Everything on a table at one moment. A game adds its cards: `_paint_cards`, `_told_cards` and
    `_bet_figures`."""

    title: ClassVar[str]

    coin: int  # seconds
    turns_limit: int | None
    turns: int = 0
    pot: int = 0  # whole coins
    seal: str = ""
    seed: str = ""
    cut: str = ""
    round: Any = None
    tally: TableTally = field(default_factory=TableTally)

    def paint(self, canvas: Canvas, area: Area) -> None:
        left = area.centred()
        paint_title(canvas, left, self.title, self._turn_words())
        self._paint_cards(canvas, left)
        self._paint_panel(canvas, left + PANEL)
        if self.seal:
            canvas.put_pipe(SEAL_ROW, left + 1, f"|08Seal {self.seal}")
        if self.seed:
            canvas.put_pipe(SEAL_ROW + 1, left + 1, f"|08Seed {self.seed}")
        if self.cut:
            canvas.put_pipe(SEAL_ROW + 2, left + 1, f"|08Cut with: {self.cut}")

    def lines(self) -> Sequence[str]:
        told = [f"|15{self.title}|07 - {self._turn_words()}"]
        if self.round is not None:
            told.extend(self._told_cards())
            told.extend(f"|07{name}: |15{value}" for name, value in self._figures())
        else:
            told.append(f"|07A coin is {span(self.coin)} of your time.")
        return told

    def standing(self) -> str:
        """Return pot and turns in a line, for a caller who has no panel to look at."""
        return f"|07Your pot: |15{wording.coins(self.pot)}|07. {self._turn_words()}."

    def _paint_cards(self, canvas: Canvas, left: int) -> None:
        """Paint the cards between title and seal, left of the panel; places for them before."""
        raise NotImplementedError

    def _told_cards(self) -> Sequence[str]:
        raise NotImplementedError

    def _bet_figures(self) -> Sequence[tuple[str, str]]:
        """Return what stands on the table, once a round does."""
        raise NotImplementedError

    def _paint_panel(self, canvas: Canvas, column: int) -> None:
        figures = self._figures()
        frame = _frame(LAYOUT_COLUMNS - PANEL - 1, 2 + max(len(figures), 7), canvas.colour)
        canvas.stamp(FIRST_ROW, column, frame)
        for number, (name, value) in enumerate(figures):
            canvas.put_pipe(FIRST_ROW + 1 + number, column + 2, f"|07{name:<9}|15{value}")

    def _figures(self) -> list[tuple[str, str]]:
        figures = [("Pot", wording.coins(self.pot)), ("A coin", span(self.coin))]
        if self.round is not None:
            figures.extend(self._bet_figures())
        if self.tally.turns:
            net, endings = self.tally.net, self.tally.endings
            figures.append(("Sitting", f"{'+' if net > 0 else ''}{wording.clock_time(net)}"))
            score = f"{endings['won']}-{endings['lost']}-{endings['push']}"
            figures.append(("W-L-push", score))
        return figures

    def _turn_words(self) -> str:
        if self.turns_limit is None:
            return f"Turns today: {self.turns}"
        return f"Turns today: {self.turns} of {self.turns_limit}"


@lru_cache(maxsize=16)
def _frame(width: int, height: int, colour: bool) -> tuple[Row, ...]:
    canvas = Canvas(width + 1, height, colour=colour)
    canvas.box(0, 0, width, height)
    return canvas.painted(0, height)
