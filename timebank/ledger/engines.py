"""The choice between SQLite and PostgreSQL, made from the settings."""

from __future__ import annotations

from timebank.errors import DatabaseRefused
from timebank.extras import install_command
from timebank.ledger.database import BUSY_SECONDS, Database
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings


def books_of(settings: BankSettings, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Return the books that the settings name, not opened yet.

    A transaction that writes waits at most `busy_seconds` for its turn. Raises `DatabaseRefused`
    if the books are on a server and its client library is not installed.
    """
    if settings.server is None:
        return SqliteDatabase(settings.database, busy_seconds)
    try:
        from timebank.ledger.postgres.database import PostgresDatabase  # noqa: PLC0415 # an extra
    except ModuleNotFoundError as error:
        raise DatabaseRefused(
            f"The books are in {settings.server}, but this program has no {error.name} to read"
            f" them: run {install_command('postgres')}."
        ) from error
    return PostgresDatabase(settings.server, busy_seconds)
