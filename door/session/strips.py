"""The small pictures below the screens of the tour, all of them `ROWS` high."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansi.cards import CARD_HEIGHT, paint_hand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ansi.canvas import Canvas

    # Paints at a row and a column.
    Strip = Callable[[Canvas, int, int], None]

ROWS = CARD_HEIGHT
BLACKJACK = ("AS", "KH")
_CHIP, _TOP = "▀▄▀▄▀▄▀", " ▄▄▄▄▄ "
_STACKS = (("|12", 4), ("|09", 3), ("|10", 2), ("|14", 1))  # colour and height
_CLOCK = (
    "|14 ▄▀▀▀▀▀▄ ",
    "|14█   |15│|14   █",
    "|14█   |15└──|14 █",
    "|14█       █",
    "|14 ▀▄▄▄▄▄▀ ",
)


def chips(canvas: Canvas, row: int, column: int) -> None:
    for colour, height in _STACKS:
        for number in range(height):
            canvas.put_pipe(row + ROWS - 1 - number, column, f"{colour}{_CHIP}")
        canvas.put_pipe(row + ROWS - 1 - height, column, f"{colour}{_TOP}")
        column += len(_CHIP) + 2


def cards(canvas: Canvas, row: int, column: int) -> None:
    paint_hand(canvas, row, column, BLACKJACK, canvas.width - column)


def clock(canvas: Canvas, row: int, column: int) -> None:
    _lay(canvas, row, column, _CLOCK)


def _lay(canvas: Canvas, row: int, column: int, picture: Sequence[str]) -> None:
    for number, line in enumerate(picture, row):
        canvas.put_pipe(number, column, line)
