"""The days on which a caller called, and the longest and current run of days in a row.

They are counted from the caller's rows of `schema.days`, which the first entry of a day writes. A
day that a wrong clock began is deleted when it is taken back. So nothing is stored that could
differ from a recount.
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
CHUNK = 50  # days per query
_AFTER_ALL = "9999-12-31"


class DaysCalled(NamedTuple):
    """The number of days, the current run of days in a row, and the longest run."""

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
    """Return the current run of days in a row, reading no earlier days.

    A run continues if its last day is yesterday or today, otherwise the result is 0.
    """
    days_of = _latest_first(desk, caller_id)
    last = next(days_of, None)
    if last is None or not _is_running(desk, last):
        return 0
    return next(_runs(chain((last,), days_of)))


def days_called(desk: Desk, caller_id: int) -> DaysCalled:
    """Count all days of a caller. This may take long, so use a reading transaction."""
    days_of = list(_latest_first(desk, caller_id))
    if not days_of:
        return DaysCalled()
    rows = list(_runs(days_of))
    return DaysCalled(len(days_of), rows[0] if _is_running(desk, days_of[0]) else 0, max(rows))


def _is_running(desk: Desk, last: date) -> bool:
    return last >= desk.settings.schedule.day_of(desk.now) - DAY


def _latest_first(desk: Desk, caller_id: int) -> Iterator[date]:
    chunk = _DAYS.all(desk.connection, caller_id=caller_id, before=_AFTER_ALL, most=CHUNK)
    while chunk:
        yield from map(date.fromisoformat, chunk)
        if len(chunk) < CHUNK:
            return
        chunk = _DAYS.all(desk.connection, caller_id=caller_id, before=chunk[-1], most=CHUNK)


def _runs(latest_first: Iterable[date]) -> Iterator[int]:
    """Yield the lengths of runs of consecutive days, the latest run first.

    >>> list(_runs([date(2026, 6, 5), date(2026, 6, 4), date(2026, 6, 1)]))
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
