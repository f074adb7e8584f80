"""Playing cards as a caller sees them.

A card is named by rank and suit, "TH" or "AS": "A23456789TJQK" and "HSDC". Drawn, it is a block of
seven by five cells, or of eleven by nine on a large screen. Its upper left corner tells rank and
suit, so that a fan of overlapping cards can still be read. All of it is in CP437; the charset turns
lines and suits into what poorer terminals have.
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
_LEAST_STEP = 4  # what must stay visible of a covered card: its edge, "10" and the suit

_SUIT_SIGNS = {"H": "♥", "S": "♠", "D": "♦", "C": "♣"}
_COURT = frozenset("JQK")

# The face is the light grey that PC screens had for paper; their white cannot be a background.
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
# How many pips stand in each of the five rows of a large card.
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
    """The card in two or three cells: "10♥", which a terminal without suits gets as "10H"."""
    rank, suit = _parts(card)
    return rank + _SUIT_SIGNS[suit]


def draw(card: str | None) -> tuple[str, ...]:
    """The five lines of a card, seven cells each; None is a card face down."""
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
        f"│{sign + rank:>5}│",
        "└─────┘",
    )


def draw_large(card: str | None) -> tuple[str, ...]:
    """The nine lines of a large card, eleven cells each; None is a card face down."""
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
        f"│{sign + rank:>9}│",
        "└─────────┘",
    )


def draw_across(card: str, *, large: bool = False) -> tuple[str, ...]:
    """The three lines of a card that is laid across, ten cells each, face up; of a large one five
    of fourteen."""
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
    """Paint a card, or one face down for None, with its upper left corner at row and column."""
    canvas.stamp(row, column, _upright(card, canvas.colour, covers=False, large=large))


def paint_across(canvas: Canvas, row: int, column: int, card: str, *, large: bool = False) -> None:
    lines = draw_across(card, large=large)
    canvas.stamp(row, column, _painted(card, lines, canvas.colour, covers=False))


@lru_cache(maxsize=512)  # every card in both sizes and ways, with colours and without
def _upright(card: str | None, colour: bool, *, covers: bool, large: bool) -> tuple[Row, ...]:
    return _painted(card, draw_large(card) if large else draw(card), colour, covers=covers)


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
    return canvas.painted(0, len(lines))


def step_of(count: int, width: int, card_width: int = CARD_WIDTH) -> int:
    """Cells from one card to the next when `count` of them share `width` cells.

    As far apart as they fit: beside each other if there is room, else fanned, but never closer
    than their ranks and suits can be read (then they take more than `width`).
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
    """Paint cards from the left, later ones upon earlier; returns the column after the last."""
    card_width = LARGE_WIDTH if large else CARD_WIDTH
    step = step_of(len(cards), width, card_width)
    end = column
    for card in cards:
        covers = end > column
        canvas.stamp(row, column, _upright(card, canvas.colour, covers=covers, large=large))
        end = column + card_width
        column += step
    return end
