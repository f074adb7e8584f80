"""Strategy cards: what to do with which hand against which card, for the rules of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLUMN = 4
LABEL = 12  # characters of text

CELL_WIDTH, CELL_HEIGHT = 34, 24  # of SVG, in its units
LABEL_WIDTH = 110
MARGIN = 12
LINE = 18

# What may be done, in words, and the colour of its cell. A letter says it too, for whoever does not
# tell colours apart.
MOVES: Mapping[str, tuple[str, str]] = {
    "H": ("hit", "#f4c7c3"),
    "S": ("stand", "#fff2cc"),
    "D": ("double, or hit where that is not possible", "#c6e0b4"),
    "Ds": ("double, or stand where that is not possible", "#a9d08e"),
    "P": ("split", "#bdd7ee"),
    "C": ("take a card", "#f4c7c3"),
    "N": ("take no card", "#fff2cc"),
    "R": ("raise", "#c6e0b4"),
    "-": ("stay", "#fff2cc"),
}


@dataclass(frozen=True)
class Section:
    """One grid: a move for each row under each column."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class StrategyCard:
    """`gains` are for a unit: `played` what comes of the card, `careful` of the best by all cards
    in sight, and `insurance` of a unit of it, where there is any."""

    title: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    gains: Mapping[str, float]

    @property
    def moves(self) -> tuple[str, ...]:
        """Those that are on it, in their usual order."""
        found = {move for each in self.sections for _, row in each.rows for move in row}
        return tuple(move for move in MOVES if move in found)


def joined(rows: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Make one row of neighbours that are alike.

    >>> joined([("5", ("H",)), ("6", ("H",)), ("7", ("S",))])
    (('5-6', ('H',)), ('7', ('S',)))
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    for label, cells in rows:
        if found and found[-1][1] == cells:
            first = found[-1][0].partition("-")[0]
            found[-1] = (f"{first}-{label}", cells)
        else:
            found.append((label, cells))
    return tuple(found)


def card_lines(card: StrategyCard) -> Iterator[str]:
    yield card.title
    for section in card.sections:
        yield ""
        heads = "".join(f"{column:>{COLUMN}}" for column in section.columns)
        yield f"  {section.heading:<{LABEL}}{heads}".rstrip()
        for label, cells in section.rows:
            yield f"  {label:<{LABEL}}" + "".join(f"{cell:>{COLUMN}}" for cell in cells)
    yield ""
    for move in card.moves:
        yield f"  {move:<3}{MOVES[move][0]}"
    yield from (f"  {note}" for note in card.notes)


def card_svg(card: StrategyCard) -> str:
    """The card as one SVG document, which names no font and loads nothing."""
    columns = max(len(section.columns) for section in card.sections)
    longest = max(len(line) for line in (card.title, *card.notes))
    width = max(2 * MARGIN + LABEL_WIDTH + columns * CELL_WIDTH, 2 * MARGIN + 7 * longest)
    parts, top = [_text(MARGIN, MARGIN + LINE, card.title, "font-weight='bold'")], MARGIN + 2 * LINE
    for section in card.sections:
        parts.append(_text(MARGIN, top + CELL_HEIGHT - 7, section.heading))
        for number, column in enumerate(section.columns):
            parts.append(_centred(number, top, column))
        top += CELL_HEIGHT
        for label, cells in section.rows:
            parts.append(_text(MARGIN, top + CELL_HEIGHT - 7, label))
            for number, cell in enumerate(cells):
                left = MARGIN + LABEL_WIDTH + number * CELL_WIDTH
                parts.append(
                    f"<rect x='{left}' y='{top}' width='{CELL_WIDTH}' height='{CELL_HEIGHT}'"
                    f" fill='{MOVES[cell][1]}' stroke='#666'/>"
                )
                parts.append(_centred(number, top, cell))
            top += CELL_HEIGHT
        top += LINE
    for words in (*(f"{move}: {MOVES[move][0]}" for move in card.moves), *card.notes):
        parts.append(_text(MARGIN, top, words))
        top += LINE
    body = "\n".join(parts)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{top}'"
        f" viewBox='0 0 {width} {top}' font-family='sans-serif' font-size='13' role='img'>\n"
        f"<title>{escape(card.title)}</title>\n"
        f"<rect width='100%' height='100%' fill='white'/>\n{body}\n</svg>\n"
    )


def _text(left: int, base: int, words: str, how: str = "") -> str:
    return f"<text x='{left}' y='{base}' {how}>{escape(words)}</text>"


def _centred(column: int, top: int, words: str) -> str:
    middle = MARGIN + LABEL_WIDTH + column * CELL_WIDTH + CELL_WIDTH // 2
    return _text(middle, top + CELL_HEIGHT - 7, words, "text-anchor='middle'")
