"""Totals of what was moved, by quarters of an hour and by accounts; and those of whole blocks of
transfers kept in a file.

Rows of the books are only added, so the totals of a block that is full never change. Each is kept
with the digest of its last transfer, which stands for all before it: totals of other books, or of
before a restore, are worked out anew. The file can be thrown away at any time.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, case, func, select, union_all

from timebank.ledger.database import Desk
from timebank.ledger.schema import moved, rounds, source, target, transfers
from timebank.ledger.sql import NEVER, Query, fields_of, read
from timebank.ledger.transfers import game_of
from timebank.words import Unit

QUARTER = 900  # seconds; every zone's day begins with one
# Movements from and to `external` that are told apart by their kind.
ENDS = ("brought", "taken home", "given back", "kept")

BLOCK = 20_000  # numbers of transfers
FORM = 2  # of what is kept


class QuarterMoved(NamedTuple):
    """What was moved in a quarter of an hour between accounts of two kinds, at a game or none."""

    quarter: int  # since 1970
    source: str
    target: str
    game: str | None
    unit: Unit
    amount: int


class _AccountChange(NamedTuple):
    account: int
    amount: int


class _LastWritten(NamedTuple):
    number: int
    digest: str


class TotalsOfBlock(NamedTuple):
    """Of some transfers: what was moved, and by how much each account has changed."""

    moved: list[QuarterMoved]
    changes: Counter[int]


def _moved() -> Query:
    row = transfers.c
    ends = {
        name: case((and_(end == "external", row.kind.in_(ENDS)), row.kind), else_=end)
        for name, end in (("source", source.c.kind), ("target", target.c.kind))
    }
    quarter = row.at // QUARTER
    what = {**ends, "game": game_of(), "unit": source.c.unit}
    return (
        fields_of(QuarterMoved, moved, quarter=quarter, **what, amount=func.sum(row.amount))
        .join(rounds, rounds.c.id == row.round_id, isouter=True)
        .where(row.at >= bindparam("since"), row.at < bindparam("until"))
        .where(row.id >= bindparam("first"), row.id <= bindparam("last"))
        .group_by(quarter, *what.values())
    )


def _changes() -> Query:
    sides = union_all(
        *(
            # The sum keeps SQLite from going along an index, through all of the books.
            select((end + 0).label("account"), func.sum(sign * transfers.c.amount).label("amount"))
            .where(transfers.c.id >= bindparam("first"), transfers.c.id <= bindparam("last"))
            .group_by(end + 0)
            for end, sign in ((transfers.c.source, -1), (transfers.c.target, 1))
        )
    ).subquery()
    amount = func.sum(sides.c.amount).label("amount")
    return select(sides.c.account, amount).group_by(sides.c.account)


_MOVED = read(QuarterMoved, _moved)
_CHANGES = read(_AccountChange, _changes)
_UP_TO = read(
    _LastWritten,
    lambda: (
        select(transfers.c.id, transfers.c.digest)
        .where(transfers.c.id <= bindparam("number"))
        .order_by(transfers.c.id.desc())
        .limit(1)
    ),
)
_FROM = read(
    _LastWritten,
    lambda: (
        select(transfers.c.id, transfers.c.digest)
        .where(transfers.c.id >= bindparam("number"))
        .order_by(transfers.c.id)
        .limit(1)
    ),
)


def moved_by_quarter(
    desk: Desk, first: int = 0, last: int = NEVER, since: int = -NEVER, until: int = NEVER
) -> Iterator[QuarterMoved]:
    """Add up transfers from number `first` to `last`, of seconds from `since` to before `until`."""
    span = {"first": first, "last": last, "since": since, "until": until}
    return _MOVED.stream(desk.connection, **span)


def changes(desk: Desk, first: int, last: int = NEVER) -> Counter[int]:
    """Tell by how much transfers from number `first` to `last` have changed each account."""
    rows = _CHANGES.stream(desk.connection, first=first, last=last)
    return Counter({row.account: row.amount for row in rows})


class KeptTotals:
    """The totals of blocks that are full, as far as anybody has asked for them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open: sqlite3.Connection | None = None
        self._one = Lock()

    def keep(self, look: Callable[[Callable[[Desk], Any]], Any], first: int) -> None:
        """Work out what is not kept yet of the transfers from this number on.

        `look` lets at one moment of the books, for each block anew: none is held for long.
        """
        for number, written in look(lambda desk: list(_full_blocks(desk, first))):
            if self._kept(number, written) is None:
                self._keep(number, written, look(partial(_totals, number=number)))

    def moved(self, desk: Desk, first: int) -> Iterator[QuarterMoved]:
        """Give what was moved by the transfers from this number on."""
        for part in self._parts(desk, first):
            if isinstance(part, TotalsOfBlock):
                yield from part.moved
            else:
                yield from moved_by_quarter(desk, *part)

    def changes(self, desk: Desk, first: int) -> Counter[int]:
        """Tell by how much the transfers from this number on have changed each account."""
        found = Counter[int]()
        for part in self._parts(desk, first):
            found.update(part.changes if isinstance(part, TotalsOfBlock) else changes(desk, *part))
        return found

    def close(self) -> None:
        with self._one:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _parts(self, desk: Desk, first: int) -> Iterator[TotalsOfBlock | tuple[int, int]]:
        """Give the kept totals of blocks, and the bounds of what lies between and behind them."""
        begin = first
        for number, written in _full_blocks(desk, first):
            totals = self._kept(number, written)
            if totals is not None:
                if begin <= number * BLOCK:
                    yield begin, number * BLOCK
                yield totals
                begin = (number + 1) * BLOCK + 1
        yield begin, NEVER

    def _kept(self, number: int, written: str) -> TotalsOfBlock | None:
        asked = "SELECT moved, changes, sum FROM blocks WHERE number = ? AND written = ?"
        with self._one:
            try:
                row = self._kept_here().execute(asked, (number, written)).fetchone()
            except sqlite3.Error:  # damaged: we go on without it
                self._open, row = self._connect(None), None
        if row is None or _sum(*row[:2]) != row[2]:  # never kept, or damaged since
            return None
        return _read(*row[:2])

    def _keep(self, number: int, written: str, totals: TotalsOfBlock) -> None:
        accounts = [*totals.changes], [*totals.changes.values()]
        kept = [json.dumps(each) for each in (totals.moved, accounts)]
        row = (number, written, *kept, _sum(*kept))
        with self._one, contextlib.suppress(sqlite3.Error):  # a full disk, say
            self._kept_here().execute("REPLACE INTO blocks VALUES (?, ?, ?, ?, ?)", row)

    def _kept_here(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                self._open = self._connect(self._file)
            except (OSError, sqlite3.Error):  # damaged, or not to be written: as long as we run
                self._open = self._connect(None)
        return self._open

    @staticmethod
    def _connect(file: Path | None) -> sqlite3.Connection:
        if file is not None:
            file.touch(0o600)
        place = ":memory:" if file is None else file
        found = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA synchronous = OFF")  # whatever is lost is worked out again
        if found.execute("PRAGMA user_version").fetchone() != (FORM,):
            found.execute("DROP TABLE IF EXISTS blocks")
            found.execute(
                "CREATE TABLE blocks"
                " (number INTEGER PRIMARY KEY, written TEXT, moved TEXT, changes TEXT, sum TEXT)"
            )
            found.execute(f"PRAGMA user_version = {FORM}")
        return found


def _sum(moved: object, changed: object) -> str:
    """Make a digest of what is kept of a block: a disk may give it back otherwise."""
    return sha256(f"{moved}\n{changed}".encode()).hexdigest()


def _read(moved: str, changed: str) -> TotalsOfBlock:
    accounts, amounts = json.loads(changed)
    return TotalsOfBlock(
        [QuarterMoved(*each) for each in json.loads(moved)],
        Counter(dict(zip(accounts, amounts, strict=True))),
    )


def _totals(desk: Desk, number: int) -> TotalsOfBlock:
    first, last = number * BLOCK + 1, (number + 1) * BLOCK
    return TotalsOfBlock([*moved_by_quarter(desk, first, last)], changes(desk, first, last))


def _full_blocks(desk: Desk, first: int) -> Iterator[tuple[int, str]]:
    """Give the blocks that begin at this number or later and are full: each with its number, and
    the digest of the last transfer in it."""
    newest = _UP_TO.first(desk.connection, number=NEVER)
    if newest is None:
        return
    number = -(-(first - 1) // BLOCK)
    while (number + 1) * BLOCK <= newest.number:
        last = _UP_TO.one(desk.connection, number=(number + 1) * BLOCK)
        if last.number <= number * BLOCK:  # numbers go on further behind a restore
            following = _FROM.one(desk.connection, number=number * BLOCK + 1)
            number = (following.number - 1) // BLOCK
            continue
        yield number, last.digest
        number += 1
