"""A caller's results for their own page, and the best callers for the hall of fame.

All are read from running totals, which grow with callers and days and not with hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, bindparam, case, func, select, true

from timebank.callers import standings
from timebank.callers.days_called import DaysCalled, days_called
from timebank.callers.standings import DaySpan, Standing
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, results, results_ever
from timebank.ledger.sql import Prepared, Query, equal, fields_of, read, total, value

NEAREST = 3  # names of callers ranked directly below one
_MOST_ASKED = 50  # callers searched for these names


class GameRecord(NamedTuple):
    """A caller's totals at a game in one unit. `schema.results_ever` describes each column."""

    game: str
    unit: Any
    hands: int
    lost: int
    won: int
    hands_won: int
    hands_even: int
    naturals: int
    charlies: int
    best: int
    longest_won: int
    longest_lost: int
    streak: int


class PlayRecord(NamedTuple):
    """A caller's results, the most played game first.

    `days` has the result in seconds of each day, today last. `ranked` is the number of callers who
    have played for time, `behind` those of them with a lower result. `named` has the names of some
    of these, the nearest first. `called` counts the days on which the caller called.
    """

    games: Sequence[GameRecord]
    days: Sequence[tuple[date, int]]
    ranked: int
    behind: int
    named: Sequence[str]
    called: DaysCalled

    @property
    def net(self) -> int:
        """The result of all hands for time, in seconds; below 0 for a loss."""
        return sum(game.won - game.lost for game in self.games if game.unit == "second")


_OF_TIME = results_ever.c.unit == "second"
_NET: ColumnElement[int] = func.sum(results_ever.c.won - results_ever.c.lost)


def _nets(*columns: ColumnElement[Any]) -> Query:
    return (
        select(*columns)
        .select_from(results_ever)
        .join(callers, callers.c.id == results_ever.c.caller_id)
        .where(_OF_TIME, callers.c.deleted.is_(None))
        .group_by(callers.c.id, callers.c.name)
    )


_GAMES = read(
    GameRecord,
    lambda: (
        fields_of(GameRecord, results_ever)
        .where(equal(results_ever.c.caller_id))
        .order_by(results_ever.c.hands.desc(), results_ever.c.game, results_ever.c.unit)
    ),
)
_OF_DAY = value(
    lambda: select(total(results.c.won - results.c.lost)).where(
        equal(results.c.day, results.c.caller_id), results.c.unit == "second"
    )
)


def _ranked() -> Query:
    """Count all who have played for time, and those of them who have won less than `mine`."""
    nets = _nets(_NET.label("net")).subquery()
    return select(func.count(), total(case((nets.c.net < bindparam("mine"), 1), else_=0)))


_RANKED = Prepared(_ranked)
_NEXT = Prepared(
    lambda: (
        _nets(callers.c.name, _NET, callers.c.preferences)
        .having(bindparam("mine") > _NET)
        .order_by(_NET.desc(), callers.c.name)
        .limit(_MOST_ASKED)
    )
)


def record(desk: Desk, caller_id: int, days: int) -> PlayRecord:
    """Return a caller's results, with each of the last `days` days."""
    games = _GAMES.all(desk.connection, caller_id=caller_id)
    today = desk.settings.schedule.day_of(desk.now)
    nets = []
    for age in reversed(range(days)):
        day = today - timedelta(days=age)
        of_day = {"day": day.isoformat(), "caller_id": caller_id}
        nets.append((day, _OF_DAY.one(desk.connection, **of_day)))
    result = PlayRecord(games, nets, 0, 0, (), days_called(desk, caller_id))
    if not any(game.unit == "second" for game in games):
        return result
    mine = result.net
    ranked, behind = _RANKED(desk.connection, mine=mine).one()
    named = (
        name
        for name, net, wishes in _NEXT(desk.connection, mine=mine)
        if net > 0 or standings.wishes_to_be_named(wishes)
    )
    return result._replace(ranked=ranked, behind=behind, named=list(islice(named, NEAREST)))


class Hall(NamedTuple):
    """The best callers, each list best first. Streaks are hands won in a row, ever."""

    winners: Sequence[Standing]
    best_hands: Sequence[Standing]
    losers: Sequence[Standing]
    streaks: Sequence[tuple[str, int]]


def _highest(totals: Table, column: ColumnElement[Any], when: ColumnElement[bool]) -> Query:
    most = func.max(column)
    return (
        select(callers.c.name, most)
        .select_from(totals)
        .join(callers, callers.c.id == totals.c.caller_id)
        .where(totals.c.unit == "second", callers.c.deleted.is_(None), column > 0, when)
        .group_by(callers.c.id, callers.c.name)
        .order_by(most.desc(), callers.c.name)
        .limit(bindparam("most"))
    )


_WITHIN = results.c.day.between(bindparam("since"), bindparam("until"))
_BEST = read(Standing, lambda: _highest(results, results.c.best, _WITHIN))
_BEST_EVER = read(Standing, lambda: _highest(results_ever, results_ever.c.best, true()))
_STREAKS = read(Standing, lambda: _highest(results_ever, results_ever.c.longest_won, true()))


def best_hands(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """List who won most by a single hand on some days, or ever."""
    if period is None:
        return _BEST_EVER.all(desk.connection, most=most)
    return _BEST.all(desk.connection, most=most, **period.bounds)


def hall(desk: Desk, period: DaySpan | None, most: int) -> Hall:
    """List who stood first on some days, or ever, at most so many in each list."""
    return Hall(
        standings.winners(desk, period, most),
        best_hands(desk, period, most),
        standings.losers(desk, period, most),
        _STREAKS.all(desk.connection, most=most) if period is None else (),
    )
