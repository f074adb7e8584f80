"""The steps by which books of an earlier release are moved forward, on both engines.

Whoever changes the tables in schema.py adds a step here, which leads to them from the tables of
before: in SQLAlchemy Core, so that it is the same for books in a file and on a server. A step
stands as it was written, whatever becomes of the tables later, so it names its own. All steps that
books need are one transaction, with the new version in it: a process that is killed in the middle
leaves the version before. sqlite/upgrade.py says what is done with a file first.

The books begin with release 1.0: no step leads from any of before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, column, delete, table, text, update

from timebank.ledger import dialects
from timebank.ledger.schema import APPLICATION_ID

Step = Callable[[Connection], None]


def _leave_hands_to_the_program(connection: Connection) -> None:
    """Drop the triggers of version 13 that counted hands: callers/hand_totals.py counts them.

    On a server, balances are moved row by row, as in a file.
    """
    is_postgres = connection.dialect.name == "postgresql"
    for name in ("rounds_settled_at_once_count", "rounds_that_are_settled_count"):
        of_table = " ON rounds" if is_postgres else ""
        connection.execute(text(f"DROP TRIGGER IF EXISTS {name}{of_table}"))
    if is_postgres:
        connection.execute(text("DROP FUNCTION IF EXISTS count_a_hand()"))
        connection.execute(text(_MOVE_BALANCES))


# As version 14 has it. postgres/guards.py has what new books get, which a later version may change.
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
    """Drop how servers reached each other, and by which count of its machine a call was renewed.

    No server has the books open now: the rows that servers have left go, with what they held.
    """
    for table_name, column_name in (
        *(("servers", "link"), ("servers", "certificate")),
        *(("calls", "boot"), ("calls", "awake")),
    ):
        connection.execute(text(f"ALTER TABLE {table_name} DROP COLUMN {column_name}"))
    connection.execute(update(table("leases", column("server"))).values(server=None))
    connection.execute(delete(table("servers")))


# The version of the books of release 1.0.
FIRST_VERSION = 13
# The first of them leaves that version, and each other the next one.
STEPS: Sequence[Step] = (_leave_hands_to_the_program, _forget_links)


def newest_version() -> int:
    """Give the version of the books that this release writes."""
    return FIRST_VERSION + len(STEPS)


def is_due(program: int, version: int) -> bool:
    """Tell whether they are books of ours that a step leads on."""
    return program == APPLICATION_ID and FIRST_VERSION <= version < newest_version()


def migrate(connection: Connection, version: int) -> None:
    """Bring books of a version to the newest, in the open transaction."""
    for step in STEPS[version - FIRST_VERSION :]:
        step(connection)
    dialects.dialect_of(connection).set_version(connection, newest_version())
