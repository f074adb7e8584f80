"""What engines say each in a way of their own, of whichever one a connection is.

An engine's `dialect` module has these functions under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from sqlalchemy import Connection


class Dialect(Protocol):
    # How it is called in sentences.
    NAME: str

    def runner(self, connection: Connection) -> Callable[..., Any]:
        """Give what runs a text whose values stand at question marks, with these values."""

    def find_damage(self, connection: Connection) -> Iterator[str]:
        """Say what is damaged in the books as the engine stores them."""

    def broken_references(self, connection: Connection) -> Iterator[tuple[str, int | None, str]]:
        """List rows that refer to rows that are not there: table, number if any, the other."""

    def wrong_triggers(self, connection: Connection) -> Iterator[tuple[str, bool]]:
        """Name the triggers that are not as they should be, and whether they are there at all."""

    def program(self, connection: Connection) -> int:
        """Tell whose database it is; 0 where nobody has said so."""

    def set_program(self, connection: Connection, number: int) -> None:
        """Say whose database it is."""

    def set_version(self, connection: Connection, number: int) -> None:
        """Say of which version the books are."""

    def disable_triggers(self, connection: Connection) -> None:
        """Let rows be put in as they are: no trigger fires until `enable_triggers`."""

    def enable_triggers(self, connection: Connection) -> None:
        """Let the triggers fire again, all of them."""

    def is_shared(self, connection: Connection) -> bool:
        """Tell whether another process has the books open."""

    def keep_open(self, connection: Connection) -> None:
        """Let the open transaction last, whatever else its process does meanwhile."""

    def last_given_numbers(self, connection: Connection) -> dict[str, int]:
        """Tell the last number that tables have given, those apart that have given none."""

    def set_next_number(self, connection: Connection, table: str, first: int) -> None:
        """Let the next row of a table get the number `first`."""

    def data_version(self, connection: Connection) -> int:
        """Return a number that changes when another connection has written into the books."""

    def nudge(self, connection: Connection) -> None:
        """Have other servers look at the books once the open transaction is committed."""


def dialect_of(connection: Connection) -> Dialect:
    if connection.dialect.name == "postgresql":
        from timebank.ledger.postgres import dialect as postgres  # noqa: PLC0415 # an extra

        return postgres
    from timebank.ledger.sqlite import dialect as sqlite  # noqa: PLC0415 # one needs no other

    return sqlite


def runner(connection: Connection) -> Callable[..., Any]:
    """Give what runs a text whose values stand at question marks, with these values."""
    return dialect_of(connection).runner(connection)
