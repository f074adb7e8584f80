"""What happened on the board between a caller's last call and this one.

It is read off the writer, from running totals of days. Only the day of the last call is read hand
by hand, as far as its hands ended after that call.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, case, func, select

from timebank.callers import awards, standings
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, calls, instant, results, results_ever, rounds
from timebank.ledger.sql import Prepared, Query, Reader, equal, total, value
from timebank.wagers import contests, deals

LONGEST = timedelta(days=31)  # of an absence; of a longer one only the last days are read
_LOOKED_THROUGH = 12  # the greatest wins searched for one after the last call


class DealEnd(NamedTuple):
    """How a daily deal ended. `place` is the caller's, 0 if they did not finish it."""

    day: date
    winners: Sequence[str]
    players: int
    place: int


class Absence(NamedTuple):
    """News since a caller's last call, which ended on `last_day`.

    `best` is the greatest win of one hand by another caller, with its seconds. `passed` names the
    callers whose results of all time are higher than the caller's since then; `place` and `ranked`
    are the caller's place in that list, and its length, or 0. `deal` is the daily deal that ended.
    `deal_players` counts who has finished today's deal, None if the caller has begun it. `awards`
    are the caller's own that they have not seen.
    """

    last_day: date
    best: tuple[str, int] | None
    passed: Sequence[str]
    place: int
    ranked: int
    deal: DealEnd | None
    deal_players: int | None
    awards: Sequence[str]


_ENDED: Reader[int] = value(
    lambda: (
        select(func.coalesce(calls.c.closed, calls.c.renewed))
        .where(equal(calls.c.caller_id), calls.c.id < bindparam("call_id"))
        .order_by(calls.c.id.desc())
        .limit(1)
    )
)
_IN_TIME = and_(
    results.c.unit == "second", results.c.day.between(bindparam("first"), bindparam("today"))
)
_BEST = Prepared(
    lambda: (
        select(callers.c.name, results.c.caller_id, results.c.day, results.c.game, results.c.best)
        .join(callers, callers.c.id == results.c.caller_id)
        .where(_IN_TIME, results.c.best > 0, results.c.caller_id != bindparam("own"))
        .where(callers.c.deleted.is_(None))
        .order_by(results.c.best.desc(), callers.c.name, results.c.day, results.c.game)
        .limit(_LOOKED_THROUGH)
    )
)
_HAS_ENDED: Reader[int] = value(
    lambda: select(func.count()).where(
        equal(rounds.c.caller_id, rounds.c.day, rounds.c.game),
        rounds.c.unit == "second",
        rounds.c.settled > bindparam("since"),
        rounds.c.won - rounds.c.lost == bindparam("best"),
    )
)


_NET: ColumnElement[int] = func.sum(results_ever.c.won - results_ever.c.lost)


def _nets() -> Query:
    return (
        select(results_ever.c.caller_id, _NET.label("net"))
        .join(callers, callers.c.id == results_ever.c.caller_id)
        .where(results_ever.c.unit == "second", callers.c.deleted.is_(None))
        .group_by(results_ever.c.caller_id)
    )


_OWN: Reader[int | None] = value(
    lambda: select(_NET).where(equal(results_ever.c.caller_id), results_ever.c.unit == "second")
)


def _ranked() -> Query:
    nets = _nets().subquery()
    return select(func.count(), total(case((nets.c.net > bindparam("mine"), 1), else_=0)))


_RANKED = Prepared(_ranked)


def _passed() -> Query:
    """Select who has a higher result now, and had none before what they gained since."""
    after: ColumnElement[int] = (
        select(total(rounds.c.won - rounds.c.lost))
        .where(rounds.c.caller_id == results.c.caller_id, rounds.c.day == results.c.day)
        .where(rounds.c.unit == "second", rounds.c.game == results.c.game)
        .where(rounds.c.settled > bindparam("since"), rounds.c.outcome != "void")
        .scalar_subquery()
    )
    of_day = case(
        (results.c.day == bindparam("last_day"), after), else_=results.c.won - results.c.lost
    )
    gains = (
        select(results.c.caller_id, func.sum(of_day).label("gained"))
        .where(_IN_TIME)
        .group_by(results.c.caller_id)
        .subquery()
    )
    nets = _nets().having(bindparam("mine") < _NET).subquery()
    return (
        select(callers.c.name, nets.c.net, callers.c.preferences)
        .select_from(nets)
        .join(gains, gains.c.caller_id == nets.c.caller_id)
        .join(callers, callers.c.id == nets.c.caller_id)
        .where(nets.c.net - gains.c.gained <= bindparam("mine"))
        .where(callers.c.id != bindparam("own"))
        .order_by(nets.c.net, callers.c.name)
    )


_PASSED = Prepared(_passed)


def since_last_call(desk: Desk, caller_id: int, call_id: int) -> Absence | None:
    """Return what happened before a call of a caller and after their last one; None for a first."""
    ended = _ENDED.first(desk.connection, caller_id=caller_id, call_id=call_id)
    if ended is None:
        return None
    schedule = desk.settings.schedule
    last_day, today = schedule.day_of(instant(ended)), schedule.day_of(desk.now)
    period = {
        "first": max(last_day, today - LONGEST).isoformat(),
        "today": today.isoformat(),
        "own": caller_id,
    }
    place, ranked, passed = 0, 0, []
    mine = _OWN.first(desk.connection, caller_id=caller_id)
    if mine is not None:
        ranked, higher = _RANKED(desk.connection, mine=mine).one()
        place = 1 + higher
        since = {"since": ended, "last_day": last_day.isoformat(), "mine": mine}
        passed = [
            name
            for name, net, wishes in _PASSED(desk.connection, **period, **since)
            if net > 0 or standings.wishes_to_be_named(wishes)
        ]
    return Absence(
        last_day,
        _best(desk, last_day, ended, period),
        *(passed, place, ranked),
        _deal_end(desk, caller_id, last_day),
        _deal_players(desk, caller_id),
        awards.untold(desk, [caller_id]).get(caller_id, ()),
    )


def _best(
    desk: Desk, last_day: date, ended: int, period: dict[str, object]
) -> tuple[str, int] | None:
    for name, caller_id, day, game, best in _BEST(desk.connection, **period):
        hand = {"caller_id": caller_id, "day": day, "game": game, "best": best}
        is_later = day > last_day.isoformat()
        if is_later or _HAS_ENDED.one(desk.connection, since=ended, **hand):
            return name, best
    return None


def _deal_end(desk: Desk, caller_id: int, last_day: date) -> DealEnd | None:
    """Return the last daily deal if it was open on the day of the last call, or later."""
    deal = deals.last_closed(desk)
    if deal is None or deal.day < last_day:
        return None
    ranking = contests.ranking(desk, deal)
    winners = [each.name for each in ranking if each.place == 1]
    own = next((each.place for each in ranking if each.caller_id == caller_id), 0)
    return DealEnd(deal.day, winners, len(ranking), own or 0) if winners else None


def _deal_players(desk: Desk, caller_id: int) -> int | None:
    deal = deals.open_today(desk)
    if deal is None:
        return 0
    if contests.try_of(desk, deal.seal, caller_id) is not None:
        return None
    return len(contests.ranking(desk, deal))
