"""A caller's own statement: what happened to what is his, in words, newest first, page by page.

A line is an entry of the ledger as far as it is his. Time used that was posted minute by minute is
one line for each stretch in which nothing else happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from timebank.ledger.database import Desk
from timebank.ledger.reasons import decode
from timebank.ledger.schema import CALLER_ACCOUNTS, PLAY_ACCOUNTS, instant
from timebank.ledger.sentences import Part, describe
from timebank.words import Unit

# Rows that are looked up at a time.
CHUNK = 200
BANK = "bank"
LOAN = "loan"
# What a caller may have in each unit.
KINDS = {"second": CALLER_ACCOUNTS, "usd-cent": PLAY_ACCOUNTS, "frf-cent": PLAY_ACCOUNTS}


class Happening(NamedTuple):
    """One line of a statement. Amounts are seconds, below zero when the account lost them.

    Play money is told of in the words alone.
    """

    # The lowest of its transfers: the page after this line is `before` this number.
    number: int
    # When it was over.
    at: datetime
    # "Won 12:00 at Black Jack For Time, 3:00 of it banked because of Mail hour at 03:00".
    words: str
    # Time that was used up to then and is charged in it.
    used: int
    # What it did to the time left, to the account in the bank and to the loan.
    online: int
    bank: int
    loan: int
    # What the account in the bank held then.
    balance: int


class _HistoryRow(NamedTuple):
    number: int
    entry: int
    at: int
    kind: str
    amount: int
    facts: str
    call_id: int | None
    source: str
    target: str
    source_id: int
    target_id: int
    sender: str | None
    receiver: str | None
    unit: Unit


_ENDS = " UNION ".join(
    f"SELECT id FROM (SELECT id FROM transfers WHERE {end} = (SELECT id FROM accounts"
    f" WHERE caller_id = ?1 AND kind = '{kind}' AND unit = '{unit}') AND id < ?2"
    " ORDER BY id DESC LIMIT ?3)"
    for end in ("source", "target")
    for unit, kinds in KINDS.items()
    for kind in kinds
)
ROWS = f"""
SELECT t.id, t.entry, t.at, t.kind, t.amount, t.facts, t.call_id, s.kind, g.kind,
       s.caller_id, g.caller_id, sc.name, gc.name, s.unit
FROM ({_ENDS} ORDER BY id DESC LIMIT ?3) AS found
CROSS JOIN transfers t ON t.id = found.id
JOIN accounts s ON s.id = t.source
JOIN accounts g ON g.id = t.target
LEFT JOIN callers sc ON sc.id = s.caller_id
LEFT JOIN callers gc ON gc.id = g.caller_id
ORDER BY t.id DESC
"""
# What the account in the bank held before a transfer.
BALANCE = """
SELECT a.balance - coalesce((SELECT sum(amount) FROM transfers WHERE target = a.id AND id >= ?2), 0)
                 + coalesce((SELECT sum(amount) FROM transfers WHERE source = a.id AND id >= ?2), 0)
FROM accounts a WHERE a.caller_id = ?1 AND a.kind = 'bank' AND a.unit = 'second'
"""
NEVER = 2**62


def history(desk: Desk, caller_id: int, before: int | None, limit: int) -> list[Happening]:
    """List up to `limit` lines of a caller's statement, newest first.

    `before` is the number of the last line of the page before, None for the first page.
    """
    before = NEVER if before is None else before
    balance: int = desk.connection.exec_driver_sql(BALANCE, (caller_id, before)).scalar_one()
    lines: list[Happening] = []
    stretch: int | None = None  # the call whose time used the last line tells of, and nothing else
    for _, group in groupby(_rows(desk, caller_id, before), key=lambda row: row.entry):
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


def _rows(desk: Desk, caller_id: int, before: int) -> Iterator[_HistoryRow]:
    """Give the caller's rows, newest first, looking up no more than are asked for."""
    while True:
        found = desk.connection.exec_driver_sql(ROWS, (caller_id, before, CHUNK)).all()
        yield from (_HistoryRow(*row) for row in found)
        if len(found) < CHUNK:
            return
        before = found[-1][0]


def _line(rows: list[_HistoryRow], caller_id: int, balance: int) -> Happening:
    def change(kind: str) -> int:
        came = sum(row.amount for row in rows if (row.target, row.target_id) == (kind, caller_id))
        went = sum(row.amount for row in rows if (row.source, row.source_id) == (kind, caller_id))
        return came - went

    return Happening(
        number=rows[0].number,
        at=instant(rows[-1].at),
        words=describe([_part(row, caller_id) for row in rows]),
        used=sum(row.amount for row in rows if row.kind == "elapsed"),
        online=change("online"),
        bank=change(BANK),
        loan=change(LOAN),
        balance=balance,
    )


def _joined(later: Happening, line: Happening, row: _HistoryRow, caller_id: int) -> Happening:
    """Make one line of two that tell of time used and follow one another; `row` is of the first."""
    used = later.used + line.used
    return later._replace(
        number=line.number,
        used=used,
        online=later.online + line.online,
        words=describe([_part(row, caller_id)._replace(amount=used)]),
    )


def _part(row: _HistoryRow, caller_id: int) -> Part:
    """Tell a row from the caller's side; `other` is the one at its other end."""
    other = None
    if row.source_id is not None and row.target_id is not None and row.source_id != row.target_id:
        other = row.receiver if row.source_id == caller_id else row.sender
    source = row.source if row.source_id in (caller_id, None) else "other"
    return Part(decode(row.kind, row.facts), row.amount, source, row.target, other, row.unit)
