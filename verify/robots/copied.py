"""The books of a server as a file, for readers with plain SQL."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import create_engine, select

from timebank.ledger.database import Database
from timebank.ledger.engines import books_of
from timebank.ledger.schema import metadata
from timebank.settings.settings import BankSettings

BATCH = 1000


def to_read(settings: BankSettings, folder: Path) -> Path:
    """Return a file with the books: their own, or a copy of one moment of a server's."""
    if settings.server is None:
        return settings.database
    database = books_of(settings)
    try:
        return _copied(database, settings, folder / "copied.sqlite3")
    finally:
        database.close()


def _copied(database: Database, settings: BankSettings, file: Path) -> Path:
    file.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{file}")
    try:
        with (
            database.reading(settings, datetime.now(UTC)) as here,
            engine.begin() as there,
        ):
            metadata.create_all(there)
            for table in metadata.sorted_tables:
                columns = [column for column in table.c if column.computed is None]
                rows = here.connection.execute(select(*columns)).mappings()
                for some in rows.partitions(BATCH):
                    there.execute(table.insert(), [dict(row) for row in some])
    finally:
        engine.dispose()
    return file
