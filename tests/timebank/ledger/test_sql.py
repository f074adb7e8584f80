"""Statements of the bank: every dialect understands them, and they are run as written."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from sqlalchemy import bindparam, create_engine, insert, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateIndex

import timebank
from timebank.ledger import sql
from timebank.ledger.postgres.dialect import DIALECT
from timebank.ledger.schema import callers, metadata, sysop_log
from timebank.ledger.sql import Prepared, by_name, parameters

for module in pkgutil.walk_packages(timebank.__path__, "timebank."):
    importlib.import_module(module.name)
STATEMENTS = sorted(
    (each for each in sql.STATEMENTS if each.origin.startswith("timebank.")),
    key=lambda each: each.origin,
)


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.begin() as opened:
        yield opened
    engine.dispose()


ROOMS = (
    *("audit", "callers", "calls", "guests", "keeping", "ledger", "reports", "thebank", "wagers"),
    "window",
)
# All of SQLite's own is in one place; and a name's look-alikes are asked for below the ledger.
TEXTS = {
    *("ledger/sqlite/dialect.py", "names/look_alikes.py"),
    *("ledger/postgres/dialect.py", "ledger/postgres/database.py"),
    "ledger/migrations.py",  # changes tables as they were in earlier versions
}
(TIMEBANK,) = map(Path, timebank.__path__)
MODULES = sorted(path.relative_to(TIMEBANK).as_posix() for path in TIMEBANK.rglob("*.py"))


def test_statements_of_all_rooms_are_collected():
    assert {each.origin.split(".")[1] for each in STATEMENTS} >= set(ROOMS)


def test_no_statement_is_a_text():
    assert {module for module in MODULES if has_statement(TIMEBANK / module)} == TEXTS


def has_statement(file):
    nodes = ast.walk(ast.parse(file.read_text()))
    return any(STATEMENT(node.value) for node in nodes if is_text(node))


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|PRAGMA) [^.]").match


@pytest.mark.parametrize("dialect", [sqlite.dialect(), DIALECT], ids=lambda d: d.name)
def test_every_dialect_understands_every_statement(dialect):
    verbs = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
    assert [each.origin for each in STATEMENTS if not each.sql(dialect).startswith(verbs)] == []


PAIRED = re.compile(r"FROM \w+( AS \w+)?,")


def test_no_statement_pairs_tables_without_saying_how():
    """It is left over when an inner query does not name its outer table."""
    for statement in STATEMENTS:
        assert not PAIRED.search(statement.sql(sqlite.dialect())), statement.origin


def test_a_statement_contains_its_constants_and_binds_its_variables(connection):
    statement = Prepared(
        lambda: select(callers.c.id).where(
            callers.c.name == bindparam("name"), callers.c.board.in_(["it's", "100%"])
        )
    )
    assert "callers.name = ? AND callers.board IN ('it''s', '100%')" in statement.sql(
        sqlite.dialect()
    )
    assert statement(connection, name="nobody").all() == []


def test_values_are_given_by_name(connection):
    note = Prepared(lambda: insert(sysop_log).values(parameters("what", "at", "by")))
    note(connection, at=1, by="me", what="first")
    note.run_each(connection, [{"by": "you", "what": "second", "at": 2}])
    with pytest.raises(KeyError, match="by"):
        note(connection, at=1, what="third")
    rows = connection.execute(select(sysop_log.c.at, sysop_log.c.by, sysop_log.c.what))
    assert [tuple(row) for row in rows] == [(1, "me", "first"), (2, "you", "second")]


def test_a_new_row_tells_its_number_in_every_dialect(connection):
    note = Prepared(lambda: insert(sysop_log).values(parameters("what", "at", "by")))
    numbers = [note.insert(connection, at=1, by="me", what="again") for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert note.sql(DIALECT).endswith("RETURNING sysop_log.id")


def test_a_value_is_used_wherever_it_is_named(connection):
    statement = Prepared(
        lambda: select(bindparam("number") + 1, bindparam("other"), bindparam("number"))
    )
    assert statement(connection, other="b", number=3).one() == (4, "b", 3)


def test_a_list_of_any_length_is_a_value(connection):
    note = Prepared(lambda: insert(sysop_log).values(parameters("what", "at", "by")))
    note.run_each(connection, [{"by": "me", "what": str(at), "at": at} for at in range(5)])
    among = Prepared(
        lambda: (
            select(sysop_log.c.what)
            .where(sql.among(sysop_log.c.at, "times"))
            .order_by(sysop_log.c.id)
        )
    )
    given_as = ("[]", "[3]", "[4, 1]")
    assert [among(connection, times=times).scalars().all() for times in given_as] == [
        [],
        ["3"],
        ["1", "4"],
    ]


AT = sql.Reader(tuple, lambda: select(sysop_log.c.at).order_by(sysop_log.c.at))


def test_a_reader_finds_rows_and_refuses_to_take_one_of_none_or_of_several(connection):
    note = Prepared(lambda: insert(sysop_log).values(parameters("what", "at", "by")))
    assert AT.first(connection) is None
    with pytest.raises(ValueError, match="not enough"):
        AT.one(connection)
    note(connection, at=1, by="me", what="it")
    assert AT.one(connection) == (1,)
    note(connection, at=2, by="me", what="it")
    with pytest.raises(ValueError, match="too many"):
        AT.one(connection)
    assert AT.first(connection) == (1,)
    assert AT.all(connection) == list(AT.stream(connection)) == [(1,), (2,)]


@pytest.mark.parametrize("how", ["one", "first", "all", "stream"])
def test_a_driver_error_is_raised_as_by_sqlalchemy(connection, how):
    connection.exec_driver_sql("DROP TABLE sysop_log")
    with pytest.raises(OperationalError, match="no such table: sysop_log") as failed:
        list(getattr(AT, how)(connection))
    assert failed.value.orig.sqlite_errorname == "SQLITE_ERROR"
    assert failed.value.statement == AT.sql(sqlite.dialect())


def test_a_direct_read_begins_a_transaction_like_any_statement():
    with create_engine("sqlite://").connect() as connection:
        assert sql.value(lambda: select(bindparam("number"))).one(connection, number=7) == 7
        assert connection.in_transaction()


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 1), (3, 3)])
def test_the_greater_of_two(connection, one, other):
    statement = Prepared(lambda: select(sql.greatest(bindparam("one"), bindparam("other"))))
    assert statement(connection, one=one, other=other).scalar_one() == max(one, other)


def test_names_are_in_order_whether_great_or_small():
    ordered = Prepared(lambda: select(callers.c.name).order_by(by_name(callers.c.name)))
    assert ordered.sql(sqlite.dialect()).endswith("ORDER BY callers.name COLLATE NOCASE")
    assert ordered.sql(DIALECT).endswith("ORDER BY lower(callers.name)")


def test_the_same_rows_are_indexed_in_every_dialect():
    """A WHERE in one dialect alone would be a different promise in the other."""
    indexes = [index for table in metadata.sorted_tables for index in table.indexes]
    for index in indexes:
        of_some, *others = (
            str(CreateIndex(index).compile(dialect=dialect)).partition(" WHERE ")[2]
            for dialect in (sqlite.dialect(), DIALECT)
        )
        assert others == [of_some]
    assert sum(index.dialect_options["sqlite"]["where"] is not None for index in indexes) == 28
