"""One caller for the sysop: their calls, notices, today's transfers at the bank, and their
balances at some transfers.

Indexes find all of it, whatever the size of the books, except calls, which are scanned from the
newest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, or_, select, union_all

from timebank.callers import notices as notice_texts
from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, calls, notices, transfers
from timebank.ledger.sql import NO_BOUND, Query, Reader, equal, fields_of, read, value
from timebank.ledger.transfers import Balance, Extract
from timebank.reports.statements import HeldThen
from timebank.window.allowance import moved_since


class Called(NamedTuple):
    """A call. Times are seconds since 1970; `closed` is None during the call."""

    id: int
    node: int
    address: str
    opened: int
    closed: int | None
    reason: str | None
    note: str | None
    charged: int


class Noticed(NamedTuple):
    """A notice; `shown` is None while it waits."""

    id: int
    at: int
    shown: int | None
    text: str

    @property
    def words(self) -> str:
        return str(notice_texts.read(self.text))


class _Move(NamedTuple):
    """A change of an account by a transfer, or by some, of which `number` is the first."""

    number: int
    account: int
    amount: int


def _moves(*, summed: bool) -> Query:
    row, own = transfers.c, select(accounts.c.id).where(equal(accounts.c.caller_id))
    stretch = (row.id >= bindparam("low"), row.id <= bindparam("high"))
    ends = ((row.source, -1), (row.target, 1))
    moves = union_all(
        *(
            select(row.id, end.label("account"), (sign * row.amount).label("amount")).where(
                end.in_(own), *stretch
            )
            for end, sign in ends
        )
    ).subquery()
    if not summed:
        return select(moves).order_by(moves.c.id.desc(), moves.c.account)
    sums = func.min(moves.c.id), moves.c.account, func.sum(moves.c.amount)
    return select(*sums).group_by(moves.c.account)


_CALLS = read(
    Called,
    lambda: (
        fields_of(Called, calls)
        .where(equal(calls.c.caller_id), calls.c.opened < bindparam("until"))
        .where(or_(calls.c.closed.is_(None), calls.c.closed >= bindparam("since")))
        .order_by(calls.c.id.desc())
        .limit(bindparam("most"))
    ),
)
_NOTICES = read(
    Noticed,
    lambda: (
        fields_of(Noticed, notices)
        .where(equal(notices.c.caller_id))
        .where(notices.c.at >= bindparam("since"), notices.c.at < bindparam("until"))
        .order_by(notices.c.id.desc())
        .limit(bindparam("most"))
    ),
)
_DAY: Reader[str | None] = value(lambda: select(callers.c.day).where(equal(callers.c.id)))
_MOVES = read(_Move, lambda: _moves(summed=False))
_SUMS = read(_Move, lambda: _moves(summed=True))


def calls_between(desk: Desk, caller_id: int, since: int, until: int, most: int) -> list[Called]:
    """Return the newest calls that were open from `since` to before `until`."""
    return _CALLS.all(desk.connection, caller_id=caller_id, since=since, until=until, most=most)


def notices_between(desk: Desk, caller_id: int, since: int, until: int, most: int) -> list[Noticed]:
    """Return the newest notices left in that time, without marking them as shown."""
    return _NOTICES.all(desk.connection, caller_id=caller_id, since=since, until=until, most=most)


def moved_today(desk: Desk, caller_id: int) -> dict[str, int]:
    """Return the seconds that count towards today's limits, by kind of transfer."""
    day = _DAY.one(desk.connection, id=caller_id)
    if day is None or day != desk.settings.schedule.day_of(desk.now).isoformat():
        return {}
    return moved_since(desk, caller_id, day)


def held_before(desk: Desk, own: Sequence[Balance], number: int) -> list[HeldThen]:
    """Return the balances of a caller's accounts before the transfer `number`.

    `own` are the accounts now. Computes backwards from now: the database sums the later transfers.
    """
    later = {"caller_id": own[0].caller_id, "low": number, "high": NO_BOUND}
    change = {each.account: each.amount for each in _SUMS.all(desk.connection, **later)}
    return [
        HeldThen(each.kind, each.unit, each.amount - change.get(each.account_id, 0)) for each in own
    ]


def held_after(
    desk: Desk, own: Sequence[Balance], rows: Sequence[Extract]
) -> dict[int, list[HeldThen]]:
    """Return the balances of a caller's accounts after each of `rows`, by transfer number.

    `own` are the caller's accounts now, and `rows` are newest first. The transfers between the rows
    are read, and the later ones are summed.
    """
    if not rows:
        return {}
    ends = {"low": rows[-1].number, "high": rows[0].number}
    after: dict[int, list[HeldThen]] = {row.number: [] for row in rows}
    then = held_before(desk, own, rows[0].number + 1)
    held = {each.account_id: each_then for each, each_then in zip(own, then, strict=True)}
    for move in _MOVES.all(desk.connection, caller_id=own[0].caller_id, **ends):
        now = held[move.account]
        after.get(move.number, []).append(now)
        held[move.account] = now._replace(amount=now.amount - move.amount)
    return after
