"""The sysop's log: changes to accounts and callers by hand, and failures of automatic work."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, instant, stamp, sysop_log
from timebank.ledger.sql import NO_BOUND, Prepared, columns_of, insert_into


class LogEntry(NamedTuple):
    number: int
    at: datetime
    # A co-sysop's name, "jane (command line)" or "import".
    by: str
    # The caller concerned, None for none.
    caller: str | None
    what: str


_NOTE = Prepared(lambda: insert_into(sysop_log, "at by caller_id what"))


_LAST = Prepared(
    lambda: (
        select(*columns_of(sysop_log, "id at by"), callers.c.name, sysop_log.c.what)
        .join(callers, callers.c.id == sysop_log.c.caller_id, isouter=True)
        .where(sysop_log.c.id < bindparam("before"))
        .order_by(sysop_log.c.id.desc())
        .limit(bindparam("most"))
    )
)


def note(
    desk: Desk, by: str, caller_id: int | None, what: str, *, at: datetime | None = None
) -> None:
    """Add a line: a sentence without its full stop. `at` is its time, by default now."""
    _NOTE(desk.connection, at=stamp(at or desk.now), by=by, caller_id=caller_id, what=what)


def entries(desk: Desk, before: int | None, limit: int) -> list[LogEntry]:
    """Return up to `limit` lines, newest first, with numbers below `before` if it is given."""
    rows = _LAST(desk.connection, most=limit, before=NO_BOUND if before is None else before)
    return [
        LogEntry(number, instant(at), by, caller, what) for number, at, by, caller, what in rows
    ]
