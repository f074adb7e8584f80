"""The audit of the callers: their accounts, powers, freezes, registration and held time.

A caller's row decides over minutes too. The audit compares its columns with other rows that say the
same: transfers, calls, and the sysop's log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, case, exists, func, not_, null, or_, select

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.audit.traces import DAY, clock_went_back, log_reaches, told
from timebank.ledger.database import Desk
from timebank.ledger.reasons import WAYS
from timebank.ledger.schema import accounts, callers, calls, source, target, transfers
from timebank.ledger.schema import sysop_log as log
from timebank.ledger.sql import Prepared, Query

_WAYS = [f"{kind} {way}" for kind, ways in WAYS.items() for way in sorted(ways)]


# Accounts.


def _of_others() -> Query:
    row, of, to = transfers.c, source.c, target.c
    way = row.kind + " " + of.kind + " " + to.kind
    owner = func.coalesce(of.caller_id, to.caller_id)
    is_strange = and_(owner.is_not(None), way.not_in(_WAYS), row.kind.in_(list(WAYS)))
    joined = (
        transfers.join(source, of.id == row.source)
        .join(target, to.id == row.target)
        .join(calls, calls.c.id == row.call_id, isouter=True)
    )
    return (
        select(row.id, row.kind, of.kind, of.caller_id, to.kind, to.caller_id, calls.c.caller_id)
        .select_from(joined)
        .where(
            or_(
                is_strange,
                and_(of.caller_id != to.caller_id, row.kind != "transfer"),
                calls.c.caller_id != owner,
            )
        )
        .order_by(row.id)
    )


_OF_OTHERS = Prepared(_of_others)


def _check_accounts(desk: Desk) -> Iterator[Finding]:
    """Find accounts whose owner or kind was changed, by transfers that cannot have been theirs."""
    for number, kind, *ends, caller_of_call in _OF_OTHERS.long(desk.connection):
        ways = [
            f"{account} of caller {owner}" if owner else account
            for account, owner in zip(ends[::2], ends[1::2], strict=True)
        ]
        said = f"No {kind} goes from {ways[0]} to {ways[1]}"
        if caller_of_call is not None:
            said += f" on a call of caller {caller_of_call}"
        yield Finding(f"transfer {number}", f"{said}.")


@each_is_wrong("caller {}", "{1} was deleted, and has {2} in {3}.")
def _of_deleted() -> Query:
    return (
        select(callers.c.id, callers.c.name, accounts.c.balance, accounts.c.kind)
        .join(accounts, accounts.c.caller_id == callers.c.id)
        .where(callers.c.deleted.is_not(None), accounts.c.balance != 0)
    )


# Lines of the sysop's log about a flag: those that set it, and those that clear it.
_POWERS = (
    ("%, caller number %, was given sysop powers", "%, was entered, with the sysop's powers"),
    ("%, caller number %, no longer has sysop powers",),
)
_FROZEN = (("%'s account was frozen: %",), ("%'s account was opened again: %",))
_LOCKED = (("%, caller number %, was locked out",), ("%, caller number %, was let in again",))
_Lines = tuple[tuple[str, ...], tuple[str, ...]]


def _said(lines: tuple[str, ...]) -> ColumnElement[bool]:
    """Whether a line of the log is one of these; behind a colon stands what a sysop wrote."""
    what = log.c.what
    return or_(*(and_(what.like(line), what.not_like(f"%:{line}")) for line in lines))


def _by_log(lines: _Lines, *wrong: ColumnElement[bool]) -> Query:
    """Choose living callers, each with the last line of the log about the flag, if there is any."""
    known = (
        select(log.c.caller_id, func.max(log.c.id).label("number"))
        .where(or_(_said(lines[0]), _said(lines[1])), log.c.what.not_like("Notice left: %"))
        .group_by(log.c.caller_id)
        .subquery()
    )
    return (
        select(callers.c.id, callers.c.name)
        .select_from(callers)
        .join(known, known.c.caller_id == callers.c.id, isouter=True)
        .join(log, log.c.id == known.c.number, isouter=True)
        .where(callers.c.deleted.is_(None), *wrong)
        .order_by(callers.c.id)
    )


def _was_set(lines: _Lines) -> ColumnElement[bool]:
    return and_(log.c.id.is_not(None), _said(lines[0]))


@each_is_wrong("caller {}", "{1} has sysop powers (1), and by the sysop's log has none (0).")
def _powers_taken() -> Query:
    given = case(
        (log.c.id.is_(None), not_(log_reaches(callers.c.created))), else_=_said(_POWERS[0])
    )
    return _by_log(_POWERS, callers.c.powers == 1, not_(given))


@each_is_wrong("caller {}", "{1} has no sysop powers (0), and by the sysop's log has them (1).")
def _powers_given() -> Query:
    return _by_log(_POWERS, callers.c.powers == 0, _was_set(_POWERS))


@each_is_wrong("caller {}", "The account of {1} is open (0), and by the sysop's log frozen (1).")
def _thawed() -> Query:
    return _by_log(_FROZEN, callers.c.frozen == 0, _was_set(_FROZEN))


@each_is_wrong("caller {}", "{1} may log on (0), and by the sysop's log is locked out (1).")
def _let_in() -> Query:
    return _by_log(_LOCKED, callers.c.locked == 0, _was_set(_LOCKED))


# When callers registered: their numbers are given in that order.


def _registered() -> Query:
    number, created = callers.c.id, callers.c.created
    first = select(calls.c.caller_id, func.min(calls.c.id).label("id")).group_by(calls.c.caller_id)
    called = first.subquery()
    said = exists().where(log.c.caller_id == number, log.c.at == created).correlate(callers)
    entered = or_(said, not_(log_reaches(created)))
    behind = created > calls.c.opened + DAY
    # By the log a sysop has entered them then, or may have; who called before that was entered by a
    # clock that was wrong.
    by_wrong_clock = and_(entered, func.coalesce(behind, True))
    date = case((by_wrong_clock, null()), else_=created)
    before = func.max(date).over(order_by=number, rows=(None, -1)).label("before")
    known = (
        select(
            *(number, callers.c.name, created, calls.c.opened, before),
            and_(func.coalesce(behind, False), ~entered).label("late"),
        )
        .select_from(callers)
        .join(called, called.c.caller_id == number, isouter=True)
        .join(calls, calls.c.id == called.c.id, isouter=True)
        .subquery()
    )
    is_late = known.c.late
    return (
        select(known)
        .where(or_(is_late, known.c.created < known.c.before - DAY))
        .order_by(known.c.id)
    )


_REGISTERED = Prepared(_registered)


def _check_registered(desk: Desk) -> Iterator[Finding]:
    """Find callers who registered a day after their first call, or a day before a caller with a
    lower number. A wrong clock explains either, and leaves its traces: in the log, for a caller
    whom a sysop has entered."""
    for number, name, created, opened, before, is_late in list(_REGISTERED.long(desk.connection)):
        where, said = f"caller {number}", f"{name} is said to have registered on {told(created)}"
        if is_late and not clock_went_back(desk, created):
            yield Finding(where, f"{said}, and called first on {told(opened)}.")
        elif not is_late and not clock_went_back(desk, before):
            yield Finding(where, f"{said}, behind one who registered on {told(before)}.")


# What is held behind an event.


def _held() -> Query:
    """Choose living callers with held time, and their last transfers that held and released some.

    Callers whose time was let go since, by the sysop's log, are left out.
    """
    who, own, row, last = callers.c, accounts.c, transfers.c, transfers.alias()
    number = select(func.max(last.c.id)).correlate(accounts)
    put_there = number.where(last.c.target == own.id).scalar_subquery()
    came_back = number.where(last.c.source == own.id).scalar_subquery()
    mended = and_(log.c.what.like("Mended the clock: %"), log.c.caller_id == who.id)
    taken_back = and_(log.c.what.like("Event taken back: %"), log.c.at >= row.at)
    is_let_go = select(log.c.id).where(or_(mended, taken_back)).correlate(callers, transfers)
    return (
        select(
            who.id, who.name, who.held_until, who.held_behind, row.at, row.facts, came_back > row.id
        )
        .select_from(accounts)
        .join(callers, who.id == own.caller_id)
        .join(transfers, row.id == put_there)
        .where(own.kind == "held", own.balance > 0, who.deleted.is_(None))
        .where(not_(is_let_go.exists()), log_reaches(row.at))
        .order_by(who.id)
    )


_HELD = Prepared(_held)


def _check_held(desk: Desk) -> Iterator[Finding]:
    """Find callers whose held time waits for another instant or event than it was held for."""
    for number, name, until, behind, at, facts, has_waited in _HELD.long(desk.connection):
        is_behind = isinstance(until, int) and isinstance(at, int) and until > at
        if not is_behind and not clock_went_back(desk, at, 0):
            waits = "nothing" if until is None else told(until)
            said = f"What is held for {name} since {told(at)} waits for {waits}."
            yield Finding(f"caller {number}", said)
        event, was = (_event(text) for text in (behind, facts))
        if event != was and not has_waited:
            said = f"What is held for {name} waits behind {event}, and was put behind {was}."
            yield Finding(f"caller {number}", said)


def _event(text: str | None) -> str:
    """Return the event and its time of day, from a transfer's facts or a caller's row."""
    try:
        said = json.loads(text or "")
        return f"{said['event']} at {said['at']}"
    except (ValueError, TypeError, LookupError):
        return "no event"


CHECKS: tuple[Check, ...] = (
    *(_check_accounts, _of_deleted, _powers_taken, _powers_given, _thawed, _let_in),
    *(_check_registered, _check_held),
)
