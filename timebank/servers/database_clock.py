"""The database's clock, which all servers of some books share."""

from __future__ import annotations

from sqlalchemy import select

from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp

_SECONDS: sql.Reader[int | None] = sql.value(lambda: select(sql.database_seconds()))


def seconds(desk: Desk) -> int:
    """Return the seconds since 1970 by the clock of the database server.

    For books in a file it is the clock of this transaction.
    """
    on_server = _SECONDS.one(desk.connection)
    return stamp(desk.now) if on_server is None else on_server
