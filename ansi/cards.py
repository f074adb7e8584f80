"""Playing cards as a caller sees them.

A card is named by rank and suit, such as "TH" or "AS". A drawn card is seven cells wide and five
high, or eleven by nine on a large screen. Its upper left corner shows rank and suit, so that a fan
of overlapping cards is readable. All characters are in CP437; `ansi.charset` replaces them for
terminals that lack them.
"""

from collections.abc import Sequence
from functools import lru_cache

from ansi.canvas import Canvas, Row
from ansi.style import Colour, Style

CARD_WIDTH = 7
CARD_HEIGHT = 5
LARGE_WIDTH = 11
LARGE_HEIGHT = 9
_GAP = 1  # between cards that do not overlap
_LEAST_STEP = 4  # the visible part of a covered card: its edge, "10" and the suit

_SUIT_SIGNS = {"H": "♥", "S": "♠", "D": "♦", "C": "♣"}
_COURT = frozenset("JQK")

# The face is light grey, because a PC's white cannot be a background.
_EDGE = _BLACK = Style(Colour.BLACK, Colour.GREY)
_RED = Style(Colour.RED, Colour.GREY)
_BACK_EDGE = Style(Colour.WHITE, Colour.BLUE)
_BACK = Style(Colour.LIGHT_CYAN, Colour.BLUE)

_BACK_LINES = ("┌─────┐", "│░▒▓▒░│", "│▒▓■▓▒│", "│░▒▓▒░│", "└─────┘")

_LARGE_BACK_LINES = (
    "┌─────────┐",
    *("│░▒▓▒░▒▓▒░│", "│▒▓■▓▒▓■▓▒│") * 3,
    "│░▒▓▒░▒▓▒░│",
    "└─────────┘",
)
# The number of pips in each of the five rows of a large card.
_PIPS = {
    "2": "10001",
    "3": "10101",
    "4": "20002",
    "5": "20102",
    "6": "20202",
    "7": "21202",
    "8": "21212",
    "9": "22122",
    "10": "22222",
}
_PIP_ROWS = {"0": "", "1": "{0}", "2": "{0}   {0}"}
_ACE = ("·", "·   ·", "·  {0}  ·", "·   ·", "·")
_COURTS = ("░▒▒▒░", "▒   ▒", "▒ {0} ▒", "▒   ▒", "░▒▒▒░")


def _parts(card: str) -> tuple[str, str]:
    if len(card) != 2 or card[0] not in "A23456789TJQK" or card[1] not in _SUIT_SIGNS:
        raise ValueError(f"{card!r} is not a card: a rank of A23456789TJQK, then a suit of HSDC.")
    return ("10" if card[0] == "T" else card[0]), card[1]


def short(card: str) -> str:
    """Return a card in two or three cells: "10♥", which becomes "10H" without suits."""
    rank, suit = _parts(card)
    return rank + _SUIT_SIGNS[suit]


def draw(card: str | None, *, is_cut: bool = False) -> tuple[str, ...]:
    """Return the five lines of a card, seven cells each; None is a card face down.

    A card that `is_cut` by the next one shows no rank in its lower corner: a "10" would show as 1.
    """
    if card is None:
        return _BACK_LINES
    rank, suit = _parts(card)
    sign = _SUIT_SIGNS[suit]
    if rank in _COURT:
        middle = f"░{rank}░"
    elif rank == "A":
        middle = f"·{sign}·"
    else:
        middle = sign
    return (
        "┌─────┐",
        f"│{rank + sign:<5}│",
        f"│{middle:^5}│",
        f"│{sign + (' ' if is_cut else rank):>5}│",
        "└─────┘",
    )


