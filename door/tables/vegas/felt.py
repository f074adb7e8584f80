"""The felt of a Vegas table: its size, the place of everything, and how hands are painted.

The dealer is at the top of the middle, the viewer's own seat below, and the others on both sides.
How much of a card is seen depends on the rows and on the number of seats taken: a line of its own,
a whole card, or a large one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ansi.cards import CARD_WIDTH, LARGE_WIDTH, card_step, paint_hand, short
from ansi.style import Colour, Style
from ansi.width import text_width
from door.call.markup import plain, wrap
from door.tables.scene import BY_SIGN, FELT, PRINT, RAIL, Banner, paint_place
from timebank.language import _

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.scene import Area
    from door.games.engine.cards import Card
    from door.tables.vegas.words import SeatEnding

RAIL_ROW = 1
MOST_SEAT_COLUMNS = 34
MOST_AT_A_SIDE = 3
# Rows of a seat, whose first has the name: two hands in lines and how it ended, or whole or large
# cards and what they count.
LINE_ROWS, WHOLE_ROWS, LARGE_ROWS = 4, 7, 11
CHIPS_SHOWN = 20
GAP = 2  # between seats: a pointer, and a blank before the name
# On a narrow screen: title, dealer, a seat with its cards, rail, and a row of talk.
NARROW_ROWS, NARROW_CARD_ROWS = 10, 5

_BLACK_CARD = Style(Colour.BLACK, Colour.GREY)
_RED_CARD = Style(Colour.RED, Colour.GREY)
_BACK_CARD = Style(Colour.LIGHT_CYAN, Colour.BLUE)


class VegasLayout(NamedTuple):
    """The layout of a felt of `columns` cells from `left`.

    Seats begin at column `first`. The dealer is at the top of the middle column and the viewer's
    own seat at its bottom, with `at_a_side` seats on the left and on the right.
    """

    left: int
    columns: int
    first: int
    seat_columns: int
    rail_row: int  # below the seats; talk is below it
    own_rows: int
    dealer_rows: int
    side_rows: int
    at_a_side: int

    @property
    def dealer_row(self) -> int:
        return RAIL_ROW + 1

    @property
    def dealer_column(self) -> int:
        return self.first + self.seat_columns + GAP

    @property
    def clock_row(self) -> int:
        """The row below the dealer's cards."""
        return self.dealer_row + self.dealer_rows - 1

    @property
    def own_row(self) -> int:
        return self.rail_row - self.own_rows

    def places(self) -> list[SeatPlace]:
        """Return the viewer's own seat, then the others in the order of play.

        They go up on the right and down on the left.
        """
        step = (self.rail_row - self.dealer_row) // self.at_a_side
        lowest = self.rail_row - self.side_rows
        rows = [lowest - number * step for number in range(self.at_a_side)]
        right = self.dealer_column + self.seat_columns + GAP
        return [
            SeatPlace(self.own_row, self.dealer_column, self.own_rows),
            *(SeatPlace(row, right, self.side_rows) for row in rows),
            *(SeatPlace(row, self.first, self.side_rows) for row in reversed(rows)),
        ]

    def places_of(self, own: int, chairs: int, taken: Collection[int]) -> dict[int, SeatPlace]:
        """Return the place of each chair that is shown, with chair `own` in the middle.

        All `taken` chairs have one, and as many free chairs as fit.
        """
        others = [(own + number) % chairs + 1 for number in range(chairs - 1)]
        places = self.places()
        spare = max(0, len(places) - 1 - sum(chair in taken for chair in others))
        free = [chair for chair in others if chair not in taken][:spare]
        shown = [own, *(chair for chair in others if chair in taken or chair in free)]
        return dict(zip(shown, places, strict=False))


class SeatPlace(NamedTuple):
    """The place of a seat on the felt."""

    row: int
    column: int
    rows: int

    @property
    def has_cards(self) -> bool:
        """Whether its cards are whole or large."""
        return self.rows != LINE_ROWS

    @property
    def is_large(self) -> bool:
        return self.rows == LARGE_ROWS


