"""The daily deal: a one-day contest for all callers of the board.

They stake nothing and play for rank. A deal ends when the first deal of a later day is sealed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Select, bindparam, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import deals, stamp
from timebank.ledger.sql import Prepared, Reader, change
from timebank.wagers import contests
from timebank.wagers.contests import Contest
from timebank.wagers.rounds import Json

MOST_AHEAD = timedelta(days=7)


def _daily() -> Select[Any]:
    return select(*contests.SHOE).where(deals.c.daily == 1)


def _deal(row: Any) -> Contest:
    return Contest(**contests.shoe(row))


_OPEN = Reader(
    _deal,
    lambda: (
        _daily()
        .where(deals.c.closed.is_(None))
        .where(deals.c.day.between(bindparam("today"), bindparam("latest")))
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


def todays(desk: Desk, seed: bytes, seal: str, rules: Json) -> Contest:
    """Return today's deal. If there is none, close earlier ones and seal this one.

    A deal of a later day, which a wrong clock opened, is played until its day is over. A deal more
    than `MOST_AHEAD` ahead is closed, because it would be played for years.
    """
    found = open_today(desk)
    if found is None:
        _CLOSE(desk.connection, closed=stamp(desk.now))
        today = desk.settings.schedule.day_of(desk.now)
        contests.add(desk, seal, today, seed, rules, is_daily=True)
        found = open_today(desk)
        assert found is not None
    return found


def open_today(desk: Desk) -> Contest | None:
    """Return today's deal, None if it is not sealed yet."""
    day = desk.settings.schedule.day_of(desk.now)
    latest = (day + MOST_AHEAD).isoformat()
    return _OPEN.first(desk.connection, today=day.isoformat(), latest=latest)


def last_closed(desk: Desk) -> Contest | None:
    """Return the daily deal that ended last, None before the first has ended."""
    return _LAST_CLOSED.first(desk.connection)
