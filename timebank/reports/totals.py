"""Totals of what was moved, by quarters of an hour and by accounts; and those of whole blocks of
transfers kept in a file.

Rows of the books are only added, so the totals of a block that is full never change. Each is kept
with the digest of its last transfer, which stands for all before it: totals of other books, or of
before a restore, are worked out anew. The file can be thrown away at any time, and one that is
damaged is. Any number of processes may use it at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, case, func, select, union_all

from timebank import files
from timebank.ledger.database import Desk
from timebank.ledger.schema import moved, rounds, source, target, transfers
from timebank.ledger.sql import NEVER, Query, fields_of, read
from timebank.ledger.transfers import game_of
from timebank.settings.settings import BankSettings
from timebank.words import Unit

QUARTER = 900  # seconds; every zone's day begins with one
# Movements from and to `external` that are told apart by their kind.
ENDS = ("brought", "taken home", "given back", "kept")

BLOCK = 20_000  # numbers of transfers
FORM = 3  # of what is kept
NAME = "totals.sqlite3"  # of the file, beside the books
# Opens the books to be read, at one moment.
Look = Callable[[], AbstractContextManager[Desk]]
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


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


class _Kept(NamedTuple):
    """What the file has of a block; the first and the last quarter in which anything was moved."""

    first: int
    last: int
    moved: str
    changes: str

    @property
    def sum(self) -> str:
        """Make a digest of it: a disk may give it back otherwise."""
        return sha256("\n".join(map(str, self)).encode()).hexdigest()

    def read_moved(self, since: int, until: int) -> Iterator[QuarterMoved]:
        if self.last * QUARTER < since or self.first * QUARTER >= until:
            return
        for each in json.loads(self.moved):
            if since <= each[0] * QUARTER < until:
                yield QuarterMoved(*each)

    def read_changes(self) -> Counter[int]:
        accounts, amounts = json.loads(self.changes)
        return Counter(dict(zip(accounts, amounts, strict=True)))


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
        self._lasts = False
        self._one = Lock()

    @classmethod
    def beside(cls, settings: BankSettings) -> KeptTotals:
        return cls(settings.database.with_name(NAME))

    def lasts(self) -> bool:
        """Tell whether what is kept is there for others too, and not for as long as we run."""
        with self._one:
            self._kept_here()
            return self._lasts

    def keep(self, look: Callable[[Callable[[Desk], Any]], Any], first: int = 1) -> None:
        """Work out what is not kept yet of the transfers from this number on.

        `look` lets at one moment of the books, for each block anew: none is held for long.
        """
        for number, written in look(lambda desk: list(_full_blocks(desk, first))):
            if self._kept(number, written) is None:
                self._keep(number, written, look(partial(_totals, number=number)))

    def keep_all(self, look: Look) -> None:
        """Work out what is not kept yet of all transfers."""

        def looked(at: Callable[[Desk], Any]) -> Any:
            with look() as desk:
                return at(desk)

        self.keep(looked)

    def moved(
        self, desk: Desk, first: int = 1, since: int = -NEVER, until: int = NEVER
    ) -> Iterator[QuarterMoved]:
        """Give what was moved by the transfers from this number on, of seconds from `since` to
        before `until`; both are where a quarter begins."""
        for part in self._parts(desk, first):
            if isinstance(part, _Kept):
                yield from part.read_moved(since, until)
            else:
                yield from moved_by_quarter(desk, *part, since, until)

    def changes(self, desk: Desk, first: int) -> Counter[int]:
        """Tell by how much the transfers from this number on have changed each account."""
        found = Counter[int]()
        for part in self._parts(desk, first):
            found.update(part.read_changes() if isinstance(part, _Kept) else changes(desk, *part))
        return found

    def close(self) -> None:
        with self._one:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _parts(self, desk: Desk, first: int) -> Iterator[_Kept | tuple[int, int]]:
        """Give the kept totals of blocks, and the bounds of what lies between and behind them."""
        begin = first
        for number, written in _full_blocks(desk, first):
            kept = self._kept(number, written)
            if kept is not None:
                if begin <= number * BLOCK:
                    yield begin, number * BLOCK
                yield kept
                begin = (number + 1) * BLOCK + 1
        yield begin, NEVER

    def _kept(self, number: int, written: str) -> _Kept | None:
        asked = (
            "SELECT first, last, moved, changes, sum FROM blocks WHERE number = ? AND written = ?"
        )
        with self._one:
            try:
                row = self._kept_here().execute(asked, (number, written)).fetchone()
            except sqlite3.Error as error:
                self._give_up(error)
                return None
        if row is None:
            return None
        kept = _Kept(*row[:-1])
        return kept if kept.sum == row[-1] else None

    def _keep(self, number: int, written: str, totals: TotalsOfBlock) -> None:
        accounts = [*totals.changes], [*totals.changes.values()]
        quarters = [each.quarter for each in totals.moved]
        span = min(quarters, default=0), max(quarters, default=0)
        kept = _Kept(*span, json.dumps(totals.moved), json.dumps(accounts))
        with self._one:
            try:
                self._kept_here().execute(
                    "REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (number, written, *kept, kept.sum),
                )
            except sqlite3.Error as error:
                self._give_up(error)

    def _kept_here(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                self._open, self._lasts = _connect(self._file), True
            except (OSError, sqlite3.Error):  # not to be written, or not by us
                self._open, self._lasts = _connect(None), False
        return self._open

    def _give_up(self, error: sqlite3.Error) -> None:
        """Begin anew where the file is damaged. One that is busy, or on a full disk, may do better
        the next time."""
        if self._open is not None and _is_damage(error):
            self._open.close()
            self._open = None
            with contextlib.suppress(OSError):
                _remove(self._file)


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in DAMAGED


def _connect(file: Path | None) -> sqlite3.Connection:
    """Open what is kept, made anew where it is damaged or of another form. Raises `OSError` and
    `sqlite3.Error`."""
    if file is None:
        return _laid(":memory:")
    _touch(file)
    try:
        return _laid(file)
    except sqlite3.Error as error:
        if not _is_damage(error):
            raise
    _remove(file)
    _touch(file)
    return _laid(file)


def _remove(file: Path) -> None:
    """Throw a file away; its journal first, which a new one would take for its own."""
    for each in (file.with_name(f"{file.name}-journal"), file):
        each.unlink(missing_ok=True)


def _touch(file: Path) -> None:
    """See that the file is there and may be written. A new one is for the eyes of its owner alone.

    That is whoever owns the folder: what its sysop makes as root, the board is to write as well.
    Links are not followed, for root would follow them anywhere.
    """
    how = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    with contextlib.suppress(FileExistsError):
        made = os.open(file, how | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            files.give_to_owner(made, file.parent)
        finally:
            os.close(made)
    os.close(os.open(file, how))


def _laid(place: Path | str) -> sqlite3.Connection:
    found = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    try:
        found.execute("PRAGMA synchronous = OFF")  # whatever is lost is worked out again
        if found.execute("PRAGMA user_version").fetchone() != (FORM,):
            found.execute("BEGIN IMMEDIATE")  # another process may do the same
            if found.execute("PRAGMA user_version").fetchone() != (FORM,):
                found.execute("DROP TABLE IF EXISTS blocks")
                found.execute(
                    "CREATE TABLE blocks (number INTEGER PRIMARY KEY, written TEXT,"
                    " first INTEGER, last INTEGER, moved TEXT, changes TEXT, sum TEXT)"
                )
                found.execute(f"PRAGMA user_version = {FORM}")
            found.execute("COMMIT")
    except BaseException:
        found.close()
        raise
    return found


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
