"""Statements in SQLAlchemy Core, compiled once for a dialect and run as prepared text.

A `Prepared` is made where a module begins, from a function that builds the statement. It is built
and compiled when it is first run, so that a program that never runs it pays nothing (a large one
takes 0.2 ms). What the statement says itself ("kind = 'house'") is written into its text, for
SQLite looks at an index of some rows only when it reads there that these are wanted. What
`bindparam` names is given with each run:

    _RENAME = Prepared(lambda: change(callers, "name", equal(callers.c.id)))
    _RENAME(desk.connection, name="Ann", id=7)

Rows are read by name, as records or as single values:

    _CALLER = read(Caller, lambda: fields_of(Caller, callers).where(equal(callers.c.id)))
    _COUNT: Reader[int] = value(lambda: select(func.count()).select_from(callers))
    ann = _CALLER.one(desk.connection, id=7)

Why not `connection.execute`: it looks each statement up by all of its parts, every time. An UPDATE
by number takes 11.7 microseconds so, 5.8 as a `Prepared`, and 5.3 as a string (SQLAlchemy 2.1.9 on
SQLite in memory). A bet is some fifteen such statements, in a transaction of half a millisecond.

A query takes SQLAlchemy more, thirteen microseconds, to say of each column what its name and its
type are; SQLite finds a row in one. Records, values and counts of rows need neither, so they are
read off the driver's own cursor: without that 64 bettors have half their transactions a second.
Where a statement fails there, the error is SQLAlchemy's, as of any statement.

`defer` runs a write whose result nobody reads, and saves a trip to a server.

No statement says what one dialect alone understands. Where dialects differ, a function here hides
it. A list of any length is given as one value, its JSON (`among`).
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

# A number that none reaches, for where there is no bound.
NO_BOUND = 2**62

# Every statement there is, for whoever would see whether a dialect understands them all.
STATEMENTS: list[Prepared] = []


# What turns values that are given by name into what the driver wants.
Pick: TypeAlias = Callable[[Mapping[str, object]], Any]


class _Text(NamedTuple):
    sql: str
    pick: Pick


# The option of a connection to large books under which stands how SQLAlchemy is to read very many
# rows, so that they come some at a time.
LONG_READS = "long_reads"


class DeferredWrite(Protocol):
    """A write that is run with the statement after it."""

    @property
    def rowcount(self) -> int:
        """How many rows it has changed; of no meaning before that statement."""


class Prepared:
    """A statement of Core whose text is made once for each dialect."""

    __slots__ = ("_texts", "build", "origin")

    def __init__(self, build: Build) -> None:
        """`build` makes the statement; it is called once for each dialect."""
        self.build = build
        self._texts: dict[str, _Text] = {}
        self.origin = f"{build.__module__}:{build.__code__.co_firstlineno}"
        STATEMENTS.append(self)

    def __call__(self, connection: Connection, /, **values: object) -> Rows:
        """Run it; `values` are all its parameters.

        Raises KeyError for one that is not given.
        """
        sql, pick = self.text(connection.dialect)
        return connection.exec_driver_sql(sql, pick(values))

    def run_long(self, connection: Connection, /, **values: object) -> Rows:
        """Run a query that finds the more rows the older the books are.

        However many they are, they are never all in memory: SQLite gives one after the other, and a
        server some at a time where the books are large.
        """
        how = connection.get_execution_options().get(LONG_READS)
        sql, pick = self.text(connection.dialect)
        return connection.exec_driver_sql(sql, pick(values), execution_options=how)

    def insert(self, connection: Connection, /, **values: object) -> int:
        """Run an INSERT, and give the number that the row got.

        SQLite tells it beside the statement. In the text of a dialect that does not, SQLAlchemy
        asks for it by itself; to have SQLite return it in a row would take 7 microseconds more.
        """
        cursor = self.cursor(connection, values)
        return int(cursor.lastrowid if cursor.description is None else cursor.fetchone()[0])

    def count_changed(self, connection: Connection, /, **values: object) -> int:
        """Run a write, and give how many rows it has changed."""
        return int(self.cursor(connection, values).rowcount)

    def defer(self, connection: Connection, /, **values: object) -> DeferredWrite:
        """Run it before the next statement, or before the COMMIT: a server is sent both at once.

        Nothing is known of it until then, and errors of it are raised there.
        """
        sql, pick = self.text(connection.dialect)
        return _defer(connection, sql, pick(values))

    def run_each(self, connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
        """Run it once for each row of parameters; at least one."""
        sql, pick = self.text(connection.dialect)
        connection.exec_driver_sql(sql, [pick(values) for values in rows])

    def sql(self, dialect: Dialect) -> str:
        """Give its text; raises what SQLAlchemy raises for what a dialect cannot say."""
        return self.text(dialect).sql

    def text(self, dialect: Dialect) -> _Text:
        """Give its text, and what makes the driver's parameters of values by name."""
        text = self._texts.get(dialect.name)
        if text is None:
            text = self._texts[dialect.name] = compile_text(self.build(), dialect)
        return text

    def cursor(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Run it on a cursor of the driver's, and return that."""
        sql, pick = self.text(connection.dialect)
        return _executed(connection, sql, pick(values))


class Reader(Prepared, Generic[R]):
    """A query each of whose rows becomes one thing, of a kind that is known."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Any], R], build: Build) -> None:
        """`make` turns a row into the thing."""
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
        """Read one row after the other; nothing is run before the first is asked for."""
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
    """Prepare a query whose rows are records: named tuples of as many fields as it has columns."""
    return Reader(kind._make, build)  # type: ignore[attr-defined]


def value(build: Build) -> Reader[Any]:
    """Prepare a query of one column; whoever names it says of what kind its values are."""
    return Reader(itemgetter(0), build)


class Insertion:
    """An INSERT of any number of rows at once, their values in the order of its columns."""

    def __init__(self, table: Table, columns: str) -> None:
        """`columns` are names between spaces, in the order of the table."""
        names = columns.split()
        assert names == [column.name for column in table.c if column.name in names]

        @lru_cache(maxsize=64)
        def of_size(size: int) -> tuple[Prepared, list[str]]:
            rows = [{name: f"{name}_{number}" for name in names} for number in range(size)]
            bound: list[dict[str, Any]] = [
                {name: bindparam(given) for name, given in row.items()} for row in rows
            ]
            statement = Prepared(lambda: insert(table).values(bound))
            return statement, [given for row in rows for given in row.values()]

        self._of_size = of_size
        of_size(1)

    def defer(self, connection: Connection, size: int, values: Sequence[object]) -> None:
        """Run it as `Prepared.defer` does."""
        statement, names = self._of_size(size)
        sql = statement.sql(connection.dialect)
        if connection.dialect.positional:
            _defer(connection, sql, tuple(values))
        else:
            _defer(connection, sql, dict(zip(names, values, strict=True)))


def _defer(connection: Connection, sql: str, values: Any) -> DeferredWrite:
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        if driver.defers:
            done: DeferredWrite = driver.defer(sql, values)
            return done
    found: DeferredWrite = _executed(connection, sql, values)
    return found


class _LiteralsInText:
    """Writes what a statement says itself into its text, and leaves open what is given."""

    def visit_bindparam(self, bound: BindParameter[Any], **how: Any) -> str:
        if not bound.required:
            how["literal_binds"] = True
        said: str = super().visit_bindparam(bound, **how)  # type: ignore[misc]
        return said


def compile_text(statement: Executable, dialect: Dialect) -> _Text:
    """Compile a statement: what it says itself is in its text, and what is given is left open."""
    bases = (_LiteralsInText, dialect.statement_compiler)
    compiled = types.new_class("Compiler", bases)(dialect, statement)
    assert isinstance(compiled, SQLCompiler)
    assert not compiled.post_compile_params  # a list goes by `among`
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


# Statements in few words. Columns are named in one text, with spaces between.


def parameters(*names: str) -> dict[str, BindParameter[Any]]:
    """Name columns whose values are given under their own names, for `values` of a statement."""
    return {name: bindparam(name) for each in names for name in each.split()}


def insert_into(table: Table, columns: str = "", **fixed: Any) -> Insert:
    """Add a row: values that are given for `columns`, and what is the same in every row."""
    return insert(table).values({**parameters(columns), **fixed})


def change(table: Table, columns: str, *where: ColumnElement[bool], **fixed: Any) -> Update:
    """Change the rows that meet all conditions: as `insert_into`, what is given and what is not."""
    return update(table).values({**parameters(columns), **fixed}).where(*where)


def insert_or_change(table: Table, row: Mapping[str, Any], **change: Any) -> sqlite.Insert:
    """Add a row, or change the one that has its key already.

    SQLite and PostgreSQL say that alike. Of SQLAlchemy's two constructs for it SQLite's is imported
    in any case (postgres/dialect.py takes it too).
    """
    key = [column.name for column in table.primary_key]
    return sqlite.insert(table).values(**row).on_conflict_do_update(index_elements=key, set_=change)


def insert_or_keep(table: Table, row: Mapping[str, Any]) -> sqlite.Insert:
    """Add a row, unless there is one that has its key already; see `insert_or_change`."""
    key = [column.name for column in table.primary_key]
    return sqlite.insert(table).values(**row).on_conflict_do_nothing(index_elements=key)


def fields_of(record: type[Any], table: FromClause, **others: Any) -> Query:
    """Choose the fields of a record from the columns of `table` that are called as they are.

    Those that are called otherwise, or are of other tables, are said by keyword.
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


# What dialects say in ways of their own.


def greatest(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """Give the greater of two values, neither of which is NULL."""
    return case((one < other, other), else_=one)


class by_name(FunctionElement[str]):
    """Sorts a column of names as if A to Z were written small."""

    inherit_cache = True


class json_map(FunctionElement[str]):
    """What is in two columns of all rows, as a JSON object by the first of them."""

    inherit_cache = True


class json_list(FunctionElement[str]):
    """What is in the columns of all rows, as a JSON array of arrays; none or NULL without rows."""

    inherit_cache = True


class _among(FunctionElement[bool]):
    """A column is among the numbers in a JSON array."""

    inherit_cache = True  # of no type: to a boolean one SQLAlchemy would add "= 1"


class last_number(FunctionElement[int]):
    """The last number that a table has given, whether its row is still there or not; or NULL."""

    inherit_cache = True

    def __init__(self, table: Table) -> None:
        """`table` is one that uses no number twice."""
        super().__init__(text(f"'{table.name}'"))


class database_seconds(FunctionElement[int]):
    """The time of the server that the books are on, in whole seconds since 1970.

    NULL for books in a file: whoever has them open has the clock of the machine.
    """

    inherit_cache = True
    type = Integer()


def among(column: ColumnElement[int], name: str) -> ColumnElement[bool]:
    """Choose rows whose column is among numbers, whose JSON is given under a name."""
    return _among(column, bindparam(name))


def _write_as(element: type[FunctionElement[Any]], other: str, sqlite: str) -> None:
    def write(how: str) -> Callable[..., str]:
        def written(this: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
            parts = [compiler.process(each, **more) for each in this.clauses]
            return how.format(*parts, all=", ".join(parts))

        return written

    compiles(element)(write(other))
    compiles(element, "sqlite")(write(sqlite))


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
_write_as(database_seconds, "CAST(floor(extract(EPOCH FROM clock_timestamp())) AS BIGINT)", "NULL")
_write_as(
    last_number,
    "(SELECT last FROM numbers WHERE name = {})",
    "(SELECT seq FROM sqlite_sequence WHERE name = {})",
)
