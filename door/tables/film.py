"""Films of hands, for the pages: asciicast, version 2.

That is a JSON table in the first line, and then a line for each change of the screen: seconds from
the beginning, "o", and what a terminal is sent (docs.asciinema.org/manual/asciicast/v2). Before
each hand stands a marker, "m", with its number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from door.call.screen import CANVAS_COLUMNS, CANVAS_ROWS
from door.errors import NoSuchHand
from door.games.rounds import readable, the_hand
from door.lines.line import MAX_COLUMNS, MAX_ROWS
from door.tables.reel import Reel, filmed
from door.tables.registry import TABLES
from timebank.language import speaking_to
from timebank.ledger.schema import stamp
from timebank.wagers import journal

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound

LEAST_SIZE = CANVAS_COLUMNS, CANVAS_ROWS
LARGEST_SIZE = MAX_COLUMNS, MAX_ROWS
# The sixteen colours of VGA, as every screen of the board is drawn.
_PALETTE = (
    "#000000:#aa0000:#00aa00:#aa5500:#0000aa:#aa00aa:#00aaaa:#aaaaaa"
    ":#555555:#ff5555:#55ff55:#ffff55:#5555ff:#ff55ff:#55ffff:#ffffff"
)
_THEME = {"fg": "#aaaaaa", "bg": "#000000", "palette": _PALETTE}


def film(hands: Iterable[StoredRound], reel: Reel) -> Iterator[str]:
    """Film hands one after the other, and give the lines of the cast, each with its newline. Raises
    `NoSuchHand` for one that cannot be played again."""
    first: StoredRound | None = None
    for stored in hands:
        first = first or stored
        with speaking_to(reel.viewer), readable(stored.id):
            TABLES[stored.game].film(reel, filmed(stored))
    if first is not None:
        yield from _lines(first, reel)


def _lines(first: StoredRound, reel: Reel) -> Iterator[str]:
    yield _line(
        {
            "version": 2,
            "width": reel.columns,
            "height": reel.rows,
            "timestamp": stamp(first.dealt),
            "title": f"{TABLES[first.game].game.title}, hand {first.id}",
            "env": {"TERM": "xterm-256color"},
            "theme": _THEME,
        }
    )
    marks = dict(reel.marks)
    for number, (second, letters) in enumerate(reel.frames):
        if number in marks:
            yield _line([second, "m", marks[number]])
        yield _line([second, "o", letters])
    yield _line([reel.now, "o", ""])  # how long the last change is looked at


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def evening(desk: Desk, number: int, last: int | None, most: int) -> list[StoredRound]:
    """Find the hands at the table of a hand: up to number `last`, or without it those of the same
    day. At a table that several share, a round comes once; else the hands are those of one caller.
    Raises `NoSuchHand`, also where there are more than `most` hands."""
    first = the_hand(desk, number)
    found = journal.rounds_at_table(desk, first, last)
    if len(found) > most:
        words = f"These are {len(found)} hands, and a film has {most} at most: name fewer."
        raise NoSuchHand(words)
    return found


def reel_of(size: str) -> Reel:
    """Return an empty reel of a size such as 80x24; ValueError for one that no table is painted
    at."""
    columns, _, rows = size.partition("x")
    width, height = int(columns), int(rows)
    if not (
        LEAST_SIZE[0] <= width <= LARGEST_SIZE[0] and LEAST_SIZE[1] <= height <= LARGEST_SIZE[1]
    ):
        raise ValueError(size)
    return Reel(width, height)
