"""Lines that wait for a caller until they can read them, and how a hand ended unseen.

The entry that ends a hand also notes that its caller was not told yet (`callers.untold_round`). The
note goes when the screen of a call has shown the end (`note_seen`), or when a notice tells it
instead. What is left of it at the next log-on becomes a notice (`tell_untold`). So a line that
dies, a process that is killed and a call that is taken over lose no word of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from sqlalchemy import bindparam, select

from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, rounds, stamp
from timebank.ledger.sql import Prepared, Reader, among, change, columns_of, equal, value
from timebank.words import amount_words, title

_NOTICES = schema.notices
_UNREAD = _NOTICES.c.shown.is_(None)
_ADD = Prepared(lambda: sql.insert_into(_NOTICES, "caller_id at text"))
_WAITING: Reader[str] = value(
    lambda: (
        select(_NOTICES.c.text).where(equal(_NOTICES.c.caller_id), _UNREAD).order_by(_NOTICES.c.id)
    )
)
_SHOW = Prepared(lambda: change(_NOTICES, "shown", equal(_NOTICES.c.caller_id), _UNREAD))
_UNSEEN = Prepared(
    lambda: (
        select(_NOTICES.c.caller_id, _NOTICES.c.text)
        .where(_UNREAD, among(_NOTICES.c.caller_id, "caller_ids"))
        .order_by(_NOTICES.c.id)
    )
)
_KEEP_UNTOLD = Prepared(lambda: change(callers, "untold_round", equal(callers.c.id)))
_NOTE_SEEN = Prepared(
    lambda: change(
        callers,
        "",
        equal(callers.c.id),
        callers.c.untold_round <= bindparam("round_id"),
        untold_round=None,
    )
)
_UNTOLD: Reader[int] = value(lambda: select(callers.c.untold_round).where(equal(callers.c.id)))
_HAND = Prepared(
    lambda: select(
        *columns_of(rounds, "day game unit outcome"), (rounds.c.won - rounds.c.lost).label("net")
    ).where(equal(rounds.c.id))
)


def add_notice(desk: Desk, caller_id: int, text: str) -> None:
    """Leave a sentence for a caller; they are shown it at the next log-on, or sooner."""
    _ADD(desk.connection, caller_id=caller_id, at=stamp(desk.now), text=text)


def notices(desk: Desk, caller_id: int) -> tuple[str, ...]:
    """Give what waits for a caller, oldest first, and mark it as shown."""
    texts = tuple(_WAITING.all(desk.connection, caller_id=caller_id))
    if texts:
        _SHOW(desk.connection, shown=stamp(desk.now), caller_id=caller_id)
    return texts


def waiting(desk: Desk, caller_id: int) -> tuple[str, ...]:
    """Give what waits for a caller who comes in, oldest first, with the hand that ended unseen.

    It goes on waiting until `notices` marks it: the line may be lost before it is read.
    """
    tell_untold(desk, caller_id)
    return tuple(_WAITING.all(desk.connection, caller_id=caller_id))


def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Give what waits for these callers, oldest first, and leave it waiting.

    Callers with nothing waiting are left out. Whoever shows it marks it with `notices`.
    """
    waiting: dict[int, tuple[str, ...]] = {}
    for caller_id, text in _UNSEEN(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        waiting[caller_id] = (*waiting.get(caller_id, ()), text)
    return waiting


def keep_untold(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note which hand has just ended for a caller, in the entry that ends it."""
    _KEEP_UNTOLD(desk.connection, untold_round=round_id, id=caller_id)


def note_seen(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note that a caller knows how this hand ended; one that ended later stays untold."""
    _NOTE_SEEN(desk.connection, id=caller_id, round_id=round_id)


def tell_hand(desk: Desk, caller_id: int, round_id: int, text: str) -> None:
    """Leave a notice of how a hand ended, which is then told by nothing else."""
    add_notice(desk, caller_id, text)
    note_seen(desk, caller_id, round_id)


def tell_untold(desk: Desk, caller_id: int) -> None:
    round_id = _UNTOLD.first(desk.connection, id=caller_id)
    if round_id is not None:
        tell_hand(desk, caller_id, round_id, words_of_hand(desk, round_id, "is over"))


def words_of_hand(desk: Desk, round_id: int, what: str) -> str:
    """Say how a hand came out, and `what` became of it before: "was left open, ..."."""
    hand = _HAND(desk.connection, id=round_id).one()
    result = "came out even"
    if hand.net:
        result = f"{'won' if hand.net > 0 else 'lost'} {amount_words(abs(hand.net), hand.unit)}"
    spoken = hand.outcome.replace("-", " ")
    return f"Your hand of {hand.day} at {title(hand.game)} {what}: you {result} ({spoken})."
