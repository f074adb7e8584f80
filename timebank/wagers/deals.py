"""The daily deal: a contest of a day for all callers of the board, for honour.

Its shoe is the world's or the board's own. The seed of the world's follows from the date, so every
board has the same cards, and knowing them is worth nothing: only decisions rank. Nothing is put up.
A deal ends when the deal of another day begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, ClassVar, TypeAlias

from sqlalchemy import Select, and_, bindparam, not_, or_, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import deals, stamp
from timebank.ledger.sql import Prepared, Reader, change, equal
from timebank.wagers import contests
from timebank.wagers.contests import Contest, is_of_world
from timebank.wagers.rounds import Json

MOST_AHEAD = timedelta(days=7)
Shoe: TypeAlias = tuple[bytes, str, Json]  # seed, seal and rules


@dataclass(frozen=True, slots=True, kw_only=True)
class DealOfDay(Contest):
    RANKS_COINS: ClassVar[bool] = False


def _daily() -> Select[Any]:
    return select(*contests.SHOE).where(deals.c.daily == 1)


def _deal(row: Any) -> DealOfDay:
    return DealOfDay(**contests.shoe(row))


_OPEN = Reader(
    _deal,
    lambda: (
        _daily()
        .where(
            deals.c.closed.is_(None),
            or_(
                deals.c.day == bindparam("today"),
                and_(
                    deals.c.day.between(bindparam("today"), bindparam("latest")),
                    not_(is_of_world()),
                ),
            ),
        )
        .order_by(deals.c.day)
        .limit(1)
    ),
)
_LAST_CLOSED = Reader(
    _deal,
    lambda: (
        _daily()
        .where(deals.c.closed.is_not(None))
        .order_by(deals.c.closed.desc(), deals.c.day.desc(), deals.c.seal)
        .limit(1)
    ),
)
_CLOSE = Prepared(lambda: change(deals, "closed", deals.c.closed.is_(None), deals.c.daily == 1))
_REOPEN = Prepared(lambda: change(deals, "closed", equal(deals.c.seal), is_of_world()))


def todays(desk: Desk, shoe_of: Callable[[date], Shoe]) -> DealOfDay:
    """Return today's deal. If there is none, close all others and open this one.

    `shoe_of` returns the shoe of a date. A clock that was wrong may have opened and closed the
    world's deal of today already: it goes on. A board's own deal of a later day is played until
    that day is over. One more than `MOST_AHEAD` ahead is closed, because it would be played for
    years.
    """
    found = open_today(desk)
    if found is None:
        _CLOSE(desk.connection, closed=stamp(desk.now))
        today = desk.settings.schedule.day_of(desk.now)
        seed, seal, rules = shoe_of(today)
        if not _REOPEN(desk.connection, closed=None, seal=seal).rowcount:
            contests.add(desk, seal, today, seed, rules, is_daily=True)
        found = open_today(desk)
        assert found is not None
    return found


def open_today(desk: Desk) -> DealOfDay | None:
    """Return today's deal, None if it is not open yet."""
    day = desk.settings.schedule.day_of(desk.now)
    latest = (day + MOST_AHEAD).isoformat()
    return _OPEN.first(desk.connection, today=day.isoformat(), latest=latest)


def last_closed(desk: Desk) -> DealOfDay | None:
    """Return the daily deal that ended last, None before the first has ended."""
    return _LAST_CLOSED.first(desk.connection)
