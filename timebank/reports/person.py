"""One caller for the sysop: their last calls, hands, loans and notices, today's transfers at the
bank, and the balances after some transfers.

Indexes find all of it, whatever the size of the books, except calls, which are scanned from the
newest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from timebank.callers import notices as notice_texts
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, calls, notices, rounds, transfers
from timebank.ledger.sql import Query, Reader, equal, fields_of, read, total, value
from timebank.ledger.transfers import Balance, Extract, extracts_query
from timebank.window.allowance import moved_since
from timebank.words import Unit


class Called(NamedTuple):
    """A call. Times are seconds since 1970; `closed` is None during the call."""

    id: int
    node: int
    address: str
    opened: int
    closed: int | None
    reason: str | None
    charged: int


class HandInShort(NamedTuple):
    """A hand; amounts are in its unit, `settled` is None while it is in play."""

    id: int
    game: str
    unit: Unit
    bet: int
    dealt: int
    settled: int | None
    lost: int
    won: int


class Noticed(NamedTuple):
    """A notice; `shown` is None while it waits."""

    id: int
    at: int
    shown: int | None
    text: str

    @property
    def words(self) -> str:
        return str(notice_texts.read(self.text))


class HeldThen(NamedTuple):
    """The balance of a caller's account after a transfer, in its unit."""

    kind: str
    unit: Unit
    amount: int


class _Step(NamedTuple):
    number: int
    amount: int


def _of_account(*, gives: bool) -> Query:
    end = transfers.c.source if gives else transfers.c.target
    newest = (
        select(transfers.c.id)
        .where(end == bindparam("account"))
        .order_by(transfers.c.id.desc())
        .limit(bindparam("most"))
    )
    return extracts_query().where(transfers.c.id.in_(newest)).order_by(transfers.c.id.desc())


def _steps(*, gives: bool) -> Query:
    end, number = transfers.c.source if gives else transfers.c.target, transfers.c.id
    within = (number >= bindparam("low"), number <= bindparam("high"))
    return select(number, transfers.c.amount).where(end == bindparam("account"), *within)


def _since(*, gives: bool) -> Query:
    end = transfers.c.source if gives else transfers.c.target
    later = transfers.c.id > bindparam("high")
    return select(total(transfers.c.amount)).where(end == bindparam("account"), later)


_CALLS = read(
    Called,
    lambda: (
        fields_of(Called, calls)
        .where(equal(calls.c.caller_id))
        .order_by(calls.c.id.desc())
        .limit(bindparam("most"))
    ),
)
_HANDS = read(
    HandInShort,
    lambda: (
        fields_of(HandInShort, rounds)
        .where(equal(rounds.c.caller_id))
        .order_by(rounds.c.day.desc(), rounds.c.id.desc())
        .limit(bindparam("most"))
    ),
)
_NOTICES = read(
    Noticed,
    lambda: (
        fields_of(Noticed, notices)
        .where(equal(notices.c.caller_id))
        .order_by(notices.c.id.desc())
        .limit(bindparam("most"))
    ),
)
_DAY: Reader[str | None] = value(lambda: select(callers.c.day).where(equal(callers.c.id)))
_GAVE = read(Extract, lambda: _of_account(gives=True))
_TOOK = read(Extract, lambda: _of_account(gives=False))
_STEPS_DOWN = read(_Step, lambda: _steps(gives=True))
_STEPS_UP = read(_Step, lambda: _steps(gives=False))
_DOWN: Reader[int] = value(lambda: _since(gives=True))
_UP: Reader[int] = value(lambda: _since(gives=False))


def last_calls(desk: Desk, caller_id: int, most: int) -> list[Called]:
    return _CALLS.all(desk.connection, caller_id=caller_id, most=most)


def last_hands(desk: Desk, caller_id: int, most: int) -> list[HandInShort]:
    return _HANDS.all(desk.connection, caller_id=caller_id, most=most)


def last_notices(desk: Desk, caller_id: int, most: int) -> list[Noticed]:
    """Return the newest notices, shown or waiting, without marking them as shown."""
    return _NOTICES.all(desk.connection, caller_id=caller_id, most=most)


def last_of(desk: Desk, account: int, most: int) -> list[Extract]:
    """Return the newest transfers of an account, newest first."""
    rows = [
        *_GAVE.all(desk.connection, account=account, most=most),
        *_TOOK.all(desk.connection, account=account, most=most),
    ]
    return sorted(rows, key=lambda row: -row.number)[:most]


def moved_today(desk: Desk, caller_id: int) -> dict[str, int]:
    """Return the seconds that count towards today's limits, by kind of transfer."""
    day = _DAY.one(desk.connection, id=caller_id)
    if day is None or day != desk.settings.schedule.day_of(desk.now).isoformat():
        return {}
    return moved_since(desk, caller_id, day)


def held_after(
    desk: Desk, own: Sequence[Balance], rows: Sequence[Extract]
) -> dict[int, list[HeldThen]]:
    """Return the balances of a caller's accounts after each of `rows`, by transfer number.

    `own` are the caller's accounts now, and `rows` are newest first. Computes backwards from now:
    the database sums the later transfers, and those between the rows are read.
    """
    if not rows:
        return {}
    low, high = rows[-1].number, rows[0].number
    shown = {row.number for row in rows}
    after: dict[int, list[HeldThen]] = {}
    run = desk.connection
    for each in own:
        later = {"account": each.account_id, "high": high}
        held = each.amount - _UP.one(run, **later) + _DOWN.one(run, **later)
        changes = Counter[int]()
        for number, amount in _STEPS_UP.all(run, low=low, **later):
            changes[number] += amount
        for number, amount in _STEPS_DOWN.all(run, low=low, **later):
            changes[number] -= amount
        for number in sorted(changes, reverse=True):
            if number in shown:
                after.setdefault(number, []).append(HeldThen(each.kind, each.unit, held))
            held -= changes[number]
    return after
