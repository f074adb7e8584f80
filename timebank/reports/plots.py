"""How things went, for whoever draws them: balances day by day, calls by hour, where a caller's
minutes came from; and what every account held at a moment of the past.

All is worked out from what the accounts hold now, back along the transfers since: the last days of
books of many years take no longer than those of young ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import (
    calls,
    instant,
    moved,
    results,
    source,
    stamp,
    target,
    transfers,
)
from timebank.ledger.sql import Query, equal, read
from timebank.ledger.transfers import Balance, balances
from timebank.reports.ledger_pages import first_at
from timebank.reports.totals import ENDS, QUARTER, QuarterMoved, changes, moved_by_quarter

A_DAY = timedelta(days=1)

# What callers have: their minutes in circulation.
IN_CIRCULATION = ("online", "held", "stake", "bank")
# Where minutes come from that a caller did not have, and where they go, as the accounts of the
# other side are called. A loan is the caller's own, and still no minutes of theirs.
CAME_FROM = {
    "allotment": "granted",
    "house": "won",
    "loan": "borrowed",
    "bank": "sent by others",
    "external": "brought",
    "adjustment": "added by the sysop",
    "prizes": "prizes of tournaments",
}
WENT_TO = {
    "elapsed": "time used",
    "house": "lost",
    "loan": "paid back",
    "bank": "sent to others",
    "external": "taken home",
    "adjustment": "taken off by the sysop",
    "forfeit": "forfeited",
    "prizes": "entries to tournaments",
}


@dataclass(frozen=True)
class DayEnd:
    """What all callers had at the end of a day, or now, in seconds: by kind of account."""

    day: date
    held: Counter[str]

    @property
    def in_circulation(self) -> int:
        return sum(self.held[kind] for kind in IN_CIRCULATION)


class HouseResult(NamedTuple):
    """What the house won at a table on a day, in seconds; below zero what it lost."""

    day: str
    game: str
    result: int


class Stream(NamedTuple):
    """How many seconds a caller got from somewhere, or gave there; of a `game`, "" for none."""

    what: str
    game: str
    seconds: int


class _Called(NamedTuple):
    quarter: int
    times: int


class _Side(NamedTuple):
    mine: str
    other: str
    other_caller: int | None
    game: str | None
    seconds: int


def _side(*, gives: bool) -> Query:
    mine, other = (source, target) if gives else (target, source)
    what = (mine.c.kind, other.c.kind, other.c.caller_id, other.c.game)
    return (
        select(*what, func.sum(transfers.c.amount))
        .select_from(moved)
        .where(equal(mine.c.caller_id), mine.c.unit == "second")
        .group_by(*what)
    )


_GIVES = read(_Side, lambda: _side(gives=True))
_TAKES = read(_Side, lambda: _side(gives=False))
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
    """Give the end of every day from `since` to today, which is not over.

    `moved` is what was moved from the first transfer of that day on, for who has added it up.
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
    day = max([today, *change])  # a clock that was put back has written of later days
    while day >= since:
        if day <= today:
            ends.append(DayEnd(day, Counter(held)))
        held.subtract(change.get(day, Counter()))
        day -= A_DAY
    return ends[::-1]


def house_results(desk: Desk, since: date) -> list[HouseResult]:
    return _RESULTS.all(desk.connection, since=since.isoformat())


def calls_by_hour(desk: Desk, since: date) -> list[int]:
    """Count the calls that began in each hour of the board's day, from `since` on: 24 numbers."""
    schedule = desk.settings.schedule
    counted = [0] * 24
    start = stamp(schedule.day_starts(since))
    for row in _CALLED.all(desk.connection, since=start):
        counted[schedule.local(instant(row.quarter * QUARTER)).hour] += row.times
    return counted


def streams(desk: Desk, caller_id: int) -> tuple[list[Stream], list[Stream]]:
    """Give where all minutes of a caller came from, and where they went; the largest first.

    What came less what went is what the caller has.
    """
    came = _summed(_TAKES.all(desk.connection, caller_id=caller_id), caller_id, CAME_FROM)
    went = _summed(_GIVES.all(desk.connection, caller_id=caller_id), caller_id, WENT_TO)
    return came, went


def _summed(rows: Iterable[_Side], caller_id: int, names: dict[str, str]) -> list[Stream]:
    summed = Counter[tuple[str, str]]()
    for row in rows:
        is_own = row.other_caller == caller_id and row.other != "loan"
        if row.mine != "loan" and not is_own:
            summed[names.get(row.other, row.other), row.game or ""] += row.seconds
    return [Stream(*what, seconds) for what, seconds in summed.most_common()]


def first_after(desk: Desk, at: datetime) -> int:
    """Find the number from which on transfers are of later seconds than this instant's."""
    return first_at(desk, stamp(at) + 1)


def balances_at(
    desk: Desk, at: datetime, changed: Mapping[int, int] | None = None
) -> list[Balance]:
    """Tell what every account held at an instant, after all that was moved in that second.

    Accounts that were opened later held nothing. `changed` is by how much each account has changed
    since (`first_after`), for who has added it up.
    """
    since = changes(desk, first_after(desk, at)) if changed is None else changed
    return [
        each._replace(amount=each.amount - since.get(each.account_id, 0)) for each in balances(desk)
    ]
