"""Who is richest, who won and lost most, and how the house did, in time: for the bulletins.

What hands came to is read from running totals (hand_totals.py), which grow with callers and days,
not with hands.
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
    select,
    true,
)

from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, results, results_ever, rounds
from timebank.ledger.sql import Prepared, Query, equal, read, total, value


class Standing(NamedTuple):
    """A caller's place in a list; `seconds` are what they saved, won (above 0) or lost (below)."""

    name: str
    seconds: int


class CallResult(NamedTuple):
    """What the hands of a call came to in time, and the largest win of one: 0 without any."""

    hands: int
    net: int
    best: int


class DayResult(NamedTuple):
    """What a caller's hands of a day came to in time, the largest win of one, and their place among
    the `callers` who have played that day: those who won as much share it."""

    hands: int
    net: int
    best: int
    place: int
    callers: int


class HouseDay(NamedTuple):
    """How one game's house did: hands settled, and what it won from callers less what it paid."""

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


# By caller and day, which are in an index.
_OF_CALL = read(
    CallResult,
    lambda: (
        select(
            func.count(),
            func.coalesce(func.sum(rounds.c.won - rounds.c.lost), 0),
            func.coalesce(func.max(rounds.c.won - rounds.c.lost), 0),
        )
        .where(equal(rounds.c.caller_id), rounds.c.day >= bindparam("since"))
        .where(rounds.c.unit == "second", equal(rounds.c.call_id))
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
    """Count all who have played for time on a day, and those of them who have won more."""
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


# The preference of a caller who wants to be named among those who lost most.
NAMED_AS_LOSER = "named_as_loser"


def _net(totals: Table, when: ColumnElement[bool], *, won: bool) -> Query:
    net = func.sum(totals.c.won - totals.c.lost)
    found = (
        select(callers.c.name, net, *([] if won else [callers.c.preferences]))
        .select_from(totals)
        .join(callers, callers.c.id == totals.c.caller_id)
        .where(totals.c.unit == "second", callers.c.deleted.is_(None), when)
        .group_by(callers.c.id, callers.c.name)
        .having(net > 0 if won else net < 0)
        .order_by(net.desc() if won else net, callers.c.name)
    )
    return found.limit(bindparam("most")) if won else found


_WITHIN = results.c.day.between(bindparam("since"), bindparam("until"))
_WINNERS_EVER = read(Standing, lambda: _net(results_ever, true(), won=True))
_LOSERS_EVER = Prepared(lambda: _net(results_ever, true(), won=False))
_WINNERS = read(Standing, lambda: _net(results, _WITHIN, won=True))
_LOSERS = Prepared(lambda: _net(results, _WITHIN, won=False))


def richest(desk: Desk, most: int) -> list[Standing]:
    return _RICHEST.all(desk.connection, most=most)


def of_call(desk: Desk, caller_id: int, call_id: int, since: date) -> CallResult:
    """Add up the hands of a call that began on the day `since`."""
    (result,) = _OF_CALL.all(
        desk.connection, caller_id=caller_id, call_id=call_id, since=since.isoformat()
    )
    return result


def of_day(desk: Desk, caller_id: int, day: date) -> DayResult:
    """Return how a caller has done on a day; they have no place without a hand."""
    hands, net, best = _OF_DAY(desk.connection, caller_id=caller_id, day=day.isoformat()).one()
    if not hands:
        return DayResult(0, 0, 0, 0, 0)
    played, ahead = _PLACED(desk.connection, day=day.isoformat(), net=net).one()
    return DayResult(hands, net, best, 1 + ahead, played)


def place(desk: Desk, caller_id: int) -> int:
    """Return a caller's place among the richest, 0 for one who has saved nothing."""
    saved = _OWN_SAVINGS.one(desk.connection, caller_id=caller_id)
    return 1 + int(_RICHER.one(desk.connection, saved=saved)) if saved else 0


class DaySpan(NamedTuple):
    """Days by which hands are counted as turns, the first and the last of them included."""

    first: date
    last: date

    @property
    def bounds(self) -> dict[str, str]:
        return {"since": self.first.isoformat(), "until": self.last.isoformat()}


def winners(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """List who won most by hands of some days, or ever."""
    if period is None:
        return _WINNERS_EVER.all(desk.connection, most=most)
    return _WINNERS.all(desk.connection, most=most, **period.bounds)


def losers(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """List who lost most by hands of some days, or ever, of those who wish to be named; their
    seconds are below zero."""
    if period is None:
        rows = _LOSERS_EVER.long(desk.connection)
    else:
        rows = _LOSERS.long(desk.connection, **period.bounds)
    named = (Standing(name, net) for name, net, wishes in rows if wishes_to_be_named(wishes))
    return list(islice(named, most))


def wishes_to_be_named(preferences: str) -> bool:
    """Whether a caller with these preferences, as JSON, is named also where they have lost."""
    return json.loads(preferences).get(NAMED_AS_LOSER) is True


def house_day(desk: Desk, day: date) -> list[HouseDay]:
    return _HOUSE.all(desk.connection, day=day.isoformat())
