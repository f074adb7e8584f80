"""The rows of `given_back`: what hosts are owed, as the end of a visit writes it down.

A row is written together with the transfer that it tells of, and waits until somebody claims it
(hosts_claims.py). What waits when a visit ends that can give nothing back is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from timebank.database import Desk
from timebank.ledger import EXTERNAL, Row
from timebank.model import instant, stamp
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from timebank.posting import Posting

# As in sysop.toml: the files in which a host reads what its callers won.
HostWay = Literal["moduser", "door.sys", "exitinfo"]
HOST_WAYS: tuple[str, ...] = get_args(HostWay)
THEBANK_EXT = "thebank.ext"


@dataclass(frozen=True, slots=True)
class GivenBack:
    """Minutes that a host was given, or is to be given; below zero for a loss to be shown."""

    number: int
    caller_id: int
    caller: str
    board: str
    minutes: int
    way: str
    # "waiting", "writing", "written", "kept" (here, in the bank), or "doubtful".
    state: str
    at: datetime
    # Why it is doubtful, or kept.
    why: str | None


SELECT = """
SELECT b.number, b.caller_id, c.name, c.board, b.minutes, b.way, b.state, b.at, b.why
FROM given_back b JOIN callers c ON c.id = b.caller_id
"""


def listed(desk: Desk, where: str, *values: object) -> list[GivenBack]:
    """List the rows of which a condition holds, oldest first."""
    found = desk.connection.exec_driver_sql(f"{SELECT} WHERE {where} ORDER BY b.number", values)
    return [
        GivenBack(number, caller_id, caller, board, minutes, way, state, instant(at), why)
        for number, caller_id, caller, board, minutes, way, state, at, why in found
    ]


def owed(desk: Desk, caller_id: int) -> list[GivenBack]:
    """List what waits to be given back for a caller, oldest first."""
    return listed(desk, "b.caller_id = ? AND b.state = 'waiting'", caller_id)


def write_down(posting: Posting, index: int, minutes: int, way: str) -> None:
    """Have a row written for the movement `index` of an entry: it waits to be given back."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    values = (visit.caller_id, minutes, visit.day, way)
    posting.afterwards(partial(_insert, posting.desk, index, values))


def _insert(
    desk: Desk, index: int, values: tuple[int, int, str, str], rows: tuple[Row, ...]
) -> None:
    now = stamp(desk.now)
    desk.connection.exec_driver_sql(
        "INSERT INTO given_back (transfer_id, caller_id, minutes, day, way, state, at, changed)"
        " VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)",
        (rows[index].number, *values, now, now),
    )


def keep_what_waits(posting: Posting) -> None:
    """Put on an entry that what waits for its caller comes back to where we keep time."""
    for row in owed(posting.desk, posting.caller_id):
        keep(posting, row, "the visit after it could give nothing back")


def keep(posting: Posting, row: GivenBack, why: str) -> None:
    """Put on an entry that minutes come back which a host was not given.

    A loss that it does not show stays the debt that it is.
    """
    index = len(posting.movements)
    seconds = row.minutes * MINUTE
    if seconds > 0:
        said = f"{span(seconds)} that could not be given back to {row.board}"
        posting.put_away(EXTERNAL, seconds, "kept", said, row.board)
    posting.afterwards(partial(_kept, posting.desk, row, index if seconds > 0 else None, why))


def _kept(desk: Desk, row: GivenBack, index: int | None, why: str, rows: tuple[Row, ...]) -> None:
    desk.connection.exec_driver_sql(
        "UPDATE given_back SET state = 'kept', kept_id = ?, why = ?, changed = ? WHERE number = ?",
        (None if index is None else rows[index].number, why, stamp(desk.now), row.number),
    )
