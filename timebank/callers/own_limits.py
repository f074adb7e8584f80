"""How callers limit themselves: the most they may lose in a day, a pause of days, an hourly word.

What is stricter holds at once. What is looser holds a day later (`ledger/own_limits.py`), and
whoever thinks better of it meanwhile sets the stricter one again.
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
    LOOSENING,
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
    lambda: sql.insert_or_change(own_limits, sql.given("caller_id", NAMES), **sql.given(NAMES))
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


class Word(NamedTuple):
    """How a caller has done since they last heard it: seconds that they staked, and what they won
    less what they lost."""

    since: datetime
    staked: int
    net: int


def of(desk: Desk, caller_id: int) -> OwnLimits:
    """Return what a caller has set for themselves, as it holds now."""
    return (_FIND.first(desk.connection, caller_id=caller_id) or OwnLimits()).at(_sure(desk))


def limit_loss(desk: Desk, caller_id: int, minutes: int | None) -> OwnLimits:
    """Set how many minutes they may lose in a day, 1 to MOST_MINUTES; None for any number."""
    if minutes is not None and not 1 <= minutes <= MOST_MINUTES:
        raise Refused(Phrase("A limit is 1 to {most} minutes.", most=MOST_MINUTES))
    now, wanted = of(desk, caller_id), None if minutes is None else minutes * MINUTE
    holds = now.most_lost
    if holds is None or (wanted is not None and wanted <= holds):
        changed = now._replace(most_lost=wanted, later_lost=None, later_from=None)
    else:
        later = stamp(desk.now) + LOOSENING
        changed = now._replace(later_lost=wanted or 0, later_from=later)
    return _change(desk, caller_id, changed)


def pause(desk: Desk, caller_id: int, days: int) -> OwnLimits:
    """Let them place no bet for so many days, 0 to MOST_DAYS; a shorter pause than the one that
    holds ends a day from now at the earliest."""
    if not 0 <= days <= MOST_DAYS:
        raise Refused(Phrase("A pause is 1 to {most} days.", most=MOST_DAYS))
    now = of(desk, caller_id)
    wanted, holds = stamp(desk.now) + days * DAY, now.paused_until
    if holds is not None and wanted < holds:
        wanted = min(holds, max(wanted, stamp(desk.now) + LOOSENING))
    until = wanted if days or holds is not None else None
    return _change(desk, caller_id, now._replace(paused_until=until))


def hear_hourly(desk: Desk, caller_id: int, wanted: bool) -> OwnLimits:
    """Have them told every hour how they do, or no more from a day on."""
    now = of(desk, caller_id)
    if wanted:
        told = now.told if now.hourly else stamp(desk.now)
        changed = now._replace(hourly=1, hourly_until=None, told=told)
    elif now.hourly and now.hourly_until is None:
        changed = now._replace(hourly_until=stamp(desk.now) + LOOSENING)
    else:
        changed = now
    return _change(desk, caller_id, changed)


def take_word(desk: Desk, caller_id: int) -> Word | None:
    """Tell how they have done since they last heard it, and note that they hear it now; None where
    no hour is over. What lies on the table is staked, and neither won nor lost yet."""
    sure, now = _sure(desk), of(desk, caller_id)
    if not now.is_due(sure):
        return None
    since = now.told or sure - HOUR
    day = desk.settings.schedule.day_of(instant(since)).isoformat()
    staked, net = _DONE(desk.connection, caller_id=caller_id, since=since, day=day).one()
    _keep(desk, caller_id, now._replace(told=sure))
    return Word(instant(since), staked, net)


def put_back(desk: Desk, caller_id: int, own: OwnLimits) -> None:
    """Let limits hold that were set in books which others have replaced."""
    _keep(desk, caller_id, own)


def everybody(desk: Desk) -> dict[int, tuple[str, OwnLimits]]:
    """Return the limits of all living callers who have set any, as they hold now, by number."""
    sure = _sure(desk)
    rows = _ALL(desk.connection)
    found = {number: (name, OwnLimits(*row).at(sure)) for number, name, *row in rows}
    return {number: each for number, each in found.items() if any(each[1][:-1])}


def told(own: OwnLimits, desk: Desk) -> list[str]:
    """Say for the sysop what holds, in sentences without a full stop."""

    def at(seconds: int) -> str:
        return f"{desk.settings.schedule.local(instant(seconds)):%Y-%m-%d %H:%M}"

    said = []
    if own.most_lost is not None:
        said.append(f"loses {own.most_lost // MINUTE} minutes a day at most")
        if own.later_from is not None:
            later = f"{own.later_lost // MINUTE} minutes" if own.later_lost else "any number"
            said[-1] += f" ({later} from {at(own.later_from)})"
    if own.paused_until is not None:
        said.append(f"places no bet before {at(own.paused_until)}")
    if own.hourly:
        said.append("hears every hour how they do")
        if own.hourly_until is not None:
            said[-1] += f" (until {at(own.hourly_until)})"
    return said


def _change(desk: Desk, caller_id: int, changed: OwnLimits) -> OwnLimits:
    kept = callers.get(desk, caller_id).preferences
    now = changes.noted(desk, kept, changes.OWN_LIMITS)
    callers.change_preferences(desk, caller_id, now)
    return _keep(desk, caller_id, changed)


def _keep(desk: Desk, caller_id: int, changed: OwnLimits) -> OwnLimits:
    callers.get(desk, caller_id)  # who is living
    _KEEP(desk.connection, caller_id=caller_id, **changed._asdict())
    return changed


def _sure(desk: Desk) -> int:
    return sure_instant(stamp(desk.now), _IN_DOUBT.one(desk.connection))


def _done() -> sql.Query:
    """Choose what was staked and won since an instant, by rounds that were dealt after it."""
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
