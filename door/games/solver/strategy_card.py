"""Strategy cards: the best move for each hand and up card, under the rules of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from timebank.language import N_

# The widths of the text, in characters.
COLUMN = 4
LABEL = 12

MOVES: Mapping[str, str] = {
    "H": N_("hit"),
    "S": N_("stand"),
    "D": N_("double or else hit"),
    "Ds": N_("double or else stand"),
    "P": N_("split the pair"),
    "C": N_("take a card"),
    "N": N_("take no card"),
    "R": N_("raise your bet"),
    "-": N_("stand"),
}


@dataclass(frozen=True)
class Section:
    """One grid: a move for each row under each column."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class StrategyCard:
    """A strategy card. `gains` are means for a unit.

    `played` is the gain of play by the card, and `careful` of the best play by all cards in sight.
    `insurance` is the gain of a unit of insurance, in games that have it.
    """

    title: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    gains: Mapping[str, float]

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves on the card, in the order of `MOVES`."""
        used = {move for each in self.sections for _, row in each.rows for move in row}
        return tuple(move for move in MOVES if move in used)


def joined(rows: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Join neighbouring rows with equal cells.

    >>> joined([("5", ("H",)), ("6", ("H",)), ("7", ("S",))])
    (('5-6', ('H',)), ('7', ('S',)))
    """
    joined_rows: list[tuple[str, tuple[str, ...]]] = []
    for label, cells in rows:
        if joined_rows and joined_rows[-1][1] == cells:
            first = joined_rows[-1][0].partition("-")[0]
            joined_rows[-1] = (f"{first}-{label}", cells)
        else:
            joined_rows.append((label, cells))
    return tuple(joined_rows)


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
        yield f"  {move:<3}{MOVES[move]}"
    yield from (f"  {note}" for note in card.notes)
