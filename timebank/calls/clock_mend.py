"""What a clock did that was wrong after all, set right.

A board that was opened under a wrong clock, or whose sysop believed one, has begun days that are
not to come for a long time. Their callers would be granted nothing until then, and what is held
for them would wait. Mending takes such a day back: it becomes the last one that was theirs by the
right clock, so that the next day brings its minutes. What they were granted stays theirs; what
those days took from them beyond that is given back.

A day that is ahead by one is left alone: it was granted early, and no grant is missed.
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
    moved,
    rounds,
    source,
    stamp,
    target,
    transfers,
)
from timebank.ledger.sql import Prepared, Query, Reader, change, equal, total, value
from timebank.ledger.transfers import ADJUSTMENT
from timebank.words import span

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Ahead:
    """A caller whose clock has gone too far, and how that is mended."""

    caller_id: int
    name: str
    # Days that are taken back, oldest first, and the one that they are on then; none of them where
    # only what is held waits too long.
    days: tuple[str, ...]
    back_to: str | None
    # Seconds that these days took from them beyond what they granted.
    missing: int
    # When what is held was to come back, and when it will, and behind what; None where it is not
    # mended. `held_to` is None when it comes back at once.
    held_until: int | None
    held_to: int | None
    held_behind: Cutoff | None

    def words(self, desk: Desk) -> str:
        said = []
        if self.days:
            said.append(f"day set back from {self.days[-1]} to {self.back_to}")
        if self.missing:
            said.append(f"{span(self.missing)} given back")
        if self.held_until is not None:
            schedule = desk.settings.schedule
            to = "now"
            if self.held_to is not None:
                to = f"{schedule.local(instant(self.held_to)):%Y-%m-%d %H:%M}"
            was = f"{schedule.local(instant(self.held_until)):%Y-%m-%d %H:%M}"
            said.append(f"what is held comes back at {to} and not at {was}")
        return ", ".join(said)


def _too_far() -> Query:
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


_TOO_FAR = Prepared(_too_far)
_WAIT = Prepared(
    lambda: change(
        callers,
        "held_until",
        equal(callers.c.id),
        held_behind=func.coalesce(bindparam("behind"), callers.c.held_behind),
    )
)
_OF_CALLER = equal(days.c.caller_id)
_WRONG: Reader[str] = value(
    lambda: (
        select(days.c.day)
        .where(_OF_CALLER, days.c.day > bindparam("tomorrow"))
        .order_by(days.c.day)
    )
)
_RIGHT: Reader[str | None] = value(
    lambda: select(func.max(days.c.day)).where(_OF_CALLER, days.c.day <= bindparam("tomorrow"))
)


def ahead(desk: Desk) -> list[Ahead]:
    """List the callers that another clock has set too far ahead, going by this transaction's."""
    schedule = early_events.current_schedule(desk)
    today = schedule.day_of(desk.now)
    tomorrow = (today + DAY).isoformat()
    closing = schedule.closed_at_or_after(desk.now)
    # What waited already when an event was started early waits for the one of the schedule.
    usual = schedule.with_early(()).closed_at_or_after(desk.now)
    ends = max([stamp(each.end) for each in (closing, usual) if each], default=stamp(desk.now))
    behind = None
    if closing is not None:
        behind = Cutoff(closing.name, f"{schedule.local(closing.start):%H:%M}", host=False)
    found = []
    too_far = _TOO_FAR(desk.connection, tomorrow=tomorrow, ends=ends).all()
    for number, name, day, held_until, held in too_far:
        wrong: tuple[str, ...] = ()
        back_to, missing = None, 0
        if day is not None and day > tomorrow:
            wrong, back_to = _days(desk, number, today)
            missing = _missing(desk, number, wrong)
        waits = bool(held) and held_until is not None and held_until > ends
        if wrong or waits:
            to = ends if closing is not None else None
            ways = (held_until, to, behind) if waits else (None, None, None)
            found.append(Ahead(number, name, wrong, back_to, missing, *ways))
    return found


def mend(desk: Desk, by: str) -> list[Ahead]:
    """Set everything right that `ahead` lists, each in the sysop's log; returns it."""
    mended = ahead(desk)
    for each in mended:
        if each.days:
            _take_back(desk, each)
        if each.missing:
            _give_back(desk, each)
        if each.held_until is not None:
            behind = None if each.held_behind is None else each.held_behind.encode()
            _WAIT(desk.connection, held_until=each.held_to, behind=behind, id=each.caller_id)
        words = each.words(desk)
        sysop_log.note(desk, by, each.caller_id, f"Mended the clock: {words}")
    return mended


