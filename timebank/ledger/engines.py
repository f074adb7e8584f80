"""Which books the settings name, and the engine that opens them."""

from __future__ import annotations

from timebank.errors import DatabaseRefused
from timebank.ledger.database import BUSY_SECONDS, Database
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings


def books_of(settings: BankSettings, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Give the books that the settings name; nothing is opened yet.

    Whoever writes waits at most `busy_seconds` for others who do. Raises `DatabaseRefused`
    where what reaches a server is not installed.
    """
    if settings.server is None:
        return SqliteDatabase(settings.database, busy_seconds)
    try:
        from timebank.ledger.postgres.database import PostgresDatabase  # noqa: PLC0415 # an extra
    except ModuleNotFoundError as error:
        raise DatabaseRefused(
            f"The books are in {settings.server}, and this program has no {error.name} to reach"
            ' them with: pip install "blackjack-for-time[postgres]"'
        ) from error
    return PostgresDatabase(settings.server, busy_seconds)
