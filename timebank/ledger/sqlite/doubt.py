"""What becomes of a transaction whose COMMIT failed: it is found out, never guessed.

Its frames may lie in the log as if they counted (wal.py). Nobody sees them now, but
should the machine or every process die, the next one could find them in the books. So the one who
asked for them can be told nothing before one of these holds:

- there is no commit in the log behind what counts, as when the frames could not even be written;
- another COMMIT has written over them and is on the disk. Ours changes nothing: it writes the
  version of the schema once more. A second sync alone would prove nothing, for a system may forget
  after a failed one what it has not written;
- somebody has recovered them into the books, and a checkpoint has carried them into the database.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from timebank.errors import LogUnreadable, StillInDoubt
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import wal

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class SqliteDoubt:
    """A transaction that nobody knows yet to be in the books or not.

    As long as it lasts this process must keep another connection open: with the last one of all
    processes the index of the log goes, and what was dead is recovered by the next.
    """

    def __init__(self, engine: Engine, path: Path) -> None:
        """Doubt what was the last COMMIT of a connection of `engine`, which is rolled back."""
        self._engine = engine
        self._path = path
        self._dead: wal.DeadCommit | None = None
        self._is_known = False  # whether `_dead` is what that COMMIT has left
        self._is_revived = False

    def settle(self) -> bool:
        """Find out: True, it is in the books; False, it is not and never will be.

        Waits for the disk, and for others who write. Raises `StillInDoubt`, and may be asked again.
        """
        try:
            with self._engine.connect() as connection:
                return self._settle(connection)
        except DBAPIError as error:
            raise StillInDoubt(str(error.orig)) from error
        except (SQLAlchemyError, sqlite3.Error, LogUnreadable) as error:
            raise StillInDoubt(str(error)) from error

    def _settle(self, connection: Connection) -> bool:
        with connection.begin() as transaction:
            if not self._look():
                transaction.rollback()
                return False
            sqlite.rewrite_version(connection)
        # What was recovered may be nowhere but in memory: its sync has failed.
        if self._is_revived and not sqlite.carried_over(connection):
            raise StillInDoubt("others keep the log from being carried over")
        return self._is_revived

    def _look(self) -> bool:
        """Look for it in the log, behind the lock; False when there is nothing to be revived."""
        if self._is_known:
            assert self._dead is not None  # else it was settled
            self._is_revived = self._is_revived or wal.counts(self._path, self._dead)
            return True
        # What cannot be read is written over by our own COMMIT, whatever it is.
        with contextlib.suppress(LogUnreadable):
            self._dead = wal.dead_commit(self._path)
            self._is_known = self._dead is not None
            return self._is_known
        return True
