"""Operations that SQLite and PostgreSQL do differently, chosen by a connection's engine.

The `dialect` module of each engine has the functions of `Dialect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from sqlalchemy import Connection


class Dialect(Protocol):
    NAME: str  # the engine's name in sentences

    def runner(self, connection: Connection) -> Callable[..., Any]:
        """Return a function that runs SQL with question marks, given the text and its values."""

    def find_damage(self, connection: Connection) -> Iterator[str]:
        """Yield a clause for each damage found in the stored books."""

    def broken_references(self, connection: Connection) -> Iterator[tuple[str, int | None, str]]:
        """Yield rows that refer to missing rows: table, row number if any, other table."""

    def wrong_triggers(self, connection: Connection) -> Iterator[tuple[str, bool]]:
        """Yield the name of each changed or missing trigger, and whether it exists."""

    def program(self, connection: Connection) -> int:
        """Return the application ID stored in the database, 0 if none (see schema.py)."""

    def set_program(self, connection: Connection, number: int) -> None:
        """Store an application ID in the database."""

    def set_version(self, connection: Connection, number: int) -> None:
        """Store the version of the books."""

    def disable_triggers(self, connection: Connection) -> None:
        """Stop all triggers until `enable_triggers`, so that rows can be copied unchanged."""

    def enable_triggers(self, connection: Connection) -> None:
        """Make all triggers work again."""

    def is_shared(self, connection: Connection) -> bool:
        """Return whether another process has the books open."""

    def keep_open(self, connection: Connection) -> None:
        """Keep the open transaction from timing out while its process does other work."""

    def last_given_numbers(self, connection: Connection) -> dict[str, int]:
        """Return the last number that each table gave, without tables that gave none."""

    def set_next_number(self, connection: Connection, table: str, first: int) -> None:
        """Make `first` the number of the next row of a table."""

    def data_version(self, connection: Connection) -> int:
        """Return a number that changes whenever another connection writes into the books."""

    def nudge(self, connection: Connection) -> None:
        """Tell other servers to read the books, when the open transaction commits."""


def dialect_of(connection: Connection) -> Dialect:
    if connection.dialect.name == "postgresql":
        from timebank.ledger.postgres import dialect as postgres  # noqa: PLC0415 # an extra

        return postgres
    from timebank.ledger.sqlite import dialect as sqlite  # noqa: PLC0415 # only for a file

    return sqlite


def runner(connection: Connection) -> Callable[..., Any]:
    """Return a function that runs SQL with question marks, given the text and its values."""
    return dialect_of(connection).runner(connection)
