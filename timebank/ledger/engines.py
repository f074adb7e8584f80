"""Which books the settings name, and the engine that opens them."""

from __future__ import annotations

from timebank.ledger.database import BUSY_SECONDS, Database
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import BankSettings


def books_of(settings: BankSettings, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Give the books that the settings name; nothing is opened yet.

    Whoever writes waits at most `busy_seconds` for others who do.
    """
    return SqliteDatabase(settings.database, busy_seconds)
