"""The steps that upgrade the books of an earlier release, on both engines.

A change of the tables in schema.py needs a new step here, from the old tables to the new ones.
Write it in SQLAlchemy Core, so that both engines share it. A step never changes later, so it names
its tables and columns itself. All steps and the new version are one transaction: a process that is
killed halfway leaves the old version. sqlite/upgrade.py copies a file first.

Release 1.0 has the first version of the books that can be upgraded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
    update,
)
from sqlalchemy.schema import CreateTable

from timebank.ledger import dialects
from timebank.ledger.schema import APPLICATION_ID

Step = Callable[[Connection], None]


def _leave_hands_to_the_program(connection: Connection) -> None:
    """Drop the triggers of version 13 that counted hands; callers/hand_totals.py counts them.

    On PostgreSQL, make the trigger move balances row by row, as on SQLite.
    """
    is_postgres = connection.dialect.name == "postgresql"
    for name in ("rounds_settled_at_once_count", "rounds_that_are_settled_count"):
        of_table = " ON rounds" if is_postgres else ""
        connection.execute(text(f"DROP TRIGGER IF EXISTS {name}{of_table}"))
    if is_postgres:
        connection.execute(text("DROP FUNCTION IF EXISTS count_a_hand()"))
        connection.execute(text(_MOVE_BALANCES))


# The function of version 14. New books get that of postgres/guards.py, which may change later.
_MOVE_BALANCES = """
CREATE OR REPLACE FUNCTION move_balances() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved RECORD;
BEGIN
    FOR moved IN SELECT * FROM added ORDER BY id
    LOOP
        UPDATE accounts SET balance = balance - moved.amount WHERE id = moved.source;
        UPDATE accounts SET balance = balance + moved.amount WHERE id = moved.target;
    END LOOP;
    UPDATE numbers SET last = (SELECT max(id) FROM added)
        WHERE name = 'transfers' AND last < (SELECT max(id) FROM added);
    RETURN NULL;
