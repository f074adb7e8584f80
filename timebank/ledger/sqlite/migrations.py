"""How a database of an earlier version of the program is moved forward, version by version.

A step is one transaction, with the version it leads to written in the same one: whoever is killed
in the middle leaves the version before. The lock that it holds makes a second process wait, which
then finds the work done. Nothing is touched before a copy of it all is safe beside the database: of
the version that it begins with, and one for all steps, for books of years are large.

A step stands here as it was written, whatever becomes of the tables in ledger/schema.py later.
Version 1 is the first that was released. Ledgers of before that are databases of ours no more
(`schema.BEFORE_RELEASE`); tools/convert_ledger.py makes new ones of them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from timebank.errors import BooksInUse, CommitFailed
from timebank.files import sync
from timebank.ledger.schema import APPLICATION_ID
from timebank.ledger.sqlite import dialect as sqlite

# What leaves a version for the next one, in the transaction that it is given.
Step = Callable[[sqlite3.Connection], None]
Steps = Mapping[int, Step]


def _several_servers(connection: sqlite3.Connection) -> None:
    """Lead from version 1 to 2: the servers that serve from the books, what one has alone, and at
    which of a game's tables a shoe lies."""
    connection.execute(
        """
CREATE TABLE servers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    process TEXT NOT NULL,
    link TEXT DEFAULT '' NOT NULL,
    certificate TEXT DEFAULT '' NOT NULL,
    settings TEXT NOT NULL,
    version TEXT NOT NULL,
    started INTEGER NOT NULL,
    renewed INTEGER NOT NULL,
    draining INTEGER DEFAULT 0 NOT NULL CHECK (draining IN (0, 1))
)"""
    )
    connection.execute(
        """
CREATE TABLE leases (
    name TEXT NOT NULL,
    server INTEGER,
    fence INTEGER NOT NULL CHECK (fence >= 0),
    until INTEGER NOT NULL,
    PRIMARY KEY (name)
) WITHOUT ROWID"""
    )
    connection.execute("ALTER TABLE calls ADD COLUMN seen INTEGER")
    connection.execute(
        "ALTER TABLE calls ADD COLUMN away INTEGER DEFAULT 0 NOT NULL CHECK (away IN (0, 1))"
    )
    # Whose node that of a call was is not known of those that are open.
    connection.execute("UPDATE calls SET away = 1 WHERE closed IS NULL")
    connection.execute(
        "CREATE UNIQUE INDEX one_open_call_a_node ON calls (node) WHERE closed IS NULL AND away = 0"
    )
    connection.execute(
        "ALTER TABLE shoes ADD COLUMN at_table INTEGER DEFAULT 1 NOT NULL CHECK (at_table > 0)"
    )
    connection.execute("DROP INDEX one_open_shoe_a_table")
    connection.execute(
        "CREATE UNIQUE INDEX one_open_shoe_a_table ON shoes (game, at_table)"
        " WHERE closed IS NULL AND caller_id IS NULL"
    )


def _own_limits(connection: sqlite3.Connection) -> None:
    """Lead from version 2 to 3: the limits that callers set for themselves."""
    connection.execute(
        """
CREATE TABLE own_limits (
    caller_id INTEGER NOT NULL,
    most_lost INTEGER CHECK (most_lost > 0),
    later_lost INTEGER CHECK (later_lost >= 0),
    later_from INTEGER,
    paused_until INTEGER,
    hourly INTEGER DEFAULT 0 NOT NULL CHECK (hourly IN (0, 1)),
    hourly_until INTEGER,
    told INTEGER,
    PRIMARY KEY (caller_id),
    CONSTRAINT later_at_some_time CHECK ((later_lost IS NULL) = (later_from IS NULL)),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
) WITHOUT ROWID"""
    )


