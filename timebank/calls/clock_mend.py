"""Corrects callers whom a wrong clock has put on days in the future.

A board under a wrong clock begins days that are far ahead. Their callers would get no grant until
then, and their held time would wait. Mending takes such days back: the caller is on the last day
that was right, so the next day brings its grant. Callers keep what these days granted. They get
back what the days took beyond that.

A day that is one ahead stays, because its grant came early and none is missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import Integer, Text, bindparam, delete, func, insert, or_, select

from timebank.callers import awards, sysop_log
from timebank.calls.calls import live_call
from timebank.guests.departure import leave_without_call
from timebank.ledger import early_events
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.reasons import Cutoff, Mended
from timebank.ledger.schema import (
    accounts,
    callers,
    days,
    instant,
    mended_days,
    rounds,
    source,
    stamp,
    target,
    transfers,
    transfers_with_accounts,
)
from timebank.ledger.sql import Prepared, Query, Reader, change, equal, total, value
from timebank.ledger.transfers import ADJUSTMENT
from timebank.words import span

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CallerAhead:
    """A caller whose day or held time is too far in the future, and the mending of both."""

    caller_id: int
    name: str
    # The days that are taken back, oldest first, and the day that the caller is set back to. Empty
    # and None if only the held time waits too long.
    days: tuple[str, ...]
    back_to: str | None
    # Seconds that these days took beyond their grants.
    missing: int
    # When the held time was due (seconds since 1970), when it is due after the mending, and the
    # event it waits for. `held_until` is None if the held time is not mended, `held_to` if it comes
    # back at once.
    held_until: int | None
    held_to: int | None
    held_behind: Cutoff | None

    def words(self, desk: Desk) -> str:
        """Return clauses for the sysop that say what the mending changes."""
        changes = []
        if self.days:
            changes.append(f"day set back from {self.days[-1]} to {self.back_to}")
        if self.missing:
            changes.append(f"{span(self.missing)} given back")
        if self.held_until is not None:
            schedule = desk.settings.schedule
            to = "now"
            if self.held_to is not None:
                to = f"{schedule.local(instant(self.held_to)):%Y-%m-%d %H:%M}"
            was = f"{schedule.local(instant(self.held_until)):%Y-%m-%d %H:%M}"
            changes.append(f"what is held comes back at {to} and not at {was}")
        return ", ".join(changes)


def _suspects() -> Query:
    held = select(accounts.c.balance).where(
        accounts.c.caller_id == callers.c.id, accounts.c.unit == "second", accounts.c.kind == "held"
    )
    column = callers.c
    return (
        select(column.id, column.name, column.day, column.held_until, held.scalar_subquery())
        .where(column.deleted.is_(None))
        .where(or_(column.day > bindparam("tomorrow"), column.held_until > bindparam("ends")))
        .order_by(column.id)
    )


_SUSPECTS = Prepared(_suspects)
_SET_WAIT = Prepared(
    lambda: change(
        callers,
        "held_until",
        equal(callers.c.id),
        held_behind=func.coalesce(bindparam("behind"), callers.c.held_behind),
    )
)
_IS_CALLER = equal(days.c.caller_id)
_WRONG_DAYS: Reader[str] = value(
    lambda: (
        select(days.c.day)
        .where(_IS_CALLER, days.c.day > bindparam("tomorrow"))
        .order_by(days.c.day)
    )
)
_LAST_RIGHT_DAY: Reader[str | None] = value(
    lambda: select(func.max(days.c.day)).where(_IS_CALLER, days.c.day <= bindparam("tomorrow"))
)


def callers_ahead(desk: Desk) -> list[CallerAhead]:
    """Return the callers whose day or held time is too far ahead of this transaction's clock."""
    schedule = early_events.current_schedule(desk)
    today = schedule.day_of(desk.now)
    tomorrow = (today + DAY).isoformat()
    closing = schedule.closed_at_or_after(desk.now)
    # Time that was held before an event was started early waits for the scheduled event.
    usual = schedule.with_early(()).closed_at_or_after(desk.now)
    ends = max([stamp(each.end) for each in (closing, usual) if each], default=stamp(desk.now))
    behind = None
    if closing is not None:
        behind = Cutoff(str(closing.name), f"{schedule.local(closing.start):%H:%M}", host=False)
    ahead = []
    suspects = _SUSPECTS(desk.connection, tomorrow=tomorrow, ends=ends).all()
    for number, name, day, held_until, held in suspects:
        wrong: tuple[str, ...] = ()
        back_to, missing = None, 0
        if day is not None and day > tomorrow:
            wrong, back_to = _wrong_days(desk, number, today)
            missing = _missing(desk, number, wrong)
        waits = bool(held) and held_until is not None and held_until > ends
        if wrong or waits:
            to = ends if closing is not None else None
            wait = (held_until, to, behind) if waits else (None, None, None)
            ahead.append(CallerAhead(number, name, wrong, back_to, missing, *wait))
    return ahead


