"""Data for plots: balances by day, calls by hour, and all balances at a moment of the past.

Everything is computed backwards from the present balances along the transfers since. So the last
days of old books take no longer than those of new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import calls, instant, results, stamp
from timebank.ledger.sql import read
from timebank.ledger.transfers import Balance, balances
from timebank.reports.ledger_pages import first_at
from timebank.reports.totals import ENDS, QUARTER, QuarterMoved, changes, moved_by_quarter

A_DAY = timedelta(days=1)
# The accounts of callers' minutes in circulation.
IN_CIRCULATION = ("online", "held", "stake", "bank")


@dataclass(frozen=True)
class DayEnd:
    """All callers' seconds at the end of a day, or now for today, by kind of account."""

    day: date
    held: Counter[str]

    @property
    def in_circulation(self) -> int:
        return sum(self.held[kind] for kind in IN_CIRCULATION)


class HouseResult(NamedTuple):
    """The house's result at a table on a day, in seconds; below zero for a loss."""

    day: str
    game: str
    result: int


class _Called(NamedTuple):
    quarter: int
    times: int


_CALLED = read(
    _Called,
    lambda: (
        select((calls.c.opened // QUARTER).label("quarter"), func.count())
        .where(calls.c.opened >= bindparam("since"))
        .group_by((calls.c.opened // QUARTER).label("quarter"))
    ),
)
_RESULTS = read(
    HouseResult,
    lambda: (
        select(results.c.day, results.c.game, func.sum(results.c.lost - results.c.won))
        .where(results.c.unit == "second", results.c.day >= bindparam("since"))
        .group_by(results.c.day, results.c.game)
        .order_by(results.c.day, results.c.game)
    ),
)


def day_ends(desk: Desk, since: date, moved: Iterable[QuarterMoved] | None = None) -> list[DayEnd]:
    """Return the end of every day from `since` to today.

    `moved` may have the sums from the first transfer of `since` on, if they are known.
    """
    schedule = desk.settings.schedule
    today = schedule.day_of(desk.now)
    change: dict[date, Counter[str]] = {}
    if moved is None:
        moved = moved_by_quarter(desk, first_at(desk, stamp(schedule.day_starts(since))))
    for row in moved:
        if row.unit != "second":
            continue
        day = schedule.day_of(instant(row.quarter * QUARTER))
        of_day = change.setdefault(day, Counter())
        of_day["external" if row.source in ENDS else row.source] -= row.amount
        of_day["external" if row.target in ENDS else row.target] += row.amount
    held = Counter[str]()
    for balance in balances(desk):
        if balance.unit == "second":
            held[balance.kind] += balance.amount
    ends: list[DayEnd] = []
    day = max([today, *change])  # a clock that was set back may have written later days
    while day >= since:
        if day <= today:
            ends.append(DayEnd(day, Counter(held)))
        held.subtract(change.get(day, Counter()))
        day -= A_DAY
    return ends[::-1]


def house_results(desk: Desk, since: date) -> list[HouseResult]:
    return _RESULTS.all(desk.connection, since=since.isoformat())


def calls_by_hour(desk: Desk, since: date) -> list[int]:
    """Return the calls that began in each of the 24 hours of the board's day, from `since` on."""
    schedule = desk.settings.schedule
    counted = [0] * 24
    start = stamp(schedule.day_starts(since))
    for row in _CALLED.all(desk.connection, since=start):
        counted[schedule.local(instant(row.quarter * QUARTER)).hour] += row.times
    return counted


def balances_at(desk: Desk, at: datetime) -> list[Balance]:
    """Return the balances of all accounts at `at`, to the end of its second.

    Accounts that were opened later have 0.
    """
    since = changes(desk, first_at(desk, stamp(at) + 1))
    return [
        each._replace(amount=each.amount - since.get(each.account_id, 0)) for each in balances(desk)
    ]
