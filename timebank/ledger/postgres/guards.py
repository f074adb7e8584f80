"""The guards of the books in PL/pgSQL: the same triggers as SQLite has, by the same names.

Every transfer moves two balances; what was added stays as it is; and who won most is known without
reading a million hands.
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
    """A trigger as PostgreSQL shows it: `rule` is what stands between its name and its function."""

    name: str
    rule: str
    function: Function
    given: str = ""

    @property
    def definition(self) -> str:
        call = f"{self.function.name}({self.given})"
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
    IF (SELECT unit FROM accounts WHERE id = NEW.source)
        <> (SELECT unit FROM accounts WHERE id = NEW.target)
    THEN
        RAISE EXCEPTION 'units never mix in one transfer'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
""",
)
MOVE_BALANCES = Function(
    "move_balances",
    """
BEGIN
    UPDATE accounts SET balance = balance - NEW.amount WHERE id = NEW.source;
    UPDATE accounts SET balance = balance + NEW.amount WHERE id = NEW.target;
    UPDATE numbers SET last = NEW.id WHERE name = 'transfers' AND last < NEW.id;
    RETURN NULL;
END
""",
)
COUNT_A_HAND = Function(
    "count_a_hand",
    """
BEGIN
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = results.hands + 1, lost = results.lost + excluded.lost,
        won = results.won + excluded.won;
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = results_ever.hands + 1, lost = results_ever.lost + excluded.lost,
        won = results_ever.won + excluded.won;
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


_MOVES = [
    Trigger("transfers_move_balances", "AFTER INSERT ON transfers FOR EACH ROW", MOVE_BALANCES),
    Trigger(
        "transfers_keep_to_one_unit",
        "BEFORE INSERT ON transfers FOR EACH ROW",
        KEEP_TO_ONE_UNIT,
    ),
]
# Those that the audit looks for.
WATCHED = {
    each.name: each for each in (*_only_added("generations"), *_MOVES, *_only_added("transfers"))
}
_COUNTS = [
    Trigger(
        "rounds_settled_at_once_count",
        "AFTER INSERT ON rounds FOR EACH ROW"
        " WHEN (NEW.settled IS NOT NULL AND NEW.outcome <> 'void')",
        COUNT_A_HAND,
    ),
    Trigger(
        "rounds_that_are_settled_count",
        "AFTER UPDATE OF settled ON rounds FOR EACH ROW"
        " WHEN (OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void')",
        COUNT_A_HAND,
    ),
]
FUNCTIONS: tuple[Function, ...] = (REFUSE, KEEP_TO_ONE_UNIT, MOVE_BALANCES, COUNT_A_HAND)
TRIGGERS: tuple[Trigger, ...] = (*WATCHED.values(), *_COUNTS)

# What connections have written last, by which a COMMIT that broke off is looked up (connection.py).
OPERATIONS = (
    'CREATE TABLE operations (key TEXT COLLATE "C" PRIMARY KEY,'
    " last BIGINT NOT NULL, at BIGINT NOT NULL)"
)
# What SQLite keeps in the head of its file, and in `sqlite_sequence`.
TABLES = (
    OPERATIONS,
    "CREATE TABLE books (program BIGINT NOT NULL, version BIGINT NOT NULL)",
    'CREATE TABLE numbers (name TEXT COLLATE "C" PRIMARY KEY, last BIGINT NOT NULL)',
)
