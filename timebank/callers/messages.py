"""Messages between callers, and one-liners on the wall of the menu.

A message is written into the books before anybody sees it, and waits until it is shown: at once if
its reader is online, otherwise at the next log-on. If its sender is muted before that, it waits
until they may speak again. Texts must be cleaned (door/call/spoken.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, delete, func, or_, select

from timebank.callers import callers, hearing
from timebank.callers.callers import CallerRecord
from timebank.callers.hearing import IGNORES, ignored
from timebank.errors import Refused
from timebank.language import N_, Phrase
from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import instant, messages, one_liners, stamp
from timebank.ledger.sql import Prepared, Query, Reader, among, change, equal, value

DAY_SECONDS = 24 * 60 * 60
LONGEST = 120  # characters of a message
LONGEST_ONE_LINER = 60
MOST_IGNORED = 50
ONE_A_CALL = N_("You have left a line on this call already: one a call.")
MOST_WORDS = 8  # in a name
WALL = 100  # stored one-liners

_SENDER = schema.callers.alias("senders")
_READER = schema.callers.alias("readers")
_UNREAD = messages.c.shown.is_(None)


@dataclass(frozen=True)
class Limits:
    """The most messages that a caller may send in 24 hours, and the most that may wait for one."""

    a_day: int = 100
    waiting: int = 30
    # Messages from one sender that may wait for one reader.
    of_one: int = 10


class Message(NamedTuple):
    number: int
    sender_id: int
    sender: str
    caller_id: int
    reader: str
    at: datetime
    text: str
    is_read: bool


class OneLiner(NamedTuple):
    caller_id: int
    name: str
    text: str


def _messages() -> Query:
    return (
        select(
            *(messages.c.id, messages.c.sender_id, _SENDER.c.name),
            *(messages.c.caller_id, _READER.c.name.label("reader")),
            *(messages.c.at, messages.c.text, messages.c.shown),
        )
        .join(_SENDER, _SENDER.c.id == messages.c.sender_id)
        .join(_READER, _READER.c.id == messages.c.caller_id)
    )


_ADD = Prepared(lambda: sql.insert_into(messages, "sender_id caller_id at text"))
_WAITING = Prepared(
    lambda: _messages().where(equal(messages.c.caller_id), _UNREAD).order_by(messages.c.id)
)
_UNSEEN = Prepared(
    lambda: (
        _messages()
        .where(_UNREAD, among(messages.c.caller_id, "caller_ids"))
        .order_by(messages.c.id)
    )
)
_SHOW = Prepared(lambda: change(messages, "shown", among(messages.c.id, "numbers")))
_LATEST = Prepared(
    lambda: (
        _messages()
        .where(
            or_(
                and_(messages.c.caller_id == bindparam("own"), messages.c.shown.is_not(None)),
                messages.c.sender_id == bindparam("own"),
            )
        )
        .order_by(messages.c.id.desc())
        .limit(bindparam("most"))
    )
)
_SENT_SINCE: Reader[int] = value(
    lambda: (
        select(func.count())
        .select_from(messages)
        .where(equal(messages.c.sender_id), messages.c.at > bindparam("since"))
    )
)
_FORGET_OF = Prepared(lambda: delete(messages).where(equal(messages.c.caller_id)))
_WHO_CALL = Prepared(
    lambda: (
        select(schema.callers.c.id, schema.callers.c.name)
        .where(among(schema.callers.c.id, "caller_ids"), schema.callers.c.deleted.is_(None))
        .order_by(schema.callers.c.id)
    )
)
_WRITE = Prepared(lambda: sql.insert_into(one_liners, "caller_id call_id at text"))
_HAS_WRITTEN: Reader[int] = value(
    lambda: select(func.count()).select_from(one_liners).where(equal(one_liners.c.call_id))
)
_WALL = Prepared(
    lambda: (
        select(one_liners.c.caller_id, schema.callers.c.name, one_liners.c.text)
        .join(schema.callers, schema.callers.c.id == one_liners.c.caller_id)
        .where(schema.callers.c.deleted.is_(None))
        .order_by(one_liners.c.id.desc())
    )
)
_NEWEST: Reader[int] = value(lambda: select(func.max(one_liners.c.id)))
_CLEAN_WALL = Prepared(lambda: delete(one_liners).where(one_liners.c.id <= bindparam("last")))
_WIPE = Prepared(lambda: delete(one_liners).where(equal(one_liners.c.caller_id)))


def find(desk: Desk, words: str) -> tuple[CallerRecord, str] | None:
    """Split a line into the caller that it begins with, and the rest. Return None for no caller.

    A colon may end the name. Without one, raises `Refused` if several names fit, because a caller
    named "Ada hello" would get messages that are meant for Ada.
    """
    name, colon, text = words.partition(":")
    record = callers.find(desk, name) if colon else None
    if record is not None:
        return record, text.strip()
    parts = words.split()
    meant = [
        (record, " ".join(parts[length:]))
        for length in range(1, min(len(parts), MOST_WORDS) + 1)
        if (record := callers.find(desk, " ".join(parts[:length]))) is not None
    ]
    if len(meant) > 1:
        some = ", ".join(record.name for record, _ in meant)
        raise Refused(Phrase("Who do you mean: {names}? Put a colon behind the name.", names=some))
    return meant[0] if meant else None


def refuse_muted(desk: Desk, caller_id: int) -> CallerRecord:
    """Return the caller. Raises `Refused` if the sysop has muted them."""
    record = callers.get(desk, caller_id)
    if record.muted:
        raise Refused(Phrase(hearing.MUTED))
    return record


def send(desk: Desk, sender_id: int, to: CallerRecord, text: str, limits: Limits) -> None:
    """Leave a message for a caller. Raises `Refused` with the reason."""
    sender = callers.get(desk, sender_id)
    if to.id == sender.id:
        raise Refused(Phrase("That's you. Who else do you mean?"))
    if not text:
        raise Refused(Phrase("Nothing to tell {name}. Use: /p name message", name=to.name))
    if to.locked:
        raise Refused(Phrase("{name} doesn't take messages from you.", name=to.name))
    if why_not := hearing.refusal(sender, to):
        raise Refused(why_not)
    if to.id in ignored(sender.preferences):
        words = Phrase(
            "You ignore {name}. Stop ignoring them before you write to them.", name=to.name
        )
        raise Refused(words)
    since = stamp(desk.now) - DAY_SECONDS
    if _SENT_SINCE.one(desk.connection, sender_id=sender_id, since=since) >= limits.a_day:
        words = Phrase(
            "You've sent {number} messages in a day: that's the limit.", number=limits.a_day
        )
        raise Refused(words)
    waits = waiting(desk, to.id)
    of_sender = [each for each in waits if each.sender_id == sender_id]
    if len(waits) >= limits.waiting or len(of_sender) >= limits.of_one:
        words = Phrase(
            "Too many messages wait for {name}. Try again when they've called.", name=to.name
        )
        raise Refused(words)
    _ADD(desk.connection, sender_id=sender_id, caller_id=to.id, at=stamp(desk.now), text=text)
    desk.nudge()


def waiting(desk: Desk, caller_id: int) -> tuple[Message, ...]:
    """Return a caller's waiting messages, oldest first, and leave them waiting."""
    return _without_withheld(
        desk, caller_id, map(_message, _WAITING(desk.connection, caller_id=caller_id))
    )


