"""Strategy cards: what to do with which hand against which card, for the rules of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from timebank.language import N_

COLUMN = 4
LABEL = 12  # characters of text

MOVES: Mapping[str, str] = {
    "H": N_("hit"),
    "S": N_("stand"),
    "D": N_("double or else hit"),
    "Ds": N_("double or else stand"),
    "P": N_("split the pair"),
    "C": N_("take a card"),
    "N": N_("take no card"),
    "R": N_("raise your bet"),
    "-": N_("stay"),
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
        yield f"  {move:<3}{MOVES[move]}"
    yield from (f"  {note}" for note in card.notes)
