"""What becomes of a transaction whose COMMIT failed: it is found out, never guessed.

Its frames may lie in the log as if they counted: SQLite has written them, and the sync has failed.
Nobody sees them now, but should the machine or every process die, the next one could find them in
the books. So nothing is told before another COMMIT has written over them and is on the disk. It
changes nothing: it writes the version of the schema once more. A second sync alone would prove
nothing, for a system may forget after a failed one what it has not written.

Whether they were in the books by then, because another process has recovered them, is told by
their number: each transaction counts one, and what others have counted is noted beside the books
(high_water.py).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from timebank.errors import StillInDoubt
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import high_water

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class SqliteDoubt:
    """A transaction that nobody knows yet to be in the books or not.

    As long as it lasts this process must keep another connection open: with the last one of all
    processes the index of the log goes, and what was dead is recovered by the next.
    """

    def __init__(self, engine: Engine, path: Path, number: int | None) -> None:
        """Doubt the last COMMIT of a connection of `engine`, which is rolled back.

        `number` is what it has counted; None if it has written nothing.
        """
        self._engine = engine
        self._path = path
        self._number = number

    def settle(self) -> bool | None:
        """Find out, as `Doubt` says; waits for the disk, and for others who write."""
        if self._number is None:
            return False
        try:
            with self._engine.connect() as connection:
                return self._settle(connection, self._number)
        except DBAPIError as error:
            raise StillInDoubt(str(error.orig)) from error
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise StillInDoubt(str(error)) from error

    def _settle(self, connection: Connection, number: int) -> bool | None:
        with connection.begin():
            is_counted = high_water.read_count(connection) >= number
            is_of_others = is_counted and high_water.has_noted(self._path, number)
            sqlite.rewrite_version(connection)
        if not is_counted or is_of_others:
            return False
        # What was recovered may be nowhere but in memory: its sync has failed.
        if not sqlite.checkpoint_all(connection):
            raise StillInDoubt("others keep the log from being carried over")
        return None
