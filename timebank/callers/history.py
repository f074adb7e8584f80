"""A caller's own statement: what happened to what is theirs, in words, newest first, page by page.

A line is an entry of the ledger as far as it is theirs. Time used that was posted minute by minute
is one line for each stretch in which nothing else happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Column, bindparam, select, union

from timebank.callers import hearing
from timebank.ledger.database import Desk
from timebank.ledger.reasons import Sent, encode
from timebank.ledger.schema import CALLER_ACCOUNTS, PLAY_ACCOUNTS, accounts, instant, transfers
from timebank.ledger.sentences import Part, describe
from timebank.ledger.sql import NEVER, Query, Reader, equal, read, total, value
from timebank.ledger.transfers import Extract, extracts_of
from timebank.words import Unit

# Rows that are looked up at a time.
CHUNK = 200
BANK = "bank"
LOAN = "loan"
# What a caller may have in each unit.
KINDS: dict[Unit, tuple[str, ...]] = {
    "second": CALLER_ACCOUNTS,
    "usd-cent": PLAY_ACCOUNTS,
    "frf-cent": PLAY_ACCOUNTS,
}


class Happening(NamedTuple):
    """One line of a statement. Amounts are seconds, below zero when the account lost them.

    Play money is told of in the words alone.
    """

    # The lowest of its transfers: the page after this line is `before` this number.
    number: int
    # When it was over.
    at: datetime
    parts: tuple[Part, ...]
    # Time that was used up to then and is charged in it.
    used: int
    # What it did to the time left, to the account in the bank and to the loan.
    online: int
    bank: int
    loan: int
    # What the account in the bank held then.
    balance: int

    @property
    def words(self) -> str:
        """Say it in the reader's language: "Won 12:00 at Black Jack For Time, 3:00 of it banked
        because of Mail hour at 03:00"."""
        return describe(self.parts)


def _ends(end: Column[int], unit: Unit, kind: str) -> Query:
    """Choose the last transfers at one end of which is an account of the caller's."""
    own = select(accounts.c.id).where(
        equal(accounts.c.caller_id), accounts.c.kind == kind, accounts.c.unit == unit
    )
    last = (
        select(transfers.c.id)
        .where(end == own.scalar_subquery(), transfers.c.id < bindparam("before"))
        .order_by(transfers.c.id.desc())
        .limit(bindparam("most"))
        .subquery()
    )
    return select(last.c.id)


def last_numbers() -> Query:
    """Choose the numbers of the last transfers of a caller, `most` of them `before` a number.

    Each of their accounts is asked for its own, so that nobody else's are looked at.
    """
    ends = union(
        *(
            _ends(end, unit, kind)
            for end in (transfers.c.source, transfers.c.target)
            for unit, kinds in KINDS.items()
            for kind in kinds
        )
    ).subquery()
    return select(ends.c.id).order_by(ends.c.id.desc()).limit(bindparam("most"))


def _rows_of() -> Query:
    found = extracts_of().where(transfers.c.id.in_(last_numbers()))
    return found.order_by(transfers.c.id.desc())


def _balance() -> Query:
    """Choose what the account in the bank held before a transfer."""
    since = select(total(transfers.c.amount)).where(transfers.c.id >= bindparam("before"))
    came, went = (
        since.where(end == accounts.c.id).correlate(accounts).scalar_subquery()
        for end in (transfers.c.target, transfers.c.source)
    )
    return select(accounts.c.balance - came + went).where(
        equal(accounts.c.caller_id), accounts.c.kind == BANK, accounts.c.unit == "second"
    )


_ROWS = read(Extract, _rows_of)
_BALANCE: Reader[int] = value(_balance)


def history(
    desk: Desk, caller_id: int, before: int | None, limit: int, reader_id: int | None = None
) -> list[Happening]:
    """List up to `limit` lines of a caller's statement, newest first.

    `before` is the number of the last line of the page before, None for the first page. A reader is
    not shown the words of callers who are held back from them; without one, the sysop reads.
    """
    before = NEVER if before is None else before
    balance = _BALANCE.one(desk.connection, caller_id=caller_id, before=before)
    lines: list[Happening] = []
    stretch: int | None = None  # the call whose time used the last line tells of, and nothing else
    for _entry, group in groupby(
        _rows(desk, caller_id, before, reader_id), key=lambda row: row.entry
    ):
        rows = list(group)[::-1]
        line = _line(rows, caller_id, balance)
        alone = all(row.kind == "elapsed" for row in rows)
        if alone and stretch == rows[0].call_id and lines:
            lines[-1] = _joined(lines[-1], line, rows[0], caller_id)
        elif len(lines) == limit:
            break
        else:
            lines.append(line)
            stretch = rows[0].call_id if alone else None
        balance -= line.bank
    return lines


def _rows(desk: Desk, caller_id: int, before: int, reader_id: int | None) -> Iterator[Extract]:
    """Give the caller's rows, newest first, looking up no more than are asked for."""
    while True:
        found = _ROWS.all(desk.connection, caller_id=caller_id, before=before, most=CHUNK)
        yield from found if reader_id is None else _heard(desk, reader_id, found)
        if len(found) < CHUNK:
            return
        before = found[-1].number


def _heard(desk: Desk, reader_id: int, rows: list[Extract]) -> Iterator[Extract]:
    """Leave out what callers wrote beside minutes whom the reader is not to hear."""
    writers = {row.source_caller_id for row in rows if isinstance(row.reason, Sent)}
    held_back = hearing.unheard(desk, reader_id, {each for each in writers if each is not None})
    for row in rows:
        reason = row.reason
        if isinstance(reason, Sent) and row.source_caller_id in held_back:
            yield row._replace(facts=encode(replace(reason, message="")))
        else:
            yield row


def _line(rows: list[Extract], caller_id: int, balance: int) -> Happening:
    def change(kind: str) -> int:
        own = (kind, caller_id)
        came = sum(row.amount for row in rows if (row.target, row.target_caller_id) == own)
        return came - sum(row.amount for row in rows if (row.source, row.source_caller_id) == own)

    return Happening(
        number=rows[0].number,
        at=instant(rows[-1].at),
        parts=tuple(_part(row, caller_id) for row in rows),
        used=sum(row.amount for row in rows if row.kind == "elapsed"),
        online=change("online"),
        bank=change(BANK),
        loan=change(LOAN),
        balance=balance,
    )


def _joined(later: Happening, line: Happening, row: Extract, caller_id: int) -> Happening:
    """Make one line of two that tell of time used and follow one another; `row` is of the first."""
    used = later.used + line.used
    return later._replace(
        number=line.number,
        used=used,
        online=later.online + line.online,
        parts=(_part(row, caller_id)._replace(amount=used),),
    )


def _part(row: Extract, caller_id: int) -> Part:
    """Tell a row from the caller's side; `other` is the one at its other end."""
    payer, payee = row.source_caller_id, row.target_caller_id
    other = None
    if payer is not None and payee is not None and payer != payee:
        other = row.target_caller if payer == caller_id else row.source_caller
    source = row.source if payer in (caller_id, None) else "other"
    return Part(row.reason, row.amount, source, row.target, other, row.unit)