def _sealed_ahead(connection: sqlite3.Connection) -> None:
    """Lead from version 3 to 4: seeds that come from chains which are sealed ahead."""
    connection.execute(
        """
CREATE TABLE chains (
    anchor TEXT NOT NULL,
    caller_id INTEGER,
    game TEXT NOT NULL,
    at_table INTEGER DEFAULT 1 NOT NULL CHECK (at_table > 0),
    root BLOB NOT NULL,
    length INTEGER NOT NULL CHECK (length > 0),
    used INTEGER NOT NULL CHECK (used >= 0),
    day TEXT NOT NULL,
    opened INTEGER NOT NULL,
    closed INTEGER,
    PRIMARY KEY (anchor),
    CONSTRAINT no_more_links CHECK (used <= length),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
) WITHOUT ROWID"""
    )
    connection.execute(
        "CREATE UNIQUE INDEX one_open_chain_a_game ON chains (caller_id, game) WHERE closed IS NULL"
    )
    connection.execute(
        "CREATE UNIQUE INDEX one_open_chain_a_table ON chains (game, at_table)"
        " WHERE closed IS NULL AND caller_id IS NULL"
    )
    connection.execute("ALTER TABLE shoes ADD COLUMN anchor TEXT")
    connection.execute("ALTER TABLE shoes ADD COLUMN link INTEGER")
    connection.execute(
        "CREATE UNIQUE INDEX one_shoe_a_link ON shoes (anchor, link) WHERE anchor IS NOT NULL"
    )


