"""What the pages say that show how callers stand: a caller's own, and the hall of fame.

Each is read from its lines, without the margin: those of a painted screen, or those that scrolled
by on a terminal that is not painted. What has come in part is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from door.lobby.bulletins import COLUMN
from verify.robots import phrases, reading

_PLACE = re.compile(r"(\d{1,2}) (.+?)\s+([-0-9:]+)")
_ASKS = re.compile(r"<\S>")


class Ahead(NamedTuple):
    """How many callers have won less, of all others who have played for time."""

    behind: int
    others: int


@dataclass(frozen=True)
class Record:
    """A caller's own page: how many hands there were, and what they came to."""

    counts: Mapping[str, int]  # by what is counted; empty without a hand
    in_a_row: tuple[int, int] = (0, 0)  # hands won, and hands lost
    best: int = 0  # seconds
    net: int = 0  # seconds
    ahead: Ahead | None = None


@dataclass(frozen=True)
class Hall:
    """The hall of fame: of which days, and its lists of names and figures, best first."""

    days: str  # T for today, W for this week, E for ever
    lists: Mapping[str, Sequence[tuple[str, int]]]


def is_record(heading: str) -> bool:
    return heading.strip() in phrases.STATISTICS


def days_of(heading: str) -> str:
    """Return of which days the page of the hall under this heading is, "" for another page.

    >>> days_of("Hall of fame: This week"), days_of("Palmarès : Aujourd'hui"), days_of("News")
    ('W', 'T', '')
    """
    name, _colon, days = heading.partition(":")
    return phrases.DAYS.get(days.strip(), "") if name.strip() in phrases.HALL else ""


def record(lines: Sequence[str]) -> Record | None:
    """Read a caller's own page; its heading comes first."""
    text = "\n".join(lines)
    if phrases.NO_HAND_YET.is_in(text):
        return Record({})
    counts = {name: said.search(text) for name, said in phrases.COUNTS.items()}
    in_a_row = phrases.IN_A_ROW.search(text)
    if in_a_row is None or not all(counts.values()):
        return None
    best, ahead = phrases.BEST_HAND.search(text), phrases.AHEAD_OF.search(text)
    return Record(
        {name: int(found["number"]) for name, found in counts.items() if found},
        (int(in_a_row["won"]), int(in_a_row["lost"])),
        reading.span(best["time"]) if best else 0,
        _net(text),
        Ahead(int(ahead["number"]), int(ahead["all"])) if ahead else None,
    )


def _net(text: str) -> int:
    for sign, said in phrases.ALL_IN_ALL.items():
        if found := said.search(text):
            return sign * reading.span(found["time"])
    return 0


def hall(lines: Sequence[str]) -> Hall | None:
    """Read a page of the hall of fame, whose lists stand below or beside each other; its heading
    comes first."""
    days = days_of(lines[0])
    lists: dict[str, list[tuple[str, int]]] = {}
    for column in _columns(lines[1:]):
        name = ""
        for row in column:
            if row in phrases.LISTS:
                name = phrases.LISTS[row]
                lists[name] = []
            elif found := _PLACE.fullmatch(row):
                if not name or int(found[1]) != len(lists[name]) + 1:
                    return None
                lists[name].append((found[2], reading.clock(found[3])))
            elif row and row not in phrases.NOBODY_YET:
                return None
    return Hall(days, lists) if days and {"won", "best"} <= lists.keys() else None


def _columns(lines: Sequence[str]) -> Sequence[list[str]]:
    """Take apart what stands side by side, up to what is asked below."""
    rows: list[str] = []
    for line in lines:
        if _ASKS.search(line):
            break
        rows.append(line)
    left, right = ([row[:COLUMN].strip() for row in rows], [row[COLUMN:].strip() for row in rows])
    return left, right
