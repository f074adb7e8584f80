"""Books of an earlier version, and the steps that lead from it to ours: the example of one.

No program ever wrote version 0. In it callers were told nothing of hands that ended without them,
and numbers of notices could be used again, so its step adds a column and makes a table anew. The
steps from version 1 on are the program's own.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from tests import ROOT
from tests.timebank.books import GAME, Books
from timebank.ledger.sqlite import migrations

DATA = ROOT / "tests" / "timebank" / "data"
VERSION = 0
BEFORE = """
PRAGMA foreign_keys = OFF;
DROP TRIGGER rounds_settled_at_once_count;
DROP TRIGGER rounds_that_are_settled_count;
DROP TABLE awards;
DROP TABLE servers;
DROP TABLE leases;
DROP TABLE own_limits;
DROP TABLE early_events;
DROP TABLE page_tries;
DROP TABLE messages;
DROP TABLE one_liners;
ALTER TABLE callers DROP COLUMN muted;
DROP TABLE tournament_entries;
DROP TABLE tournaments;
DROP TABLE deal_tries;
DROP TABLE deals;
DROP INDEX one_account_of_prizes;
ALTER TABLE days DROP COLUMN grace;
DROP INDEX calls_of_a_caller;
DROP INDEX notices_of_a_caller;
DROP INDEX one_open_call_a_node;
ALTER TABLE calls DROP COLUMN seen;
ALTER TABLE calls DROP COLUMN away;
ALTER TABLE shoes DROP COLUMN beacon;
DROP TABLE chains;
DROP INDEX one_shoe_a_link;
ALTER TABLE shoes DROP COLUMN anchor;
ALTER TABLE shoes DROP COLUMN link;
DROP INDEX one_open_shoe_a_table;
ALTER TABLE shoes DROP COLUMN at_table;
CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game)
    WHERE closed IS NULL AND caller_id IS NULL;
ALTER TABLE callers DROP COLUMN untold_round;
DROP TABLE notices;
CREATE TABLE notices (
    id INTEGER NOT NULL PRIMARY KEY,
    caller_id INTEGER NOT NULL REFERENCES callers (id),
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    shown INTEGER
);
CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL;
DELETE FROM sqlite_sequence WHERE name = 'notices';
INSERT INTO notices (caller_id, at, text) VALUES (1, 0, 'Hello.');
DELETE FROM identity;
"""
AFTER = (
    "ALTER TABLE callers ADD COLUMN untold_round INTEGER",
    """
CREATE TABLE notices_1 (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    shown INTEGER,
    FOREIGN KEY(caller_id) REFERENCES callers (id)
)""",
    "INSERT INTO notices_1 SELECT id, caller_id, at, text, shown FROM notices",
    "DROP TABLE notices",
    "ALTER TABLE notices_1 RENAME TO notices",
    "CREATE INDEX notices_to_show ON notices (caller_id) WHERE shown IS NULL",
)


def step(connection: sqlite3.Connection) -> None:
    """Lead from version 0 to 1."""
    for statement in AFTER:
        connection.execute(statement)


STEPS = {VERSION: step, **migrations.STEPS}


def make(path: Path) -> None:
    """Write a database of version 0 in which Ann has played and plays, and Bob is registered."""
    folder = path.parent / "making"
    books = Books(folder)
    call = books.call(books.caller("Ann"))
    call.win(600, 900)
    call.lose(300)
    call.bet(600, game=GAME)
    books.caller("Bob")
    books.close()
    with contextlib.closing(sqlite3.connect(books.database.path)) as made:
        made.executescript(f"{BEFORE} PRAGMA user_version = {VERSION};")
        made.execute("PRAGMA journal_mode = DELETE")
    books.database.path.replace(path)


def make_version_1(path: Path) -> None:
    """Write what the first release has written: Ann plays, and Bob is registered."""
    with contextlib.closing(sqlite3.connect(path)) as written:
        written.executescript((DATA / "books_1.sql").read_text("utf-8"))
        written.commit()