def draw_large(card: str | None, *, is_cut: bool = False) -> tuple[str, ...]:
    """Return the nine lines of a large card, eleven cells each; as `draw`."""
    if card is None:
        return _LARGE_BACK_LINES
    rank, suit = _parts(card)
    sign = _SUIT_SIGNS[suit]
    if rank in _COURT:
        middle = [line.format(rank) for line in _COURTS]
    elif rank == "A":
        middle = [line.format(sign) for line in _ACE]
    else:
        middle = [_PIP_ROWS[pips].format(sign) for pips in _PIPS[rank]]
    return (
        "┌─────────┐",
        f"│{rank + sign:<9}│",
        *(f"│{line:^9}│" for line in middle),
        f"│{sign + (' ' if is_cut else rank):>9}│",
        "└─────────┘",
    )


def draw_across(card: str, *, large: bool = False) -> tuple[str, ...]:
    """Return the lines of a card that lies across, face up: three of ten cells.

    A large card has five lines of fourteen cells.
    """
    rank, suit = _parts(card)
    sign = _SUIT_SIGNS[suit]
    if large:
        return (
            "┌────────────┐",
            f"│ {rank + sign:<11}│",
            "│            │",
            f"│{sign + rank:>11} │",
            "└────────────┘",
        )
    return (
        "┌────────┐",
        f"│{rank + sign:<4}{sign + rank:>4}│",
        "└────────┘",
    )


def paint_card(
    canvas: Canvas, row: int, column: int, card: str | None, *, large: bool = False
) -> None:
    """Paint a card with its upper left corner at `row` and `column`; None is one face down."""
    canvas.stamp(row, column, _upright(card, canvas.colour, covers=False, large=large))


def paint_across(canvas: Canvas, row: int, column: int, card: str, *, large: bool = False) -> None:
    lines = draw_across(card, large=large)
    canvas.stamp(row, column, _painted(card, lines, canvas.colour, covers=False))


@lru_cache(maxsize=1024)  # every card in both sizes, covering or cut, with colours and without
def _upright(
    card: str | None, colour: bool, *, covers: bool, large: bool, is_cut: bool = False
) -> tuple[Row, ...]:
    lines = (draw_large if large else draw)(card, is_cut=is_cut)
    return _painted(card, lines, colour, covers=covers)


def _painted(
    card: str | None, lines: Sequence[str], colour: bool, *, covers: bool
) -> tuple[Row, ...]:
    edge = _BACK_EDGE if card is None else _EDGE
    face = _BACK if card is None else _RED if card[1:] in {"H", "D"} else _BLACK
    last = len(lines) - 1
    canvas = Canvas(len(lines[0]) + 1, len(lines), colour=colour)
    for row, line in enumerate(lines):
        canvas.put(row, 0, line, edge)
        if 0 < row < last:
            canvas.put(row, 1, line[1:-1], face)
    if covers:
        canvas.put(0, 0, "┬", edge)
        canvas.put(last, 0, "┴", edge)
    return canvas.copy(0, len(lines))


def card_step(count: int, width: int, card_width: int = CARD_WIDTH) -> int:
    """Return the cells from one card to the next for `count` cards in `width` cells.

    The cards overlap if they have no room next to each other. If their ranks and suits would not be
    readable, they take more than `width`.
    """
    if count < 2:
        return card_width + _GAP
    return max(_LEAST_STEP, min(card_width + _GAP, (width - card_width) // (count - 1)))


def paint_hand(
    canvas: Canvas,
    row: int,
    column: int,
    cards: Sequence[str | None],
    width: int,
    *,
    large: bool = False,
) -> int:
    """Paint cards from the left, later ones over earlier; return the column after the last."""
    card_width = LARGE_WIDTH if large else CARD_WIDTH
    step = card_step(len(cards), width, card_width)
    end = column
    for number, card in enumerate(cards, 1):
        covers, is_cut = end > column, number < len(cards) and step < card_width - 1
        rows = _upright(card, canvas.colour, covers=covers, large=large, is_cut=is_cut)
        canvas.stamp(row, column, rows)
        end = column + card_width
        column += step
    return end
