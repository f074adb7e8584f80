"""How a database of an earlier version of the program is moved forward, version by version.

A step is one transaction, with the version it leads to written in the same one: whoever is killed
in the middle leaves the version before. The lock that it holds makes a second process wait, which
then finds the work done. Nothing is touched before a copy of it all is safe beside the database.

The steps stand here as they were written, whatever becomes of the tables in ledger/schema.py later.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from timebank.ledger import chain
from timebank.ledger.schema import APPLICATION_ID, RESULT_TRIGGERS, TRIGGERS
from timebank.names import look_alikes

log = logging.getLogger("timebank")

# Pages copied at a time (the whole file: nobody writes meanwhile).
ALL_PAGES = -1


class CommitFailed(Exception):
    """A step failed in its last moment; whether it was made sees who opens the file next."""


def move_forward(path: Path, busy_seconds: float) -> None:
    """Bring a database of ours to the newest version; any other file is left alone.

    Raises sqlite3.Error and OSError; the database is as it was then. Raises `CommitFailed` when
    nobody knows yet whether it is.
    """
    with contextlib.closing(
        sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    ) as connection:
        if not _is_earlier(connection):
            return
        connection.execute("PRAGMA synchronous = FULL")
        # A table that is made anew is dropped while others refer to it; see _check_references.
        connection.execute("PRAGMA foreign_keys = OFF")
        while _is_earlier(connection):
            _move_one_version(connection, path)


def backup_path(path: Path, version: int) -> Path:
    """Tell where the copy is kept that was taken before leaving `version`."""
    return path.with_name(f"{path.name}.v{version}-backup")


def _is_earlier(connection: sqlite3.Connection) -> bool:
    (program,) = connection.execute("PRAGMA application_id").fetchone()
    return program == APPLICATION_ID and _version(connection) in STEPS


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _move_one_version(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        step = STEPS.get(version)
        if step is not None:  # else another process was faster
            _back_up(path, backup_path(path, version))
            step(connection)
            _check_references(connection)
            connection.execute(f"PRAGMA user_version = {version + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise CommitFailed(str(error)) from error


def _back_up(path: Path, copy: Path) -> None:
    """Copy what is committed; the copy gets its name once it is whole and on the disk."""
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(unfinished)) as target,
    ):
        source.backup(target, pages=ALL_PAGES)
        # One file, without a log beside it.
        target.execute("PRAGMA journal_mode = DELETE")
    _sync(unfinished)
    unfinished.replace(copy)
    _sync(copy.parent)


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_references(connection: sqlite3.Connection) -> None:
    """Refuse to commit a step after which a row refers to nothing (it would be our bug)."""
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        raise sqlite3.IntegrityError(f"row {row} of {table} refers to no row of {parent}")


# Version 1 to 2: the chain of digests, frozen accounts, the sysop's log, imports.

TRANSFERS_2 = """
CREATE TABLE transfers_2 (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL,
    size INTEGER NOT NULL,
    entry INTEGER GENERATED ALWAYS AS (id - place + 1) VIRTUAL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    why TEXT NOT NULL,
    call_id INTEGER,
    round_id INTEGER,
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    CONSTRAINT two_accounts CHECK (source <> target),
    CONSTRAINT place_in_entry CHECK (place BETWEEN 1 AND size),
    FOREIGN KEY(source) REFERENCES accounts (id),
    FOREIGN KEY(target) REFERENCES accounts (id),
    FOREIGN KEY(call_id) REFERENCES calls (id),
    FOREIGN KEY(round_id) REFERENCES rounds (id)
)"""
COPY_2 = """
INSERT INTO transfers_2
    (id, place, size, at, amount, source, target, call_id, round_id, kind, why, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
BEFORE_2 = (
    "ALTER TABLE callers ADD COLUMN frozen INTEGER DEFAULT 0 NOT NULL CHECK (frozen IN (0, 1))",
    """CREATE TABLE sysop_log (
        id INTEGER NOT NULL,
        at INTEGER NOT NULL,
        by TEXT NOT NULL,
        caller_id INTEGER,
        what TEXT NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(caller_id) REFERENCES callers (id)
    )""",
    """CREATE TABLE imports (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL,
        taken TEXT NOT NULL,
        kept TEXT,
        state TEXT NOT NULL
            CHECK (state IN ('reading', 'taking', 'taken', 'keeping', 'kept', 'closed')),
        bytes INTEGER NOT NULL CHECK (bytes >= 0),
        lines INTEGER NOT NULL CHECK (lines >= 0),
        recent TEXT NOT NULL,
        changed INTEGER NOT NULL
    )""",
    "CREATE INDEX imports_to_do ON imports (path) WHERE state <> 'closed'",
    "CREATE INDEX imports_kept ON imports (kept)",
    """CREATE TABLE import_lines (
        import_id INTEGER NOT NULL,
        start INTEGER NOT NULL CHECK (start >= 0),
        line INTEGER NOT NULL CHECK (line > 0),
        transfer_id INTEGER,
        reason TEXT,
        text TEXT,
        told INTEGER NOT NULL CHECK (told IN (0, 1)),
        PRIMARY KEY (import_id, start),
        CONSTRAINT applied_or_refused CHECK ((transfer_id IS NULL) <> (reason IS NULL)),
        FOREIGN KEY(import_id) REFERENCES imports (id),
        UNIQUE (transfer_id),
        FOREIGN KEY(transfer_id) REFERENCES transfers (id)
    ) WITHOUT ROWID""",
    "CREATE INDEX import_lines_to_tell ON import_lines (import_id) WHERE told = 0",
    TRANSFERS_2,
)
AFTER_2 = (
    # The number that was given last stays the last, whatever rows there are.
    "UPDATE sqlite_sequence SET seq = coalesce("
    "(SELECT seq FROM sqlite_sequence WHERE name = 'transfers'), seq) WHERE name = 'transfers_2'",
    "DROP TABLE transfers",
    "ALTER TABLE transfers_2 RENAME TO transfers",
    "CREATE INDEX transfers_from ON transfers (source)",
    "CREATE INDEX transfers_to ON transfers (target)",
    "CREATE INDEX transfers_of_a_round ON transfers (round_id) WHERE round_id IS NOT NULL",
)


def _to_version_2(connection: sqlite3.Connection) -> None:
    for statement in BEFORE_2:
        connection.execute(statement)
    connection.executemany(COPY_2, _chained(connection))
    for statement in (*AFTER_2, *TRIGGERS.values()):
        connection.execute(statement)


def _chained(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Give every transfer of version 1 with its digest."""
    digest = chain.GENESIS
    for row in connection.execute(
        "SELECT id, place, size, at, amount, source, target, call_id, round_id, kind, why"
        " FROM transfers ORDER BY id"
    ):
        digest = chain.digest(digest, *row)
        yield (*row, digest)


# Version 2 to 3: play money, tables at which several callers sit, and callers of other boards.

ACCOUNTS_3 = """
CREATE TABLE accounts_3 (
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    caller_id INTEGER,
    game TEXT,
    unit TEXT NOT NULL,
    balance INTEGER NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
    CONSTRAINT never_negative CHECK (
        kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll', 'casino')
        OR balance >= 0),
    CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0),
    CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
)"""
SHOES_3 = """
CREATE TABLE shoes_3 (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER,
    game TEXT NOT NULL,
    decks INTEGER NOT NULL CHECK (decks > 0),
    seed BLOB NOT NULL,
    seal TEXT NOT NULL,
    cut TEXT,
    opened INTEGER NOT NULL,
    closed INTEGER,
    FOREIGN KEY(caller_id) REFERENCES callers (id)
)"""
ROUNDS_3 = """
CREATE TABLE rounds_3 (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    game TEXT NOT NULL,
    day TEXT NOT NULL,
    call_id INTEGER NOT NULL,
    shoe_id INTEGER,
    start_position INTEGER NOT NULL,
    bet INTEGER NOT NULL CHECK (bet > 0),
    coin INTEGER NOT NULL,
    rules TEXT NOT NULL,
    dealt INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    won INTEGER NOT NULL,
    settled INTEGER,
    outcome TEXT,
    result TEXT,
    unit TEXT DEFAULT 'second' NOT NULL CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
    seat INTEGER DEFAULT 1 NOT NULL CHECK (seat > 0),
    lead INTEGER,
    CONSTRAINT settled_with_an_outcome CHECK ((settled IS NULL) = (outcome IS NULL)),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    FOREIGN KEY(call_id) REFERENCES calls (id),
    FOREIGN KEY(shoe_id) REFERENCES shoes (id),
    FOREIGN KEY(lead) REFERENCES rounds (id)
)"""
# Each table that is made anew, with its columns of version 2.
ANEW_3 = {
    "accounts": (ACCOUNTS_3, "id, kind, caller_id, game, unit, balance"),
    "shoes": (SHOES_3, "id, caller_id, game, decks, seed, seal, cut, opened, closed"),
    "rounds": (
        ROUNDS_3,
        "id, caller_id, game, day, call_id, shoe_id, start_position, bet, coin, rules, dealt, lost,"
        " returned, won, settled, outcome, result",
    ),
}
VISITS_3 = """
CREATE TABLE visits (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    call_id INTEGER,
    day TEXT NOT NULL,
    shown INTEGER,
    clock INTEGER NOT NULL CHECK (clock >= 0),
    until INTEGER,
    way TEXT,
    shows_losses INTEGER NOT NULL CHECK (shows_losses IN (0, 1)),
    debt INTEGER NOT NULL CHECK (debt >= 0),
    staked INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    standing_own INTEGER NOT NULL,
    brought INTEGER NOT NULL CHECK (brought >= 0),
    own INTEGER NOT NULL,
    closed INTEGER,
    elapsed INTEGER,
    result INTEGER,
    owed INTEGER CHECK (owed >= 0),
    debt_paid INTEGER CHECK (debt_paid >= 0),
    debt_added INTEGER CHECK (debt_added >= 0),
    also_brought INTEGER CHECK (also_brought >= 0),
    gain INTEGER CHECK (gain >= 0),
    put_back INTEGER CHECK (put_back >= 0),
    taken_home INTEGER CHECK (taken_home >= 0),
    left_staked INTEGER,
    left_standing INTEGER,
    left_own INTEGER,
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (call_id),
    FOREIGN KEY(call_id) REFERENCES calls (id)
)"""
GIVEN_BACK_3 = """
CREATE TABLE given_back (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    transfer_id INTEGER,
    minutes INTEGER NOT NULL CHECK (minutes <> 0),
    day TEXT NOT NULL,
    way TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('waiting', 'writing', 'written', 'kept', 'doubtful')),
    at INTEGER NOT NULL,
    claim TEXT,
    changed INTEGER NOT NULL,
    kept_id INTEGER,
    why TEXT,
    CONSTRAINT gains_were_moved CHECK ((transfer_id IS NULL) = (minutes < 0)),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (transfer_id),
    FOREIGN KEY(transfer_id) REFERENCES transfers (id),
    UNIQUE (kept_id),
    FOREIGN KEY(kept_id) REFERENCES transfers (id)
)"""
AFTER_3 = (
    "ALTER TABLE callers ADD COLUMN board TEXT",
    "ALTER TABLE callers ADD COLUMN board_key TEXT CHECK ((board IS NULL) = (board_key IS NULL))",
    "CREATE UNIQUE INDEX one_living_caller_a_key ON callers (board, board_key)"
    " WHERE deleted IS NULL AND board IS NOT NULL",
    VISITS_3,
    "CREATE INDEX visits_of_a_caller ON visits (caller_id)",
    "CREATE INDEX visits_of_a_day ON visits (caller_id, day)",
    GIVEN_BACK_3,
    "CREATE INDEX given_back_of_a_caller ON given_back (caller_id, state)",
    "CREATE UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house'",
    "CREATE UNIQUE INDEX one_mint_a_unit ON accounts (unit) WHERE kind = 'mint'",
    "CREATE UNIQUE INDEX one_open_shoe_a_game ON shoes (caller_id, game) WHERE closed IS NULL",
    "CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game)"
    " WHERE closed IS NULL AND caller_id IS NULL",
    "CREATE UNIQUE INDEX one_round_in_play ON rounds (caller_id) WHERE settled IS NULL",
    "CREATE INDEX turns_of_a_day ON rounds (caller_id, day, unit, game)",
    "CREATE INDEX rounds_of_a_shoe ON rounds (shoe_id)",
    "CREATE UNIQUE INDEX one_round_a_seat ON rounds (lead, seat) WHERE lead IS NOT NULL",
)


def _to_version_3(connection: sqlite3.Connection) -> None:
    # They name the table of accounts, which is not there for a moment.
    for trigger in TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for table, (creation, columns) in ANEW_3.items():
        connection.execute(creation)
        connection.execute(f"INSERT INTO {table}_3 ({columns}) SELECT {columns} FROM {table}")
        # The number that was given last stays the last, whatever rows there are.
        connection.execute(f"DELETE FROM sqlite_sequence WHERE name = '{table}_3'")
        connection.execute(f"UPDATE sqlite_sequence SET name = '{table}_3' WHERE name = '{table}'")
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"ALTER TABLE {table}_3 RENAME TO {table}")
    for statement in (*AFTER_3, *TRIGGERS.values()):
        connection.execute(statement)


# Version 3 to 4, in parts. Generations of the books, and numbers that are never used twice.

GENERATIONS_4 = (
    """CREATE TABLE generations (
        number INTEGER NOT NULL CHECK (number > 1),
        at INTEGER NOT NULL,
        copied INTEGER,
        "after" INTEGER NOT NULL,
        first INTEGER NOT NULL,
        numbers TEXT NOT NULL,
        shoes INTEGER NOT NULL,
        hands INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        by TEXT NOT NULL,
        why TEXT NOT NULL,
        digest TEXT NOT NULL CHECK (length(digest) = 64),
        PRIMARY KEY (number),
        CONSTRAINT past_any_before CHECK (first > after)
    )""",
    """CREATE TABLE identity (
        id INTEGER NOT NULL CHECK (id = 1),
        mark TEXT NOT NULL,
        copied INTEGER,
        PRIMARY KEY (id)
    )""",
    """CREATE TRIGGER generations_are_never_changed BEFORE UPDATE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never changed');
        END""",
    """CREATE TRIGGER generations_are_never_deleted BEFORE DELETE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never deleted');
        END""",
)
# Tables whose next number was one more than the highest that a row still had.
NUMBERED_4 = ("accounts", "notices", "sysop_log")


def _generations_4(connection: sqlite3.Connection) -> None:
    for statement in GENERATIONS_4:
        connection.execute(statement)
    # Triggers name the table of accounts, which is not there for a moment.
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for table in NUMBERED_4:
        _number_once_4(connection, table)
    for _, sql in triggers:
        connection.execute(sql)


def _number_once_4(connection: sqlite3.Connection, table: str) -> None:
    """Make a table anew, as it is, but with AUTOINCREMENT; other parts may have added to it."""
    found = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL", (table,)
    ).fetchall()
    (creation,) = (sql for kind, sql in found if kind == "table")
    body = creation[creation.index("(") :]
    body = re.sub(r",\s*PRIMARY KEY \(id\)", "", body, count=1)
    body = body.replace("id INTEGER NOT NULL", "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", 1)
    connection.execute(f"CREATE TABLE {table}_4 {body}")
    names = ", ".join(f'"{row[1]}"' for row in connection.execute(f"PRAGMA table_info({table})"))
    connection.execute(f"INSERT INTO {table}_4 ({names}) SELECT {names} FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE {table}_4 RENAME TO {table}")
    for kind, sql in found:
        if kind == "index":
            connection.execute(sql)


# Running totals of what hands came to.

RESULTS_4 = (
    """CREATE TABLE results (
        day TEXT NOT NULL,
        caller_id INTEGER NOT NULL,
        game TEXT NOT NULL,
        unit TEXT NOT NULL,
        hands INTEGER NOT NULL,
        lost INTEGER NOT NULL,
        won INTEGER NOT NULL,
        PRIMARY KEY (day, caller_id, game, unit),
        FOREIGN KEY(caller_id) REFERENCES callers (id)
    ) WITHOUT ROWID""",
    """CREATE TABLE results_ever (
        caller_id INTEGER NOT NULL,
        game TEXT NOT NULL,
        unit TEXT NOT NULL,
        hands INTEGER NOT NULL,
        lost INTEGER NOT NULL,
        won INTEGER NOT NULL,
        PRIMARY KEY (caller_id, game, unit),
        FOREIGN KEY(caller_id) REFERENCES callers (id)
    ) WITHOUT ROWID""",
    "CREATE INDEX banks_by_balance ON accounts (balance) WHERE kind = 'bank' AND unit = 'second'",
    """INSERT INTO results (day, caller_id, game, unit, hands, lost, won)
    SELECT day, caller_id, game, unit, count(*), sum(lost), sum(won) FROM rounds
    WHERE settled IS NOT NULL AND outcome <> 'void' GROUP BY day, caller_id, game, unit""",
    """INSERT INTO results_ever (caller_id, game, unit, hands, lost, won)
    SELECT caller_id, game, unit, sum(hands), sum(lost), sum(won) FROM results
    GROUP BY caller_id, game, unit""",
)


def _results_4(connection: sqlite3.Connection) -> None:
    """Add running totals of what hands came to."""
    for statement in (*RESULTS_4, *RESULT_TRIGGERS.values()):
        connection.execute(statement)


# Powers by number, and what names look like.

POWERS_4 = (
    "ALTER TABLE callers ADD COLUMN powers INTEGER DEFAULT 0 NOT NULL"
    " CHECK (powers = 0 OR (powers = 1 AND deleted IS NULL AND board IS NULL))"
)
POWERS_WORDS_4 = (
    "The sysop's powers belong to callers' numbers now, and nobody has any yet:"
    " `door callers grant NAME` gives them"
)
SKELETONS_4 = (
    "ALTER TABLE callers ADD COLUMN skeleton TEXT DEFAULT '' NOT NULL",
    "CREATE INDEX callers_by_skeleton ON callers (skeleton) WHERE deleted IS NULL",
)


def _powers_4(connection: sqlite3.Connection) -> None:
    """Give powers to nobody, not even to callers who had them by name, and say so."""
    connection.execute(POWERS_4)
    if connection.execute("SELECT 1 FROM callers LIMIT 1").fetchone() is not None:
        connection.execute(
            "INSERT INTO sysop_log (at, by, what) VALUES (?, 'upgrade', ?)",
            (int(time.time()), POWERS_WORDS_4),
        )
        log.warning("%s.", POWERS_WORDS_4)


def _skeletons_4(connection: sqlite3.Connection) -> None:
    for statement in SKELETONS_4:
        connection.execute(statement)
    look_alikes.renew(connection.execute)


# Stakes over midnight, and what is believed of the clock.

DAYS_4 = (
    "ALTER TABLE days ADD COLUMN standing INTEGER DEFAULT 0 NOT NULL CHECK (standing >= 0)",
    "ALTER TABLE days ADD COLUMN carried INTEGER DEFAULT 0 NOT NULL CHECK (carried >= 0)",
)


def _stakes_over_midnight_4(connection: sqlite3.Connection) -> None:
    """Add what of a stake is left of an earlier day. Hands that are open keep the old rule."""
    for statement in DAYS_4:
        connection.execute(statement)


CLOCKS_4 = (
    "ALTER TABLE calls ADD COLUMN boot TEXT",
    "ALTER TABLE calls ADD COLUMN awake FLOAT",
    """
