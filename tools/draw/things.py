"""The parts of our pictures: gold letters, felt, cards, chips, and the chip that is a clock."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

from ansi.style import Colour
from tools.draw.letters import LOGO, SUITS, TITLE, Dots, Font, dots_of
from tools.draw.paper import Paper

# From the light above to the shade below: a letter's colour, and the colour mixed into it.
_GOLD = ("█", "█", "▓", "▒", "▒")
_GOLD_OF_THREE = ("█", "▓", "▒")


def logo(paper: Paper, text: str, row: int, column: int, shadow: Colour = Colour.BLUE) -> int:
    """Write in letters five rows high; return the column behind them."""
    dots, width = dots_of(LOGO, text)
    gold(paper, dots, row, column, _GOLD, shadow)
    return column + width


def title(
    paper: Paper, text: str, row: int, column: int, shadow: Colour = Colour.BLUE, font: Font = TITLE
) -> int:
    dots, width = dots_of(font, text)
    gold(paper, dots, row, column, _GOLD_OF_THREE, shadow)
    return column + width


def width_of(text: str, font: Font = TITLE) -> int:
    return dots_of(font, text)[1]


def gold(
    paper: Paper, dots: Dots, row: int, column: int, shades: tuple[str, ...], shadow: Colour
) -> None:
    """Lay the shadow first; cells entirely of gold are shaded from light to dark.

    Drawing outside the paper is an error.
    """
    for x, y in dots:
        paper.clear_signs(row + y // 2, column + x, 2, 2)
    if shadow != Colour.BLACK:
        paper.spread(dots, column + 1, row * 2 + 1, shadow)
    paper.spread(dots, column, row * 2, Colour.YELLOW)
    for number, shade in enumerate(shades):
        for x in {x for x, y in dots if y // 2 == number}:
            if paper.is_solid(row + number, column + x, Colour.YELLOW) and shade != "█":
                paper.sign(row + number, column + x, shade, Colour.YELLOW, Colour.BROWN)


def felt(paper: Paper, top: int, rows: int, bulge: int = 0) -> None:
    """Lay a table across the paper, its wooden rim curved by `bulge` dots in the middle."""
    middle = (paper.columns - 1) / 2
    for x in range(paper.columns):
        far = (x - middle) / middle
        rim = top * 2 + round(bulge * far * far)
        for y in range(rim, (top + rows) * 2):
            paper.dot(x, y, Colour.BROWN if y < rim + 2 else Colour.GREEN)
    for row in range(top, top + rows):
        for column in range(paper.columns):
            away = hypot((column - middle) / middle, (row - top - rows / 3) / rows * 0.7)
            if away > 0.8 and paper.is_solid(row, column, Colour.GREEN):
                paper.sign(row, column, "▒" if away > 0.95 else "░", Colour.BLACK)


def card(paper: Paper, row: int, column: int, rank: str, suit: str) -> None:
    """Draw a card of eleven by seven cells, with a large sign, and the shadow it throws."""
    width, height = 11, 7
    paper.clear_signs(row, column, width + 1, height)
    for r in range(row + 1, row + height):
        paper.sign(r, column + width, "▓", Colour.BLACK)
    paper.fill(column, row * 2, width, height * 2, Colour.GREY)
    for r in range(row, row + height):
        paper.sign(r, column, "▌", Colour.DARK_GREY, Colour.GREY)
    colour = Colour.RED if suit in "HD" else Colour.BLACK
    paper.spread(SUITS[suit], column + 2, row * 2 + 3, colour)
    small = {"H": "♥", "D": "♦", "S": "♠", "C": "♣"}[suit]
    paper.sign(row, column + 1, f"{rank}{small}", colour, Colour.GREY)
    paper.sign(row + height - 1, column + width - 3, f"{small}{rank}", colour, Colour.GREY)


def back(paper: Paper, row: int, column: int) -> None:
    """Draw the same card face down."""
    width, height = 11, 7
    paper.clear_signs(row, column, width + 1, height)
    for r in range(row + 1, row + height):
        paper.sign(r, column + width, "▓", Colour.BLACK)
    paper.fill(column, row * 2, width, height * 2, Colour.GREY)
    paper.fill(column + 1, row * 2 + 1, width - 2, height * 2 - 2, Colour.BLUE)
    for y in range(2, height * 2 - 2):
        for x in range(2, width - 2):
            if (x + y) % 4 == 0 or (x - y) % 4 == 0:
                paper.dot(column + x, row * 2 + y, Colour.LIGHT_BLUE)


def clock(paper: Paper, row: int, column: int, across: int, hour: float, minute: float) -> None:
    """Draw a chip of `across` dots that is a clock; the hands are at `hour` and `minute`."""
    middle = (across - 1) / 2
    paper.clear_signs(row, column, across, across // 2 + 1)
    for y in range(across + 1):
        for x in range(across + 1):
            if hypot(x - 1 - middle, y - 1 - middle) <= across / 2:
                paper.dot(column + x, row * 2 + y, Colour.BLACK)
    for y in range(across):
        for x in range(across):
            colour = _chip_colour(x - middle, y - middle, across / 2)
            if colour is not None:
                paper.dot(column + x, row * 2 + y, colour)
    for quarter in range(4) if across > 16 else ():
        _hand(
            paper,
            row,
            column,
            middle,
            quarter / 4,
            across / 2 - 4.6,
            Colour.DARK_GREY,
            int(across * 2 - 20),
        )
    _hand(paper, row, column, middle, hour / 12, across * 0.17, Colour.BLACK)
    _hand(paper, row, column, middle, minute / 60, across * 0.29, Colour.BLACK)


def _chip_colour(x: float, y: float, radius: float) -> Colour | None:
    """Colour a dot of a chip: white and red by turns at the edge, a gold ring, a pale face."""
    far = hypot(x, y)
    if far > radius:
        return None
    if far > radius * 0.76:
        part = (atan2(y, x) / (2 * pi) * 12 + 0.5) % 2
        return Colour.WHITE if part < 1 else Colour.RED
    if far > radius * 0.66 and radius > 8:
        return Colour.BROWN
    return Colour.GREY


def _hand(
    paper: Paper,
    row: int,
    column: int,
    middle: float,
    turn: float,
    length: float,
    colour: Colour,
    start: int = 0,
) -> None:
    for step in range(start, int(length * 4) + 1):
        x = middle + sin(turn * 2 * pi) * step / 4
        y = middle - cos(turn * 2 * pi) * step / 4
        for wide in (0.01, 0.99):
            paper.dot(column + int(x + wide), row * 2 + int(y + 0.5), colour)


_STACKS = {
    "red": (Colour.LIGHT_RED, Colour.RED),
    "blue": (Colour.LIGHT_BLUE, Colour.BLUE),
    "gold": (Colour.YELLOW, Colour.BROWN),
    "cyan": (Colour.LIGHT_CYAN, Colour.CYAN),
}


def stack(paper: Paper, bottom: int, column: int, count: int, colour: str) -> None:
    """Pile up `count` chips, one dot high each; the lowest is above row `bottom`."""
    light, dark = _STACKS[colour]
    top = bottom * 2 - count
    paper.clear_signs(top // 2, column, 8, bottom - top // 2)
    for number in range(count):
        y = bottom * 2 - 1 - number
        colour = dark if number % 2 else light
        paper.fill(column, y, 7, 1, colour)
        for x in (1, 3, 5):
            paper.dot(column + x, y, Colour.GREY if number % 2 == 0 else dark)
    paper.fill(column + 1, top - 1, 5, 1, light)


def bar(paper: Paper, row: int, colour: Colour = Colour.BLUE) -> None:
    """Draw a line across the paper that fades at both ends."""
    fade = "░░▒▒▓▓"
    across = fade + "█" * (paper.columns - 2 * len(fade)) + fade[::-1]
    paper.sign(row, 0, across, colour, Colour.BLACK)
