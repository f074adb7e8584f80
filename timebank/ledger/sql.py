"""Statements in SQLAlchemy Core, compiled once for a dialect and run as prepared text.

A `Prepared` is made where a module begins, from a function that builds the statement. It is built
and compiled when it is first run, so that a program that never runs it pays nothing (a large one
takes 0.2 ms). What the statement says itself ("kind = 'house'") is written into its text, for
SQLite looks at an index of some rows only when it reads there that these are wanted. What
`bindparam` names is given with each run:

    _NAME = Prepared(lambda: select(callers.c.name).where(callers.c.id == bindparam("number")))
    name = _NAME(desk.connection, number=7).scalar()

Why not `connection.execute`: it looks each statement up by all of its parts, every time. Measured
with SQLAlchemy 2.1.9 on SQLite in memory, in microseconds a run (the driver alone takes 1):

                                  text as a string   Prepared   connection.execute
    UPDATE of a row by its number              5.3        5.8                 11.7
    SELECT from two tables, no row            12.8       13.3                 14.5

A bet is some fifteen such statements, in a transaction of half a millisecond. The cost of a string
is kept everywhere, so that nobody need know which path is hot.

A statement with a list of any length among its values ("IN") has no text that stays the same, and
does go through `connection.execute`.

No statement says what one dialect alone understands. Where dialects differ, a function here hides
it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Dialect,
    Executable,
    Select,
    bindparam,
    case,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement

Rows: TypeAlias = "CursorResult[*tuple[Any, ...]]"
Query: TypeAlias = "Select[*tuple[Any, ...]]"

# Every statement there is, for whoever would see whether a dialect understands them all.
STATEMENTS: list[Prepared] = []


# What turns values that are given by name into what the driver wants.
Pick: TypeAlias = Callable[[Mapping[str, object]], Any]


class _Text(NamedTuple):
    """A statement as its dialect writes it."""

    sql: str
    pick: Pick
    names: frozenset[str]
    # The statement itself, where it takes a list.
    whole: Executable | None


class Prepared:
    """A statement of Core whose text is made once for each dialect."""

    __slots__ = ("_build", "_hot", "_texts", "where")

    def __init__(self, build: Callable[[], Executable]) -> None:
        """`build` makes the statement; it is called once for each dialect."""
        self._build = build
        self._texts: dict[str, _Text] = {}
        # Of each dialect in which it has been run, the text and how to pick its values.
        self._hot: dict[str, tuple[str, Pick]] = {}
        self.where = f"{build.__module__}:{build.__code__.co_firstlineno}"
        STATEMENTS.append(self)

    def __call__(self, connection: Connection, /, **values: object) -> Rows:
        """Run it; `values` are all its parameters.

        Raises KeyError for one that is not given, and TypeError for one that there is not: that is
        looked for in the first run alone.
        """
        hot = self._hot.get(connection.dialect.name)
        if hot is None:
            return self._first_run(connection, values)
        return connection.exec_driver_sql(hot[0], hot[1](values))

    def number(self, connection: Connection, /, **values: object) -> int:
        """Run an INSERT, and give the number that the row got.

        SQLite tells it beside the statement. In the text of a dialect that does not, SQLAlchemy
        asks for it by itself; to have SQLite return it in a row would take 7 microseconds more.
        """
        hot = self._hot.get(connection.dialect.name)
        if hot is None:
            rows = self._first_run(connection, values)
        else:
            rows = connection.exec_driver_sql(hot[0], hot[1](values))
        found: int = rows.scalar_one() if rows.returns_rows else rows.lastrowid
        return found

    def _first_run(self, connection: Connection, values: Mapping[str, object]) -> Rows:
        text = self._made(connection.dialect)
        if values.keys() - text.names:
            raise TypeError(f"{self.where}: it takes {sorted(text.names)}, not {sorted(values)}")
        if text.whole is not None:
            return connection.execute(text.whole, values)
        self._hot[connection.dialect.name] = (text.sql, text.pick)
        return connection.exec_driver_sql(text.sql, text.pick(values))

    def each(self, connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
        """Run it once for each row of parameters; at least one."""
        text = self._made(connection.dialect)
        connection.exec_driver_sql(text.sql, [text.pick(values) for values in rows])

    def sql(self, dialect: Dialect) -> str:
        """Give its text; raises what SQLAlchemy raises for what a dialect cannot say."""
        return self._made(dialect).sql

    def _made(self, dialect: Dialect) -> _Text:
        text = self._texts.get(dialect.name)
        if text is None:
            text = self._texts[dialect.name] = _text_of(self._build(), dialect)
        return text


class _SaysItself:
    """Writes what a statement says itself into its text, and leaves open what is given."""

    def visit_bindparam(self, bound: BindParameter[Any], **how: Any) -> str:
        if not bound.required:
            how["literal_binds"] = True
        said: str = super().visit_bindparam(bound, **how)  # type: ignore[misc]
        return said


def _text_of(statement: Executable, dialect: Dialect) -> _Text:
    bases = (_SaysItself, dialect.statement_compiler)
    compiled = types.new_class("Compiler", bases)(dialect, statement)
    assert isinstance(compiled, SQLCompiler)
    names = frozenset(compiled.bind_names.values())
    order = compiled.positiontup
    pick: Pick
    if order is None:
        pick = dict  # by name
    elif len(order) > 1:
        pick = itemgetter(*order)
    else:
        pick = _alone(order[0]) if order else _none
    whole = statement if compiled.post_compile_params else None
    return _Text(str(compiled), pick, names, whole)


def _alone(name: str) -> Pick:
    return lambda values: (values[name],)


def _none(values: Mapping[str, object]) -> tuple[()]:
    return ()


def given(*names: str) -> dict[str, BindParameter[Any]]:
    """Name columns whose values are given under their own names, for `values` of a statement."""
    return {name: bindparam(name) for name in names}


def greatest(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """Give the greater of two values, neither of which is NULL."""
    return case((one < other, other), else_=one)


class by_name(FunctionElement[str]):
    """Sorts a column of names as if A to Z were written small."""

    inherit_cache = True


@compiles(by_name)
def _by_name(element: by_name, compiler: SQLCompiler, **how: Any) -> str:
    return f"lower({compiler.process(element.clauses, **how)})"


@compiles(by_name, "sqlite")
def _by_name_in_sqlite(element: by_name, compiler: SQLCompiler, **how: Any) -> str:
    return f"{compiler.process(element.clauses, **how)} COLLATE NOCASE"
