"""The scene of a table for one caller: the felt with its cards, and the panel of figures.

The scene follows the events one by one, so that cards appear one after the other. It only shows
events that are durable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from ansi.canvas import Canvas
from ansi.cards import CARD_HEIGHT, CARD_WIDTH, LARGE_HEIGHT, LARGE_WIDTH
from ansi.style import Colour, Style
from ansi.width import text_width
from door import wording
from door.call.markup import without_capitals
from door.tables.fairness import SHORT
from door.tables.words import net_words, turns_so_far
from timebank.language import N_, _, ngettext, pgettext
from timebank.words import field as figure
from timebank.words import span

if TYPE_CHECKING:
    from ansi.canvas import Row
    from door.call.scene import Area

PANEL_COLUMNS = 25  # the figures at the right
FELT_ROW = 1
MARGIN = 1  # columns at the left of the felt
NAME_COLUMNS = 10  # the name of a figure
ENDING_CELLS = 16  # how a hand ended, in the list of last hands
ROWS_FOR_LARGE = 26  # a scene with two hands of large cards
LARGE_GAP = 7  # rows between two hands of large cards, with room for the print on the felt
BIG_AMOUNT = 5  # coins; a result of at least so many is shown in loud colours
CHIPS_SHOWN = 20
BIG_WIN = 10  # coins; such a win, or one with a raised stake, has a large banner
SHORTEST_STREAK = 3  # wins in a row
BANNER_SECONDS = 1.5
HISTORY = 30  # hands

FELT = Style(Colour.WHITE, Colour.GREEN)
COUNT = Style(Colour.YELLOW, Colour.GREEN)
PRINT = Style(Colour.LIGHT_GREEN, Colour.GREEN)
RAIL = Style(Colour.BROWN, Colour.GREEN)
BRASS = Style(Colour.BROWN)
_BANNER = Style(Colour.YELLOW, Colour.RED)
# Loud and quiet colours of a result, by its sign.
BY_SIGN = {
    1: (Style(Colour.YELLOW, Colour.BLUE), Style(Colour.YELLOW, Colour.GREEN)),
    0: (Style(Colour.BLACK, Colour.GREY), Style(Colour.WHITE, Colour.GREEN)),
    -1: (Style(Colour.WHITE, Colour.RED), Style(Colour.LIGHT_RED, Colour.GREEN)),
}


Ending = Literal["won", "lost", "push"]


@dataclass(slots=True)
class TableTally:
    """The caller's results since sitting down; `net` is in the smallest unit of the stakes."""

    turns: int = 0
    net: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    streak: int = 0  # wins in a row; a push does not end them

    def count(self, net: int, ending: str = "") -> None:
        """Count the end of a hand, by default "won", "lost" or "push" by the sign of its `net`."""
        self.endings[ending or ("won" if net > 0 else "lost" if net < 0 else "push")] += 1
        self.streak = 0 if net < 0 else self.streak + (net > 0)

    def streak_words(self) -> str:
        """Return "4 in a row", or "" for a short streak."""
        if self.streak < SHORTEST_STREAK:
            return ""
        return _("{number} in a row").format(number=self.streak)

    def summed_up(self, title: str, *, hand_is_open: bool, result: str = "") -> str:
        """Return the result of a visit: "... 8 wins, 12 losses. You're down 17 minutes.".

        `result` replaces the last sentence.
        """
        if not self.turns:
            return ""
        won, lost, push = (self.endings[ending] for ending in ("won", "lost", "push"))
        parts = [
            ngettext("{number} win", "{number} wins", won).format(number=won),
            ngettext("{number} loss", "{number} losses", lost).format(number=lost),
        ]
        if push:
            parts.append(ngettext("{number} push", "{number} pushes", push).format(number=push))
        words = _("Your sitting at {title}: {counts}.")
        sentences = [words.format(title=title, counts=", ".join(parts))]
        if self.net or not hand_is_open:
            sentences.append(result or net_words(self.net, span(abs(self.net))))
        if hand_is_open:
            sentences.append(_("One hand is still open."))
        return " ".join(sentences)


