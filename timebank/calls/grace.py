"""The grace of a day: uncharged seconds for callers who are out of time.

Grace touches no account: its seconds are waived, and each call counts them (`calls.waived`).
`days.grace` counts the seconds of a caller's day, over all calls and servers. Grace is given in
pieces. A piece is counted before its first second is used, so a crash can only leave too many
seconds counted. An orderly end gives the rest of its piece back.
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

PIECE_SECONDS = 30


class GracePiece(NamedTuple):
    """A piece of grace: its `seconds`, 0 for none, and the seconds that the `day` has `left`."""

    receipt: Receipt
    day: str
    seconds: int
    left: int


_IS_DAY = equal(days.c.caller_id, days.c.day)
_USED: Reader[int] = value(lambda: select(days.c.grace).where(_IS_DAY))
_COUNT = Prepared(lambda: change(days, "grace", _IS_DAY))
_GIVE_BACK = Prepared(
    lambda: change(
        days,
        "",
        *(_IS_DAY, days.c.grace >= bindparam("seconds")),
        grace=days.c.grace - bindparam("seconds"),
    )
)


def take_piece(desk: Desk, call_id: int, ticked: int, *, to_look_around: bool) -> GracePiece:
    """Count and return the next piece for a caller who is out of time; raises `CallClosed`.

    It has 0 seconds while the caller has time online, and never reaches past the next event. Our
    own callers have `grace_minutes` a day, less what was used of the day's grace. Callers of other
    boards have none, because their time is the host's. If it is not `to_look_around`, LAST_SECONDS
    are added. `ticked` is the number of seconds since log-on.
    """
    posting = enter(desk, call_id, ticked)
    caller_id, day = posting.caller_id, posting.state.day or ""
    given = left = 0
    if not posting.state.online:
        used = 0
        if not posting.day_begins:
            used = _USED.one(desk.connection, caller_id=caller_id, day=day)
        own_grace = desk.settings.grace_minutes * MINUTE if posting.visit is None else 0
        room = max(0, own_grace + (0 if to_look_around else LAST_SECONDS) - used)
        if posting.state.limit is not None:
            room = min(room, posting.state.limit)
        given = min(PIECE_SECONDS, room)
        left = room - given
    if given:
        # Afterwards, because the entry writes the row of a day that begins.
        posting.after_write(lambda _rows: _count(desk, caller_id, day, used + given))
    return GracePiece(posting.finish(), day, given, left)


def give_back(desk: Desk, caller_id: int, day: str, seconds: int) -> None:
    """Take back the unused seconds of a piece, unless the day itself was taken back meanwhile."""
    _GIVE_BACK(desk.connection, caller_id=caller_id, day=day, seconds=seconds)


def _count(desk: Desk, caller_id: int, day: str, seconds: int) -> None:
    _COUNT(desk.connection, caller_id=caller_id, day=day, grace=seconds)
