"""The move of books from a file to a server, or back: copied and compared row by row.

All rows are written in one transaction, so the target has all of them or none. Nobody can write to
the source meanwhile, and no board serves from it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, func, select, tuple_

from timebank import serving
from timebank.audit.accounts import audit
from timebank.calls.calls import open_calls
from timebank.errors import BooksTaken, MoveRefused
from timebank.ledger import dialects
from timebank.ledger.database import Database, Desk
from timebank.ledger.schema import (
    LOCAL_TABLES,
    MOVED_AWAY,
    accounts,
    callers,
    metadata,
    transfers,
)
from timebank.ledger.sqlite import high_water, live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings

BATCH = 1000  # rows per statement
Row = tuple[Any, ...]


class Moved(NamedTuple):
    """The number of rows moved, and the number of errors that the audit finds in them."""

    rows: int
    findings: int


def move(source: Database, target: Database, settings: BankSettings, now: datetime) -> Moved:
    """Move the books of `source` to `target`, which must be new or empty.

    Raises `MoveRefused`, and `DatabaseRefused` if either cannot be opened. The books are unchanged
    in `source` then.
    """
    with ExitStack() as locks:
        for place in {_lock_of(each, settings) for each in (source, target)}:
            try:
                locks.enter_context(serving.take(place, serving.MOVING))
            except BooksTaken as taken:
                raise MoveRefused(f"{taken} Close the board, then move its books.") from taken
        return _move(source, target, settings, now)


def _lock_of(books: Database, settings: BankSettings) -> str:
    if isinstance(books, SqliteDatabase):
        return serving.place_of(str(books.path))
    return serving.place_of(str(settings.database), on_server=True)


def _move(source: Database, target: Database, settings: BankSettings, now: datetime) -> Moved:
    source.open_existing()
    target.open()
    with target.reading(settings, now) as there:
        _refuse_occupied(there, target)
    with source.transaction(settings, now) as here, target.transaction(settings, now) as there:
        _refuse_while_in_use(here, source)
        for desk in (here, there):
            dialects.dialect_of(desk.connection).keep_open(desk.connection)
        # The system's accounts, which are empty: they are copied with the others.
        there.connection.execute(accounts.delete())
        dialects.dialect_of(there.connection).disable_triggers(there.connection)
        for table in _tables():
            _copy(here.connection, there.connection, table)
        _continue_numbers(here.connection, there.connection)
        dialects.dialect_of(there.connection).enable_triggers(there.connection)
        rows = sum(_compare(here.connection, there.connection, each) for each in _tables())
        findings = len(audit(there))
        _mark_as_books(there, target)
        dialects.dialect_of(here.connection).set_program(here.connection, MOVED_AWAY)
    return Moved(rows, findings)


def _tables() -> list[Table]:
    """List the tables to copy, referenced tables first.

    The identity of the file and the servers that serve from it are not part of the books.
    """
    return [table for table in metadata.sorted_tables if table not in LOCAL_TABLES]


def _refuse_occupied(there: Desk, target: Database) -> None:
    for table in (callers, transfers):
        if there.connection.execute(select(func.count()).select_from(table)).scalar_one():
            raise MoveRefused(f"There are books in {target.place} already: move them away.")


def _refuse_while_in_use(here: Desk, source: Database) -> None:
    # No server serves from a file now, because this process holds the lock of the file.
    on_call = [] if isinstance(source, SqliteDatabase) else open_calls(here)
    if names := ", ".join(call.name for call in on_call if call.live):
        raise MoveRefused(f"On a call just now: {names}. Close the board, then move its books.")
    if dialects.dialect_of(here.connection).is_shared(here.connection):
        raise MoveRefused(
            f"Another process has {source.place} open. Close the board, then move its books."
        )


def _columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if column.computed is None]


def _rows(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """Yield the rows in the order of their keys, in batches."""
    after: Row | None = None
    columns, key = _columns(table), list(table.primary_key)
    places = [columns.index(column) for column in key]
    while True:
        chosen = select(*columns).order_by(*key).limit(BATCH)
        if after is not None:
            chosen = chosen.where(tuple_(*key) > tuple_(*after))
        rows = [tuple(row) for row in connection.execute(chosen)]
        if not rows:
            return
        yield rows
        after = tuple(rows[-1][place] for place in places)


def _copy(here: Connection, there: Connection, table: Table) -> None:
    names = [column.name for column in _columns(table)]
    for rows in _rows(here, table):
        there.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in rows])


def _continue_numbers(here: Connection, there: Connection) -> None:
    """Let every table continue its numbers after the last one that it has given."""
    for table, last in dialects.dialect_of(here).last_given_numbers(here).items():
        dialects.dialect_of(there).set_next_number(there, table, last + 1)
    high_water.raise_count(there, high_water.read_count(here))


def _compare(here: Connection, there: Connection, table: Table) -> int:
    """Count the rows of a table. Raises `MoveRefused` if they differ between the places."""
    count = 0
    ours = (row for rows in _rows(here, table) for row in rows)
    theirs = (row for rows in _rows(there, table) for row in rows)
    for one, other in zip_longest(ours, theirs):
        if one != other:
            key = (one or other or ())[: len(table.primary_key)]
            raise MoveRefused(
                f"Row {key} of the table {table.name} differs between the two places. Move the"
                " books into a new one."
            )
        count += 1
    return count


def _mark_as_books(there: Desk, target: Database) -> None:
    """Note next to a target file that it has the books now."""
    connection = there.connection
    if isinstance(target, SqliteDatabase):
        mark = live_mark.new_mark()
        live_mark.set_mark(connection, mark, None)
        high_water.raise_count(connection, high_water.read(target.path))
        live_mark.write_note(target.path, live_mark.note_of(connection, [mark], there.now))
