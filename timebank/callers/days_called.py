"""Days on which a caller was on, and how many of them followed one another.

All of it is read from the days that the books know of a caller (`schema.days`): the first entry of
a day writes its row. Such a day only goes forward, and one that a wrong clock has begun counts no
more once it is taken back. So nothing is kept that could differ from a recount.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from sqlalchemy import bindparam, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import days
from timebank.ledger.sql import Reader, equal, value

DAY = timedelta(days=1)
CHUNK = 50  # days that are looked up at a time
_AFTER_ALL = "9999-12-31"


class DaysCalled(NamedTuple):
    """How many days, and how many in a row: up to now, and the most ever."""

    number: int = 0
    running: int = 0
    longest: int = 0


_DAYS: Reader[str] = value(
    lambda: (
        select(days.c.day)
        .where(equal(days.c.caller_id), days.c.day < bindparam("before"))
        .order_by(days.c.day.desc())
        .limit(bindparam("most"))
    )
)


def running(desk: Desk, caller_id: int) -> int:
    """Count the days in a row up to now; reads no day before those. Whoever was not on yesterday
    begins anew, and whoever was on yesterday has today to go on."""
    days_of = _latest_first(desk, caller_id)
    last = next(days_of, None)
    if last is None or not _goes_on(desk, last):
        return 0
    return next(_rows(chain((last,), days_of)))


def days_called(desk: Desk, caller_id: int) -> DaysCalled:
    """Count all days of a caller: for a connection that only reads."""
    days_of = list(_latest_first(desk, caller_id))
    if not days_of:
        return DaysCalled()
    rows = list(_rows(days_of))
    return DaysCalled(len(days_of), rows[0] if _goes_on(desk, days_of[0]) else 0, max(rows))


def _goes_on(desk: Desk, last: date) -> bool:
    return last >= desk.settings.schedule.day_of(desk.now) - DAY


def _latest_first(desk: Desk, caller_id: int) -> Iterator[date]:
    found = _DAYS.all(desk.connection, caller_id=caller_id, before=_AFTER_ALL, most=CHUNK)
    while found:
        yield from map(date.fromisoformat, found)
        if len(found) < CHUNK:
            return
        found = _DAYS.all(desk.connection, caller_id=caller_id, before=found[-1], most=CHUNK)


def _rows(latest_first: Iterable[date]) -> Iterator[int]:
    """Count how many days follow one another, row by row, the latest row first.

    >>> list(_rows([date(2026, 6, 5), date(2026, 6, 4), date(2026, 6, 1)]))
    [2, 1]
    """
    length, last = 0, None
    for day in latest_first:
        if last is not None and last - day != DAY:
            yield length
            length = 0
        length, last = length + 1, day
    if length:
        yield length
