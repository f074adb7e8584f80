"""`door check`: the settings, and what they name that must be there before the board opens.

A server and a door read their settings quickly and often; here there is time to open the files.
"""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from door import config, named
from door.config import Config
from door.lines.certificates import CertificateRefused, doubt
from timebank.database import BooksUnavailable, Database
from timebank.model import SCHEMA_VERSION
from timebank.settings import Table, open_table


def check(path: Path) -> tuple[Config, list[str]]:
    """Return the settings, and what the sysop should know though nothing is wrong with it.

    Raises `SettingsError` with everything that is wrong.
    """
    root = open_table(path)
    settings = config.read(root, path)
    doubts = _look_at_certificates(root, settings)
    root.finish()
    return settings, [*doubts, *_look_at_people(settings, path)]


def _look_at_people(settings: Config, path: Path) -> list[str]:
    """Say who has the sysop's powers, and which names in the settings have no effect.

    The books are only read: those of an earlier version are left for the next start.
    """
    if not settings.database.exists():
        return named.unregistered(settings.bank, path)
    try:
        version = _version(settings.database)
        if version != SCHEMA_VERSION:
            return [
                f"The database {settings.database} is of version {version}: who has the sysop's"
                f" powers can be seen when a start of this program has made it {SCHEMA_VERSION}."
            ]
        return _people(settings, path)
    except (sqlite3.Error, DBAPIError, BooksUnavailable) as error:
        return [f"The database {settings.database} cannot be looked at: {error}."]


def _people(settings: Config, path: Path) -> list[str]:
    database = Database(settings.database)
    try:
        with database.reading(settings.bank, datetime.now(UTC)) as desk:
            return [
                named.holders(desk),
                *named.doubts(desk, path),
                *named.look_alike(desk),
            ]
    finally:
        database.close()


def _version(database: Path) -> int:
    address = f"{database.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _look_at_certificates(root: Table, settings: Config) -> list[str]:
    doubts = []
    now = datetime.now(UTC)
    for table, listener in zip(root.tables("listeners") or (), settings.listeners, strict=False):
        if listener.certificate is None or listener.key is None:
            continue
        try:
            doubts.append(doubt(listener.certificate, listener.key, now))
        except CertificateRefused as refused:
            table.refuse(refused.which, refused.reason)
    return [words for words in doubts if words]
