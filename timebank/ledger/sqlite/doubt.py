"""Settles a transaction whose COMMIT failed: whether the books contain it is never guessed.

The frames of the transaction may be in the log as if committed: SQLite wrote them, and then the
sync failed. No process sees them now. After a crash of the machine or of all processes, the next
one could recover them into the books. So the answer waits until another COMMIT has overwritten
them on the disk. That COMMIT changes nothing; it writes the schema version again. A second sync
would prove nothing, because after a failed sync a system may drop the unwritten pages.

Another process may have recovered the frames before that. The number of the transaction shows it:
every transaction counts one, and the file next to the books has the counts of other processes
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
    """A transaction that may or may not be in the books.

    Until it is settled, this process must keep another connection open. When the last connection
    of all processes closes, the index of the log is removed, and the next process would recover
    the dead frames.
    """

    def __init__(self, engine: Engine, path: Path, number: int | None) -> None:
        """Doubt the last COMMIT of a connection of `engine`; its transaction is rolled back.

        `number` is the transaction's count; None if it wrote nothing.
        """
        self._engine = engine
        self._path = path
        self._number = number

    def settle(self) -> bool | None:
        """Return the answer as `Doubt.settle` does; waits for the disk and for other writers."""
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
            is_other = is_counted and high_water.has_noted(self._path, number)
            sqlite.rewrite_version(connection)
        if not is_counted or is_other:
            return False
        # Recovered frames may be in memory alone, because their sync failed.
        if not sqlite.checkpoint_all(connection):
            raise StillInDoubt("others keep the log from being carried over")
        return None
