"""Damage by a shell of the database."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest

# A row that is put in by hand takes the next number, and is the last one then.
_NEXT = "(SELECT last + 1 FROM numbers WHERE name = 'transfers')"
_NUMBERS = """
UPDATE numbers SET last = greatest(last, (SELECT max(id) FROM transfers)) WHERE name = 'transfers'
"""


def _in_postgres(statement: str) -> str:
    if "sqlite_sequence" in statement:
        return re.sub(r"\bseq\b", "last", statement.replace("sqlite_sequence", "numbers"))
    if statement.startswith("INSERT INTO transfers (") and "(id," not in statement:
        named = statement.replace("transfers (", "transfers (id, ", 1)
        return re.sub(r"(VALUES \(|SELECT )", rf"\1{_NEXT}, ", named, count=1)
    return statement


class Vandal:
    """A shell of the database that removes the books' guards first."""

    def __init__(self, books) -> None:
        self.books = books

    def __call__(self, *statements: str) -> None:
        if self.books.settings.server is None:
            self._to_a_file(statements)
        else:
            self._to_a_server(statements)

    def _to_a_file(self, statements: tuple[str, ...]) -> None:
        path = self.books.database.path
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            for _, sql in triggers:
                connection.execute(sql)

    def _to_a_server(self, statements: tuple[str, ...]) -> None:
        from psycopg.errors import CheckViolation, InvalidTextRepresentation

        with self.books.shell() as connection:
            # Without limits: no trigger fires, and no reference is checked.
            connection.execute("SET session_replication_role = replica")
            for statement in statements:
                translated = _in_postgres(statement)
                try:
                    connection.execute(translated)
                except CheckViolation:
                    self._without_checks(connection, translated)
                except InvalidTextRepresentation:
                    pytest.skip("PostgreSQL keeps no text in a column of numbers")
            connection.execute(_NUMBERS)

    @staticmethod
    def _without_checks(connection, statement: str) -> None:
        checks = connection.execute(
            "SELECT conname, CAST(conrelid AS regclass), pg_get_constraintdef(oid)"
            " FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0"
            " AND connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
        ).fetchall()
        for name, table, _ in checks:
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        connection.execute(statement)
        for name, table, rule in checks:
            connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule} NOT VALID")
