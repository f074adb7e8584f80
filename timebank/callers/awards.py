"""Awards for something that a caller did for the first time, with the time.

Each is earned once, in the transaction of the deed. hand_counts.py says which hand deserves an
award, and hand_totals.py writes those with their hand. `earn` writes all others. award_names.py has
the names. The receipt of the entry has the award, for the screen that shows the deed. Each award is
`untold` until its caller has seen it, there, in the menu or at the next log-on.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from timebank.callers import days_called
from timebank.callers.award_names import COMEBACK, WEEK
from timebank.callers.standings import wishes_to_be_named
from timebank.ledger.database import Desk
from timebank.ledger.schema import awards, callers, instant, stamp
from timebank.ledger.sql import (
    Prepared,
    Reader,
    among,
    change,
    equal,
    insert_or_keep,
    parameters,
    value,
)

DAYS_IN_A_ROW = 7

LATELY = timedelta(days=1)
_LOOKED_THROUGH = 12  # the latest awards searched for one that others may see


class Award(NamedTuple):
    """An earned award: its word (award_names.py), and the time."""

    word: str
    at: datetime


_EARN = Prepared(lambda: insert_or_keep(awards, parameters("caller_id", "award", "at")))
_OF_CALLER = Prepared(
    lambda: (
        select(awards.c.award, awards.c.at)
        .where(equal(awards.c.caller_id))
        .order_by(awards.c.at, awards.c.award)
    )
)
_LATEST = Prepared(
    lambda: (
        select(callers.c.name, awards.c.award, callers.c.preferences)
        .join(callers, callers.c.id == awards.c.caller_id)
        .where(awards.c.at >= bindparam("since"), callers.c.deleted.is_(None))
        .order_by(awards.c.at.desc(), callers.c.name, awards.c.award)
        .limit(_LOOKED_THROUGH)
    )
)
_HOLDERS: Reader[str] = value(
    lambda: (
        select(callers.c.name)
        .join(awards, callers.c.id == awards.c.caller_id)
        .where(awards.c.award == bindparam("award"), callers.c.deleted.is_(None))
        .order_by(awards.c.at.desc(), callers.c.name)
        .limit(bindparam("most"))
    )
)
_UNTOLD = Prepared(
    lambda: (
        select(awards.c.caller_id, awards.c.award)
        .where(awards.c.told.is_(None), among(awards.c.caller_id, "caller_ids"))
        .order_by(awards.c.caller_id, awards.c.at, awards.c.award)
    )
)
_NOTE_TOLD = Prepared(
    lambda: change(
        awards, "told", equal(awards.c.caller_id, awards.c.award), awards.c.told.is_(None)
    )
)
_TAKE_BACK = Prepared(lambda: delete(awards).where(equal(awards.c.caller_id, awards.c.award)))


def earn(desk: Desk, caller_id: int, award: str) -> list[str]:
    """Give a caller an award and return it in a list, which is empty if they have it already."""
    row = {"caller_id": caller_id, "award": award, "at": stamp(desk.now)}
    return [award] if _EARN.count_changed(desk.connection, **row) else []


def on_call(desk: Desk, caller_id: int) -> int:
    """Return the days in a row up to a call that begins, and give the award for a week."""
    running = days_called.running(desk, caller_id)
    if running >= DAYS_IN_A_ROW:
        earn(desk, caller_id, WEEK)
    return running


def days_taken_back(desk: Desk, caller_id: int) -> None:
    """Take back an award that days of a wrong clock earned."""
    if days_called.days_called(desk, caller_id).longest < DAYS_IN_A_ROW:
        _TAKE_BACK(desk.connection, caller_id=caller_id, award=WEEK)


def of_caller(desk: Desk, caller_id: int) -> list[Award]:
    """Return a caller's awards, oldest first."""
    rows = _OF_CALLER(desk.connection, caller_id=caller_id)
    return [Award(word, instant(at)) for word, at in rows]


def untold(desk: Desk, caller_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the awards that these callers have not seen, oldest first."""
    earned: dict[int, list[str]] = {}
    for caller_id, word in _UNTOLD(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        earned.setdefault(caller_id, []).append(word)
    return earned


def holders(desk: Desk, award: str, most: int) -> list[str]:
    """Return the names of callers who have an award, the latest first."""
    return _HOLDERS.all(desk.connection, award=award, most=most)


def note_told(desk: Desk, caller_id: int, words: Iterable[str]) -> None:
    for word in words:
        _NOTE_TOLD(desk.connection, told=stamp(desk.now), caller_id=caller_id, award=word)


def latest(desk: Desk) -> tuple[str, str] | None:
    """Return name and award of the latest one in 24 hours that others may see, or None."""
    since = stamp(desk.now - LATELY)
    for name, word, wishes in _LATEST(desk.connection, since=since):
        if word != COMEBACK or wishes_to_be_named(wishes):
            return name, word
    return None