def bet_name() -> str:
    """Return the name of the figure; many languages have another word for the key."""
    return pgettext("figure", "Bet")


@dataclass(frozen=True, slots=True)
class Result:
    """How a hand ended, in a few words, and its net in seconds."""

    words: str
    net: int


@dataclass(frozen=True, slots=True)
class Banner:
    """Words across the felt for a moment; a big win of `coins` makes them large."""

    words: str
    coins: int = 0

    def lines(self, width: int) -> list[str]:
        """Return the rows of the banner: three, or five with letters apart and chips."""
        framed = f"░▒▓  {self.words}  ▓▒░"
        if not self.coins:
            return ["", framed, ""]
        is_apart = self.words[1:2] == " "  # "B L A C K J A C K !"
        apart = framed if is_apart else f"░▒▓  {' '.join(self.words)}  ▓▒░"
        chips = " ".join("■" * min(self.coins, CHIPS_SHOWN))
        return ["", chips, apart if text_width(apart) <= width else framed, chips, ""]


def paint_title(canvas: Canvas, left: int, title: str, right: str = "") -> None:
    """Paint the title bar of a table; `right` ends at the screen's edge."""
    canvas.put_pipe(0, 0, "|18" + " " * canvas.width)
    canvas.put_pipe(0, left + 1, f"|18|15{title}")
    canvas.put_pipe(0, canvas.width - 1 - len(right), f"|18|14{right}")


def paint_place(canvas: Canvas, row: int, column: int, large: bool) -> None:
    """Mark the corners of an empty card's place on the felt."""
    width, height = (LARGE_WIDTH, LARGE_HEIGHT) if large else (CARD_WIDTH, CARD_HEIGHT)
    gap = " " * (width - 4)
    canvas.put(row, column, f"┌─{gap}─┐", PRINT)
    canvas.put(row + height - 1, column, f"└─{gap}─┘", PRINT)


@dataclass(frozen=True, slots=True)
class FeltLayout:
    """The layout of a felt of `columns` cells from `left`, `rows` high."""

    left: int
    columns: int
    rows: int
    rails: int  # rows of wood, above and below each
    large: bool
    top: int  # row of the first hand's name
    gap: int  # rows between the upper and the lower hand

    @property
    def card_rows(self) -> int:
        return LARGE_HEIGHT if self.large else CARD_HEIGHT

    @property
    def card_columns(self) -> int:
        return LARGE_WIDTH if self.large else CARD_WIDTH

    @property
    def lower_top(self) -> int:
        """Row of the lower hand's name."""
        return self.top + 1 + self.card_rows + self.gap

    @property
    def last_row(self) -> int:
        """The lowest row of cloth."""
        return FELT_ROW + self.rows - 1 - self.rails


@lru_cache(maxsize=64)
def lay_out_felt(area: Area, panel_columns: int) -> FeltLayout:
    """Lay out the felt: left of the figures, or above them on a narrow screen."""
    if area.is_narrow:
        columns, rows, rails, large = area.columns, max(12, area.rows - 3), 0, False
        least, most = 0, 1
    else:
        columns, rows, rails = area.columns - panel_columns - 1, area.rows - FELT_ROW, 1
        large = area.rows >= ROWS_FOR_LARGE
        least, most = 1, LARGE_GAP if large else 3
    # The rows that remain after two hands, the result, and the empty row before it.
    spare = rows - 2 * (rails + 1 + (LARGE_HEIGHT if large else CARD_HEIGHT)) - 2
    gap = max(least, min(most, spare))
    top = FELT_ROW + rails + max(0, spare - gap) // 2
    return FeltLayout(area.left, columns, rows, rails, large, top, gap)


