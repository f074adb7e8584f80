"""The baccarat table as a caller sees it: chandelier, baize, cards, scoreboard, seal.

The scene follows events one by one, so that cards can be slid from the shoe one after the other;
what it shows is always something that has happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ansi.canvas import DOUBLE
from ansi.cards import CARD_WIDTH, paint_across, paint_card
from ansi.style import Colour, Style
from door import wording
from door.call.display import LAYOUT_COLUMNS
from door.games.baccarat import events as happened
from door.games.baccarat import words
from door.games.baccarat.events import BaccaratOutcome, Event, Side
from door.games.baccarat.rules import point_of
from door.games.tables.scene import paint_title

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.console import Console
    from door.call.display import Area
    from door.games.baccarat.dialogue import Dialogue
    from door.games.baccarat.round import BaccaratRound
    from door.games.baccarat.stakes import ForTheBank
    from door.games.engine.cards import Card


COUPS_SHOWN = 20
LIGHTS_ROW = 1
BAIZE_ROW, BAIZE_ROWS = 4, 7
CARDS_ROW = BAIZE_ROW + 1
SCORE_ROW = 12
SEAL_ROW = 16
BAIZE_COLUMNS = 54
PANEL = 55  # column of the figures at the right
SIDES = {Side.PLAYER: 1, Side.BANK: 28}  # first column of each side's cards
SCORE_COLUMN = 11

LIGHTS = (
    ".      ·      °    ╒═══╤════╦════╤═══╕    °      ·      .",
    "   ·      °  ·   ° │   ° ° ═╩═ ° °   │ °   ·  °      ·   ",
    ".      ·      °    *  °  *  °  *  °  *    °      ·      .",
)
_BAIZE = Style(Colour.WHITE, Colour.GREEN)
_POINT = Style(Colour.YELLOW, Colour.GREEN)
_SOFT = Style(Colour.BROWN)
_BRIGHT = Style(Colour.YELLOW)


@dataclass
class BaccaratScene:
    said: Dialogue
    played: str = ""  # what for, at the right of the title
    figures: Sequence[tuple[str, str]] = ()
    seal: str = ""
    seed: str = ""
    cut: str = ""
    player: list[Card] = field(default_factory=list)
    bank: list[Card | None] = field(default_factory=list)
    points: dict[Side, int] = field(default_factory=dict)  # as they were called
    winner: BaccaratOutcome | None = None
    coups: deque[happened.BaccaratSettled] = field(
        default_factory=lambda: deque(maxlen=COUPS_SHOWN)
    )

    # What happens.

    def clear(self) -> None:
        self.player, self.bank, self.points, self.winner = [], [], {}, None

    def lay(self, coup: BaccaratRound) -> None:
        self.clear()
        self.player, self.bank = list(coup.player), list(coup.bank)
        self.points[Side.PLAYER] = coup.player_point
        if coup.bank_point is not None:
            self.points[Side.BANK] = coup.bank_point

    def follow(self, event: Event) -> None:
        match event:
            case happened.BaccaratDealt(side=Side.PLAYER, card=card) if card is not None:
                self.player.append(card)
                if len(self.player) == 2:
                    self.points[Side.PLAYER] = point_of(self.player)
            case happened.BaccaratDealt():
                self.bank.append(None)
            case happened.BaccaratRevealed(cards=cards, point=point):
                self.bank[:] = cards
                self.points[Side.BANK] = point
            case happened.BaccaratDrew(side=side, card=card, point=point):
                (self.player if side is Side.PLAYER else self.bank).append(card)
                self.points[side] = point
            case (
                happened.BaccaratNatural(side=side, point=point)
                | happened.BaccaratStood(side=side, point=point)
            ):
                self.points[side] = point
            case happened.BaccaratSettled(player_point=mine, bank_point=banks):
                self.points = {Side.PLAYER: mine, Side.BANK: banks}
                self.winner = event.outcome
                self.coups.append(event)

    # How it looks.

    def paint(self, canvas: Canvas, area: Area) -> None:
        left = area.centred()
        paint_title(canvas, left, self.said.title, self.played)
        self._paint_lights(canvas, left)
        canvas.blank(BAIZE_ROW, left, BAIZE_COLUMNS, BAIZE_ROWS, _BAIZE)
        for side, cards in ((Side.PLAYER, self.player), (Side.BANK, self.bank)):
            self._paint_side(canvas, left + SIDES[side], side, cards)
        self._paint_panel(canvas, left + PANEL)
        self._paint_score(canvas, left + 1)
        for number, (name, text) in enumerate(self._fairness()):
            canvas.put_pipe(SEAL_ROW + number, left + 1, f"|08{name} {text}")

    def lines(self) -> Sequence[str]:
        told = [f"|15{self.said.title}" + (f"|07 - {self.played}" if self.played else "")]
        colon = self.said.colon
        told.extend(f"|07{name}{colon}|15{value}" for name, value in self.figures)
        for side, name, cards in (
            (Side.PLAYER, self.said.player, self.player),
            (Side.BANK, self.said.bank, self.bank),
        ):
            shown = [words.card(self.said, card) for card in cards if card is not None]
            if shown:
                point = self.said.points[self.points[side]] if side in self.points else "?"
                told.append(f"|07{name}{colon}|15{', '.join(shown)}|07 ({point})")
        if self.coups:
            told.append(f"|07{self.said.last_twenty}{colon}|15{self.score_line()}")
        return told

    def standing(self) -> str:
        told = (
            f"|07{name}{self.said.colon}|15{value}|07"
            for name, value in self.figures
            if name != self.said.wager
        )
        return f"{', '.join(told)}. {self.played}."

    def score_line(self) -> str:
        """Return the scoreboard in one line, the latest coup last: J9 B7 É6."""
        initials = {
            BaccaratOutcome.PLAYER: self.said.player[0],
            BaccaratOutcome.BANK: self.said.bank[0],
            BaccaratOutcome.STAND_OFF: self.said.stand_off[0],
        }
        return " ".join(f"{initials[coup.outcome]}{_best(coup)}" for coup in self.coups)

    def _paint_lights(self, canvas: Canvas, left: int) -> None:
        """Paint the chandelier; it sparkles for a player who wins."""
        style = _BRIGHT if self.winner is BaccaratOutcome.PLAYER else _SOFT
        for number, line in enumerate(LIGHTS):
            canvas.put(LIGHTS_ROW + number, left + (LAYOUT_COLUMNS - len(line)) // 2, line, style)

    def _paint_side(
        self, canvas: Canvas, column: int, side: Side, cards: Sequence[Card | None]
    ) -> None:
        name = self.said.player if side is Side.PLAYER else self.said.bank
        after = canvas.put(BAIZE_ROW, column, name, _BAIZE)
        if side in self.points:
            canvas.put(BAIZE_ROW, after + 2, str(self.points[side]), _POINT)
            called = words.call(self.said, side, self.points[side])
            canvas.put(BAIZE_ROW + BAIZE_ROWS - 1, column, called, _POINT)
        for number, card in enumerate(cards[:2]):
            paint_card(canvas, CARDS_ROW, column + number * (CARD_WIDTH + 1), card)
        third = cards[2] if len(cards) > 2 else None
        if third is not None:
            paint_across(canvas, CARDS_ROW + 1, column + 2 * (CARD_WIDTH + 1), third)

    def _paint_panel(self, canvas: Canvas, column: int) -> None:
        width = LAYOUT_COLUMNS - PANEL
        canvas.box(BAIZE_ROW, column, width, SCORE_ROW - BAIZE_ROW + 4, _SOFT)
        for number, (name, value) in enumerate(self.figures):
            row = BAIZE_ROW + 1 + number
            canvas.put_pipe(row, column + 2, f"|07{name}")
            canvas.put_pipe(row, column + width - 2 - len(value), f"|15{value}")

    def _paint_score(self, canvas: Canvas, column: int) -> None:
        canvas.put_pipe(SCORE_ROW, column, f"|02{self.said.last_twenty}")
        rows = (
            (BaccaratOutcome.PLAYER, self.said.player, "|10"),
            (BaccaratOutcome.BANK, self.said.bank, "|12"),
            (BaccaratOutcome.STAND_OFF, self.said.stand_off, "|14"),
        )
        for number, (outcome, name, colour) in enumerate(rows, start=1):
            canvas.put_pipe(SCORE_ROW + number, column, f"|02{name}")
            marks = [
                f"{colour}{_best(coup)}" if coup.outcome is outcome else "|08·"
                for coup in self.coups
            ]
            canvas.put_pipe(SCORE_ROW + number, column + SCORE_COLUMN - 1, " ".join(marks))

    def _fairness(self) -> list[tuple[str, str]]:
        named = zip(self.said.fairness, (self.seal, self.seed, self.cut), strict=True)
        return [(name, text) for name, text in named if text]


def _best(coup: happened.BaccaratSettled) -> int:
    return max(coup.player_point, coup.bank_point)


# What happens when the bank is broken: the black cloth, the plaque, the champagne.
#
# At Monte Carlo a table whose bank was broken was covered with a black cloth until it had money
# again.

TABLE_ROW, TABLE_ROWS = 5, 14
PLAQUE_ROW = 6
FALL_SECONDS = 0.15  # for a row of the cloth
LINE_SECONDS = 0.8

_CLOTH = Style(Colour.DARK_GREY)
_GOLD = Style(Colour.YELLOW)
_NAME = Style(Colour.WHITE)


@dataclass
class Ceremony:
    """The table of a broken bank: `fallen` rows of cloth, `told` lines of the plaque."""

    title: str
    announced: str
    ordered: str
    plaque: Sequence[str]
    fallen: int = 0
    told: int = 0

    def paint(self, canvas: Canvas, area: Area) -> None:
        left = area.centred()
        paint_title(canvas, left, self.title)
        for number, line in enumerate(LIGHTS):
            column = left + (LAYOUT_COLUMNS - len(line)) // 2
            canvas.put(LIGHTS_ROW + number, column, line, _GOLD)
        canvas.blank(TABLE_ROW, left, LAYOUT_COLUMNS, TABLE_ROWS, _BAIZE)
        for row in range(TABLE_ROW, TABLE_ROW + self.fallen):
            canvas.put(row, left, "▒" * LAYOUT_COLUMNS, _CLOTH)
        if self.told:
            self._paint_plaque(canvas, left)

    def lines(self) -> Sequence[str]:
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
    told = {
        "name": name,
        "bankroll": words.money(said, stakes.bankroll, stakes.unit),
        "coups": wording.counted(stakes.tally.turns, "coup"),
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