def mend(desk: Desk, by: str) -> list[CallerAhead]:
    """Mend all `callers_ahead` and return them. Each mending is noted in the sysop's log."""
    mended = callers_ahead(desk)
    for each in mended:
        if each.days:
            _take_back(desk, each)
        if each.missing:
            _give_back(desk, each)
        if each.held_until is not None:
            behind = None if each.held_behind is None else each.held_behind.encode()
            _SET_WAIT(desk.connection, held_until=each.held_to, behind=behind, id=each.caller_id)
        words = each.words(desk)
        sysop_log.note(desk, by, each.caller_id, f"Mended the clock: {words}")
    return mended


def _wrong_days(desk: Desk, caller_id: int, today: date) -> tuple[tuple[str, ...], str]:
    """Return a caller's days in the future, and the day to set the caller back to."""
    tomorrow = (today + DAY).isoformat()
    wrong = _WRONG_DAYS.all(desk.connection, caller_id=caller_id, tomorrow=tomorrow)
    right = _LAST_RIGHT_DAY.one(desk.connection, caller_id=caller_id, tomorrow=tomorrow)
    # A caller without a right day keeps the grant of a wrong one as that of today.
    return tuple(wrong), right or today.isoformat()


_IS_DAY = days.c.day == bindparam("this_day")


def _taken() -> Query:
    """Add up the seconds that the beginning of a day took, in the entry that began the day."""
    first, row = transfers.alias(), transfers.c
    entry = select(first.c.entry).where(first.c.id == func.coalesce(days.c.grant_id, days.c.after))
    return (
        select(total(row.amount))
        .select_from(transfers_with_accounts)
        .join(days, days.c.caller_id == source.c.caller_id)
        .where(_IS_CALLER, _IS_DAY, source.c.kind.in_(["online", "held"]))
        .where(target.c.kind == "forfeit", row.kind.in_(["forfeit", "carry"]))
        .where(row.id <= days.c.after, row.entry == entry.scalar_subquery())
    )


_TAKEN: Reader[int] = value(_taken)
_GRANTED: Reader[int] = value(
    lambda: (
        select(transfers.c.amount)
        .select_from(days)
        .join(transfers, transfers.c.id == days.c.grant_id)
        .where(_IS_CALLER, _IS_DAY)
    )
)


def _missing(desk: Desk, caller_id: int, wrong: tuple[str, ...]) -> int:
    missing = 0
    for day in wrong:
        missing += _TAKEN.one(desk.connection, caller_id=caller_id, this_day=day)
        missing -= _GRANTED.first(desk.connection, caller_id=caller_id, this_day=day) or 0
    return max(0, missing)


_KEEP = Prepared(
    lambda: insert(mended_days).from_select(
        ["caller_id", "day", "grant_id", "mended"],
        select(
            *(days.c.caller_id, days.c.day, days.c.grant_id),
            bindparam("now", type_=Integer),
        ).where(_IS_CALLER, _IS_DAY),
    )
)
_DELETE = Prepared(lambda: delete(days).where(_IS_CALLER, _IS_DAY))
_BACK_TO = bindparam("back_to", type_=Text)
_SET_BACK = Prepared(lambda: change(days, "grace", _IS_CALLER, _IS_DAY, day=_BACK_TO, standing=0))
_GRACE: Reader[int] = value(lambda: select(days.c.grace).where(_IS_CALLER, _IS_DAY))
_CALLER_BACK = Prepared(lambda: change(callers, "day", equal(callers.c.id)))
_HANDS_BACK = Prepared(
    lambda: change(
        rounds,
        "day",
        *(equal(rounds.c.caller_id), rounds.c.settled.is_(None), rounds.c.day > bindparam("day")),
    )
)


def _take_back(desk: Desk, each: CallerAhead) -> None:
    """Turn the last of the wrong days into the day that the caller is set back to.

    It counts what the caller earned since it began, and the grace of all these days. The remaining
    rows, also of the day that it replaces, move to `mended_days` because of their grants.
    """
    books, caller_id, back_to = desk.connection, each.caller_id, each.back_to
    all_days = (back_to, *each.days)
    grace = sum(_GRACE.first(books, caller_id=caller_id, this_day=day) or 0 for day in all_days)
    for day in (back_to, *each.days[:-1]):
        _KEEP(books, now=stamp(desk.now), caller_id=caller_id, this_day=day)
        _DELETE(books, caller_id=caller_id, this_day=day)
    # After the change of day no part of the stake is of an earlier day.
    last = {"caller_id": caller_id, "this_day": each.days[-1]}
    _SET_BACK(books, back_to=back_to, grace=grace, **last)
    _CALLER_BACK(books, day=back_to, id=caller_id)
    _HANDS_BACK(books, day=back_to, caller_id=caller_id)
    awards.days_taken_back(desk, caller_id)


def _give_back(desk: Desk, each: CallerAhead) -> None:
    call_id = live_call(desk, each.caller_id)
    if call_id is None:
        posting = Posting.of_caller(desk, each.caller_id, leave_without_call)
    else:
        posting = Posting.of_call(desk, call_id)
    posting.move(ADJUSTMENT, "online", each.missing, Mended())
    posting.finish()
