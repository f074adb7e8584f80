"""The steps that upgrade the books of an earlier release, on both engines.

A change of the tables in schema.py needs a new step here, from the old tables to the new ones.
Write it in SQLAlchemy Core, so that both engines share it. A step never changes later, so it names
its tables and columns itself. All steps and the new version are one transaction: a process that is
killed halfway leaves the old version. sqlite/upgrade.py copies a file first.

Release 1.0 has the first version of the books that can be upgraded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, column, delete, table, text, update

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


# The version of the books in release 1.0.
FIRST_VERSION = 13
# The first step leads from FIRST_VERSION to the next version, and so on.
STEPS: Sequence[Step] = (_leave_hands_to_the_program, _forget_links)


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
