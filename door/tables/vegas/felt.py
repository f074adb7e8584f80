"""The felt of a Vegas table: its size, the place of everything, and how hands are painted.

The dealer is in the middle, with seven seats in an arc before them. How much of a card is seen
depends on the room: a line of its own, a whole card, or a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ansi.cards import CARD_WIDTH, LARGE_WIDTH, card_step, paint_hand, short
from ansi.style import Colour, Style
from ansi.width import text_width
from door.call.markup import plain, wrap
from door.tables.scene import BY_SIGN, FELT, PRINT, RAIL, paint_place
from timebank.language import _

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.scene import Area
    from door.games.engine.cards import Card
    from door.tables.vegas.words import SeatEnding

RAIL_ROW = 1
# By chair, from the dealer's right to the left: the step from the top, and the column.
PLACES = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2))
MOST_SEAT_COLUMNS = 34
# Rows of a seat with cards in lines, with whole cards and with large ones; and the rows of a scene
# for them.
SEAT_ROWS = 4  # a name, two hands, how it ended
TALL_ROWS, TALL_SEAT_ROWS = 30, 8  # a name, cards, what they count, how it ended
LARGE_ROWS, LARGE_SEAT_ROWS = 38, 11  # a name, cards, what they count and how it ended
BANNER_ROWS, CHIPS_SHOWN = 3, 20
GAP = 2  # between seats: a pointer, and a blank before the name
# On a narrow screen: title, dealer, a seat with its cards, rail, and a row of talk.
NARROW_ROWS, NARROW_CARD_ROWS = 10, 5

_BLACK_CARD = Style(Colour.BLACK, Colour.GREY)
_RED_CARD = Style(Colour.RED, Colour.GREY)
_BACK_CARD = Style(Colour.LIGHT_CYAN, Colour.BLUE)


class VegasLayout(NamedTuple):
    """The layout of a felt of `columns` cells from `left`.

    Seats begin at column `first`, `step` rows from one to the next.
    """

    left: int
    columns: int
    first: int
    seat_columns: int
    seat_rows: int
    step: int

    @property
    def is_large(self) -> bool:
        return self.seat_rows == LARGE_SEAT_ROWS

    @property
    def has_whole_cards(self) -> bool:
        return self.seat_rows != SEAT_ROWS

    @property
    def dealer_row(self) -> int:
        return RAIL_ROW + 1

    @property
    def dealer_column(self) -> int:
        return self.first + self.seat_columns + GAP

    @property
    def clock_row(self) -> int:
        """The first of two rows below the dealer's cards."""
        return self.dealer_row + (12 if self.is_large else 7 if self.has_whole_cards else 6)

    @property
    def rail_row(self) -> int:
        """The row of the rail below the seats; talk is below it."""
        return RAIL_ROW + 1 + 3 * self.step

    def seat(self, chair: int) -> tuple[int, int]:
        """Return row and column of a chair; they count from 1."""
        step, across = PLACES[chair - 1]
        return RAIL_ROW + 1 + step * self.step, self.first + across * (self.seat_columns + GAP)


def layout_of(area: Area, *, has_side: bool = False) -> VegasLayout:
    """Lay out a felt that is not narrow; with talk at the side it takes all rows."""
    seat_columns = min(MOST_SEAT_COLUMNS, (area.columns - 7) // 3)
    first = area.centred(3 * seat_columns + 7) + 2
    rows = SEAT_ROWS
    if area.rows >= LARGE_ROWS:
        rows = LARGE_SEAT_ROWS
    elif area.rows >= TALL_ROWS:
        rows = TALL_SEAT_ROWS
    step = max(rows, (area.rows - RAIL_ROW - 3) // 3) if has_side else rows
    return VegasLayout(area.left, area.columns, first, seat_columns, rows, step)


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


def paint_ring(canvas: Canvas, layout: VegasLayout, chair: int) -> None:
    """Paint the ring for a bet at a free seat."""
    row, column = layout.seat(chair)
    row += (layout.seat_rows - SEAT_ROWS) // 2
    for number, line in enumerate((_("free seat"), "┌───┐", "└───┘")):
        canvas.put(row + number, column, line.center(layout.seat_columns), PRINT)


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


def paint_banner(canvas: Canvas, row: int, column: int, width: int, ending: SeatEnding) -> None:
    """Paint how a round ended, with a chip for each coin where a row is left."""
    words, chips = _(ending.words), "■" * min(ending.coins, CHIPS_SHOWN, width - 2)
    framed = f"░▒▓ {words} ▓▒░"
    lines = (framed,) if text_width(framed) <= width else wrap(words, width)
    style, _quiet = BY_SIGN[(ending.net > 0) - (ending.net < 0)]
    for number, line in enumerate((*lines, ending.amount, chips)[:BANNER_ROWS]):
        canvas.put(row + number, column, line.center(width), style)
