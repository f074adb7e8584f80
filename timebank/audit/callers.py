"""The audit of the callers: their accounts, and the time held for them.

Columns of a caller's row decide about held time. The audit compares them with the transfers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import and_, func, not_, or_, select

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.audit.traces import clock_went_back, log_reaches, written
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
    _check_accounts,
    _balances_of_deleted,
    _check_held,
)
