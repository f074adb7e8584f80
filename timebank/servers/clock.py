"""The one clock that all servers of some books go by: the database's."""

from __future__ import annotations

from timebank.ledger import dialects
from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp


def seconds(desk: Desk) -> int:
    """Tell the time in seconds since 1970, by the clock of the server that the books are on.

    For books in a file it is the machine's, as this transaction sees it.
    """
    there = dialects.of(desk.connection).clock(desk.connection)
    return stamp(desk.now) if there is None else there