def _early_events(connection: sqlite3.Connection) -> None:
    """Lead from version 4 to 5: events that the sysop has started early, and calls and notices
    of a caller without reading those of all."""
    connection.execute(
        """
CREATE TABLE early_events (
    starts INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    name TEXT NOT NULL,
    instead_of INTEGER,
    PRIMARY KEY (starts),
    CONSTRAINT it_lasts CHECK (ends > starts)
) WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX calls_of_a_caller ON calls (caller_id, id)")
    connection.execute("CREATE INDEX notices_of_a_caller ON notices (caller_id, id)")


def _beacons(connection: sqlite3.Connection) -> None:
    """Let shoes be shuffled with a round of a public beacon."""
    connection.execute("ALTER TABLE shoes ADD COLUMN beacon TEXT")


def _page_tries(connection: sqlite3.Connection) -> None:
    """Lead from version 6 to 7: wrong passwords at the pages."""
    connection.execute(
        """
CREATE TABLE page_tries (
    number TEXT NOT NULL,
    at INTEGER NOT NULL,
    address TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (number)
) WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX page_tries_from ON page_tries (address)")
    connection.execute("CREATE INDEX page_tries_for ON page_tries (name)")


def _totals_of_hands(connection: sqlite3.Connection) -> None:
    """Lead from version 7 to 8: running totals of hands won, naturals, streaks, the best win."""
    for name in ("rounds_settled_at_once_count", "rounds_that_are_settled_count"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    connection.execute("DROP TABLE results")
    connection.execute("DROP TABLE results_ever")
    for statement in (_RESULTS, _RESULTS_EVER, COUNT_RESULTS, COUNT_RESULTS_EVER):
        connection.execute(statement)
    count = _COUNT_A_HAND.format(hand=_OF_A_HAND, added=_ADDED_TO)
    connection.execute(
        "CREATE TRIGGER rounds_settled_at_once_count AFTER INSERT ON rounds"
        f" WHEN NEW.settled IS NOT NULL AND NEW.outcome <> 'void' {count}"
    )
    connection.execute(
        "CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON rounds"
        " WHEN OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void'"
        f" {count}"
    )


_RESULTS = """
CREATE TABLE results (
    day TEXT NOT NULL,
    caller_id INTEGER NOT NULL,
    game TEXT NOT NULL,
    unit TEXT NOT NULL,
    hands INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    won INTEGER NOT NULL,
    hands_won INTEGER NOT NULL,
    hands_even INTEGER NOT NULL,
    naturals INTEGER NOT NULL,
    charlies INTEGER NOT NULL,
    best INTEGER NOT NULL,
    PRIMARY KEY (day, caller_id, game, unit),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
) WITHOUT ROWID"""
_RESULTS_EVER = """
CREATE TABLE results_ever (
    caller_id INTEGER NOT NULL,
    game TEXT NOT NULL,
    unit TEXT NOT NULL,
    hands INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    won INTEGER NOT NULL,
    hands_won INTEGER NOT NULL,
    hands_even INTEGER NOT NULL,
    naturals INTEGER NOT NULL,
    charlies INTEGER NOT NULL,
    best INTEGER NOT NULL,
    streak INTEGER NOT NULL,
    longest_won INTEGER NOT NULL,
    longest_lost INTEGER NOT NULL,
    PRIMARY KEY (caller_id, game, unit),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
) WITHOUT ROWID"""
COUNT_RESULTS = """
WITH hands AS (
    SELECT day, caller_id, game, unit, lost, won,
        CASE WHEN won > lost THEN 1 ELSE 0 END AS is_won,
        CASE WHEN won = lost THEN 1 ELSE 0 END AS is_even,
        CASE WHEN replace(' ' || outcome || ' ', ' natural ', '') <> ' ' || outcome || ' '
            THEN 1 ELSE 0 END AS natural_hand,
        CASE WHEN replace(' ' || outcome || ' ', ' charlie ', '') <> ' ' || outcome || ' '
            THEN 1 ELSE 0 END AS charlie_hand
    FROM rounds WHERE settled IS NOT NULL AND outcome <> 'void'
)
INSERT INTO results (day, caller_id, game, unit, hands, lost, won, hands_won, hands_even,
    naturals, charlies, best)
SELECT day, caller_id, game, unit, count(*), sum(lost), sum(won), sum(is_won), sum(is_even),
    sum(natural_hand), sum(charlie_hand), max(CASE WHEN won > lost THEN won - lost ELSE 0 END)
FROM hands GROUP BY day, caller_id, game, unit"""
COUNT_RESULTS_EVER = """
WITH decided AS (
    SELECT caller_id, game, unit, id, CASE WHEN won > lost THEN 1 ELSE -1 END AS way
    FROM rounds WHERE settled IS NOT NULL AND outcome <> 'void' AND won <> lost
), placed AS (
    SELECT caller_id, game, unit, id, way,
        row_number() OVER (PARTITION BY caller_id, game, unit ORDER BY id)
        - row_number() OVER (PARTITION BY caller_id, game, unit, way ORDER BY id) AS run
    FROM decided
), runs AS (
    SELECT caller_id, game, unit, way, count(*) AS length, max(id) AS last
    FROM placed GROUP BY caller_id, game, unit, way, run
), aged AS (
    SELECT caller_id, game, unit, way, length,
        row_number() OVER (PARTITION BY caller_id, game, unit ORDER BY last DESC) AS age
    FROM runs
), streaks AS (
    SELECT caller_id, game, unit, sum(CASE WHEN age = 1 THEN way * length ELSE 0 END) AS streak,
        max(CASE WHEN way > 0 THEN length ELSE 0 END) AS longest_won,
        max(CASE WHEN way < 0 THEN length ELSE 0 END) AS longest_lost
    FROM aged GROUP BY caller_id, game, unit
)
INSERT INTO results_ever (caller_id, game, unit, hands, lost, won, hands_won, hands_even,
    naturals, charlies, best, streak, longest_won, longest_lost)
SELECT results.caller_id, results.game, results.unit, sum(hands), sum(lost), sum(won),
    sum(hands_won), sum(hands_even), sum(naturals), sum(charlies), max(best),
    max(coalesce(streak, 0)), max(coalesce(longest_won, 0)), max(coalesce(longest_lost, 0))
FROM results LEFT JOIN streaks ON streaks.caller_id = results.caller_id
    AND streaks.game = results.game AND streaks.unit = results.unit
GROUP BY results.caller_id, results.game, results.unit"""
_OF_A_HAND = """
    1, NEW.lost, NEW.won, NEW.won > NEW.lost, NEW.won = NEW.lost,
        instr(' ' || NEW.outcome || ' ', ' natural ') > 0,
        instr(' ' || NEW.outcome || ' ', ' charlie ') > 0, max(NEW.won - NEW.lost, 0)"""
_ADDED_TO = """
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won,
        hands_won = hands_won + excluded.hands_won, hands_even = hands_even + excluded.hands_even,
        naturals = naturals + excluded.naturals, charlies = charlies + excluded.charlies,
        best = max(best, excluded.best)"""
_COUNT_A_HAND = """
BEGIN
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won, hands_won, hands_even,
        naturals, charlies, best)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, {hand})
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET {added};
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won, hands_won, hands_even,
        naturals, charlies, best, streak, longest_won, longest_lost)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, {hand},
        (NEW.won > NEW.lost) - (NEW.won < NEW.lost), NEW.won > NEW.lost, NEW.won < NEW.lost)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET {added},
        streak = CASE excluded.streak WHEN 1 THEN max(streak, 0) + 1
            WHEN -1 THEN min(streak, 0) - 1 ELSE streak END,
        longest_won = max(longest_won, max(streak, 0) + excluded.longest_won),
        longest_lost = max(longest_lost, excluded.longest_lost - min(streak, 0));
END"""


def _messages(connection: sqlite3.Connection) -> None:
    """Lead from version 8 to 9: messages between callers, one-liners, and who is muted."""
    connection.execute("ALTER TABLE callers ADD COLUMN muted INTEGER")
    connection.execute(
        """
CREATE TABLE messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    sender_id INTEGER NOT NULL,
    caller_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    shown INTEGER,
    FOREIGN KEY(sender_id) REFERENCES callers (id),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
)"""
    )
    connection.execute("CREATE INDEX messages_to_show ON messages (caller_id) WHERE shown IS NULL")
    connection.execute("CREATE INDEX messages_of_a_caller ON messages (caller_id, id)")
    connection.execute("CREATE INDEX messages_by_a_caller ON messages (sender_id, at)")
    connection.execute(
        """
CREATE TABLE one_liners (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller_id INTEGER NOT NULL,
    call_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (call_id),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    FOREIGN KEY(call_id) REFERENCES calls (id)
)"""
    )


def _daily_deals(connection: sqlite3.Connection) -> None:
    """Lead from version 9 to 10: the deals of the day, and the tries at them."""
    connection.execute(
        """
CREATE TABLE deals (
    seal TEXT NOT NULL,
    day TEXT NOT NULL,
    seed BLOB NOT NULL,
    rules TEXT NOT NULL,
    opened INTEGER NOT NULL,
    closed INTEGER,
    PRIMARY KEY (seal)
) WITHOUT ROWID"""
    )
    connection.execute(
        "CREATE UNIQUE INDEX one_open_deal_a_day ON deals (day) WHERE closed IS NULL"
    )
    connection.execute("CREATE INDEX deals_closed ON deals (closed) WHERE closed IS NOT NULL")
    connection.execute(
        """
CREATE TABLE deal_tries (
    seal TEXT NOT NULL,
    caller_id INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    acts TEXT DEFAULT '' NOT NULL,
    finished INTEGER,
    score INTEGER,
    cost INTEGER,
    PRIMARY KEY (seal, caller_id),
    CONSTRAINT finished_with_a_score CHECK ((finished IS NULL) = (score IS NULL)),
    CONSTRAINT weighed_when_finished CHECK (cost IS NULL OR finished IS NOT NULL),
    FOREIGN KEY(seal) REFERENCES deals (seal),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
) WITHOUT ROWID"""
    )


def _tournaments(connection: sqlite3.Connection) -> None:
    """Lead from version 10 to 11: tournaments, and an account of prizes that is never negative."""
    _accounts_with_prizes(connection)
    connection.execute(
        "ALTER TABLE deals ADD COLUMN daily INTEGER DEFAULT 1 NOT NULL CHECK (daily IN (0, 1))"
    )
    connection.execute("DROP INDEX one_open_deal_a_day")
    connection.execute(
        "CREATE UNIQUE INDEX one_open_deal_a_day ON deals (day) WHERE closed IS NULL AND daily = 1"
    )
    _tables_of_tournaments(connection)


def _accounts_with_prizes(connection: sqlite3.Connection) -> None:
    """Make the table of accounts anew, for its CHECK is part of it."""
    (given,) = connection.execute(
        "SELECT seq FROM sqlite_sequence WHERE name = 'accounts'"
    ).fetchone() or (0,)
    # Triggers and tables that refer to it by its name stay as they are.
    connection.execute("PRAGMA legacy_alter_table = ON")
    connection.execute(
        """
CREATE TABLE accounts_1 (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    caller_id INTEGER,
    game TEXT,
    unit TEXT NOT NULL,
    balance INTEGER NOT NULL,
    CONSTRAINT known_unit CHECK (unit IN ('second', 'usd-cent', 'frf-cent')),
    CONSTRAINT never_negative CHECK (kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed',
        'forfeit', 'bankroll', 'casino', 'prizes') OR balance >= 0),
    CONSTRAINT never_positive CHECK (kind <> 'loan' OR balance <= 0),
    CONSTRAINT one_account_a_kind UNIQUE (caller_id, unit, kind),
    FOREIGN KEY(caller_id) REFERENCES callers (id)
)"""
    )
    connection.execute(
        "INSERT INTO accounts_1 SELECT id, kind, caller_id, game, unit, balance FROM accounts"
    )
    connection.execute("DROP TABLE accounts")
    connection.execute("ALTER TABLE accounts_1 RENAME TO accounts")
    connection.execute("PRAGMA legacy_alter_table = OFF")
    connection.execute(
        "UPDATE sqlite_sequence SET seq = ? WHERE name = 'accounts' AND seq < ?", (given, given)
    )
    for index in (
        "UNIQUE INDEX one_house_a_game ON accounts (game, unit) WHERE kind = 'house'",
        "INDEX banks_by_balance ON accounts (balance) WHERE kind = 'bank' AND unit = 'second'",
        "UNIQUE INDEX one_mint_a_unit ON accounts (unit) WHERE kind = 'mint'",
        "UNIQUE INDEX one_account_of_prizes ON accounts (kind) WHERE kind = 'prizes'",
    ):
        connection.execute(f"CREATE {index}")


def _tables_of_tournaments(connection: sqlite3.Connection) -> None:
    connection.execute(
        """
CREATE TABLE tournaments (
    seal TEXT NOT NULL,
    game TEXT NOT NULL,
    hands INTEGER NOT NULL CHECK (hands > 0),
    starts INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    entry INTEGER NOT NULL CHECK (entry >= 0),
    prizes TEXT NOT NULL,
    put_in INTEGER NOT NULL CHECK (put_in >= 0),
    put_in_id INTEGER,
    taken_back_id INTEGER,
    running INTEGER CHECK (running = 1),
    outcome TEXT CHECK (outcome IN ('settled', 'empty', 'called off', 'restored')),
    PRIMARY KEY (seal),
    CONSTRAINT it_is_open_for_a_while CHECK (ends > starts),
    CONSTRAINT ended_somehow CHECK ((running IS NULL) = (outcome IS NOT NULL)),
    CONSTRAINT put_in_by_a_transfer CHECK ((put_in = 0) = (put_in_id IS NULL)),
    CONSTRAINT taken_back_of_that CHECK (taken_back_id IS NULL OR put_in_id IS NOT NULL),
    FOREIGN KEY(seal) REFERENCES deals (seal),
    UNIQUE (put_in_id),
    FOREIGN KEY(put_in_id) REFERENCES transfers (id),
    UNIQUE (taken_back_id),
    FOREIGN KEY(taken_back_id) REFERENCES transfers (id),
    UNIQUE (running)
) WITHOUT ROWID"""
    )
    connection.execute(
        """
CREATE TABLE tournament_entries (
    seal TEXT NOT NULL,
    caller_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    day TEXT NOT NULL,
    for_prize INTEGER NOT NULL CHECK (for_prize IN (0, 1)),
    paid INTEGER NOT NULL CHECK (paid >= 0),
    paid_id INTEGER,
    back_id INTEGER,
    place INTEGER CHECK (place > 0),
    passed INTEGER DEFAULT 0 NOT NULL CHECK (passed IN (0, 1)),
    prize INTEGER DEFAULT 0 NOT NULL CHECK (prize >= 0),
    prize_id INTEGER,
    PRIMARY KEY (seal, caller_id),
    CONSTRAINT paid_by_a_transfer CHECK ((paid = 0) = (paid_id IS NULL)),
    CONSTRAINT won_by_a_transfer CHECK ((prize = 0) = (prize_id IS NULL)),
    CONSTRAINT paid_for_a_prize CHECK (paid = 0 OR for_prize = 1),
    CONSTRAINT won_by_one_who_can CHECK (prize = 0 OR (for_prize = 1 AND passed = 0)),
    CONSTRAINT given_back_once CHECK (back_id IS NULL OR (paid > 0 AND prize = 0)),
    FOREIGN KEY(seal) REFERENCES tournaments (seal),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    UNIQUE (paid_id),
    FOREIGN KEY(paid_id) REFERENCES transfers (id),
    UNIQUE (back_id),
    FOREIGN KEY(back_id) REFERENCES transfers (id),
    UNIQUE (prize_id),
    FOREIGN KEY(prize_id) REFERENCES transfers (id)
) WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX entries_of_a_caller ON tournament_entries (caller_id, day)")
    connection.execute(
        "CREATE INDEX tournaments_settled ON tournaments (ends) WHERE outcome = 'settled'"
    )


def _grace(connection: sqlite3.Connection) -> None:
    """Lead from version 11 to 12: the uncharged seconds that were given on a day."""
    connection.execute(
        "ALTER TABLE days ADD COLUMN grace INTEGER DEFAULT 0 NOT NULL CHECK (grace >= 0)"
    )


def _awards(connection: sqlite3.Connection) -> None:
    """Lead from version 12 to 13: awards; nobody is told of those of earlier hands."""
    connection.execute(
        """
CREATE TABLE awards (
    caller_id INTEGER NOT NULL,
    award TEXT NOT NULL,
    at INTEGER NOT NULL,
    round_id INTEGER,
    told INTEGER,
    PRIMARY KEY (caller_id, award),
    FOREIGN KEY(caller_id) REFERENCES callers (id),
    FOREIGN KEY(round_id) REFERENCES rounds (id)
) WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX awards_by_time ON awards (at)")
    connection.execute("CREATE INDEX awards_to_tell ON awards (caller_id) WHERE told IS NULL")
    connection.execute(AWARDS_OF_HANDS)
    for name in ("rounds_settled_at_once_count", "rounds_that_are_settled_count"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    count = f"BEGIN {_EARN_AWARDS}{_ADD_A_HAND} END"
    connection.execute(
        "CREATE TRIGGER rounds_settled_at_once_count AFTER INSERT ON rounds"
        f" WHEN NEW.settled IS NOT NULL AND NEW.outcome <> 'void' {count}"
    )
    connection.execute(
        "CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON rounds"
        " WHEN OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void'"
        f" {count}"
    )


AWARDS_OF_HANDS = """
INSERT INTO awards (caller_id, award, at, round_id, told)
WITH hands AS (
    SELECT id, caller_id, game, unit, settled, outcome, won - lost AS net, bet,
        row_number() OVER (PARTITION BY caller_id ORDER BY id) AS nth,
        count(*) OVER (PARTITION BY coalesce(lead, id)) AS seats
    FROM rounds WHERE settled IS NOT NULL AND outcome <> 'void'
), decided AS (
    SELECT id, caller_id, game, unit, settled, CASE WHEN net > 0 THEN 1 ELSE -1 END AS way,
        row_number() OVER (PARTITION BY caller_id, game, unit ORDER BY id)
        - row_number() OVER (PARTITION BY caller_id, game, unit, net > 0 ORDER BY id) AS run
    FROM hands WHERE net <> 0
), placed AS (
    SELECT id, caller_id, game, unit, settled, way * row_number()
        OVER (PARTITION BY caller_id, game, unit, way, run ORDER BY id) AS streak FROM decided
), rows_of AS (
    SELECT id, caller_id, settled, streak,
        lag(streak) OVER (PARTITION BY caller_id, game, unit ORDER BY id) AS streak_before
    FROM placed
), earned AS (
    SELECT caller_id, 'hand' AS award, settled, id FROM hands
    UNION ALL SELECT caller_id, 'natural', settled, id FROM hands
        WHERE replace(' ' || outcome || ' ', ' natural ', '') <> ' ' || outcome || ' '
    UNION ALL SELECT caller_id, 'charlie', settled, id FROM hands
        WHERE replace(' ' || outcome || ' ', ' charlie ', '') <> ' ' || outcome || ' '
    UNION ALL SELECT caller_id, 'split', settled, id FROM hands WHERE outcome = 'win win'
    UNION ALL SELECT caller_id, 'won ' || game, settled, id FROM hands WHERE net > 0
    UNION ALL SELECT caller_id, 'half', settled, id FROM hands
        WHERE unit = 'second' AND net >= 1800
    UNION ALL SELECT caller_id, 'fourfold', settled, id FROM hands
        WHERE net > 0 AND net >= 4 * bet
    UNION ALL SELECT caller_id, 'hundred', settled, id FROM hands WHERE nth >= 100
    UNION ALL SELECT caller_id, 'thousand', settled, id FROM hands WHERE nth >= 1000
    UNION ALL SELECT caller_id, 'company', settled, id FROM hands WHERE seats >= 4
    UNION ALL SELECT caller_id, 'streak', settled, id FROM rows_of WHERE streak >= 5
    UNION ALL SELECT caller_id, 'comeback', settled, id FROM rows_of
        WHERE streak > 0 AND streak_before <= -5
), aged AS (
    SELECT caller_id, award, settled, id,
        row_number() OVER (PARTITION BY caller_id, award ORDER BY id) AS age FROM earned
)
SELECT caller_id, award, settled, id, settled FROM aged WHERE age = 1"""
_EARN_AWARDS = """
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT NEW.caller_id, award, NEW.settled, NEW.id FROM (
        SELECT 'natural' AS award WHERE instr(' ' || NEW.outcome || ' ', ' natural ') > 0
        UNION ALL SELECT 'charlie' WHERE instr(' ' || NEW.outcome || ' ', ' charlie ') > 0
        UNION ALL SELECT 'split' WHERE NEW.outcome = 'win win'
        UNION ALL SELECT 'half' WHERE NEW.unit = 'second' AND NEW.won - NEW.lost >= 1800
        UNION ALL SELECT 'fourfold' WHERE NEW.won - NEW.lost >= 4 * NEW.bet
        UNION ALL SELECT 'won ' || NEW.game WHERE NEW.won > NEW.lost AND NOT EXISTS (
            SELECT 1 FROM results_ever
            WHERE caller_id = NEW.caller_id AND game = NEW.game AND hands_won > 0)
        UNION ALL SELECT CASE WHEN streak > 0 THEN 'streak' ELSE 'comeback' END
            FROM results_ever WHERE NEW.won > NEW.lost AND caller_id = NEW.caller_id
                AND game = NEW.game AND unit = NEW.unit AND (streak >= 4 OR streak <= -5)
        UNION ALL SELECT CASE WHEN so_far >= 999 THEN 'thousand' WHEN so_far > 0 THEN 'hundred'
            ELSE 'hand' END FROM (SELECT coalesce(sum(hands), 0) AS so_far
            FROM results_ever WHERE caller_id = NEW.caller_id) WHERE so_far IN (0, 99, 999)
    ) WHERE true ON CONFLICT DO NOTHING;
    INSERT INTO awards (caller_id, award, at, round_id)
    SELECT caller_id, 'company', settled, id FROM rounds
    WHERE NEW.lead IS NOT NULL AND (id = NEW.lead OR lead = NEW.lead)
        AND settled IS NOT NULL AND outcome <> 'void'
        AND (SELECT count(*) FROM rounds WHERE (id = NEW.lead OR lead = NEW.lead)
            AND settled IS NOT NULL AND outcome <> 'void') >= 4
    ON CONFLICT DO NOTHING;"""
_ADD_A_HAND = _COUNT_A_HAND.format(hand=_OF_A_HAND, added=_ADDED_TO)[len("\nBEGIN") : -len("END")]


# The step that leaves each version.
STEPS: Steps = {
    1: _several_servers,
    2: _own_limits,
    3: _sealed_ahead,
    4: _early_events,
    5: _beacons,
    6: _page_tries,
    7: _totals_of_hands,
    8: _messages,
    9: _daily_deals,
    10: _tournaments,
    11: _grace,
    12: _awards,
}


def move_forward(
    path: Path, busy_seconds: float, steps: Steps, *, alone: bool = False
) -> int | None:
    """Bring a database of ours as far as the steps lead; any other file is left alone.

    Returns the version that it was of, None if it was not moved. Raises sqlite3.Error and OSError;
    the database is as it was then. So it is at `BooksInUse`, unless the caller knows that they are
    `alone`. Raises `CommitFailed` when nobody knows yet whether it is.
    """
    with contextlib.closing(
        sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    ) as connection:
        if not is_earlier(connection, steps):
            return None
        before = sqlite.version_of(connection)
        connection.execute("PRAGMA synchronous = FULL")
        # A table that is made anew is dropped while others refer to it; see _check_references.
        connection.execute("PRAGMA foreign_keys = OFF")
        is_copied = False
        while is_earlier(connection, steps):
            is_alone = alone or is_copied
            is_copied |= _move_one_version(connection, path, steps, is_copied, is_alone=is_alone)
        return before if is_copied else None


def backup_path(path: Path, version: int) -> Path:
    return path.with_name(f"{path.name}.v{version}-backup")


def is_earlier(connection: sqlite3.Connection, steps: Steps) -> bool:
    is_ours = sqlite.program_of(connection) == APPLICATION_ID
    return is_ours and sqlite.version_of(connection) in steps


def _move_one_version(
    connection: sqlite3.Connection, path: Path, steps: Steps, is_copied: bool, *, is_alone: bool
) -> bool:
    """Take one step, unless another process was faster; a file that `is_copied` is not once more.

    Returns whether it was copied here.
    """
    copies = False
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = sqlite.version_of(connection)
        step = steps.get(version)
        if step is not None:
            copies = not is_copied
            if not is_alone and _is_in_use(connection):
                raise BooksInUse
            if copies:
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
    return copies


def _is_in_use(connection: sqlite3.Connection) -> bool:
    """Return whether another process has the file open, as a server of an earlier release does."""
    is_ahead = connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    return is_ahead and sqlite.is_shared_by(connection)


def _back_up(path: Path, copy: Path) -> None:
    """Copy what is committed; the copy gets its name once it is whole and on the disk."""
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(unfinished)) as target,
    ):
        sqlite.copy(source, target)
    sync(unfinished)
    unfinished.replace(copy)
    sync(copy.parent)


def _check_references(connection: sqlite3.Connection) -> None:
    """Refuse to commit a step after which a row refers to nothing (it would be our bug)."""
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        raise sqlite3.IntegrityError(f"row {row} of {table} refers to no row of {parent}")
