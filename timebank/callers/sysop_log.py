"""The sysop's log: what was done to accounts by hand, and what could not be done by itself."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from timebank.ledger.database import Desk
from timebank.ledger.schema import instant, stamp


class Entry(NamedTuple):
    """One line of the log."""

    number: int
    at: datetime
    # Who did it: the name of a co-sysop, "the command line", "import".
    by: str
    # Whom it was done to, None where it concerns nobody alone.
    caller: str | None
    what: str


def note(desk: Desk, by: str, caller_id: int | None, what: str) -> None:
    """Add a line: a sentence without its full stop."""
    desk.connection.exec_driver_sql(
        "INSERT INTO sysop_log (at, by, caller_id, what) VALUES (?, ?, ?, ?)",
        (stamp(desk.now), by, caller_id, what),
    )


def entries(desk: Desk, before: int | None, limit: int) -> list[Entry]:
    """List up to `limit` lines, newest first, those before number `before` where it is given."""
    found = desk.connection.exec_driver_sql(
        "SELECT l.id, l.at, l.by, c.name, l.what FROM sysop_log l"
        " LEFT JOIN callers c ON c.id = l.caller_id"
        " WHERE l.id < coalesce(?, l.id + 1) ORDER BY l.id DESC LIMIT ?",
        (before, limit),
    )
    return [Entry(number, instant(at), by, caller, what) for number, at, by, caller, what in found]
