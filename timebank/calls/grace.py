"""The grace of a day: all the uncharged time that a caller who is out of time is served for.

No account has any part in them: their seconds are waived, as `calls.waived` says of each call.
`days.grace` counts how many were given of a caller's day, over all of their calls, servers and door
processes. A piece is counted in the books before any of it is used, so whoever dies in the middle
of it has used no more than is written down. What is left of it at an orderly end is given back.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, select

from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import days
from timebank.ledger.sql import Prepared, Reader, change, equal, value
from timebank.settings.settings import LAST_SECONDS
from timebank.words import MINUTE

PIECE = 30  # seconds that are given at a time


class GracePiece(NamedTuple):
    """A piece of grace: `seconds` of it, 0 for none, and how many the `day` has left behind it."""

    receipt: Receipt
    day: str
    seconds: int
    left: int


_OF_DAY = equal(days.c.caller_id, days.c.day)
_SO_FAR: Reader[int] = value(lambda: select(days.c.grace).where(_OF_DAY))
_COUNT = Prepared(lambda: change(days, "grace", _OF_DAY))
_GIVE_BACK = Prepared(
    lambda: change(
        days,
        "",
        *(_OF_DAY, days.c.grace >= bindparam("seconds")),
        grace=days.c.grace - bindparam("seconds"),
    )
)


def take(desk: Desk, call_id: int, ticked: int, *, to_look_around: bool) -> GracePiece:
    """Give the next piece to a caller who is out of time, and count it; raises `CallClosed`.

    Nothing is given while there is time on line, nor past the next event. Callers may look around
    for the `grace_minutes` of the day, less what they have used of it for anything; those of other
    boards may not, since their time is the host's. All else may also use the `LAST_SECONDS`.
    """
    posting = enter(desk, call_id, ticked)
    caller_id, day = posting.caller_id, posting.state.day or ""
    given = left = 0
    if not posting.state.online:
        of_day = {"caller_id": caller_id, "day": day}
        so_far = 0 if posting.day_begins else _SO_FAR.one(desk.connection, **of_day)
        of_own_board = desk.settings.grace_minutes * MINUTE if posting.visit is None else 0
        room = max(0, of_own_board + (0 if to_look_around else LAST_SECONDS) - so_far)
        if posting.state.limit is not None:
            room = min(room, posting.state.limit)
        given = min(PIECE, room)
        left = room - given
    if given:
        # The row of a day that begins is written before this.
        posting.afterwards(lambda _rows: _count(desk, caller_id, day, so_far + given))
    return GracePiece(posting.finish(), day, given, left)


def give_back(desk: Desk, caller_id: int, day: str, seconds: int) -> None:
    """Take back what was left of a piece; a day that has been taken back itself has no row."""
    _GIVE_BACK(desk.connection, caller_id=caller_id, day=day, seconds=seconds)


def _count(desk: Desk, caller_id: int, day: str, seconds: int) -> None:
    _COUNT(desk.connection, caller_id=caller_id, day=day, grace=seconds)