CREATE TABLE mended_days (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    day TEXT NOT NULL,
    grant_id INTEGER,
    mended INTEGER NOT NULL,
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (grant_id),
    FOREIGN KEY(grant_id) REFERENCES transfers (id)
)""",
    """
CREATE TABLE clocks (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    boot TEXT NOT NULL,
    zero FLOAT NOT NULL,
    since FLOAT NOT NULL,
    certain INTEGER NOT NULL CHECK (certain IN (0, 1)),
    sure FLOAT NOT NULL,
    leap FLOAT,
    agreed FLOAT,
    noted FLOAT,
    after INTEGER,
    UNIQUE (boot)
)""",
)


def _clocks_4(connection: sqlite3.Connection) -> None:
    """Add what is believed of the clock, and leases that no wall clock can end."""
    for statement in CLOCKS_4:
        connection.execute(statement)


def _recovery_codes_4(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE callers ADD COLUMN recovery_digest TEXT")


# What was owed on loans.

OWING_4 = (
    "ALTER TABLE days ADD COLUMN owed INTEGER CHECK (owed >= 0)",
    "ALTER TABLE visits ADD COLUMN loan INTEGER CHECK (loan >= 0)",
    "ALTER TABLE visits ADD COLUMN loan_paid INTEGER CHECK (loan_paid >= 0)",
)


def _owing_4(connection: sqlite3.Connection) -> None:
    """Add what was owed when a day began and when a visit ended. Older ones keep the old rule."""
    for statement in OWING_4:
        connection.execute(statement)


def _high_water_4(connection: sqlite3.Connection) -> None:
    """Count transactions, so that lost ones are noticed."""
    connection.execute("ALTER TABLE identity ADD COLUMN commits INTEGER DEFAULT 0 NOT NULL")


def _hands_to_tell_4(connection: sqlite3.Connection) -> None:
    """Add which hand a caller was not told the end of. Nobody is told of hands of earlier days."""
    connection.execute("ALTER TABLE callers ADD COLUMN untold_round INTEGER")


# Each part adds what one subject needs, in this order.
PARTS_4: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _results_4,
    _powers_4,
    _skeletons_4,
    _generations_4,
    _stakes_over_midnight_4,
    _clocks_4,
    _recovery_codes_4,
    _owing_4,
    _high_water_4,
    _hands_to_tell_4,
)


def _to_version_4(connection: sqlite3.Connection) -> None:
    for part in PARTS_4:
        part(connection)


# The step that leaves each version.
STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_version_2,
    2: _to_version_3,
    3: _to_version_4,
}
