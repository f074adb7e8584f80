"""Statements in SQLAlchemy Core, compiled once for a dialect and run as prepared text.

A `Prepared` is made at the top of a module, from a function that builds the statement. The first
run builds and compiles it, so a program that never runs it pays nothing (a large statement takes
0.2 ms). Constants of the statement ("kind = 'house'") are written into its text, because SQLite
uses a partial index only when the text names its condition. Each run gives the values of the
names in `bindparam`:

    _RENAME = Prepared(lambda: change(callers, "name", equal(callers.c.id)))
    _RENAME(desk.connection, name="Ann", id=7)

Rows are read by name, as records or as single values:

    _CALLER = read(Caller, lambda: fields_of(Caller, callers).where(equal(callers.c.id)))
    _COUNT: Reader[int] = value(lambda: select(func.count()).select_from(callers))
    ann = _CALLER.one(desk.connection, id=7)

`connection.execute` would look each statement up by all of its parts on every run. An UPDATE by
number takes 11.7 microseconds that way, 5.8 as a `Prepared`, and 5.3 as a string (SQLAlchemy 2.1.9
on SQLite in memory). A bet is some fifteen such statements, in a transaction of half a millisecond.

For a query SQLAlchemy spends thirteen microseconds more on the names and types of the columns,
while SQLite needs one to find the row. Records, values and row counts need neither, so they are
read from the driver's cursor. Through SQLAlchemy, 64 bettors would have half as many transactions
a second. A statement that fails there raises SQLAlchemy's error, like any other statement.

`defer` runs a write whose result is not read. It saves a round trip to a server.

Statements use only SQL that all dialects understand. Functions in this module hide differences
between dialects. A list of any length is passed as one value, its JSON (`among`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Dialect,
    Executable,
    FromClause,
    Integer,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    case,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement, Insert

Rows: TypeAlias = "CursorResult[*tuple[Any, ...]]"
Query: TypeAlias = "Select[*tuple[Any, ...]]"
Build: TypeAlias = Callable[[], Executable]
R = TypeVar("R")

# Above every number in the books, for queries without a bound.
NO_BOUND = 2**62

# All statements, for the test that each dialect understands them.
STATEMENTS: list[Prepared] = []


# Turns values by name into the parameters that the driver takes.
Pick: TypeAlias = Callable[[Mapping[str, object]], Any]


class _Text(NamedTuple):
    sql: str
    pick: Pick


# The connection option, set for large books, that holds SQLAlchemy's options for reading many rows
# in parts.
LONG_READS = "long_reads"


class DeferredWrite(Protocol):
    """A write that runs together with the next statement."""

    @property
    def rowcount(self) -> int:
        """The number of changed rows; undefined before the next statement."""


class Prepared:
    """A statement of SQLAlchemy Core that is compiled once for each dialect."""

    __slots__ = ("_texts", "build", "origin")

    def __init__(self, build: Build) -> None:
        """Register the statement that `build` returns; `build` is called once for each dialect."""
        self.build = build
        self._texts: dict[str, _Text] = {}
        self.origin = f"{build.__module__}:{build.__code__.co_firstlineno}"
        STATEMENTS.append(self)

    def __call__(self, connection: Connection, /, **values: object) -> Rows:
        """Run the statement with all its parameters.

        Raises KeyError for a missing parameter.
        """
        sql, pick = self.text(connection.dialect)
        return connection.exec_driver_sql(sql, pick(values))

    def run_long(self, connection: Connection, /, **values: object) -> Rows:
        """Run a query whose answer grows with the age of the books.

        The rows are never all in memory. SQLite returns them one by one, and a server with large
        books sends some at a time.
        """
        options = connection.get_execution_options().get(LONG_READS)
        sql, pick = self.text(connection.dialect)
        return connection.exec_driver_sql(sql, pick(values), execution_options=options)

    def insert(self, connection: Connection, /, **values: object) -> int:
        """Run an INSERT and return the number of the new row.

        SQLite keeps the number on the cursor; RETURNING would take 7 microseconds more. For other
        dialects SQLAlchemy adds RETURNING to the text by itself.
        """
        cursor = self.cursor(connection, values)
        return int(cursor.lastrowid if cursor.description is None else cursor.fetchone()[0])

    def count_changed(self, connection: Connection, /, **values: object) -> int:
        """Run a write and return the number of changed rows."""
        return int(self.cursor(connection, values).rowcount)

    def defer(self, connection: Connection, /, **values: object) -> DeferredWrite:
        """Run a write before the next statement or the COMMIT, and send both to a server at once.

        Its errors are raised by that statement or COMMIT.
        """
        sql, pick = self.text(connection.dialect)
        return _defer(connection, sql, pick(values))

    def run_each(self, connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
        """Run the statement once for each row of parameters; there is at least one row."""
        sql, pick = self.text(connection.dialect)
        connection.exec_driver_sql(sql, [pick(values) for values in rows])

    def sql(self, dialect: Dialect) -> str:
        """Return the SQL; raises SQLAlchemy's error for SQL that the dialect does not know."""
        return self.text(dialect).sql

    def text(self, dialect: Dialect) -> _Text:
        """Return the SQL, and the function that makes the driver's parameters of named values."""
        text = self._texts.get(dialect.name)
        if text is None:
            text = self._texts[dialect.name] = compile_text(self.build(), dialect)
        return text

    def cursor(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Run the statement on a cursor of the driver, and return the cursor."""
        sql, pick = self.text(connection.dialect)
        return _executed(connection, sql, pick(values))


class Reader(Prepared, Generic[R]):
    """A query that makes one typed object of each row."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Any], R], build: Build) -> None:
        """Register the query of `build`; `make` turns a row into an object."""
        super().__init__(build)
        self._make = make

    def one(self, connection: Connection, /, **values: object) -> R:
        (row,) = self.cursor(connection, values).fetchall()
        return self._make(row)

    def first(self, connection: Connection, /, **values: object) -> R | None:
        row = self.cursor(connection, values).fetchone()
        return None if row is None else self._make(row)

    def all(self, connection: Connection, /, **values: object) -> list[R]:
        return list(map(self._make, self.cursor(connection, values).fetchall()))

    def stream(self, connection: Connection, /, **values: object) -> Iterator[R]:
        """Yield the objects row by row; the query runs when the first is requested."""
        if LONG_READS in connection.get_execution_options():
            yield from map(self._make, self.run_long(connection, **values))
        else:
            yield from map(self._make, self.cursor(connection, values))


def _executed(connection: Connection, sql: str, values: Any) -> Any:
    if not connection.in_transaction():
        connection.begin()
    cursor = connection.connection.cursor()
    try:
        cursor.execute(sql, values)
    except connection.dialect.loaded_dbapi.Error as error:
        kind, dialect = connection.dialect.loaded_dbapi.Error, connection.dialect
        raise DBAPIError.instance(
            sql, values, error, kind, hide_parameters=True, dialect=dialect
        ) from error
    return cursor


def read(kind: type[R], build: Build) -> Reader[R]:
    """Prepare a query whose rows become records: `kind` is a named tuple with a field a column."""
    return Reader(kind._make, build)  # type: ignore[attr-defined]


def value(build: Build) -> Reader[Any]:
    """Prepare a query of one column; the variable it is assigned to declares the type."""
    return Reader(itemgetter(0), build)


class Insertion:
    """An INSERT of any number of rows at once, with values in the order of the columns."""

    def __init__(self, table: Table, columns: str) -> None:
        """Prepare the INSERT; `columns` are names between spaces, in the order of the table."""
        names = columns.split()
        assert names == [column.name for column in table.c if column.name in names]

        @lru_cache(maxsize=64)
        def statement_for(size: int) -> tuple[Prepared, list[str]]:
            rows = [{name: f"{name}_{number}" for name in names} for number in range(size)]
            bound: list[dict[str, Any]] = [
                {name: bindparam(parameter) for name, parameter in row.items()} for row in rows
            ]
            statement = Prepared(lambda: insert(table).values(bound))
            return statement, [parameter for row in rows for parameter in row.values()]

        self._statement_for = statement_for
        statement_for(1)

    def defer(self, connection: Connection, size: int, values: Sequence[object]) -> None:
        """Insert `size` rows as `Prepared.defer` does; `values` are those of all rows, in order."""
        statement, names = self._statement_for(size)
        sql = statement.sql(connection.dialect)
        if connection.dialect.positional:
            _defer(connection, sql, tuple(values))
        else:
            _defer(connection, sql, dict(zip(names, values, strict=True)))


def _defer(connection: Connection, sql: str, values: Any) -> DeferredWrite:
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        if driver.defers:
            deferred: DeferredWrite = driver.defer(sql, values)
            return deferred
    write: DeferredWrite = _executed(connection, sql, values)
    return write


class _LiteralsInText:
    """A compiler that writes constants into the text and leaves parameters open."""

    def visit_bindparam(self, bound: BindParameter[Any], **options: Any) -> str:
        if not bound.required:
            options["literal_binds"] = True
        text: str = super().visit_bindparam(bound, **options)  # type: ignore[misc]
        return text


def compile_text(statement: Executable, dialect: Dialect) -> _Text:
    """Compile a statement, with its constants in the text and its parameters open."""
    bases = (_LiteralsInText, dialect.statement_compiler)
    compiled = types.new_class("Compiler", bases)(dialect, statement)
    assert isinstance(compiled, SQLCompiler)
    assert not compiled.post_compile_params  # a list must be passed by `among`
    order = compiled.positiontup
    pick: Pick
    if order is None:
        pick = dict  # by name
    elif len(order) > 1:
        pick = itemgetter(*order)
    else:
        pick = _pick_one(order[0]) if order else _pick_none
    return _Text(str(compiled), pick)


def _pick_one(name: str) -> Pick:
    return lambda values: (values[name],)


def _pick_none(values: Mapping[str, object]) -> tuple[()]:
    return ()


# Short forms of statements. Columns are named in one text, with spaces between.


def parameters(*names: str) -> dict[str, BindParameter[Any]]:
    """Return a parameter for each column, by the column's name, for `values` of a statement."""
    return {name: bindparam(name) for each in names for name in each.split()}


def insert_into(table: Table, columns: str = "", **fixed: Any) -> Insert:
    """Build an INSERT with parameters for `columns` and the same `fixed` values in every row."""
    return insert(table).values({**parameters(columns), **fixed})


def change(table: Table, columns: str, *where: ColumnElement[bool], **fixed: Any) -> Update:
    """Build an UPDATE of the rows that meet all conditions; columns as in `insert_into`."""
    return update(table).values({**parameters(columns), **fixed}).where(*where)


def insert_or_change(table: Table, row: Mapping[str, Any], **change: Any) -> sqlite.Insert:
    """Build an INSERT that changes the row with the same key if the table has one.

    The SQL is the same for SQLite and PostgreSQL. SQLAlchemy has a construct for each; SQLite's is
    imported in any case, and postgres/dialect.py compiles it too.
    """
    key = [column.name for column in table.primary_key]
    return sqlite.insert(table).values(**row).on_conflict_do_update(index_elements=key, set_=change)


def insert_or_keep(table: Table, row: Mapping[str, Any]) -> sqlite.Insert:
    """Build an INSERT that does nothing if the key exists; see `insert_or_change`."""
    key = [column.name for column in table.primary_key]
    return sqlite.insert(table).values(**row).on_conflict_do_nothing(index_elements=key)


def fields_of(record: type[Any], table: FromClause, **others: Any) -> Query:
    """Build a SELECT of a record's fields from the columns of `table` with the same names.

    `others` gives the columns of fields with other names or from other tables.
    """
    names: tuple[str, ...] = record._fields
    assert others.keys() <= set(names)
    columns = (others[name] if name in others else table.c[name] for name in names)
    return select(*columns).select_from(table)


def columns_of(table: FromClause, names: str) -> list[ColumnElement[Any]]:
    return [table.c[name] for name in names.split()]


def equal(*columns: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(*(column == bindparam(column.key) for column in columns))


def any_row(*where: ColumnElement[bool]) -> Query:
    return select(literal(1)).where(*where).limit(1)


def total(amounts: ColumnElement[Any]) -> ColumnElement[int]:
    return func.coalesce(func.sum(amounts), 0)


def highest(column: ColumnElement[Any], otherwise: int = 0) -> ColumnElement[Any]:
    return func.coalesce(func.max(column), otherwise)


# SQL that differs between dialects.


def greatest(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the greater of two values that are not NULL."""
    return case((one < other, other), else_=one)


class by_name(FunctionElement[str]):
    """Sorts a column of names without regard to the case of A to Z."""

    inherit_cache = True


class json_map(FunctionElement[str]):
    """Two columns of all rows as a JSON object; the first column holds the keys."""

    inherit_cache = True


class json_list(FunctionElement[str]):
    """The columns of all rows as a JSON array of arrays; empty or NULL without rows."""

    inherit_cache = True


class _among(FunctionElement[bool]):
    """Whether a column is among the numbers in a JSON array."""

    inherit_cache = True  # without a type: SQLAlchemy would add "= 1" to a boolean


class _among_words(FunctionElement[bool]):
    """Whether a column is among the words in a JSON array."""

    inherit_cache = True


class last_number(FunctionElement[int]):
    """The last number that a table gave to a row, even a deleted one; NULL before the first."""

    inherit_cache = True

    def __init__(self, table: Table) -> None:
        """Name the table, which must be one that uses no number twice."""
        super().__init__(text(f"'{table.name}'"))


class database_seconds(FunctionElement[int]):
    """The time of the database server, in whole seconds since 1970.

    NULL for books in a file, because all their processes share the clock of the machine.
    """

    inherit_cache = True
    type = Integer()


def among(column: ColumnElement[int], name: str) -> ColumnElement[bool]:
    """Select rows whose column is in a list of numbers, passed as JSON under `name`."""
    return _among(column, bindparam(name))


def among_words(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Select rows whose column is in a list of words, passed as JSON under `name`."""
    return _among_words(column, bindparam(name))


def _write_as(element: type[FunctionElement[Any]], other: str, sqlite: str) -> None:
    def writer(template: str) -> Callable[..., str]:
        def write(this: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:
            parts = [compiler.process(each, **options) for each in this.clauses]
            return template.format(*parts, all=", ".join(parts))

        return write

    compiles(element)(writer(other))
    compiles(element, "sqlite")(writer(sqlite))


_write_as(by_name, "lower({})", "{} COLLATE NOCASE")
_write_as(json_map, "CAST(json_object_agg({all}) AS TEXT)", "json_group_object({all})")
_write_as(
    json_list,
    "CAST(json_agg(json_build_array({all})) AS TEXT)",
    "json_group_array(json_array({all}))",
)
_write_as(
    _among,
    "{} IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST({} AS JSON)))",
    "{} IN (SELECT value FROM json_each({}))",
)
_write_as(
    _among_words,
    "{} IN (SELECT json_array_elements_text(CAST({} AS JSON)))",
    "{} IN (SELECT value FROM json_each({}))",
)
_write_as(database_seconds, "CAST(floor(extract(EPOCH FROM clock_timestamp())) AS BIGINT)", "NULL")
_write_as(
    last_number,
    "(SELECT last FROM numbers WHERE name = {})",
    "(SELECT seq FROM sqlite_sequence WHERE name = {})",
)
