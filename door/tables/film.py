"""Films of hands, for the pages: asciicast, version 2.

The first line is a JSON object. Each change of the screen is a line: seconds from the beginning,
"o", and the bytes for a terminal (docs.asciinema.org/manual/asciicast/v2). A marker, "m", with the
hand's number precedes each hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from door.call.screen import CANVAS_COLUMNS, CANVAS_ROWS
from door.errors import NoSuchHand
from door.games.rounds import readable, the_hand
from door.lines.line import MAX_COLUMNS, MAX_ROWS
from door.tables.reel import Reel, replay_hand
from door.tables.registry import TABLES
from timebank.language import speaking_to
from timebank.ledger.schema import stamp
from timebank.wagers import journal

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound

LEAST_SIZE = CANVAS_COLUMNS, CANVAS_ROWS
LARGEST_SIZE = MAX_COLUMNS, MAX_ROWS
# The sixteen colours of VGA.
_PALETTE = (
    "#000000:#aa0000:#00aa00:#aa5500:#0000aa:#aa00aa:#00aaaa:#aaaaaa"
    ":#555555:#ff5555:#55ff55:#ffff55:#5555ff:#ff55ff:#55ffff:#ffffff"
)
_THEME = {"fg": "#aaaaaa", "bg": "#000000", "palette": _PALETTE}


def film(hands: Iterable[StoredRound], reel: Reel) -> Iterator[str]:
    """Film the hands in order and yield the lines of the cast, each with its newline.

    Raises `NoSuchHand` for a hand that cannot be replayed.
    """
    first: StoredRound | None = None
    for stored in hands:
        first = first or stored
        with speaking_to(reel.viewer), readable(stored.id):
            TABLES[stored.game].film(reel, replay_hand(stored))
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
    yield _line([reel.now, "o", ""])  # keeps the last change on screen


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def hands_to_film(desk: Desk, number: int, last: int | None, most: int) -> list[StoredRound]:
    """Return the hands at the table of hand `number`, up to hand `last` or to the end of its day.

    A round of a shared table comes once. At other tables the hands are those of one caller. Raises
    `NoSuchHand`, also for more than `most` hands.
    """
    first = the_hand(desk, number)
    hands = journal.rounds_at_table(desk, first, last)
    if len(hands) > most:
        words = f"These are {len(hands)} hands, and a film has {most} at most: name fewer."
        raise NoSuchHand(words)
    return hands


def reel_of(size: str) -> Reel:
    """Return an empty reel of a size such as 80x24; ValueError for a size out of range."""
    columns, _, rows = size.partition("x")
    width, height = int(columns), int(rows)
    if not (
        LEAST_SIZE[0] <= width <= LARGEST_SIZE[0] and LEAST_SIZE[1] <= height <= LARGEST_SIZE[1]
    ):
        raise ValueError(size)
    return Reel(width, height)
