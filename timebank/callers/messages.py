"""What callers write to each other, and on the wall of the menu.

A message is in the books before anybody sees it, and waits there until it was shown: at once where
the one it is for is on, at the next log-on else. Where its sender is muted before that, it waits
until they may speak again. Texts come cleaned (door/call/spoken.py).
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
MOST_WORDS = 8  # of a name
WALL = 100  # one-liners that are kept

_SENDER = schema.callers.alias("senders")
_READER = schema.callers.alias("readers")
_UNREAD = messages.c.shown.is_(None)


@dataclass(frozen=True)
class Limits:
    """How many messages a caller may send in 24 hours, and how many may wait for one."""

    a_day: int = 100
    waiting: int = 30
    # Of those that wait for one caller, by another.
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
    """Find the caller that a line begins with, and the rest of it; None if that is nobody's name.

    A name may end with a colon. Raises `Refused` for the beginning of several names without one:
    whoever is called "Ada hello" would get what somebody wants to tell Ada.
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
    """Give a caller who may speak to others; raises `Refused` for one whom the sysop has muted."""
    record = callers.get(desk, caller_id)
    if record.muted:
        raise Refused(Phrase(hearing.MUTED))
    return record


def send(desk: Desk, sender_id: int, to: CallerRecord, text: str, limits: Limits) -> None:
    """Leave a message for a caller; raises `Refused` with the reason where it is not taken."""
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
        words = Phrase("You ignore {name}. Hear them again before you write to them.", name=to.name)
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
    """Give what waits for a caller, oldest first, and leave it waiting."""
    return _heard(desk, caller_id, map(_message, _WAITING(desk.connection, caller_id=caller_id)))


def take(desk: Desk, caller_id: int) -> tuple[Message, ...]:
    """Give what waits for a caller, oldest first, and mark it as read."""
    found = waiting(desk, caller_id)
    if found:
        numbers = json.dumps([each.number for each in found])
        _SHOW(desk.connection, shown=stamp(desk.now), numbers=numbers)
    return found


def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[Message, ...]]:
    """Give what waits for these callers, as `waiting` does; those without are left out."""
    found = defaultdict[int, list[Message]](list)
    for row in _UNSEEN(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        message = _message(row)
        found[message.caller_id].append(message)
    heard = {reader: _heard(desk, reader, waits) for reader, waits in found.items()}
    return {reader: waits for reader, waits in heard.items() if waits}


def _heard(desk: Desk, reader_id: int, found: Iterable[Message]) -> tuple[Message, ...]:
    """Leave out messages whose words are held back from the reader."""
    found = tuple(found)
    held_back = hearing.unheard(desk, reader_id, {each.sender_id for each in found})
    return tuple(each for each in found if each.sender_id not in held_back)


def latest(desk: Desk, caller_id: int, most: int) -> list[Message]:
    """Give what a caller has read and written, newest first."""
    found = map(_message, _LATEST(desk.connection, own=caller_id, most=most))
    return list(_heard(desk, caller_id, found))


def forget_caller(desk: Desk, caller_id: int) -> None:
    """Forget what was written to a caller who is deleted, and what they wrote on the wall."""
    _FORGET_OF(desk.connection, caller_id=caller_id)
    _WIPE(desk.connection, caller_id=caller_id)


# Whom a caller does not hear.


def ignore(desk: Desk, caller_id: int, other: CallerRecord, *, on: bool) -> CallerRecord:
    """Hear nothing more of another caller, or hear them again; raises `Refused`."""
    record = callers.get(desk, caller_id)
    before = set(_who_call(desk, record))  # those who are deleted leave room for others
    if other.id == caller_id:
        raise Refused(Phrase("That's you. Who else do you mean?"))
    if on and other.powers:
        raise Refused(Phrase("{name} is a sysop: nobody can ignore them.", name=other.name))
    after = before | {other.id} if on else before - {other.id}
    if len(after) > MOST_IGNORED:
        raise Refused(Phrase("You ignore {number} callers: that's the limit.", number=MOST_IGNORED))
    return callers.change_preferences(desk, caller_id, {IGNORES: sorted(after)})


def ignore_also(desk: Desk, caller_id: int, others: Collection[int]) -> None:
    """Let a caller ignore these others too, whom they ignored in the books before a restore."""
    now = ignored(callers.get(desk, caller_id).preferences)
    if not now.issuperset(others):
        both = sorted({*others}) + sorted(now.difference(others))
        callers.change_preferences(desk, caller_id, {IGNORES: both[:MOST_IGNORED]})


def names_ignored(desk: Desk, caller_id: int) -> list[str]:
    """Name those whom a caller ignores, as far as they still call."""
    return list(_who_call(desk, callers.get(desk, caller_id)).values())


def _who_call(desk: Desk, record: CallerRecord) -> dict[int, str]:
    """Give numbers and names of those whom a caller ignores, but for those who are deleted."""
    numbers = json.dumps(sorted(ignored(record.preferences)))
    return dict(map(tuple, _WHO_CALL(desk.connection, caller_ids=numbers)))


# The wall.


def write(desk: Desk, caller_id: int, call_id: int, text: str) -> None:
    """Put a line on the wall; raises `Refused` for a second one in a call."""
    refuse_muted(desk, caller_id)
    if has_written(desk, call_id):
        raise Refused(Phrase(ONE_A_CALL))
    now = stamp(desk.now)
    _WRITE(desk.connection, caller_id=caller_id, call_id=call_id, at=now, text=text)
    _CLEAN_WALL(desk.connection, last=_NEWEST.one(desk.connection) - WALL)


def has_written(desk: Desk, call_id: int) -> bool:
    return _HAS_WRITTEN.one(desk.connection, call_id=call_id) > 0


def wall(desk: Desk, most: int, reader_id: int | None = None) -> list[OneLiner]:
    """Return the newest lines that the reader is shown, latest first.

    Without a reader, they are the lines of all callers who are not muted.
    """
    found = [OneLiner(*row) for row in _WALL(desk.connection)]
    writers = {each.caller_id for each in found}
    held_back = (
        hearing.muted(desk, writers)
        if reader_id is None
        else hearing.unheard(desk, reader_id, writers)
    )
    return [each for each in found if each.caller_id not in held_back][:most]


def _message(row: tuple[int, int, str, int, str, int, str, int | None]) -> Message:
    number, sender_id, sender, caller_id, reader, at, text, shown = row
    at_ = instant(at)
    return Message(number, sender_id, sender, caller_id, reader, at_, text, shown is not None)