END
$$"""


def _forget_links(connection: Connection) -> None:
    """Drop the columns for links between servers, and for the machine's clock at a renewal.

    No server has the books open during an upgrade, so free all leases and delete all servers.
    """
    for table_name, column_name in (
        *(("servers", "link"), ("servers", "certificate")),
        *(("calls", "boot"), ("calls", "awake")),
    ):
        connection.execute(text(f"ALTER TABLE {table_name} DROP COLUMN {column_name}"))
    connection.execute(update(table("leases", column("server"))).values(server=None))
    connection.execute(delete(table("servers")))


def _make_room_for_duels(connection: Connection) -> None:
    """Let entries belong to any contest, and add the table and the account of duels."""
    connection.execute(CreateTable(_DUELS))
    connection.execute(CreateTable(_ENTRIES))
    columns: list[Any] = [column(each.name) for each in _ENTRIES.c]
    before = select(*columns).select_from(table("tournament_entries", *columns))
    connection.execute(insert(_ENTRIES).from_select(columns, before))
    connection.execute(text("DROP TABLE tournament_entries"))
    for index in (
        "INDEX open_duels ON duels (ends) WHERE outcome IS NULL",
        "INDEX duels_of_a_challenger ON duels (challenger_id)",
        "INDEX duels_of_a_rival ON duels (rival_id)",
        "INDEX entries_of_a_caller ON contest_entries (caller_id, day)",
        "UNIQUE INDEX one_account_of_duels ON accounts (kind) WHERE kind = 'duels'",
    ):
        connection.execute(text(f"CREATE {index}"))
    if connection.dialect.name == "postgresql":
        connection.execute(text("ALTER TABLE accounts DROP CONSTRAINT never_negative"))
        connection.execute(text(f"ALTER TABLE accounts ADD CONSTRAINT {_NEVER_NEGATIVE}"))
    else:  # SQLite's documentation allows this for a CHECK, and the references to the table stay
        connection.execute(text("PRAGMA writable_schema = ON"))
        connection.execute(text(_ALLOW_DUELS))
        connection.execute(text("PRAGMA writable_schema = RESET"))


_NEVER_NEGATIVE = (
    "never_negative CHECK (kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit',"
    " 'bankroll', 'casino', 'prizes', 'duels') OR balance >= 0)"
)
_ALLOW_DUELS = """
UPDATE sqlite_schema SET sql = replace(sql, '''prizes''', '''prizes'', ''duels''')
WHERE type = 'table' AND name = 'accounts'"""
_AT_16 = MetaData()
for _name, _key in (("callers", "id"), ("deals", "seal"), ("transfers", "id")):
    Table(_name, _AT_16, Column(_key, Text if _key == "seal" else Integer, primary_key=True))


def _number(name: str, check: str = "", default: str | None = None) -> Column[int]:
    checks = [CheckConstraint(f"{name} {check}")] if check else []
    otherwise = None if default is None else text(default)
    return Column(name, Integer, *checks, server_default=otherwise, nullable=False)


_OUTCOMES = "'won', 'even', 'declined', 'expired', 'called off', 'restored'"
_DUELS = Table(
    "duels",
    _AT_16,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("challenger_id", ForeignKey("callers.id"), nullable=False),
    Column("rival_id", ForeignKey("callers.id"), nullable=False),
    Column("game", Text, nullable=False),
    *(_number("hands", "> 0"), _number("stake", "> 0"), _number("ends")),
    Column("outcome", Text, CheckConstraint(f"outcome IN ({_OUTCOMES})")),
    CheckConstraint("challenger_id <> rival_id", name="between_two"),
    sqlite_with_rowid=False,
)
_ENTRIES = Table(
    "contest_entries",
    _AT_16,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _number("at"),
    Column("day", Text, nullable=False),
    *(_number("for_prize", "IN (0, 1)"), _number("paid", ">= 0")),
    Column("paid_id", ForeignKey("transfers.id"), unique=True),
    Column("back_id", ForeignKey("transfers.id"), unique=True),
    Column("place", Integer, CheckConstraint("place > 0")),
    *(_number("passed", "IN (0, 1)", "0"), _number("prize", ">= 0", "0")),
    Column("prize_id", ForeignKey("transfers.id"), unique=True),
    CheckConstraint("(paid = 0) = (paid_id IS NULL)", name="paid_by_a_transfer"),
    CheckConstraint("(prize = 0) = (prize_id IS NULL)", name="won_by_a_transfer"),
    CheckConstraint("paid = 0 OR for_prize = 1", name="paid_for_a_prize"),
    CheckConstraint("prize = 0 OR (for_prize = 1 AND passed = 0)", name="won_by_one_who_can"),
    CheckConstraint("back_id IS NULL OR (paid > 0 AND prize = 0)", name="given_back_once"),
    sqlite_with_rowid=False,
)


def _award_every_split_won(connection: Connection) -> None:
    """Give the award "split" for splits won with a 21, a blackjack or a Charlie.

    Earlier versions gave it only for the outcome "win win". Callers who have seen it keep it as
    seen, with the time of their first such hand.
    """
    rounds = table("rounds", *map(column, ("id", "caller_id", "outcome", "settled")))
    awards = table("awards", *map(column, ("caller_id", "award", "at", "round_id")))
    words = "win", "twenty-one", "natural", "charlie"
    won = [f"{one} {other}" for one in words for other in words]
    first = select(func.min(rounds.c.id)).where(rounds.c.outcome.in_(won))
    hands = select(rounds.c.caller_id, rounds.c.settled, rounds.c.id).where(
        rounds.c.id.in_(first.group_by(rounds.c.caller_id))
    )
    for caller_id, at, number in connection.execute(hands).all():
        has_it = (awards.c.caller_id == caller_id) & (awards.c.award == "split")
        earned = {"at": at, "round_id": number}
        if not connection.execute(update(awards).where(has_it).values(earned)).rowcount:
            row = {"caller_id": caller_id, "award": "split", **earned}
            connection.execute(insert(awards).values(row))


def _forget_passwords_at_the_pages(connection: Connection) -> None:
    """Drop the table that counted wrong passwords at the sysop's pages."""
    connection.execute(text("DROP TABLE page_tries"))


def _let_callers_wait(connection: Connection) -> None:
    """Add the column for callers who wait for the sysop's approval; nobody does so far."""
    _add_instant(connection, "waits")


def _remove_callers_later(connection: Connection) -> None:
    """Add the column for deleted callers who were removed: so far all are, when deleted."""
    _add_instant(connection, "removed")
    callers = table("callers", *map(column, ("deleted", "removed")))
    connection.execute(update(callers).values(removed=callers.c.deleted))


def _add_instant(connection: Connection, name: str) -> None:
    kind = "BIGINT" if connection.dialect.name == "postgresql" else "INTEGER"
    connection.execute(text(f"ALTER TABLE callers ADD COLUMN {name} {kind}"))


# The version of the books in release 1.0.
FIRST_VERSION = 13
# The first step leads from FIRST_VERSION to the next version, and so on.
STEPS: Sequence[Step] = (
    _leave_hands_to_the_program,
    _forget_links,
    _make_room_for_duels,
    _award_every_split_won,
    _forget_passwords_at_the_pages,
    _let_callers_wait,
    _remove_callers_later,
)


def newest_version() -> int:
    """Return the version of the books that this release writes."""
    return FIRST_VERSION + len(STEPS)


def is_due(program: int, version: int) -> bool:
    """Return whether a database is this program's and has an older version with a step."""
    return program == APPLICATION_ID and FIRST_VERSION <= version < newest_version()


def migrate(connection: Connection, version: int) -> None:
    """Upgrade books from `version` to the newest one, in the open transaction."""
    for step in STEPS[version - FIRST_VERSION :]:
        step(connection)
    dialects.dialect_of(connection).set_version(connection, newest_version())
