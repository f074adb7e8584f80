"""Data for plots: sums of days, calls by hour, and all balances at a moment of the past.

Everything is computed backwards from the present balances along the transfers since. So the last
days of old books take no longer than those of new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import calls, instant, rounds, stamp
from timebank.ledger.sql import Query, read
from timebank.ledger.transfers import Balance, balances
from timebank.reports import house
from timebank.reports.house import HandOdds, Luck
from timebank.reports.ledger_pages import first_at
from timebank.reports.summary import Period
from timebank.reports.totals import ENDS, QUARTER, changes, moved_by_quarter

A_DAY = timedelta(days=1)
# The accounts of callers' minutes in circulation.
IN_CIRCULATION = ("online", "held", "stake", "bank")


@dataclass(frozen=True)
class DaySums:
    """The sums of one day; amounts are seconds."""

    day: date
    first: int  # the number of its first transfer
    changed: Counter[str]  # by kind of account, of all callers
    period: Period
    bets: Counter[int]  # hands dealt, by hour
    tables: Sequence[Luck]
    people: Sequence[Luck]  # of each caller at each table


class _Times(NamedTuple):
    quarter: int
    times: int


_CALLED = read(_Times, lambda: _by_quarter(calls.c.opened))
_DEALT = read(
    _Times,
    lambda: _by_quarter(rounds.c.dealt).where(
        rounds.c.id >= bindparam("first"), rounds.c.id < bindparam("end")
    ),
)


def _by_quarter(at: ColumnElement[int]) -> Query:
    quarter = (at // QUARTER).label("quarter")
    within = (at >= bindparam("since"), at < bindparam("until"))
    return select(quarter, func.count()).where(*within).group_by(quarter)


def day_sums(desk: Desk, day: date, end: int, odds: HandOdds | None) -> DaySums:
    """Add up a day, whose transfers are before number `end`."""
    schedule = desk.settings.schedule
    since, until = (stamp(schedule.day_starts(each)) for each in (day, day + A_DAY))
    first = min(end, first_at(desk, since))
    changed, period = Counter[str](), Period(day, day.isoformat())
    for row in moved_by_quarter(desk, first, end=end):
        period.add(row)
        if row.unit == "second":
            changed["external" if row.source in ENDS else row.source] -= row.amount
            changed["external" if row.target in ENDS else row.target] += row.amount
    hands = house.hands_of_transfers(desk, first, end)
    dealt = _DEALT.all(desk.connection, since=since, until=until, **hands._asdict())
    tables, people = house.lucks(desk, odds, since, until, numbers=hands)
    return DaySums(
        *(day, first, changed, period, _by_hour(desk, dealt)),
        *([luck for luck in each if luck.unit == "second"] for each in (tables, people)),
    )


def day_ends(desk: Desk, days: Iterable[DaySums]) -> dict[date, Counter[str]]:
    """Return all callers' seconds by kind of account at the ends of `days`: all from today back."""
    held = Counter[str]()
    for balance in balances(desk):
        if balance.unit == "second":
            held[balance.kind] += balance.amount
    ends: dict[date, Counter[str]] = {}
    for each in days:
        ends[each.day] = Counter(held)
        held.subtract(each.changed)
    return ends


def calls_by_hour(desk: Desk, since: date, until: date) -> Counter[int]:
    """Return the calls that began in each hour of the board's days, both included."""
    starts = (stamp(desk.settings.schedule.day_starts(day)) for day in (since, until + A_DAY))
    span = dict(zip(("since", "until"), starts, strict=True))
    return _by_hour(desk, _CALLED.all(desk.connection, **span))


def _by_hour(desk: Desk, rows: Iterable[_Times]) -> Counter[int]:
    counted = Counter[int]()
    for row in rows:
        counted[desk.settings.schedule.local(instant(row.quarter * QUARTER)).hour] += row.times
    return counted


def balances_at(desk: Desk, at: datetime) -> list[Balance]:
    """Return the balances of all accounts at `at`, to the end of its second.

    Accounts that were opened later have 0.
    """
    since = changes(desk, first_at(desk, stamp(at) + 1))
    return [
        each._replace(amount=each.amount - since.get(each.account_id, 0)) for each in balances(desk)
    ]