def take(desk: Desk, caller_id: int) -> tuple[Message, ...]:
    """Return a caller's waiting messages, oldest first, and mark them as read."""
    messages_waiting = waiting(desk, caller_id)
    if messages_waiting:
        numbers = json.dumps([each.number for each in messages_waiting])
        _SHOW(desk.connection, shown=stamp(desk.now), numbers=numbers)
    return messages_waiting


def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[Message, ...]]:
    """Return the waiting messages of these callers, without callers who have none."""
    by_reader = defaultdict[int, list[Message]](list)
    for row in _UNSEEN(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        message = _message(row)
        by_reader[message.caller_id].append(message)
    shown = {reader: _without_withheld(desk, reader, waits) for reader, waits in by_reader.items()}
    return {reader: waits for reader, waits in shown.items() if waits}


def _without_withheld(
    desk: Desk, reader_id: int, candidates: Iterable[Message]
) -> tuple[Message, ...]:
    """Remove messages that are withheld from the reader."""
    candidates = tuple(candidates)
    held_back = hearing.unheard(desk, reader_id, {each.sender_id for each in candidates})
    return tuple(each for each in candidates if each.sender_id not in held_back)


def latest(desk: Desk, caller_id: int, most: int) -> list[Message]:
    """Return the newest messages that a caller has read or written, newest first."""
    rows = map(_message, _LATEST(desk.connection, own=caller_id, most=most))
    return list(_without_withheld(desk, caller_id, rows))


def forget_caller(desk: Desk, caller_id: int) -> None:
    """Delete the messages to a deleted caller, and their one-liners."""
    _FORGET_OF(desk.connection, caller_id=caller_id)
    _WIPE(desk.connection, caller_id=caller_id)


# Ignored callers.


def ignore(desk: Desk, caller_id: int, other: CallerRecord, *, on: bool) -> CallerRecord:
    """Ignore or stop ignoring another caller. Raises `Refused`."""
    record = callers.get(desk, caller_id)
    before = set(_who_call(desk, record))  # deleted callers do not count
    if other.id == caller_id:
        raise Refused(Phrase("That's you. Who else do you mean?"))
    if on and other.powers:
        raise Refused(Phrase("{name} is a sysop: nobody can ignore them.", name=other.name))
    after = before | {other.id} if on else before - {other.id}
    if len(after) > MOST_IGNORED:
        raise Refused(Phrase("You ignore {number} callers: that's the limit.", number=MOST_IGNORED))
    return callers.change_preferences(desk, caller_id, {IGNORES: sorted(after)})


def ignore_also(desk: Desk, caller_id: int, others: Collection[int]) -> None:
    """Also ignore these callers, whom the caller ignored in the books before a restore."""
    now = ignored(callers.get(desk, caller_id).preferences)
    if not now.issuperset(others):
        both = sorted({*others}) + sorted(now.difference(others))
        callers.change_preferences(desk, caller_id, {IGNORES: both[:MOST_IGNORED]})


def names_ignored(desk: Desk, caller_id: int) -> list[str]:
    """Return the names of the callers that a caller ignores, without deleted ones."""
    return list(_who_call(desk, callers.get(desk, caller_id)).values())


def _who_call(desk: Desk, record: CallerRecord) -> dict[int, str]:
    """Return numbers and names of the callers that a caller ignores, without deleted ones."""
    numbers = json.dumps(sorted(ignored(record.preferences)))
    return dict(map(tuple, _WHO_CALL(desk.connection, caller_ids=numbers)))


# The wall.


def write(desk: Desk, caller_id: int, call_id: int, text: str) -> None:
    """Add a line to the wall. Raises `Refused` for a second one on a call."""
    refuse_muted(desk, caller_id)
    if has_written(desk, call_id):
        raise Refused(Phrase(ONE_A_CALL))
    now = stamp(desk.now)
    _WRITE(desk.connection, caller_id=caller_id, call_id=call_id, at=now, text=text)
    _CLEAN_WALL(desk.connection, last=_NEWEST.one(desk.connection) - WALL)


def has_written(desk: Desk, call_id: int) -> bool:
    return _HAS_WRITTEN.one(desk.connection, call_id=call_id) > 0


def wall(desk: Desk, most: int, reader_id: int | None = None) -> list[OneLiner]:
    """Return the newest lines of the wall that the reader may see, latest first.

    Without a reader, they are the lines of all callers who are not muted.
    """
    lines = [OneLiner(*row) for row in _WALL(desk.connection)]
    writers = {each.caller_id for each in lines}
    held_back = (
        hearing.muted(desk, writers)
        if reader_id is None
        else hearing.unheard(desk, reader_id, writers)
    )
    return [each for each in lines if each.caller_id not in held_back][:most]


def _message(row: tuple[int, int, str, int, str, int, str, int | None]) -> Message:
    number, sender_id, sender, caller_id, reader, at, text, shown = row
    at_ = instant(at)
    return Message(number, sender_id, sender, caller_id, reader, at_, text, shown is not None)
