"""Books that release 1.0 wrote: Ann has won, lost, deposited and plays; Bob is registered."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import psycopg

from tests import ROOT

DATA = ROOT / "tests" / "timebank" / "data"
VERSION = 13


def in_file(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as written:
        written.executescript((DATA / "books_1_0.sql").read_text("utf-8"))
        written.execute("PRAGMA journal_mode = WAL")


def on_server(shell: psycopg.Connection) -> None:
    shell.execute((DATA / "books_1_0.postgres.sql").read_text("utf-8"), prepare=False)
