"""Limits that callers set for themselves: a loss in a day, a pause of days, an hourly summary.

A stricter limit holds at once. A looser one holds a day later (`ledger/own_limits.py`), and until
then the caller can set the stricter one again.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, case, func, select

from timebank.callers import callers, changes
from timebank.errors import Refused
from timebank.language import Phrase
from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.ledger.own_limits import (
    HOUR,
    LOOSENING_SECONDS,
    NAMES,
    OwnLimits,
    in_doubt_since,
    sure_instant,
)
from timebank.ledger.schema import accounts, instant, own_limits, rounds, stamp
from timebank.words import MINUTE

MOST_MINUTES = 1_440
MOST_DAYS = 365
DAY = 86_400

_CALLERS = schema.callers
_FIND = sql.read(
    OwnLimits, lambda: sql.fields_of(OwnLimits, own_limits).where(sql.equal(own_limits.c.caller_id))
)
_KEEP = sql.Prepared(
    lambda: sql.insert_or_change(
        own_limits, sql.parameters("caller_id", NAMES), **sql.parameters(NAMES)
    )
)
_IN_DOUBT: sql.Reader[float | None] = sql.value(lambda: select(in_doubt_since()))
_ALL = sql.Prepared(
    lambda: (
        select(own_limits.c.caller_id, _CALLERS.c.name, *sql.columns_of(own_limits, NAMES))
        .join(_CALLERS, _CALLERS.c.id == own_limits.c.caller_id)
        .where(_CALLERS.c.deleted.is_(None))
        .order_by(own_limits.c.caller_id)
    )
)


class HourlySummary(NamedTuple):
    """A caller's seconds staked since the last summary, and seconds won less seconds lost."""

    since: datetime
    staked: int
    net: int


def current(desk: Desk, caller_id: int) -> OwnLimits:
    """Return the limits of a caller that hold now."""
    return (_FIND.first(desk.connection, caller_id=caller_id) or OwnLimits()).in_force(
        _certain_now(desk)
    )


def limit_loss(desk: Desk, caller_id: int, minutes: int | None) -> OwnLimits:
    """Limit a caller's loss in a day to 1 to MOST_MINUTES; None for no limit. Raises `Refused`."""
    if minutes is not None and not 1 <= minutes <= MOST_MINUTES:
        raise Refused(Phrase("A limit is 1 to {most} minutes.", most=MOST_MINUTES))
    now, wanted = current(desk, caller_id), None if minutes is None else minutes * MINUTE
    holds = now.most_lost
    if holds is None or (wanted is not None and wanted <= holds):
        changed = now._replace(most_lost=wanted, later_lost=None, later_from=None)
    else:
        later = stamp(desk.now) + LOOSENING_SECONDS
        changed = now._replace(later_lost=wanted or 0, later_from=later)
    return _change(desk, caller_id, changed)


def pause(desk: Desk, caller_id: int, days: int) -> OwnLimits:
    """Stop a caller's bets for 0 to MOST_DAYS days. Raises `Refused`.

    A pause that is made shorter ends a day from now at the earliest.
    """
    if not 0 <= days <= MOST_DAYS:
        raise Refused(Phrase("A pause is 1 to {most} days.", most=MOST_DAYS))
    now = current(desk, caller_id)
    wanted, holds = stamp(desk.now) + days * DAY, now.paused_until
    if holds is not None and wanted < holds:
        wanted = min(holds, max(wanted, stamp(desk.now) + LOOSENING_SECONDS))
    until = wanted if days or holds is not None else None
    return _change(desk, caller_id, now._replace(paused_until=until))


def set_hourly_summary(desk: Desk, caller_id: int, wanted: bool) -> OwnLimits:
    """Turn the hourly summary on now, or off a day from now."""
    now = current(desk, caller_id)
    if wanted:
        told = now.told if now.hourly else stamp(desk.now)
        changed = now._replace(hourly=1, hourly_until=None, told=told)
    elif now.hourly and now.hourly_until is None:
        changed = now._replace(hourly_until=stamp(desk.now) + LOOSENING_SECONDS)
    else:
        changed = now
    return _change(desk, caller_id, changed)


