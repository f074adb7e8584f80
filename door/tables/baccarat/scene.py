"""The scene of a baccarat table: chandelier, felt, cards, scoreboard, brass plate.

The scene follows events one by one, so that cards can be slid from the shoe one after the other;
what it shows is always something that has happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ansi.canvas import DOUBLE, Canvas
from ansi.cards import (
    CARD_HEIGHT,
    CARD_WIDTH,
    LARGE_HEIGHT,
    LARGE_WIDTH,
    paint_across,
    paint_card,
    paint_hand,
)
from ansi.style import Colour, Style
from door.call.markup import literal, wrap
from door.call.scene import LAYOUT_COLUMNS
from door.games.baccarat import events as happened
from door.games.baccarat.events import BaccaratOutcome, Event, Side
from door.games.baccarat.rules import point_of
from door.tables.baccarat import words
from door.tables.card_names import listed_cards
from door.tables.scene import BRASS, BY_SIGN, COUNT, FELT, bet_name, paint_place, paint_title
from timebank.language import _, ngettext
from timebank.words import field as figure

if TYPE_CHECKING:
    from ansi.canvas import Row
    from door.call.console import Console
    from door.call.scene import Area
    from door.games.baccarat.round import BaccaratRound
    from door.games.engine.cards import Card
    from door.tables.baccarat.stakes import ForTheBank


COUPS_SHOWN = 20  # a row of the scoreboard
MAX_COUPS = 60
ON_PLATE = 5  # names
PANEL_COLUMNS = 24
SCORE_COLUMN = 10
ROWS_FOR_TWO = 40  # the lights, two sides of large cards and the scoreboard
_FELT_COLUMNS = LAYOUT_COLUMNS - PANEL_COLUMNS - 1  # next to the panel

_SIGNS = {BaccaratOutcome.PLAYER: 1, BaccaratOutcome.BANK: -1}  # sign of the caller's net

# The chandelier by the rows for it: candles, arms, crystals.
_SMALL = (
    "  ·   *    *    *  ║  *    *    *   ·  ",
    "   °  ╘════╧════╧══╩══╧════╧════╛  °   ",
)
_USUAL = (
    "   ·   °     *      *      *    ║    *      *      *     °   ·   ",
    " °   ·    ·  │      │      │   ╔╩╗   │      │      │  ·    ·   ° ",
    "   ·   °     ╘══════╧══════╧═══╣▓╠═══╧══════╧══════╛     °   ·   ",
)
_LARGE = (
    "                                ║                                ",
    "   ·      *     *     *     *   ║   *     *     *     *      ·   ",
    " °    ·   │     │     │     │  ╔╩╗  │     │     │     │   ·    ° ",
    "    °     ╘═════╧══╤══╧═════╧══╣▓╠══╧═════╧══╤══╧═════╛     °    ",
    "   ·    ·      *   │   *    *  ║▓║  *    *   │   *      ·    ·   ",
    " °    °    ·   ╘═══╧═══╧════╧══╣▓╠══╧════╧═══╧═══╛   ·    °    ° ",
    "   ·     °   ·   °   ·   °     ╚╦╝     °   ·   °   ·   °     ·   ",
)
# By part of the chandelier: its colours, and those when the player wins.
_LIGHTS = {
    "*": (Style(Colour.YELLOW), Style(Colour.WHITE)),
    "·°": (Style(Colour.LIGHT_CYAN), Style(Colour.YELLOW)),
    "│▓": (Style(Colour.WHITE), Style(Colour.YELLOW)),
}
_GILT = Style(Colour.YELLOW), Style(Colour.YELLOW)
_LIGHT_OF = {sign: styles for signs, styles in _LIGHTS.items() for sign in signs}


class BaccaratLayout(NamedTuple):
    """The layout of the table in an area; rows and columns of the screen."""

    lights: Sequence[str]
    lights_row: int
    left: int
    columns: int
    felt_row: int
    felt_rows: int
    felt_columns: int
    sides: tuple[tuple[int, int], tuple[int, int]]  # row and column of each side's name
    score_row: int
    score_bands: int
    coups: int  # in a band
    panel_row: int
    panel_rows: int
    is_large: bool = False

    @property
    def panel(self) -> int:
        return self.left + LAYOUT_COLUMNS - PANEL_COLUMNS


def layout_of(area: Area) -> BaccaratLayout:
    if area.is_narrow:
        return _narrow(area)
    left = area.centred()
    if area.rows >= ROWS_FOR_TWO:  # one side above the other, next to the figures
        felt, side = 1 + len(_LARGE), LARGE_HEIGHT + 2
        rows = 2 * side + 1  # the last row has the result
        return BaccaratLayout(
            *(_LARGE, 1, left, LAYOUT_COLUMNS, felt, rows, _FELT_COLUMNS),
            *(((felt, left + 1), (felt + side, left + 1)), felt + rows, 2, MAX_COUPS // 2),
            *(felt, rows),
            is_large=True,
        )
    if area.rows >= 29:
        bands = max(1, min(3, (area.rows - 21) // 4))
        return BaccaratLayout(
            *(_LARGE, 1, left, LAYOUT_COLUMNS, 8, 12, LAYOUT_COLUMNS),
            *(((8, left + 1), (8, left + 40)), 21, bands, COUPS_SHOWN, 21, area.rows - 22),
            is_large=True,
        )
    return BaccaratLayout(
        *(_USUAL, 1, left, LAYOUT_COLUMNS, 4, 8, _FELT_COLUMNS),
        *(((4, left + 1), (4, left + 28)), 12, 1, COUPS_SHOWN, 4, min(area.rows - 5, 14)),
    )


def _narrow(area: Area) -> BaccaratLayout:
    lights = _SMALL if area.rows >= 18 else ()
    felt = 2 + len(lights)
    score = felt + 10 if area.rows >= 18 else felt + 9
    coups = (area.columns - SCORE_COLUMN - 1) // 2
    return BaccaratLayout(
        *(lights, 2, area.left, area.columns, felt, 7, area.columns),
        *(((felt, area.left + 1), (felt, area.left + 1 + area.columns // 2 + 1)), score, 1, coups),
        *(felt + 7, score - felt - 7),
    )


@dataclass
class BaccaratScene:
    played: str = ""  # the stakes, at the right of the title
    figures: Sequence[tuple[str, str]] = ()
    for_time: bool = True
    seal: str = ""
    seed: str = ""
    cut: str = ""
    short: str = ""  # of seal or seed, once a coup is over
    player: list[Card] = field(default_factory=list)
    bank: list[Card | None] = field(default_factory=list)
    points: dict[Side, int] = field(default_factory=dict)  # called so far
    winner: BaccaratOutcome | None = None
    banner: str = ""  # the result of the coup
    has_big_win: bool = False  # whether the result is shown large
    plate: Sequence[str] = ()  # names of callers who broke the bank, the latest first
    coups: deque[happened.BaccaratSettled] = field(default_factory=lambda: deque(maxlen=MAX_COUPS))

    # Changes of the scene.

    def clear(self) -> None:
        self.player, self.bank, self.points, self.winner = [], [], {}, None
        self.banner = self.short = ""
        self.has_big_win = False

    def lay(self, coup: BaccaratRound) -> None:
        self.clear()
        self.player, self.bank = list(coup.player), list(coup.bank)
        self.points[Side.PLAYER] = coup.player_point
        if coup.bank_point is not None:
            self.points[Side.BANK] = coup.bank_point

    def remember(self, coups: Iterable[happened.BaccaratSettled]) -> None:
        """Fill an empty scoreboard with coups of the books."""
        if not self.coups:
            self.coups.extend(coups)

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

    # The scene.

    def from_behind(self, name: str, unheard: Set[int]) -> BaccaratScene:
        """Return a copy for a watcher of the caller `name`."""
        bets = [(what, value) for what, value in self.figures if what == bet_name()]
        return replace(self, figures=bets, played=name)

    def paint(self, canvas: Canvas, area: Area) -> None:
        layout = layout_of(area)
        if area.is_narrow:
            paint_title(canvas, area.left, words.title())
            canvas.put_pipe(1, area.left + 1, f"|14{self.played}")
        else:
            paint_title(canvas, layout.left, words.title(), self.played)
        paint_lights(canvas, layout, is_won=self.winner is BaccaratOutcome.PLAYER)
        self._paint_felt(canvas, layout)
        if area.is_narrow:
            self._paint_figures(canvas, layout)
        else:
            self._paint_panel(canvas, layout)
        self._paint_score(canvas, layout)
        if self.short and not area.is_narrow:
            canvas.put_pipe(area.rows - 1, layout.left + 1, f"|07{self.short}")

    def lines(self) -> Sequence[str]:
        lines = [f"|15{words.title()}"]
        if self.player and self.winner is None:  # between coups `pot_words` has the figures
            lines = [f"|15{words.title()}|07 - {self.played}"]
            lines.extend(_figure_line(name, f"|15{value}") for name, value in self.figures)
        for side, cards in ((Side.PLAYER, self.player), (Side.BANK, self.bank)):
            shown = [card for card in cards if card is not None]
            if shown:
                point = words.point_name(self.points[side]) if side in self.points else "?"
                lines.append(
                    _figure_line(words.name_of(side), f"|15{listed_cards(shown)}|07 ({point})")
                )
        if self.coups:
            lines.append(_figure_line(_score_title(COUPS_SHOWN), f"|15{self.score_line()}"))
        return lines

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        lines = words.explained(for_time=self.for_time)
        return [*lines, f"|07{words.brass_plate(self.plate)}"] if self.plate else lines

    def pot_words(self) -> str:
        figures = (
            _figure_line(name, f"|15{value}|07")
            for name, value in self.figures
            if name != bet_name()
        )
        return f"{', '.join(figures)}. {self.played}."

    def score_line(self) -> str:
        """Return the scoreboard in one line, the latest coup last: P9 B7 S6."""
        initials = {outcome: name[0] for outcome, name, _colour in _outcomes()}
        latest = list(self.coups)[-COUPS_SHOWN:]
        return " ".join(f"{initials[coup.outcome]}{_best(coup)}" for coup in latest)

    def _paint_felt(self, canvas: Canvas, layout: BaccaratLayout) -> None:
        row, rows = layout.felt_row, layout.felt_rows
        canvas.blank(row, layout.left, layout.felt_columns, rows, FELT)
        for side, place in zip((Side.PLAYER, Side.BANK), layout.sides, strict=True):
            cards = self.player if side is Side.PLAYER else self.bank
            self._paint_side(canvas, layout, place, side, cards)
        if self.banner:
            self._paint_banner(canvas, layout)

    def _paint_side(
        self,
        canvas: Canvas,
        layout: BaccaratLayout,
        place: tuple[int, int],
        side: Side,
        cards: Sequence[Card | None],
    ) -> None:
        row, column = place
        is_large = layout.is_large
        after = canvas.put(row, column, words.name_of(side), FELT)
        if side in self.points:
            point = self.points[side]
            canvas.put(row, after + 2, str(point), COUNT)
            below = row + 1 + (LARGE_HEIGHT if is_large else CARD_HEIGHT)
            if not (self.banner and below == _banner_row(layout)):
                said = words.call(side, point)
                if layout.columns < LAYOUT_COLUMNS:  # half of it has no room for the side
                    said = words.point_name(point).capitalize()
                canvas.put(below, column, said, COUNT)
        row += 1
        step = (LARGE_WIDTH if is_large else CARD_WIDTH) + 1
        for number in range(len(cards), 2):
            paint_place(canvas, row, column + number * step, is_large)
        if layout.columns < LAYOUT_COLUMNS:
            paint_hand(canvas, row, column, cards, layout.columns // 2 - 2)
            return
        for number, card in enumerate(cards[:2]):
            paint_card(canvas, row, column + number * step, card, large=is_large)
        third = cards[2] if len(cards) > 2 else None
        if third is not None:
            paint_across(canvas, row + 1 + is_large, column + 2 * step, third, large=is_large)

    def _paint_banner(self, canvas: Canvas, layout: BaccaratLayout) -> None:
        style, _quiet = BY_SIGN[_SIGNS.get(self.winner or BaccaratOutcome.STAND_OFF, 0)]
        text = f" {self.banner} "
        if self.has_big_win:
            large, apart = text.upper(), f" {' '.join(self.banner.upper())} "
            text = apart if len(apart) < layout.felt_columns else large
            text = text.center(layout.felt_columns, "■")
        column = layout.left + (layout.felt_columns - len(text)) // 2
        canvas.put(_banner_row(layout), column, text, style)

    def _paint_panel(self, canvas: Canvas, layout: BaccaratLayout) -> None:
        row, column, width = layout.panel_row, layout.panel, PANEL_COLUMNS
        canvas.box(row, column, width, layout.panel_rows, BRASS)
        for number, (name, value) in enumerate(self.figures, 1):
            canvas.put_pipe(row + number, column + 2, f"|07{name}")
            canvas.put_pipe(row + number, column + width - 2 - len(value), f"|15{value}")
        first = len(self.figures) + 3
        room = min(ON_PLATE, layout.panel_rows - first - 1)
        if self.plate and room > 0:
            canvas.put_pipe(row + first - 1, column + 2, f"|06{_('They broke the bank')}")
            for number, name in enumerate(self.plate[:room]):
                canvas.put_pipe(row + first + number, column + 2, f"|14{name[: width - 4]}")

    def _paint_figures(self, canvas: Canvas, layout: BaccaratLayout) -> None:
        """Paint two figures a row where they fit, else one, as far as the rows go."""
        half = layout.columns // 2
        fit = all(len(name) + 1 + len(value) < half for name, value in self.figures)
        for number, (name, value) in enumerate(self.figures):
            row, right = divmod(number, 2) if fit else (number, 0)
            if row >= layout.panel_rows:
                return
            column = layout.left + 1 + right * half
            after = canvas.put_pipe(layout.panel_row + row, column, f"|07{name}")
            canvas.put_pipe(layout.panel_row + row, after + 1, f"|15{value}")

    def _paint_score(self, canvas: Canvas, layout: BaccaratLayout) -> None:
        column = layout.left + 1
        shown = layout.coups * layout.score_bands
        coups = list(self.coups)[-shown:]
        canvas.put_pipe(layout.score_row, column, f"|10{_score_title(shown)}")
        for band in range(layout.score_bands):
            end = len(coups) - band * layout.coups
            of_band = coups[max(0, end - layout.coups) : max(0, end)]
            if band and not of_band:
                return
            first = layout.score_row + 1 + band * 4
            for number, (outcome, name, colour) in enumerate(_outcomes()):
                canvas.put_pipe(first + number, column, f"|15{name}")
                marks = [
                    f"{colour}{_best(coup)}" if coup.outcome is outcome else "|08·"
                    for coup in of_band
                ]
                canvas.put_pipe(first + number, column + SCORE_COLUMN, " ".join(marks))


def _figure_line(name: str, value: str) -> str:
    return f"|07{figure(name, value)}"


def _score_title(coups: int) -> str:
    words = ngettext("The last coup", "The last {number} coups", coups)
    return words.format(number=coups)


def _outcomes() -> Sequence[tuple[BaccaratOutcome, str, str]]:
    return (
        (BaccaratOutcome.PLAYER, words.name_of(Side.PLAYER), "|10"),
        (BaccaratOutcome.BANK, words.name_of(Side.BANK), "|12"),
        (BaccaratOutcome.STAND_OFF, words.tie(), "|14"),
    )


def _best(coup: happened.BaccaratSettled) -> int:
    return max(coup.player_point, coup.bank_point)


def _banner_row(layout: BaccaratLayout) -> int:
    return layout.felt_row + layout.felt_rows - 1


def paint_lights(canvas: Canvas, layout: BaccaratLayout, *, is_won: bool = False) -> None:
    """Paint the chandelier, which sparkles when the player wins."""
    if layout.lights:
        column = layout.left + (layout.columns - len(layout.lights[0])) // 2
        canvas.stamp(layout.lights_row, column, _lit(layout.lights, is_won, canvas.colour))


@lru_cache(maxsize=16)
def _lit(lights: Sequence[str], is_won: bool, colour: bool) -> tuple[Row, ...]:
    canvas = Canvas(len(lights[0]) + 1, len(lights), colour=colour)
    for row, line in enumerate(lights):
        for column, sign in enumerate(line):
            if sign != " ":
                canvas.put(
                    row, column, sign, _LIGHT_OF.get(sign, _GILT)[is_won and sign in "*·°│▓"]
                )
    return canvas.copy(0, len(lights))


# The ceremony for a broken bank: the black cloth, the plaque, the champagne.
#
# At Monte Carlo a table whose bank was broken was covered with a black cloth until it had money
# again.

FALL_SECONDS = 0.03  # a row of the cloth
LINE_SECONDS = 0.15

_CLOTH = Style(Colour.DARK_GREY)
_GOLD = Style(Colour.YELLOW)
_NAME = Style(Colour.WHITE)


@dataclass
class Ceremony:
    """The table of a broken bank: `fallen` rows of cloth, `plaque_lines` lines of the plaque."""

    announced: str
    ordered: str
    plaque: Sequence[str]
    fallen: int = 0
    plaque_lines: int = 0
    cloth_rows: int = 14  # at the last painting

    def paint(self, canvas: Canvas, area: Area) -> None:
        layout = layout_of(area)
        paint_title(canvas, layout.left, words.title())
        paint_lights(canvas, layout, is_won=True)
        top = layout.lights_row + len(layout.lights)
        self.cloth_rows = area.rows - top
        canvas.blank(top, layout.left, layout.columns, self.cloth_rows, FELT)
        for row in range(top, top + min(self.fallen, self.cloth_rows)):
            canvas.put(row, layout.left, "▒" * layout.columns, _CLOTH)
        if self.plaque_lines:
            self._paint_plaque(canvas, layout, top)

    def lines(self) -> Sequence[str]:
        return [f"|15{self.announced}", f"|07{self.ordered}", *(f"|14{x}" for x in self.plaque)]

    def _paint_plaque(self, canvas: Canvas, layout: BaccaratLayout, top: int) -> None:
        lines = [part for line in self.plaque for part in _parts(line, layout.columns - 4)]
        width = max(map(len, lines)) + 4
        spread = 2 if 2 * len(lines) + 1 <= self.cloth_rows else 1
        height = spread * len(lines) + 3 - spread
        column = layout.left + (layout.columns - width) // 2
        row = top + (self.cloth_rows - height) // 2
        canvas.blank(row, column, width, height)
        canvas.box(row, column, width, height, _GOLD, frame=DOUBLE)
        for number, line in enumerate(lines[: self.plaque_lines]):
            start = layout.left + (layout.columns - len(line)) // 2
            canvas.put(row + 1 + spread * number, start, line, _GOLD if number else _NAME)


def _parts(line: str, width: int) -> Sequence[str]:
    return wrap(line, width) if len(line) > width else (line,)


async def celebrate(console: Console, stakes: ForTheBank, name: str) -> None:
    coups = stakes.tally.turns
    plaque = [
        literal(name),
        _("broke the bank at this table"),
        _("and leaves with {bankroll}.").format(bankroll=stakes.amount(stakes.bankroll)),
        ngettext(
            "It took {number} coup and nerves of steel.",
            "It took {number} coups and nerves of steel.",
            coups,
        ).format(number=coups),
        _("Champagne! The name goes on the brass plate."),
    ]
    broken = _("Ladies and gentlemen, the bank is broken!")
    ordered = _("The table is covered with the black cloth.")
    await hold(console, Ceremony(broken, ordered, plaque))
    console.keyboard.forget_keys()
    await console.pager.any_key()


async def hold(console: Console, ceremony: Ceremony) -> None:
    """Hold the ceremony after a pause for the last coup; a key shortens it."""
    if not console.screen.is_painted:
        console.display.stage(ceremony)
        return
    await console.keyboard.beat(2 * LINE_SECONDS)
    console.display.stage(ceremony)
    console.screen.bell()
    console.screen.say(f"|15{ceremony.announced}")
    console.screen.say(f"|07{ceremony.ordered}")
    row = 0
    while row < ceremony.cloth_rows:
        row += 1
        ceremony.fallen = row
        console.display.refresh()
        await console.keyboard.beat(FALL_SECONDS)
    ceremony.fallen = 100  # enough for a window of any size
    for line in range(1, 2 * len(ceremony.plaque) + 1):
        ceremony.plaque_lines = line
        console.display.refresh()
        if line < len(ceremony.plaque):
            await console.keyboard.beat(LINE_SECONDS)
