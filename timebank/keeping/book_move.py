"""Books are moved from a file to a server, or back: row by row, and compared row by row.

Nobody serves from the new place before all is there: until then it says of itself that a move has
begun, and so it says when the move breaks off, which then goes on where it was. Nobody writes into
the old place meanwhile, and nobody serves from it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, func, select, tuple_
from sqlalchemy.exc import DBAPIError

from timebank import serving
from timebank.audit.accounts import audit
from timebank.calls.calls import open_calls
from timebank.errors import BooksTaken, DatabaseRefused, MoveRefused
from timebank.ledger import dialects
from timebank.ledger.database import Database, Desk
from timebank.ledger.schema import (
    APPLICATION_ID,
    MOVED_AWAY,
    MOVING_IN,
    OF_THIS_PLACE,
    accounts,
    callers,
    metadata,
    transfers,
)
from timebank.ledger.sqlite import high_water, live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings

BATCH = 1000  # rows that are written, and committed, at once
Row = tuple[Any, ...]


class Moved(NamedTuple):
    """What was moved: rows of all tables, and how many things the audit finds wrong in them."""

    rows: int
    findings: int


def move(source: Database, target: Database, settings: BankSettings, now: datetime) -> Moved:
    """Move the books of `source` to `target`, which is new, or where a move has broken off.

    Raises `MoveRefused`, and `DatabaseRefused` where either cannot be opened; the books are in
    their old place then, and whole.
    """
    with ExitStack() as kept:
        for place in {_lock_of(each, settings) for each in (source, target)}:
            try:
                kept.enter_context(serving.take(place, serving.MOVING))
            except BooksTaken as taken:
                raise MoveRefused(f"{taken} Close the board, then move its books.") from taken
        return _move(source, target, settings, now)


def _lock_of(books: Database, settings: BankSettings) -> str:
    if isinstance(books, SqliteDatabase):
        return serving.place_of(str(books.path))
    return serving.place_of(str(settings.database), on_server=True)


def _move(source: Database, target: Database, settings: BankSettings, now: datetime) -> Moved:
    source.open_existing()
    _begin(target, settings, now)
    with source.transaction(settings, now) as here:
        _refuse_company(here, source)
        dialects.of(here.connection).stay(here.connection)
        for table in _tables():
            _copy(here.connection, table, target, settings, now)
        _go_on(here.connection, target, settings, now)
        with target.transaction(settings, now) as there:
            dialects.of(there.connection).stay(there.connection)
            dialects.of(there.connection).post_guards(there.connection)
            rows = sum(_compare(here.connection, there.connection, each) for each in _tables())
            findings = _audited_alike(here, there)
            _finish(there, target)
        dialects.of(here.connection).set_program(here.connection, MOVED_AWAY)
    return Moved(rows, findings)


def _tables() -> list[Table]:
    """List the tables that are copied, those first which others refer to.

    What tells a file from its copy is no part of the books, nor who serves from them.
    """
    return [table for table in metadata.sorted_tables if table not in OF_THIS_PLACE]


def _begin(target: Database, settings: BankSettings, now: datetime) -> None:
    try:
        target.open()
    except DatabaseRefused as refused:
        if not _is_moving_in(target):
            raise refused from None
        return
    with target.transaction(settings, now) as desk:
        for table in (callers, transfers):
            if desk.connection.execute(select(func.count()).select_from(table)).scalar_one():
                raise MoveRefused(f"There are books in {target.place} already: move them away.")
        # Those of the system, with nothing in them: they come with the others.
        desk.connection.execute(accounts.delete())
        dialects.of(desk.connection).take_guards_away(desk.connection)
        dialects.of(desk.connection).set_program(desk.connection, MOVING_IN)


def _is_moving_in(target: Database) -> bool:
    """Return whether a move into these books has begun; False where nobody can read that."""
    try:
        with target.engine.connect().execution_options(read_only=True) as connection:
            return dialects.of(connection).program(connection) == MOVING_IN
    except (DBAPIError, DatabaseRefused):
        return False


def _refuse_company(here: Desk, source: Database) -> None:
    # Who serves from a file holds the lock that is ours now.
    on_call = [] if isinstance(source, SqliteDatabase) else open_calls(here)
    if names := ", ".join(call.name for call in on_call if call.live):
        raise MoveRefused(f"On a call just now: {names}. Close the board, then move its books.")
    if dialects.of(here.connection).is_shared(here.connection):
        raise MoveRefused(
            f"Another process has {source.place} open. Close the board, then move its books."
        )


def _columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if column.computed is None]


def _rows(connection: Connection, table: Table, after: Row | None = None) -> Iterator[list[Row]]:
    """Read the rows behind a key in the order of their keys, some at a time."""
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


def _copy(
    here: Connection, table: Table, target: Database, settings: BankSettings, now: datetime
) -> None:
    key = list(table.primary_key)
    with target.reading(settings, now) as there:
        last = select(*key).order_by(*(column.desc() for column in key)).limit(1)
        found = there.connection.execute(last).first()
    names = [column.name for column in _columns(table)]
    for rows in _rows(here, table, None if found is None else tuple(found)):
        with target.transaction(settings, now) as there:
            values = [dict(zip(names, row, strict=True)) for row in rows]
            there.connection.execute(table.insert(), values)


def _go_on(here: Connection, target: Database, settings: BankSettings, now: datetime) -> None:
    """Let every table go on with the number after the last that it has given."""
    with target.transaction(settings, now) as there:
        for table, last in dialects.of(here).given_numbers(here).items():
            dialects.of(there.connection).go_on_from(there.connection, table, last + 1)
        high_water.go_on_past(there.connection, high_water.count_of(here))


def _compare(here: Connection, there: Connection, table: Table) -> int:
    """Count the rows of a table, which are the same in both places; raises `MoveRefused`."""
    count = 0
    ours = (row for rows in _rows(here, table) for row in rows)
    theirs = (row for rows in _rows(there, table) for row in rows)
    for one, other in zip_longest(ours, theirs):
        if one != other:
            key = (one or other or ())[: len(table.primary_key)]
            raise MoveRefused(
                f"Of the table {table.name}, the row of {key} is not the same in both places. Move"
                " the books into a new one."
            )
        count += 1
    return count


def _audited_alike(here: Desk, there: Desk) -> int:
    ours, theirs = ([str(finding) for finding in audit(desk)] for desk in (here, there))
    if ours != theirs:
        raise MoveRefused("The audit does not find the same in both places.")
    return len(ours)


def _finish(there: Desk, target: Database) -> None:
    """Have the new place be the books, and known as such beside its file."""
    connection = there.connection
    dialects.of(connection).set_program(connection, APPLICATION_ID)
    if isinstance(target, SqliteDatabase):
        mark = live_mark.new_mark()
        live_mark.set_mark(connection, mark, None)
        high_water.go_on_past(connection, high_water.read(target.path))
        live_mark.write_note(target.path, live_mark.note_of(connection, [mark], there.now))
