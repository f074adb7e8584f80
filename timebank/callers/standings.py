"""The richest callers, winners, losers and the house's results in time, for the bulletins.

Results are read from running totals (hand_totals.py), which grow with callers and days, not with
hands.
"""

from __future__ import annotations

import json
from datetime import date
from itertools import islice
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
)

from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, calls, results, results_ever, rounds
from timebank.ledger.sql import Prepared, Query, equal, read, total, value


class Standing(NamedTuple):
    """A caller in a list, with the seconds that they saved, won (above 0) or lost (below 0)."""

    name: str
    seconds: int


class CallResult(NamedTuple):
    """The result of a call's hands in seconds, and the largest win of one hand, or 0."""

    hands: int
    net: int
    best: int


class DayResult(NamedTuple):
    """A caller's result of a day in seconds, the largest win of one hand, and the caller's place.

    `callers` is the number of callers who played that day. Equal results share a place.
    """

    hands: int
    net: int
    best: int
    place: int
    callers: int


class HouseDay(NamedTuple):
    """The settled hands of one game on a day, and the house's result in seconds."""

    game: str
    hands: int
    result: int


_RICHEST = read(
    Standing,
    lambda: (
        select(callers.c.name, accounts.c.balance)
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(accounts.c.kind == "bank", accounts.c.unit == "second", accounts.c.balance > 0)
        .where(callers.c.deleted.is_(None))
        .order_by(accounts.c.balance.desc(), callers.c.name)
        .limit(bindparam("most"))
    ),
)
_HOUSE = read(
    HouseDay,
    lambda: (
        select(results.c.game, func.sum(results.c.hands), func.sum(results.c.lost - results.c.won))
        .where(results.c.unit == "second", equal(results.c.day))
        .group_by(results.c.game)
        .order_by(results.c.game)
    ),
)


# Selects by caller and day, which have an index.
_OF_THIS_CALL = rounds.c.call_id == bindparam("call_id")
# A hand that an earlier call left open.
_FINISHED_IN_CALL = and_(
    rounds.c.call_id < bindparam("call_id"),
    rounds.c.settled
    > select(calls.c.opened).where(calls.c.id == bindparam("call_id")).scalar_subquery(),
)
_OF_CALL = read(
    CallResult,
    lambda: (
        select(
            func.count(),
            func.coalesce(func.sum(rounds.c.won - rounds.c.lost), 0),
            func.coalesce(func.max(rounds.c.won - rounds.c.lost), 0),
        )
        .where(equal(rounds.c.caller_id), rounds.c.day >= bindparam("since"))
        .where(rounds.c.unit == "second", or_(_OF_THIS_CALL, _FINISHED_IN_CALL))
        .where(rounds.c.settled.is_not(None), rounds.c.outcome != "void")
    ),
)
_SAVED = and_(accounts.c.kind == "bank", accounts.c.unit == "second", accounts.c.balance > 0)
_OWN_SAVINGS = value(
    lambda: select(func.sum(accounts.c.balance)).where(_SAVED, equal(accounts.c.caller_id))
)
_RICHER = value(
    lambda: (
        select(func.count())
        .select_from(accounts)
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(_SAVED, accounts.c.balance > bindparam("saved"), callers.c.deleted.is_(None))
    )
)


_OF_DAY = Prepared(
    lambda: select(
        total(results.c.hands),
        total(results.c.won - results.c.lost),
        func.coalesce(func.max(results.c.best), 0),
    ).where(equal(results.c.day, results.c.caller_id), results.c.unit == "second")
)


def _placed() -> Query:
    """Count the callers who played for time on a day, and those with a higher result."""
    nets = (
        select(func.sum(results.c.won - results.c.lost).label("net"))
        .select_from(results)
        .join(callers, callers.c.id == results.c.caller_id)
        .where(equal(results.c.day), results.c.unit == "second", callers.c.deleted.is_(None))
        .group_by(results.c.caller_id)
        .subquery()
    )
    return select(func.count(), total(case((nets.c.net > bindparam("net"), 1), else_=0)))


_PLACED = Prepared(_placed)


# The preference of callers who agreed to appear among the losers.
NAMED_AS_LOSER = "named_as_loser"


def _net(totals: Table, when: ColumnElement[bool], *, won: bool) -> Query:
    net = func.sum(totals.c.won - totals.c.lost)
    query = (
        select(callers.c.name, net, *([] if won else [callers.c.preferences]))
        .select_from(totals)
        .join(callers, callers.c.id == totals.c.caller_id)
        .where(totals.c.unit == "second", callers.c.deleted.is_(None), when)
        .group_by(callers.c.id, callers.c.name)
        .having(net > 0 if won else net < 0)
        .order_by(net.desc() if won else net, callers.c.name)
    )
    return query.limit(bindparam("most")) if won else query


_WITHIN = results.c.day.between(bindparam("since"), bindparam("until"))
_WINNERS_EVER = read(Standing, lambda: _net(results_ever, true(), won=True))
_LOSERS_EVER = Prepared(lambda: _net(results_ever, true(), won=False))
_WINNERS = read(Standing, lambda: _net(results, _WITHIN, won=True))
_LOSERS = Prepared(lambda: _net(results, _WITHIN, won=False))


def richest(desk: Desk, most: int) -> list[Standing]:
    return _RICHEST.all(desk.connection, most=most)


def of_call(desk: Desk, caller_id: int, call_id: int, since: date) -> CallResult:
    """Return the result of a call that began on the day `since`, also of hands left before it."""
    (result,) = _OF_CALL.all(
        desk.connection, caller_id=caller_id, call_id=call_id, since=since.isoformat()
    )
    return result


def of_day(desk: Desk, caller_id: int, day: date) -> DayResult:
    """Return a caller's result of a day. All numbers are 0 without a hand."""
    hands, net, best = _OF_DAY(desk.connection, caller_id=caller_id, day=day.isoformat()).one()
    if not hands:
        return DayResult(0, 0, 0, 0, 0)
    played, ahead = _PLACED(desk.connection, day=day.isoformat(), net=net).one()
    return DayResult(hands, net, best, 1 + ahead, played)


def place(desk: Desk, caller_id: int) -> int:
    """Return a caller's place among the richest, 0 without savings."""
    saved = _OWN_SAVINGS.one(desk.connection, caller_id=caller_id)
    return 1 + int(_RICHER.one(desk.connection, saved=saved)) if saved else 0


class DaySpan(NamedTuple):
    """A span of days, including the first and the last."""

    first: date
    last: date

    @property
    def bounds(self) -> dict[str, str]:
        return {"since": self.first.isoformat(), "until": self.last.isoformat()}


def winners(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """Return the callers who won most in a period, or ever."""
    if period is None:
        return _WINNERS_EVER.all(desk.connection, most=most)
    return _WINNERS.all(desk.connection, most=most, **period.bounds)


def losers(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """Return the callers who lost most in a period, or ever, and who agreed to be named."""
    if period is None:
        rows = _LOSERS_EVER.run_long(desk.connection)
    else:
        rows = _LOSERS.run_long(desk.connection, **period.bounds)
    named = (Standing(name, net) for name, net, wishes in rows if wishes_to_be_named(wishes))
    return list(islice(named, most))


def wishes_to_be_named(preferences: str) -> bool:
    """Return whether a caller with these preferences (JSON) agreed to be named as a loser."""
    return json.loads(preferences).get(NAMED_AS_LOSER) is True


def house_day(desk: Desk, day: date) -> list[HouseDay]:
    return _HOUSE.all(desk.connection, day=day.isoformat())
