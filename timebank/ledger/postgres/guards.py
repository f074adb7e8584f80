"""The triggers that guard the books, in PL/pgSQL, with the same names as SQLite's.

A transfer moves two balances, and its row never changes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    name: str
    body: str

    @property
    def definition(self) -> str:
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $$\n{self.body}$$"
        )


@dataclass(frozen=True)
class Trigger:
    """A trigger; `rule` is the part of its definition between its name and its function."""

    name: str
    rule: str
    function: Function
    argument: str = ""

    @property
    def definition(self) -> str:
        call = f"{self.function.name}({self.argument})"
        return f"CREATE TRIGGER {self.name} {self.rule} EXECUTE FUNCTION {call}"


REFUSE = Function(
    "refuse_what_is_only_added",
    """
BEGIN
    RAISE EXCEPTION '% are only ever added, never %', TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'integrity_constraint_violation';
END
""",
)
KEEP_TO_ONE_UNIT = Function(
    "keep_to_one_unit",
    """
BEGIN
    IF EXISTS (
        SELECT 1 FROM added WHERE (SELECT unit FROM accounts WHERE id = added.source)
            <> (SELECT unit FROM accounts WHERE id = added.target)
    )
    THEN
        RAISE EXCEPTION 'units never mix in one transfer'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END
""",
)
MOVE_BALANCES = Function(
    "move_balances",
    """
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
""",
)


def _only_added(table: str) -> list[Trigger]:
    words = {"changed": "UPDATE", "deleted": "DELETE"}
    each = [
        Trigger(
            f"{table}_are_never_{done}",
            f"BEFORE {event} ON {table} FOR EACH ROW",
            REFUSE,
            f"'{done}'",
        )
        for done, event in words.items()
    ]
    at_once = f"BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"
    return [*each, Trigger(f"{table}_are_never_emptied", at_once, REFUSE, "'emptied'")]


_ADDED = "AFTER INSERT ON transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
_MOVES = [
    Trigger("transfers_move_balances", _ADDED, MOVE_BALANCES),
    Trigger("transfers_keep_to_one_unit", _ADDED, KEEP_TO_ONE_UNIT),
]
FUNCTIONS = (REFUSE, KEEP_TO_ONE_UNIT, MOVE_BALANCES)
TRIGGERS = (*_only_added("generations"), *_MOVES, *_only_added("transfers"))

# A balance changes with every bet. An index on its column would make each change update all indexes
# of the table. So the banks are not indexed by balance, and are sorted when a ranking is shown.
NOT_INDEXED = frozenset({"banks_by_balance"})
ROOM = (
    "CREATE INDEX banks ON accounts (id) WHERE kind = 'bank' AND unit = 'second'",
    # Leaves room on the page for new versions of rows that change often.
    "ALTER TABLE accounts SET (fillfactor = 50)",
    "ALTER TABLE calls SET (fillfactor = 70)",
    "ALTER TABLE callers SET (fillfactor = 80)",
)

# The last operation of each connection, by which a broken COMMIT is looked up (connection.py).
OPERATIONS = (
    'CREATE TABLE operations (key TEXT COLLATE "C" PRIMARY KEY,'
    " last BIGINT NOT NULL, at BIGINT NOT NULL)"
)
# `books` and `numbers` store what SQLite has in its file header and in `sqlite_sequence`.
TABLES = (
    OPERATIONS,
    "CREATE TABLE books (program BIGINT NOT NULL, version BIGINT NOT NULL)",
    'CREATE TABLE numbers (name TEXT COLLATE "C" PRIMARY KEY, last BIGINT NOT NULL)',
)
