"""Totals of transfers by quarters of an hour and by accounts, and a file with those of full blocks.

Transfers are only added, so the totals of a full block never change. Each is stored with the digest
of its last transfer, which depends on all before it. So totals of other books, or from before a
restore, are never used. The file may be deleted at any time, and a damaged one is replaced. Any
number of processes may use it at once.
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
from timebank.ledger.schema import rounds, source, target, transfers, transfers_with_accounts
from timebank.ledger.sql import NO_BOUND, Query, fields_of, read
from timebank.ledger.transfers import game_column
from timebank.settings.settings import BankSettings
from timebank.words import Unit

QUARTER = 900  # seconds; every zone's day begins with one
# Kinds of transfer from and to `external` that count as accounts of their own.
ENDS = ("brought", "taken home", "given back", "kept")

BLOCK = 20_000  # numbers of transfers
FORM = 3  # the version of the file's format
NAME = "totals.sqlite3"  # next to the books
# Opens the books for one reading transaction.
Look = Callable[[], AbstractContextManager[Desk]]
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class QuarterMoved(NamedTuple):
    """The sum moved in a quarter of an hour between two kinds of accounts, at a game or none."""

    quarter: int  # quarters of an hour since 1970
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
    """The totals of a block of transfers, and the change of each account."""

    moved: list[QuarterMoved]
    changes: Counter[int]


class _StoredBlock(NamedTuple):
    """A block in the file, with the first and the last quarter that has transfers."""

    first: int
    last: int
    moved: str
    changes: str

    @property
    def sum(self) -> str:
        """Return a checksum, because a disk may return something else than was written."""
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
    what = {**ends, "game": game_column(), "unit": source.c.unit}
    return (
        fields_of(
            QuarterMoved,
            transfers_with_accounts,
            quarter=quarter,
            **what,
            amount=func.sum(row.amount),
        )
        .join(rounds, rounds.c.id == row.round_id, isouter=True)
        .where(row.at >= bindparam("since"), row.at < bindparam("until"))
        .where(row.id >= bindparam("first"), row.id <= bindparam("last"))
        .group_by(quarter, *what.values())
    )


def _changes() -> Query:
    sides = union_all(
        *(
            # "+ 0" keeps SQLite from scanning an index through all of the books.
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
    desk: Desk, first: int = 0, last: int = NO_BOUND, since: int = -NO_BOUND, until: int = NO_BOUND
) -> Iterator[QuarterMoved]:
    """Sum the transfers from number `first` to `last`, made from `since` to before `until`."""
    span = {"first": first, "last": last, "since": since, "until": until}
    return _MOVED.stream(desk.connection, **span)


def changes(desk: Desk, first: int, last: int = NO_BOUND) -> Counter[int]:
    """Return the change of each account by the transfers from number `first` to `last`."""
    rows = _CHANGES.stream(desk.connection, first=first, last=last)
    return Counter({row.account: row.amount for row in rows})


class KeptTotals:
    """The stored totals of full blocks, computed on request."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open: sqlite3.Connection | None = None
        self._lasts = False
        self._one = Lock()

    @classmethod
    def for_books(cls, settings: BankSettings) -> KeptTotals:
        return cls(settings.database.with_name(NAME))

    def lasts(self) -> bool:
        """Return whether the totals are in a file, or only in this process's memory."""
        with self._one:
            self._connected()
            return self._lasts

    def keep(self, look: Callable[[Callable[[Desk], Any]], Any], first: int = 1) -> None:
        """Compute and store the missing blocks from transfer `first` on.

        `look` runs a function in a reading transaction. Each block has its own, so that none lasts
        long.
        """
        for number, written in look(lambda desk: list(_full_blocks(desk, first))):
            if self._read_block(number, written) is None:
                self._store(number, written, look(partial(_totals, number=number)))

    def keep_all(self, look: Look) -> None:
        """Compute and store all missing blocks."""

        def looked(at: Callable[[Desk], Any]) -> Any:
            with look() as desk:
                return at(desk)

        self.keep(looked)

    def moved(
        self, desk: Desk, first: int = 1, since: int = -NO_BOUND, until: int = NO_BOUND
    ) -> Iterator[QuarterMoved]:
        """Yield the totals of the transfers from number `first`, made from `since` to before
        `until`. Both must be multiples of QUARTER."""
        for part in self._parts(desk, first):
            if isinstance(part, _StoredBlock):
                yield from part.read_moved(since, until)
            else:
                yield from moved_by_quarter(desk, *part, since, until)

    def changes(self, desk: Desk, first: int) -> Counter[int]:
        """Return the change of each account by the transfers from number `first`."""
        changed = Counter[int]()
        for part in self._parts(desk, first):
            changed.update(
                part.read_changes() if isinstance(part, _StoredBlock) else changes(desk, *part)
            )
        return changed

    def close(self) -> None:
        with self._one:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _parts(self, desk: Desk, first: int) -> Iterator[_StoredBlock | tuple[int, int]]:
        """Yield the stored blocks in order, and the bounds of transfers between and after them."""
        begin = first
        for number, written in _full_blocks(desk, first):
            block = self._read_block(number, written)
            if block is not None:
                if begin <= number * BLOCK:
                    yield begin, number * BLOCK
                yield block
                begin = (number + 1) * BLOCK + 1
        yield begin, NO_BOUND

    def _read_block(self, number: int, written: str) -> _StoredBlock | None:
        asked = (
            "SELECT first, last, moved, changes, sum FROM blocks WHERE number = ? AND written = ?"
        )
        with self._one:
            try:
                row = self._connected().execute(asked, (number, written)).fetchone()
            except sqlite3.Error as error:
                self._drop_if_damaged(error)
                return None
        if row is None:
            return None
        block = _StoredBlock(*row[:-1])
        return block if block.sum == row[-1] else None

    def _store(self, number: int, written: str, totals: TotalsOfBlock) -> None:
        accounts = [*totals.changes], [*totals.changes.values()]
        quarters = [each.quarter for each in totals.moved]
        span = min(quarters, default=0), max(quarters, default=0)
        block = _StoredBlock(*span, json.dumps(totals.moved), json.dumps(accounts))
        with self._one:
            try:
                self._connected().execute(
                    "REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (number, written, *block, block.sum),
                )
            except sqlite3.Error as error:
                self._drop_if_damaged(error)

    def _connected(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                self._open, self._lasts = _connect(self._file), True
            except (OSError, sqlite3.Error):  # the file cannot be written
                self._open, self._lasts = _connect(None), False
        return self._open

    def _drop_if_damaged(self, error: sqlite3.Error) -> None:
        """Delete a damaged file. A busy file, or a full disk, may work the next time."""
        if self._open is not None and _is_damage(error):
            self._open.close()
            self._open = None
            with contextlib.suppress(OSError):
                _remove(self._file)


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in DAMAGED


def _connect(file: Path | None) -> sqlite3.Connection:
    """Open the file, and replace it if it is damaged or of another format.

    Raises `OSError` and `sqlite3.Error`.
    """
    if file is None:
        return _with_table(":memory:")
    _touch(file)
    try:
        return _with_table(file)
    except sqlite3.Error as error:
        if not _is_damage(error):
            raise
    _remove(file)
    _touch(file)
    return _with_table(file)


def _remove(file: Path) -> None:
    """Delete a file, and first its journal, which a new file would use."""
    for each in (file.with_name(f"{file.name}-journal"), file):
        each.unlink(missing_ok=True)


def _touch(file: Path) -> None:
    """Create the file if it is missing, and check that it can be written. Raises `OSError`.

    Only the owner of the folder can read a new file, so the board can write a file that root has
    created. Links are not followed, because root could follow them anywhere.
    """
    how = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    with contextlib.suppress(FileExistsError):
        made = os.open(file, how | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            files.give_to_owner(made, file.parent)
        finally:
            os.close(made)
    os.close(os.open(file, how))


def _with_table(place: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # lost totals are computed again
        if connection.execute("PRAGMA user_version").fetchone() != (FORM,):
            connection.execute("BEGIN IMMEDIATE")  # another process may do the same
            if connection.execute("PRAGMA user_version").fetchone() != (FORM,):
                connection.execute("DROP TABLE IF EXISTS blocks")
                connection.execute(
                    "CREATE TABLE blocks (number INTEGER PRIMARY KEY, written TEXT,"
                    " first INTEGER, last INTEGER, moved TEXT, changes TEXT, sum TEXT)"
                )
                connection.execute(f"PRAGMA user_version = {FORM}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _totals(desk: Desk, number: int) -> TotalsOfBlock:
    first, last = number * BLOCK + 1, (number + 1) * BLOCK
    return TotalsOfBlock([*moved_by_quarter(desk, first, last)], changes(desk, first, last))


def _full_blocks(desk: Desk, first: int) -> Iterator[tuple[int, str]]:
    """Yield the full blocks that begin at transfer `first` or later: the number of each, and the
    digest of its last transfer."""
    newest = _UP_TO.first(desk.connection, number=NO_BOUND)
    if newest is None:
        return
    number = -(-(first - 1) // BLOCK)
    while (number + 1) * BLOCK <= newest.number:
        last = _UP_TO.one(desk.connection, number=(number + 1) * BLOCK)
        if last.number <= number * BLOCK:  # a restore leaves numbers out
            following = _FROM.one(desk.connection, number=number * BLOCK + 1)
            number = (following.number - 1) // BLOCK
            continue
        yield number, last.digest
        number += 1
