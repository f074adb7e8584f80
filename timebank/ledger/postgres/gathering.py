"""Operations of many calls that are carried out together, in three trips to the server.

One by one, each waits for its statements, and everybody waits for the one who writes. Here what
they must know is read for all of them beforehand (`Foreseen`), what they write is gathered and
written by one statement of each kind, and only then comes the turn at the chain of transfers.

What keeps them apart from others meanwhile:

- the lock to write is shared by those who gather; who works alone has it alone, as ever;
- the callers of the calls are locked in the order of their numbers, before anything is read of
  them: nobody else gathers for them, or reads what is about to change;
- the notary's lock is taken last, for the COMMIT. Under it transfers get numbers and digests, so
  the chain is one, whoever writes, and says what it says of books in a file.

An operation that asks or does what is not foreseen raises `NotForeseen`, and nothing of it is kept:
it is to be carried out by itself. So is the whole group where a row was not changed that should
have been, or the server refuses a statement: in a group it cannot be said whose fault that is.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import psycopg
from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Insert,
    Table,
    Update,
    bindparam,
    column,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.sql import visitors
from sqlalchemy.types import TypeEngine

from timebank.errors import NotForeseen, NotTogether
from timebank.ledger import chain, sql
from timebank.ledger.chain import Head
from timebank.ledger.database import Desk
from timebank.ledger.machine import ClockReading
from timebank.ledger.postgres import dialect as postgres
from timebank.ledger.postgres.connection import PATIENCE, BooksConnection, Operation
from timebank.ledger.schema import metadata, transfers
from timebank.ledger.sql import GATHERING, STATEMENTS, Foreseen, Prepared
from timebank.ledger.transfers import COLUMNS, Waiting, written
from timebank.settings.settings import BankSettings

T = TypeVar("T")
Values = dict[str, Any]
Rows = psycopg.Cursor[Any]

_AS_ARRAY = str.maketrans("[]", "{}")
_HEAD = Prepared(lambda: select(*chain.head_columns()))
_ADD = Prepared(lambda: sql.insert_into(transfers, COLUMNS), gathered="one")

# How much the last group counts in how many numbers the next one is expected to need.
RECENT = 0.3
# How many more are asked for where these do not suffice, which costs a trip; or as many again.
MORE = 8


class PostgresGathering:
    """A transaction in which operations of some calls are carried out together."""

    def __init__(self, connection: BooksConnection, calls: Sequence[int]) -> None:
        """Take a connection that has no transaction, and the calls, none of them twice."""
        # By what its COMMIT can be looked up, once there is anything to commit.
        self.mark: Operation | None = None
        self._connection = connection
        self._calls = calls
        self._left = len(calls)
        self._covered: dict[str, frozenset[int]] = {}
        self._known: dict[Prepared, _Known] = {}
        self._numbers: dict[str, list[int]] = {}
        self._used: dict[str, int] = {}
        self._waiting: list[Waiting] = []
        self._waves: list[_Wave] = []
        self._before = Head(0, "")

    def begin(self, milliseconds: int) -> None:
        """Begin, and read what operations of these calls need.

        Raises psycopg.Error: `is_waiting` where somebody else had the turn for so long.
        """
        of_calls = json.dumps(list(self._calls))
        expected = self._connection.expected_numbers
        with self._trip() as run:
            run(postgres.BEGIN)
            run(postgres.BEGIN_GATHERING, [str(max(1, milliseconds))])
            callers = run(postgres.LOCK_CALLERS, [of_calls.translate(_AS_ARRAY)])
            found = [(each, run(_ahead(each), {"calls": of_calls})) for each in _foreseen()]
            given = [
                (table, run(postgres.NUMBERS, _sequence(table, int(count))))
                for table, count in expected.items()
                if count >= 1
            ]
        self._covered = {
            "call": frozenset(self._calls),
            "caller": frozenset(number for (number,) in callers),
        }
        for statement, rows in found:
            assert statement.foreseen is not None
            self._known[statement] = _Known(statement.foreseen, rows)
        self._numbers = {table: [number for (number,) in rows][::-1] for table, rows in given}

    def carry_out(
        self,
        operation: Callable[[Desk], T],
        settings: BankSettings,
        clock: datetime | ClockReading,
    ) -> T:
        """Do an operation of one of the calls, which writes nothing yet, and give its result.

        Raises what it raises, and nothing of it is kept then.
        """
        books, waiting = _Books(self), list[Waiting]()
        self._left -= 1
        result = operation(Desk(cast(Connection, books), settings, clock, waiting))
        self._waiting += waiting
        place = 0
        for statement, values in books.writes:
            place = self._join(statement, values, place)
        return result

    def write(self) -> None:
        """Write all that was gathered, and take the turn at the chain; nothing is committed.

        Raises `NotTogether`, and psycopg.Error.
        """
        self._expect()
        if not self._waves and not self._waiting:
            return
        head: Rows | None = None
        mark = self._connection.next_operation()
        with self._trip() as run:
            done = [(wave, wave.run(run)) for wave in self._waves]
            # Not beside the COMMIT: whoever asks what became of it must meet the lock on this row.
            run(postgres.NOTE, mark)
            if self._waiting:
                run(postgres.TURN_OF_NOTARY)
                head = run(_HEAD.sql(postgres.DIALECT), {})
        for wave, rows in done:
            if wave.statement.gathered == "one" and rows.rowcount != len(wave.rows):
                raise NotTogether(wave.statement.where)
        if head is not None:
            self._before = Head(*cast("tuple[int, str]", head.fetchone()))
        self.mark = mark

    def commit(self) -> None:
        """Commit what was written; psycopg.Error, after which it may be there or not."""
        if self.mark is None:
            self._connection.rollback()
            return
        entries = _Wave(_ADD, list(self._numbered()))
        with self._trip() as run:
            if entries.rows:
                entries.run(run)
            self._connection.commit()

    def answer(self, statement: Prepared, values: Values, is_first: bool) -> _Answer:
        """Answer a query out of what was read beforehand; `NotForeseen`.

        That was before the operation wrote anything: `is_first` where it has not yet.
        """
        known = self._known[statement]
        key = known.key_of(values)
        if known.of and not (is_first and key[0] in self._covered[known.of]):
            raise NotForeseen
        return _Answer(known.rows.get(key, []))

    def number(self, table: str) -> int:
        """Give the number of a new row of a table; psycopg.Error."""
        used = self._used[table] = self._used.get(table, 0) + 1
        numbers = self._numbers.setdefault(table, [])
        if not numbers:
            count = min(self._left + 1, max(used, MORE))
            with self._trip() as run:
                rows = run(postgres.NUMBERS, _sequence(table, count))
            numbers += [number for (number,) in rows][::-1]
        return numbers.pop()

    @contextmanager
    def _trip(self) -> Iterator[Callable[..., Rows]]:
        """Run statements whose answers are there when the block has ended."""
        self._connection.patience = PATIENCE
        with postgres.without_rows(), self._connection.pipeline():
            yield partial(self._connection.execute, prepare=True)

    def _join(self, statement: Prepared, values: Values, place: int) -> int:
        """Put a write into the first wave of its kind that is not before another of its own."""
        for index in range(place, len(self._waves)):
            if self._waves[index].statement is statement:
                self._waves[index].rows.append(values)
                return index
        self._waves.append(_Wave(statement, [values]))
        return len(self._waves) - 1

    def _expect(self) -> None:
        """Learn how many numbers a group needs: those that nobody takes are left out for good."""
        expected = self._connection.expected_numbers
        for table in {*expected, *self._used}:
            used = self._used.get(table, 0)
            expected[table] = (1 - RECENT) * expected.get(table, 0) + RECENT * used

    def _numbered(self) -> Iterator[Values]:
        """Give the rows of all entries, which have their numbers and digests now."""
        names = COLUMNS.split()
        before = self._before
        for at, movements in self._waiting:
            for values in written(before, at, movements):
                row: Values = dict(zip(names, values, strict=True))
                before = Head(row["id"], row["digest"])
                yield row


class _Known:
    """What was read beforehand for a query, by the values that it is asked with."""

    def __init__(self, foreseen: Foreseen, found: Rows) -> None:
        self.of = foreseen.of
        self._key = foreseen.key.split()
        assert found.description is not None
        row = _row_of(tuple(column.name for column in found.description[len(self._key) :]))
        self.rows: dict[tuple[Any, ...], list[Any]] = {}
        for values in found:
            key = values[: len(self._key)]
            self.rows.setdefault(key, []).append(row(values[len(self._key) :]))

    def key_of(self, values: Values) -> tuple[Any, ...]:
        return tuple([values[name] for name in self._key])


@cache
def _row_of(names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    kind: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    make: Callable[[Sequence[Any]], Any] = kind._make
    return make


class _Wave(NamedTuple):
    """Writes of one kind, which are run as one statement."""

    statement: Prepared
    rows: list[Values]

    def run(self, run: Callable[..., Rows]) -> Rows:
        rows = json.dumps(self.rows, ensure_ascii=False, default=_as_bytea)
        return run(_of_many(self.statement), {"rows": rows})


def _as_bytea(value: object) -> str:
    assert isinstance(value, bytes)
    return f"\\x{value.hex()}"


# What an operation has for a connection.


class _Answer:
    """The rows that a query has found."""

    returns_rows = True

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> list[Any]:
        return self._rows

    def first(self) -> Any:
        return self._rows[0] if self._rows else None

    def scalar(self) -> Any:
        return self._rows[0][0] if self._rows else None

    def __getattr__(self, name: str) -> NoReturn:
        raise NotForeseen(name)


class _Write:
    """A write that will have been done, of which nobody knows more."""

    returns_rows = False

    def __init__(self, gathering: PostgresGathering, statement: Prepared, values: Values) -> None:
        self._gathering = gathering
        self._statement = statement
        self._values = values

    @property
    def rowcount(self) -> int:
        if self._statement.gathered != "one":
            raise NotForeseen
        return 1

    @property
    def lastrowid(self) -> int:
        table, key = _numbered_by(self._statement)
        number = self._values[key] = self._gathering.number(table)
        return number

    def __getattr__(self, name: str) -> NoReturn:
        raise NotForeseen(name)


class _Gathers(NamedTuple):
    name: str = GATHERING


class _Books:
    """What stands in the place of a connection: it answers what is foreseen, and keeps writes."""

    dialect = _Gathers()

    def __init__(self, gathering: PostgresGathering) -> None:
        self._gathering = gathering
        self.writes: list[tuple[Prepared, Values]] = []

    def exec_driver_sql(self, statement: object, values: Values) -> _Answer | _Write:
        if not isinstance(statement, Prepared):
            raise NotForeseen(statement)
        if statement.foreseen is not None:
            return self._gathering.answer(statement, values, not self.writes)
        if not statement.gathered:
            raise NotForeseen(statement.where)
        self.writes.append((statement, values))
        return _Write(self._gathering, statement, values)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotForeseen(name)


# Statements for many.


def _foreseen() -> tuple[Prepared, ...]:
    return _foreseen_among(len(STATEMENTS))


@cache
def _foreseen_among(count: int) -> tuple[Prepared, ...]:
    return tuple(each for each in STATEMENTS[:count] if each.foreseen is not None)


@cache
def _ahead(statement: Prepared) -> str:
    assert statement.foreseen is not None
    return sql.text_of(statement.foreseen.ahead(), postgres.DIALECT).sql


@cache
def _of_many(statement: Prepared) -> str:
    """Give the text that does for each of the `rows`, a JSON array, what a statement does for one.

    What it is given is taken from a row of the array.
    """
    one = statement.build()
    assert isinstance(one, Insert | Update)
    assert isinstance(one.table, Table)
    types: dict[str, TypeEngine[Any]] = {}
    columns = one.table.c
    values = {
        columns[getattr(each, "name", each)]: given for each, given in (one._values or {}).items()
    }
    for target, value in values.items():
        if isinstance(value, BindParameter) and value.required:
            types[value.key] = target.type
    where = one._where_criteria if isinstance(one, Update) else ()
    for part in (*values.values(), *where):
        for each in visitors.iterate(part):
            if isinstance(each, BindParameter) and each.required:
                types.setdefault(each.key, each.type)
    number = _number_of(one.table) if isinstance(one, Insert) else None
    if number is not None:
        types[number.name] = number.type
    given = (
        func.json_to_recordset(as_type(bindparam("rows"), JSON))
        .table_valued(*(column(name, type_) for name, type_ in types.items()))
        .render_derived(name="given", with_types=True)
    )

    def replaced(element: Any, **_: Any) -> Any:
        if isinstance(element, BindParameter) and element.required:
            return given.c[element.key]
        return None

    def of_row(part: Any) -> Any:
        return visitors.replacement_traverse(part, {}, replaced)

    taken = {target: of_row(value) for target, value in values.items()}
    if isinstance(one, Update):
        many = update(one.table).values(taken).where(*map(of_row, where))
        return sql.text_of(many, postgres.DIALECT).sql
    if number is not None and number not in taken:
        next_one: ColumnElement[int] = literal_column(
            f"nextval(pg_get_serial_sequence('{one.table.name}', '{number.name}'))"
        )
        taken[number] = func.coalesce(given.c[number.name], next_one)
    rows = select(*taken.values()).select_from(given)
    names = [target.name for target in taken]
    return sql.text_of(insert(one.table).from_select(names, rows), postgres.DIALECT).sql


def _number_of(table: Table) -> Column[Any] | None:
    """Give the column of a table that gets numbers by itself."""
    if table.name in postgres.WITHOUT_GAPS:
        return None
    return next(filter(postgres.gives_numbers, table.c), None)


@cache
def _numbered_by(statement: Prepared) -> tuple[str, str]:
    one = statement.build()
    assert isinstance(one, Insert)
    assert isinstance(one.table, Table)
    number = _number_of(one.table)
    assert number is not None
    return one.table.name, number.name


def _sequence(table: str, count: int) -> list[object]:
    number = _number_of(metadata.tables[table])
    assert number is not None
    return [table, number.name, count]
