"""The audit of the callers: their accounts, powers, freezes, registration and held time.

Columns of a caller's row decide about minutes too. The audit compares them with transfers, calls
and the sysop's log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, case, exists, func, not_, null, or_, select

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.audit.traces import DAY, clock_went_back, log_reaches, written
from timebank.ledger.database import Desk
from timebank.ledger.reasons import ROUTES
from timebank.ledger.schema import accounts, callers, calls, source, target, transfers
from timebank.ledger.schema import sysop_log as log
from timebank.ledger.sql import Prepared, Query

_ROUTES = [f"{kind} {route}" for kind, routes in ROUTES.items() for route in sorted(routes)]


# Accounts.


def _impossible_transfers() -> Query:
    row, giver, taker = transfers.c, source.c, target.c
    route = row.kind + " " + giver.kind + " " + taker.kind
    owner = func.coalesce(giver.caller_id, taker.caller_id)
    is_strange = and_(owner.is_not(None), route.not_in(_ROUTES), row.kind.in_(list(ROUTES)))
    joined = (
        transfers.join(source, giver.id == row.source)
        .join(target, taker.id == row.target)
        .join(calls, calls.c.id == row.call_id, isouter=True)
    )
    return (
        select(
            row.id,
            row.kind,
            giver.kind,
            giver.caller_id,
            taker.kind,
            taker.caller_id,
            calls.c.caller_id,
        )
        .select_from(joined)
        .where(
            or_(
                is_strange,
                and_(giver.caller_id != taker.caller_id, row.kind != "transfer"),
                calls.c.caller_id != owner,
            )
        )
        .order_by(row.id)
    )


_IMPOSSIBLE_TRANSFERS = Prepared(_impossible_transfers)


def _check_accounts(desk: Desk) -> Iterator[Finding]:
    """Find accounts with transfers that their owner or kind rules out: one of them was changed."""
    for number, kind, *ends, caller_of_call in _IMPOSSIBLE_TRANSFERS.run_long(desk.connection):
        ends_named = [
            f"{account} of caller {owner}" if owner else account
            for account, owner in zip(ends[::2], ends[1::2], strict=True)
        ]
        sentence = f"No {kind} goes from {ends_named[0]} to {ends_named[1]}"
        if caller_of_call is not None:
            sentence += f" on a call of caller {caller_of_call}"
        yield Finding(f"transfer {number}", f"{sentence}.")


@each_is_wrong("caller {}", "{1} was removed, but has {2} in {3}.")
def _balances_of_deleted() -> Query:
    return (
        select(callers.c.id, callers.c.name, accounts.c.balance, accounts.c.kind)
        .join(accounts, accounts.c.caller_id == callers.c.id)
        .where(callers.c.removed.is_not(None), accounts.c.balance != 0)
    )


# Patterns of the sysop's log for each flag: lines that set it, then lines that clear it.
_POWERS = (
    ("%, caller number %, was given sysop powers", "%, was entered, with the sysop's powers"),
    ("%, caller number %, no longer has sysop powers",),
)
_FROZEN = (("%'s account was frozen: %",), ("%'s account was opened again: %",))
_LOCKED = (
    ("%, caller number %, was locked out", "%, caller number %, was locked out: %"),
    ("%, caller number %, was let in again",),
)
_Lines = tuple[tuple[str, ...], tuple[str, ...]]


def _is_line_of(lines: tuple[str, ...]) -> ColumnElement[bool]:
    """Match lines of the log against `lines`, except where the match is in a sysop's own words.

    A sysop's own words follow a colon.
    """
    what = log.c.what
    return or_(*(and_(what.like(line), what.not_like(f"%:{line}")) for line in lines))


def _flags_by_log(lines: _Lines, *wrong: ColumnElement[bool]) -> Query:
    """Select callers who are not deleted, each with the last line of the log about the flag."""
    known = (
        select(log.c.caller_id, func.max(log.c.id).label("number"))
        .where(
            or_(_is_line_of(lines[0]), _is_line_of(lines[1])), log.c.what.not_like("Notice left: %")
        )
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


@each_is_wrong("caller {}", "{1} has sysop powers (1), but the sysop's log says none (0).")
def _powers_taken() -> Query:
    given = case(
        (log.c.id.is_(None), not_(log_reaches(callers.c.created))), else_=_is_line_of(_POWERS[0])
    )
    return _flags_by_log(_POWERS, callers.c.powers == 1, not_(given))


def _unset(flag: ColumnElement[int], lines: _Lines, state: str, by_log: str) -> Check:
    """Make a check for a flag that is 0, though the last line of the log about it sets it."""
    sentence = f"{state} (0), but the sysop's log says {by_log} (1)."
    return each_is_wrong("caller {}", sentence)(
        lambda: _flags_by_log(lines, flag == 0, _is_line_of(lines[0]))
    )


# Registration: callers get their numbers in the order in which they register.


def _registered() -> Query:
    number, created = callers.c.id, callers.c.created
    first = select(calls.c.caller_id, func.min(calls.c.id).label("id")).group_by(calls.c.caller_id)
    called = first.subquery()
    is_logged = exists().where(log.c.caller_id == number, log.c.at == created).correlate(callers)
    entered = or_(is_logged, not_(log_reaches(created)))
    behind = created > calls.c.opened + DAY
    # The log says that a sysop entered the caller then, or no longer reaches back that far. A call
    # before that entry means that the clock was wrong.
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
    """Find callers whose registration is a day after their first call, or a day before a lower
    number's.

    Dates that a wrong clock explains are left out.
    """
    for number, name, created, opened, before, is_late in list(
        _REGISTERED.run_long(desk.connection)
    ):
        where, sentence = f"caller {number}", f"{name} registered on {written(created)}"
        if is_late and not clock_went_back(desk, created):
            yield Finding(where, f"{sentence}, but first called on {written(opened)}.")
        elif not is_late and not clock_went_back(desk, before):
            yield Finding(where, f"{sentence}, but an earlier caller on {written(before)}.")


# Time held for a system event.


def _held() -> Query:
    """Select callers with held time, and the last transfers into and out of their held account.

    Deleted callers are left out, and callers whose time the sysop's log says was released since.
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
    """Find callers whose held time waits for a different instant or event from the one it was held
    for."""
    for number, name, until, behind, at, facts, has_waited in _HELD.run_long(desk.connection):
        is_behind = isinstance(until, int) and isinstance(at, int) and until > at
        if not is_behind and not clock_went_back(desk, at, 0):
            waits = "nothing" if until is None else written(until)
            sentence = f"Time held for {name} since {written(at)} waits for {waits}."
            yield Finding(f"caller {number}", sentence)
        event, was = (_event(text) for text in (behind, facts))
        if event != was and not has_waited:
            sentence = f"Time held for {name} waits behind {event}, but was put behind {was}."
            yield Finding(f"caller {number}", sentence)


def _event(text: str | None) -> str:
    """Return the event and its time of day, from a transfer's facts or a caller's row."""
    try:
        facts = json.loads(text or "")
        return f"{facts['event']} at {facts['at']}"
    except (ValueError, TypeError, LookupError):
        return "no event"


CHECKS: tuple[Check, ...] = (
    *(_check_accounts, _balances_of_deleted, _powers_taken),
    _unset(callers.c.powers, _POWERS, "{1} has no sysop powers", "they were given"),
    _unset(callers.c.frozen, _FROZEN, "The account of {1} is open", "frozen"),
    _unset(callers.c.locked, _LOCKED, "{1} may log on", "locked out"),
    *(_check_registered, _check_held),
)