@lru_cache(maxsize=64)
def _empty_table(
    columns: int, colour: bool, area: Area, panel_columns: int, title: str
) -> tuple[Row, ...]:
    """Return the rows of a table without cards and figures; all tables share them."""
    canvas = Canvas(columns, area.rows, colour=colour)
    felt = lay_out_felt(area, panel_columns)
    paint_title(canvas, area.left, title)
    canvas.blank(FELT_ROW, felt.left, felt.columns, felt.rows, FELT)
    if not area.is_narrow:
        canvas.put(FELT_ROW, felt.left, "▀" * felt.columns, RAIL)
        canvas.put(FELT_ROW + felt.rows - 1, felt.left, "▄" * felt.columns, RAIL)
        column = area.left + area.columns - panel_columns
        canvas.box(FELT_ROW, column, panel_columns, area.rows - FELT_ROW, BRASS)
    return canvas.copy(0, area.rows)


@dataclass(slots=True)
class TableScene:
    """Everything on a table at one moment.

    A game adds its cards: `lay`, `follow`, `clear`, `_paint_cards`, `_card_lines` and
    `_bet_figures`.
    """

    title: ClassVar[str]
    history_title: ClassVar[str] = N_("Last hands")
    panel_columns: ClassVar[int] = PANEL_COLUMNS

    coin: int  # seconds
    turns_limit: int | None
    turns: int = 0
    time_left: int = 0  # seconds
    pot: int = 0  # whole coins
    bet: int = 0  # seconds on the table
    seal: str = ""
    seed: str = ""
    cut: str = ""
    # Whether each switch of the table is on, by its name.
    switches: dict[str, bool] = field(default_factory=dict)
    is_dealt: bool = False
    result: Result | None = None
    banner: Banner | None = None  # shown across the felt
    # Whether the caller's time, pot and turns are shown; films and watchers never see them.
    has_purse: bool = True
    player: str = ""  # the caller's name, where another caller watches
    history: tuple[str, ...] = ()  # lines of the panel for past hands, the latest first
    tally: TableTally = field(default_factory=TableTally)
    # The area and the rows painted for it, saved by the first tick; None after a change.
    _painted: tuple[tuple[object, ...], tuple[Row, ...]] | None = None

    # Changes of the scene.

    def lay(self, round_: Any) -> None:
        """Show a round that was resumed."""
        raise NotImplementedError

    def follow(self, event: Any) -> None:
        """Change the scene by an event."""
        raise NotImplementedError

    def clear(self) -> None:
        self.bet, self.is_dealt, self.result, self.banner = 0, False, None, None

    def end(self, words: str, net: int) -> None:
        self.result = Result(words, net)
        sign = "|10" if net > 0 else "|12" if net < 0 else "|14"
        ending = f"{words[:ENDING_CELLS]:<{ENDING_CELLS}}"
        line = f"|07{ending}{sign}{_signed_coins(net, self.coin)[:5]:>5}"
        self.history = (line, *self.history)[:HISTORY]

    def invalidate(self) -> None:
        """Discard the painted rows, so that the next paint draws everything."""
        self._painted = None

    # Painting.

    def from_behind(self, name: str, unheard: Set[int]) -> Self:
        """Return a copy for a watcher of the caller `name`, without the purse and the switches."""
        scene = copy(self)
        scene.has_purse, scene.player, scene.switches, scene._painted = False, name, {}, None
        return scene

    def paint(self, canvas: Canvas, area: Area) -> None:
        if self._painted is None or self._painted[0] != (canvas.columns, canvas.colour, area):
            self._painted = None
            self._paint_still(canvas, area)
        else:
            canvas.paste(0, self._painted[1])
        if self.has_purse:
            self._paint_clock(canvas, area)

    def paint_clock(self, canvas: Canvas, area: Area) -> None:
        """Paint the clock, and save the painted rows for later repaints.

        They are saved at a tick only: a caller who acts within the second never needs them.
        """
        if self._painted is None:
            self._painted = (canvas.columns, canvas.colour, area), canvas.copy(0, area.rows)
        self._paint_clock(canvas, area)

    def _paint_clock(self, canvas: Canvas, area: Area) -> None:
        if not area.is_narrow:  # there the last row has the time: one clock costs half the bytes
            clock = wording.clock_time(self.time_left)
            column = self._panel_column(area) + 2 + NAME_COLUMNS
            canvas.put_clock(FELT_ROW + 1, column, f"|14{clock:<11}")

    def lines(self) -> Sequence[str]:
        lines = [f"|15{self.title}"]
        if self.player:
            lines = [f"|15{self.title}|07 - {self.player}"]
        elif self.is_dealt and self.result is None:  # between hands `pot_words` has the turns
            lines = [f"|15{self.title}|07 - {self._turn_words()}"]
        if self.is_dealt:
            lines.extend(self._card_lines())
            said = _("Pot") if self.result is not None and not self.player else ""  # as above
            figures = ((name, value) for name, value in self._figures() if name != said)
            lines.extend(f"|07{figure(name, f'|15{value}')}" for name, value in figures)
        else:
            lines.append("|07" + _("A coin is {span} of your time.").format(span=span(self.coin)))
        if self.player and self.result is not None:  # the caller has a message instead
            amount = _signed_coins(self.result.net, self.coin)
            lines.append(f"|15{without_capitals(self.result.words)} {amount}".rstrip())
        return lines

    def pot_words(self) -> str:
        """Return pot and turns in a line, for a screen without a panel."""
        pot = _("Your pot: {coins}.").format(coins=wording.coins(self.pot))
        return f"|07{pot} {self._turn_words()}."

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        """Return what each field means; in plain lines, with pot and turns (`pot_words`)."""
        shown = {_("Pot"), _("A coin"), _("Turns today")}
        if self.is_dealt:
            shown.update(name for name, _value in self._figures())
        return [
            f"|15{name}|07  {meaning}"
            for name, meaning in self._fields()
            if name in shown or not in_lines
        ]

    def _fields(self) -> Sequence[tuple[str, str]]:
        return (
            (_("Time"), _("Your time left. When it is up, the call ends.")),
            (_("Pot"), _("Your time left in coins. The last one can't be bet.")),
            (bet_name(), _("What you have on the table.")),
            (_("A coin"), _("What a coin is worth.")),
            (_("Sitting"), _("How far you're up or down since you sat down.")),
            (_("W-L-push"), _("Hands won, lost and pushed since you sat down.")),
            (_("Turns today"), _("Turns you've played today, and the limit.")),
            (_("Seed"), _("The first digits of the last shuffle's seed; F shows all.")),
        )

    # A game overrides these.

    def _paint_cards(self, canvas: Canvas, felt: FeltLayout) -> None:
        raise NotImplementedError

    def _card_lines(self) -> Sequence[str]:
        raise NotImplementedError

    def _bet_figures(self) -> list[tuple[str, str]]:
        return [(bet_name(), wording.coins_of(self.bet, self.coin) if self.bet else "-")]

    # The parts.

    def _panel_column(self, area: Area) -> int:
        return area.left + area.columns - self.panel_columns

    def _paint_still(self, canvas: Canvas, area: Area) -> None:
        felt = lay_out_felt(area, self.panel_columns)
        look = canvas.columns, canvas.colour, area, self.panel_columns
        canvas.paste(0, _empty_table(*look, _(self.title)))
        turns = self._turns_short() if area.is_narrow else self._turn_words()
        canvas.put_pipe(0, canvas.width - 1 - len(turns), f"|18|14{turns}")
        self._paint_cards(canvas, felt)
        if self.banner is not None:
            self._paint_banner(canvas, felt, self.banner)
        if area.is_narrow:
            self._paint_figures_below(canvas, area)
        else:
            self._paint_panel(canvas, self._panel_column(area), area.rows - FELT_ROW)

    def _paint_result(self, canvas: Canvas, felt: FeltLayout, row: int, column: int) -> None:
        """Paint the result, with a chip for each coin, so that 10 does not look like 1."""
        if self.result is None:
            return
        net = self.result.net
        loud, quiet = BY_SIGN[(net > 0) - (net < 0)]
        is_big = abs(net) >= BIG_AMOUNT * self.coin
        amount = _signed_coins(net, self.coin)
        words = f"{self.result.words} {amount}".strip()[: felt.left + felt.columns - column - 2]
        end = canvas.put(row, column, f" {words} ", loud if is_big or net > 0 else quiet)
        if net > 0 and (streak := self.tally.streak_words()):
            end = canvas.put(row, end + 1, streak, COUNT)
        room = felt.left + felt.columns - 1 - end - 1
        chips = min(abs(net) // self.coin, CHIPS_SHOWN, max(0, room))
        canvas.put(row, end + 1, "■" * chips, quiet)

    def _paint_banner(self, canvas: Canvas, felt: FeltLayout, banner: Banner) -> None:
        """Paint a banner below the upper cards."""
        style = BY_SIGN[1][0] if banner.coins else _BANNER
        for number, line in enumerate(banner.lines(felt.columns)):
            row = felt.lower_top - felt.gap + number
            canvas.put(row, felt.left, line.center(felt.columns), style)

    def _paint_panel(self, canvas: Canvas, column: int, rows: int) -> None:
        figures = [*([(_("Time"), "")] if self.has_purse else []), *self._figures()]
        if self.seed:
            figures.append((_("Seed"), self.seed[:SHORT]))
        last = FELT_ROW + rows - 2
        row = FELT_ROW + 1
        bright = (_("Pot"), bet_name())
        for name, value in figures:
            colour = "|14" if name in bright else "|15"
            canvas.put_pipe(row, column + 2, f"|07{name.ljust(NAME_COLUMNS)}{colour}{value}")
            row += 1
        if rows >= ROWS_FOR_LARGE and self.history_title:
            row += 1
            canvas.put_pipe(row, column + 2, f"|10{_(self.history_title)}")
        for line in self.history[: max(0, last - row)]:
            row += 1
            canvas.put_pipe(row, column + 2, line)

    def _paint_figures_below(self, canvas: Canvas, area: Area) -> None:
        row, column = area.rows - 2, area.left
        canvas.blank(row, column, area.columns, 2)
        pot, bet = f"|07{_('Pot')} |14{self.pot}", ""
        if self.bet:
            bet = f"|07{bet_name()} |14{wording.coin_number(self.bet, self.coin)}"
        if self.has_purse:
            canvas.put_pipe(row, column + 1, pot)
        canvas.put_pipe(row, column + 20, bet)
        if self.tally.turns:
            canvas.put_pipe(row + 1, column + 1, f"|07{_('Sitting')} |15{self._net()}")
            canvas.put_pipe(row + 1, column + 20, f"|07{_('W-L-push')} |15{self._score()}")

    def _figures(self) -> list[tuple[str, str]]:
        figures = [(_("Pot"), wording.coins(self.pot))] if self.has_purse else []
        figures += [*self._bet_figures(), (_("A coin"), span(self.coin))]
        if self.tally.turns:
            figures += [(_("Sitting"), self._net()), (_("W-L-push"), self._score())]
        figures += [(_(name), _("on") if on else _("off")) for name, on in self.switches.items()]
        return figures

    def _net(self) -> str:
        net = self.tally.net
        return f"{'+' if net > 0 else ''}{wording.clock_time(net)}"

    def _score(self) -> str:
        endings = self.tally.endings
        return f"{endings['won']}-{endings['lost']}-{endings['push']}"

    def _turn_words(self) -> str:
        return turns_so_far(self.turns, self.turns_limit) if self.has_purse else ""

    def _turns_short(self) -> str:
        if not self.has_purse:
            return ""
        if self.turns_limit is None:
            return str(self.turns)
        return f"{self.turns} / {self.turns_limit}"


def _signed_coins(seconds: int, coin: int) -> str:
    """Return an amount of seconds in coins, with its sign; "" for 0.

    >>> _signed_coins(600, 60), _signed_coins(-90, 60), _signed_coins(0, 60)
    ('+10', '-1.5', '')
    """
    if not seconds:
        return ""
    number = wording.coin_number(abs(seconds), coin)
    return f"{'+' if seconds > 0 else '-'}{number}"
