"""The one clock that all servers of some books go by: the database's."""

from __future__ import annotations

from sqlalchemy import select

from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp

_THERE: sql.Reader[int | None] = sql.value(lambda: select(sql.database_seconds()))


def seconds(desk: Desk) -> int:
    """Tell the time in seconds since 1970, by the clock of the server that the books are on.

    For books in a file it is the machine's, as this transaction sees it.
    """
    there = _THERE.one(desk.connection)
    return stamp(desk.now) if there is None else there
