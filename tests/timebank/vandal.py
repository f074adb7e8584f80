"""What somebody with a SQLite shell can do to the books."""

from __future__ import annotations

import contextlib
import sqlite3


class Vandal:
    """Somebody with a SQLite shell, who takes away what guards the books first."""

    def __init__(self, books) -> None:
        self.books = books

    def __call__(self, *statements: str) -> None:
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
