"""A caller's own statement in words, newest first, page by page.

A line is the caller's part of an entry. Consecutive charges of used time on one call share a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from timebank.ledger.sql import NO_BOUND, Query, equal, read
from timebank.ledger.transfers import Extract, extracts_query
from timebank.words import Unit

# Rows per query.
CHUNK = 200
# A caller's kinds of account in each unit.
KINDS: dict[Unit, tuple[str, ...]] = {
    "second": CALLER_ACCOUNTS,
    "usd-cent": PLAY_ACCOUNTS,
    "frf-cent": PLAY_ACCOUNTS,
}


class Happening(NamedTuple):
    """One line of a statement. Amounts appear only in the words."""

    # The lowest number of its transfers, which is `before` for the page after this line.
    number: int
    # The time of its last transfer.
    at: datetime
    parts: tuple[Part, ...]
    # The used time that it charges, in seconds.
    used: int

    @property
    def words(self) -> str:
        """Return a sentence in the reader's language, such as "Won 12:00 at Black Jack For Time,
        3:00 of it banked because of Mail hour at 03:00"."""
        return describe(self.parts)


def _ends(end: Column[int], unit: Unit, kind: str) -> Query:
    """Select the last transfers from or to one of the caller's accounts."""
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


def last_numbers(kinds: Mapping[Unit, Iterable[str]] = KINDS) -> Query:
    """Select the numbers of the last `most` transfers of a caller's accounts `before` a number.

    Each account has a query of its own, so that no other caller's transfers are read.
    """
    ends = union(
        *(
            _ends(end, unit, kind)
            for end in (transfers.c.source, transfers.c.target)
            for unit, own in kinds.items()
            for kind in own
        )
    ).subquery()
    return select(ends.c.id).order_by(ends.c.id.desc()).limit(bindparam("most"))


def _rows_of() -> Query:
    query = extracts_query().where(transfers.c.id.in_(last_numbers()))
    return query.order_by(transfers.c.id.desc())


_ROWS = read(Extract, _rows_of)


def history(desk: Desk, caller_id: int, before: int | None, limit: int) -> list[Happening]:
    """Return up to `limit` lines of a caller's statement, newest first.

    `before` is the number of the last line of the page before, None for the first page. Words that
    are withheld from the caller are left out.
    """
    before = NO_BOUND if before is None else before
    lines: list[Happening] = []
    stretch: int | None = None  # the call of the last line if that has only used time
    for _entry, group in groupby(_rows(desk, caller_id, before), key=lambda row: row.entry):
        rows = list(group)[::-1]
        line = _line(rows, caller_id)
        alone = all(row.kind == "elapsed" for row in rows)
        if alone and stretch == rows[0].call_id and lines:
            lines[-1] = _joined(lines[-1], line, rows[0], caller_id)
        elif len(lines) == limit:
            break
        else:
            lines.append(line)
            stretch = rows[0].call_id if alone else None
    return lines


def _rows(desk: Desk, caller_id: int, before: int) -> Iterator[Extract]:
    """Yield the caller's rows, newest first, in chunks."""
    while True:
        rows = _ROWS.all(desk.connection, caller_id=caller_id, before=before, most=CHUNK)
        yield from _without_withheld(desk, caller_id, rows)
        if len(rows) < CHUNK:
            return
        before = rows[-1].number


def _without_withheld(desk: Desk, caller_id: int, rows: list[Extract]) -> Iterator[Extract]:
    """Remove texts sent with minutes that are withheld from the caller."""
    writers = {row.source_caller_id for row in rows if isinstance(row.reason, Sent)}
    held_back = hearing.unheard(desk, caller_id, {each for each in writers if each is not None})
    for row in rows:
        reason = row.reason
        if isinstance(reason, Sent) and row.source_caller_id in held_back:
            yield row._replace(facts=encode(replace(reason, message="")))
        else:
            yield row


def _line(rows: list[Extract], caller_id: int) -> Happening:
    used = sum(row.amount for row in rows if row.kind == "elapsed")
    parts = tuple(part_of(row, caller_id) for row in rows)
    return Happening(rows[0].number, instant(rows[-1].at), parts, used)


def _joined(later: Happening, line: Happening, row: Extract, caller_id: int) -> Happening:
    """Join two consecutive lines of used time. `row` is the first row of the earlier `line`."""
    used = later.used + line.used
    return later._replace(
        number=line.number,
        used=used,
        parts=(part_of(row, caller_id)._replace(amount=used),),
    )


def part_of(row: Extract, caller_id: int) -> Part:
    """Return a row as the caller sees it."""
    own, other = (caller_id, None), None
    is_received = row.source_caller_id not in own
    if is_received:
        other = row.source_caller
    elif row.target_caller_id not in own:
        other = row.target_caller
    return Part(row.reason, row.amount, other, is_received, row.unit)