def _days(desk: Desk, caller_id: int, today: date) -> tuple[tuple[str, ...], str]:
    tomorrow = (today + DAY).isoformat()
    wrong = _WRONG.all(desk.connection, caller_id=caller_id, tomorrow=tomorrow)
    right = _RIGHT.one(desk.connection, caller_id=caller_id, tomorrow=tomorrow)
    # Whoever has no other day has had the minutes of today.
    return tuple(wrong), right or today.isoformat()


_THIS_DAY = days.c.day == bindparam("this_day")


def _taken() -> Query:
    """Add up what the beginning of a day took: rows of its entry, up to the last before the day."""
    first, row = transfers.alias(), transfers.c
    entry = select(first.c.entry).where(first.c.id == func.coalesce(days.c.grant_id, days.c.after))
    return (
        select(total(row.amount))
        .select_from(moved)
        .join(days, days.c.caller_id == source.c.caller_id)
        .where(_OF_CALLER, _THIS_DAY, source.c.kind.in_(["online", "held"]))
        .where(target.c.kind == "forfeit", row.kind.in_(["forfeit", "carry"]))
        .where(row.id <= days.c.after, row.entry == entry.scalar_subquery())
    )


_TAKEN: Reader[int] = value(_taken)
_GRANTED: Reader[int] = value(
    lambda: (
        select(transfers.c.amount)
        .select_from(days)
        .join(transfers, transfers.c.id == days.c.grant_id)
        .where(_OF_CALLER, _THIS_DAY)
    )
)


def _missing(desk: Desk, caller_id: int, wrong: tuple[str, ...]) -> int:
    missing = 0
    for day in wrong:
        missing += _TAKEN.one(desk.connection, caller_id=caller_id, this_day=day)
        missing -= _GRANTED.first(desk.connection, caller_id=caller_id, this_day=day) or 0
    return max(0, missing)


_KEEP_APART = Prepared(
    lambda: insert(mended_days).from_select(
        ["caller_id", "day", "grant_id", "mended"],
        select(
            *(days.c.caller_id, days.c.day, days.c.grant_id),
            bindparam("now", type_=Integer),
        ).where(_OF_CALLER, _THIS_DAY),
    )
)
_FORGET = Prepared(lambda: delete(days).where(_OF_CALLER, _THIS_DAY))
_BACK_TO = bindparam("back_to", type_=Text)
_SET_BACK = Prepared(lambda: change(days, "grace", _OF_CALLER, _THIS_DAY, day=_BACK_TO, standing=0))
_GRACE: Reader[int] = value(lambda: select(days.c.grace).where(_OF_CALLER, _THIS_DAY))
_CALLER_BACK = Prepared(lambda: change(callers, "day", equal(callers.c.id)))
_HANDS_BACK = Prepared(
    lambda: change(
        rounds,
        "day",
        *(equal(rounds.c.caller_id), rounds.c.settled.is_(None), rounds.c.day > bindparam("day")),
    )
)


def _take_back(desk: Desk, each: Ahead) -> None:
    """Make the last of the days that are taken back the one that the caller is on.

    It counts what they earned since it began, and all the grace of these days. The days between,
    and the one whose place it takes, are kept apart for their grants.
    """
    books, caller_id, back_to = desk.connection, each.caller_id, each.back_to
    of_days = (back_to, *each.days)
    grace = sum(_GRACE.first(books, caller_id=caller_id, this_day=day) or 0 for day in of_days)
    for day in (back_to, *each.days[:-1]):
        _KEEP_APART(books, now=stamp(desk.now), caller_id=caller_id, this_day=day)
        _FORGET(books, caller_id=caller_id, this_day=day)
    # A stake that it parted is no earlier day's any more.
    last = {"caller_id": caller_id, "this_day": each.days[-1]}
    _SET_BACK(books, back_to=back_to, grace=grace, **last)
    _CALLER_BACK(books, day=back_to, id=caller_id)
    _HANDS_BACK(books, day=back_to, caller_id=caller_id)
    awards.days_taken_back(desk, caller_id)


def _give_back(desk: Desk, each: Ahead) -> None:
    call_id = live_call(desk, each.caller_id)
    if call_id is None:
        posting = Posting.of_caller(desk, each.caller_id, leave_without_call)
    else:
        posting = Posting.of_call(desk, call_id)
    posting.move(ADJUSTMENT, "online", each.missing, Mended())
    posting.finish()
