"""Evidence for values that the books store only once: the sysop's log, and a wrong clock.

Lines of the log are deleted after a year, so a missing line proves nothing unless the log reaches
back far enough. A clock that was set back leaves a later time in a row before an earlier time.
"""

from __future__ import annotations

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Table,
    bindparam,
    func,
    literal,
    or_,
    select,
    union_all,
)

from timebank.ledger.database import Desk
from timebank.ledger.schema import instant, mended_days, sysop_log, transfers
from timebank.ledger.sql import Prepared, Query, last_number

DAY = 86_400


def log_reaches(at: ColumnElement[int]) -> ColumnElement[bool]:
    """Return whether the sysop's log still has every line since `at`."""
    first, began = func.min(sysop_log.c.id), func.min(sysop_log.c.at)
    is_whole = func.coalesce(first, last_number(sysop_log) + 1, 1) == 1
    return or_(
        select(is_whole).scalar_subquery(),
        func.coalesce(select(began).scalar_subquery() < at, False),
    )


def _went_back(table: Table) -> Query:
    at: BindParameter[int] = bindparam("at")
    later = select(func.min(table.c.id)).where(table.c.at >= at).scalar_subquery()
    return select(literal(1)).where(table.c.id > later, table.c.at < at)


_WENT_BACK = Prepared(lambda: union_all(*map(_went_back, (sysop_log, transfers))).limit(1))


def clock_went_back(desk: Desk, at: object, by: int = DAY) -> bool:
    """Return whether the board's clock went back past the instant `by` seconds before `at`."""
    if not isinstance(at, int):
        return False
    return _WENT_BACK(desk.connection, at=at - by).first() is not None


def written(at: object) -> str:
    """Format an instant in UTC; return the repr of a value that is not a number.

    >>> written(1_780_315_200), written("noon")
    ('2026-06-01 12:00:00', "'noon'")
    """
    return f"{instant(at):%Y-%m-%d %H:%M:%S}" if isinstance(at, int) else repr(at)


def _mended() -> CompoundSelect[int]:
    is_mending = sysop_log.c.what.startswith("Mended the clock: day set back")
    return union_all(
        select(literal(1)).where(mended_days.c.caller_id == bindparam("id")),
        select(literal(1)).where(sysop_log.c.caller_id == bindparam("id"), is_mending),
    ).limit(1)


_MENDED = Prepared(_mended)


def was_mended(desk: Desk, caller_id: int) -> bool:
    """Return whether a caller's days that a wrong clock began were taken back."""
    return _MENDED(desk.connection, id=caller_id).first() is not None