def take_summary(desk: Desk, caller_id: int) -> HourlySummary | None:
    """Return the summary since the last one, and note the time; None if no hour is over.

    A stake that is on the table counts as staked, but neither as won nor as lost.
    """
    certain, now = _certain_now(desk), current(desk, caller_id)
    if not now.is_due(certain):
        return None
    since = now.told or certain - HOUR
    day = desk.settings.schedule.day_of(instant(since)).isoformat()
    staked, net = _DONE(desk.connection, caller_id=caller_id, since=since, day=day).one()
    _keep(desk, caller_id, now._replace(told=certain))
    return HourlySummary(instant(since), staked, net)


def put_back(desk: Desk, caller_id: int, own: OwnLimits) -> None:
    """Store limits from books that a restore has replaced."""
    _keep(desk, caller_id, own)


def everybody(desk: Desk) -> dict[int, tuple[str, OwnLimits]]:
    """Return names and limits that hold now of all callers who have set any, by number."""
    certain = _certain_now(desk)
    rows = _ALL(desk.connection)
    by_number = {number: (name, OwnLimits(*row).in_force(certain)) for number, name, *row in rows}
    return {number: each for number, each in by_number.items() if any(each[1][:-1])}


def clauses(own: OwnLimits, desk: Desk) -> list[str]:
    """Return the limits for the sysop, as clauses without a subject."""

    def at(seconds: int) -> str:
        return f"{desk.settings.schedule.local(instant(seconds)):%Y-%m-%d %H:%M}"

    words = []
    if own.most_lost is not None:
        words.append(f"loses {own.most_lost // MINUTE} minutes a day at most")
        if own.later_from is not None:
            later = f"{own.later_lost // MINUTE} minutes" if own.later_lost else "any number"
            words[-1] += f" ({later} from {at(own.later_from)})"
    if own.paused_until is not None:
        words.append(f"places no bet before {at(own.paused_until)}")
    if own.hourly:
        words.append("hears every hour how they do")
        if own.hourly_until is not None:
            words[-1] += f" (until {at(own.hourly_until)})"
    return words


def _change(desk: Desk, caller_id: int, changed: OwnLimits) -> OwnLimits:
    preferences = callers.get(desk, caller_id).preferences
    now = changes.noted(desk, preferences, changes.OWN_LIMITS)
    callers.change_preferences(desk, caller_id, now)
    return _keep(desk, caller_id, changed)


def _keep(desk: Desk, caller_id: int, changed: OwnLimits) -> OwnLimits:
    callers.get(desk, caller_id)  # raises for a deleted caller
    _KEEP(desk.connection, caller_id=caller_id, **changed._asdict())
    return changed


def _certain_now(desk: Desk) -> int:
    return sure_instant(stamp(desk.now), _IN_DOUBT.one(desk.connection))


def _done() -> sql.Query:
    """Select the sums staked and won in rounds that were dealt since an instant."""
    hand = rounds.c
    on_table = case((hand.settled.is_(None), accounts.c.balance), else_=0)
    stake = (accounts.c.caller_id == hand.caller_id) & (accounts.c.unit == "second")
    return (
        select(
            func.coalesce(func.sum(hand.lost + hand.returned + on_table), 0),
            func.coalesce(func.sum(hand.won - hand.lost), 0),
        )
        .select_from(rounds)
        .join(accounts, stake & (accounts.c.kind == "stake"))
        .where(hand.caller_id == bindparam("caller_id"), hand.unit == "second")
        .where(hand.day >= bindparam("day"), hand.dealt >= bindparam("since"))
        .where(hand.outcome.is_distinct_from("void"))
    )


_DONE = sql.Prepared(_done)
