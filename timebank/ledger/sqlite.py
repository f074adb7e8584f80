"""What SQLite alone knows: its own tables and checks.

No other module says a PRAGMA or names `sqlite_master` for what this one can do.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection


def damages(connection: Connection) -> Iterator[str]:
    """Look through the file, and say what is wrong with it, up to a hundred times."""
    for problem in connection.exec_driver_sql("PRAGMA integrity_check(100)").scalars():
        if problem != "ok":
            yield problem


def broken_references(connection: Connection) -> Iterator[tuple[str, int | None, str]]:
    """List rows that refer to rows that are not there: table, number if any, table referred to."""
    for table, number, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield table, number, parent


def definition(connection: Connection, name: str) -> str | None:
    """Give the text by which a table, an index or a trigger was made; None where there is none."""
    found: str | None = connection.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE name = ?", (name,)
    ).scalar()
    return found


def given_numbers(connection: Connection) -> dict[str, int]:
    """Tell the last number that each table has given, those apart that have given none."""
    return dict(connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all())