def layout_of(area: Area, others: int, *, has_side: bool = False) -> VegasLayout:
    """Lay out a felt that is not narrow, for a viewer and so many `others`.

    All cards are as large as the rows allow. The viewer's own are the largest. With talk at the
    side the felt takes all rows.
    """
    seat_columns = min(MOST_SEAT_COLUMNS, (area.columns - 7) // 3)
    first = area.centred(3 * seat_columns + 7) + 2
    rows = area.rows - RAIL_ROW - 3  # between the rails, with a row of talk below
    sizes = LARGE_ROWS, WHOLE_ROWS, LINE_ROWS
    own = next(size for size in sizes if size + WHOLE_ROWS <= rows or size == LINE_ROWS)
    dealer = LARGE_ROWS if own + LARGE_ROWS <= rows else WHOLE_ROWS
    for side in sizes:
        at_a_side = min(rows // side, MOST_AT_A_SIDE)
        if side <= own and others <= 2 * at_a_side:
            break
    taken = rows if has_side else max(own + dealer, side * at_a_side)
    rail_row = RAIL_ROW + 1 + taken
    return VegasLayout(
        *(area.left, area.columns, first, seat_columns, rail_row, own, dealer, side, at_a_side)
    )


def paint_felt(canvas: Canvas, left: int, columns: int, end: int) -> None:
    """Paint the felt from the upper rail to the rail in row `end`."""
    canvas.blank(RAIL_ROW, left, columns, end - RAIL_ROW, FELT)
    canvas.put(RAIL_ROW, left, "▀" * columns, RAIL)
    canvas.put(end, left, "▄" * columns, RAIL)


def paint_print(
    canvas: Canvas, row: int, column: int, width: int, lines: Sequence[str], most: int
) -> None:
    """Paint the print on the felt: all the whole lines that fit in `most` rows."""
    end = row + most
    for line in lines:
        parts = wrap(line, width)
        if row + len(parts) > end:
            return
        for part in parts:
            canvas.put(row, column, part.center(width), PRINT)
            row += 1


def paint_ring(canvas: Canvas, place: SeatPlace, width: int) -> None:
    """Paint the ring for a bet at a free seat."""
    row = place.row + (place.rows - LINE_ROWS) // 2
    for number, line in enumerate((_("free seat"), "┌───┐", "└───┘")):
        canvas.put(row + number, place.column, line.center(width), PRINT)


def paint_places(canvas: Canvas, row: int, column: int, *, large: bool = False) -> None:
    """Mark the corners of two cards that are not dealt yet."""
    width = LARGE_WIDTH if large else CARD_WIDTH
    for start in (column, column + width + 1):
        paint_place(canvas, row, start, large)


def fitting(
    cards: Sequence[Card | None], width: int, *, large: bool
) -> tuple[Sequence[Card | None], bool]:
    """Return the cards of a hand that fit in `width`, and whether they are large.

    Where not all fit, return the last ones, so that no hand covers another.
    """
    if large and _taken(len(cards), width, LARGE_WIDTH) <= width:
        return cards, True
    most = len(cards)
    while most > 1 and _taken(most, width, CARD_WIDTH) > width:
        most -= 1
    return cards[len(cards) - most :], False


def _taken(cards: int, width: int, card_width: int) -> int:
    return card_width + max(0, cards - 1) * card_step(cards, width, card_width)


def paint_fan(
    canvas: Canvas,
    row: int,
    column: int,
    cards: Sequence[Card | None],
    width: int,
    *,
    large: bool = False,
) -> None:
    shown, is_large = fitting(cards, width, large=large)
    paint_hand(canvas, row, column, shown, width, large=is_large)


def paint_line(
    canvas: Canvas, row: int, column: int, cards: Sequence[Card | None], width: int
) -> int:
    """Paint the last cards of a hand that fit in one row; return the column after them."""
    step = 4 if 4 * len(cards) <= width else 3
    for card in cards[-max(1, width // step) :]:
        if card is None:
            canvas.put(row, column, "░▒░", _BACK_CARD)
        else:
            style = _RED_CARD if card[1] in "HD" else _BLACK_CARD
            canvas.put(row, column, f"{short(card):>3}", style)
        column += step
    return column


def paint_right(canvas: Canvas, row: int, end: int, words: str) -> None:
    """Paint words that end before column `end`."""
    canvas.put_pipe(row, end - text_width(plain(words)), words, FELT)


def shortened(name: str, room: int) -> str:
    """Return the words of a name that fit in `room`, or the beginning of a long word.

    >>> shortened("Ada King Lovelace", 24), shortened("Ada King Lovelace", 12)
    ('Ada King Lovelace', 'Ada King')
    """
    return wrap(name, max(1, room))[0]


def paint_banner(
    canvas: Canvas, row: int, column: int, width: int, rows: int, ending: SeatEnding
) -> None:
    """Paint how a round ended, with a chip for each coin."""
    words = f"{_(ending.words)} {ending.amount}".strip()
    chips = "■" * min(ending.coins, CHIPS_SHOWN)
    lines = [f"░▒▓ {words} ▓▒░", chips, ""]
    if ending.is_big:
        lines = Banner(words, ending.coins).lines(width)[1:-1]
    style, _quiet = BY_SIGN[(ending.net > 0) - (ending.net < 0)]
    for number, line in enumerate(lines[:rows]):
        canvas.put(row + number, column, line.center(width), style)
