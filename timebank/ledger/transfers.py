"""The books: `transfer`, the only function that moves time, and what can be read from its rows.

A transfer is one row, from one account to another, of an amount above zero in the unit of both.
Rows that belong together are one entry: they are added by one statement, follow one another, and
each says which of how many it is, so that a missing one is missed. Balances are kept by the
trigger that sees the rows come in (`model.TRIGGERS`), never written from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError

from timebank.errors import NotEnough, Refused
from timebank.ledger import chain
from timebank.ledger.chain import Head
from timebank.ledger.database import Desk
from timebank.ledger.reasons import Reason, decode, encode
from timebank.ledger.schema import MINT, SYSTEM_ACCOUNTS, stamp
from timebank.ledger.sentences import sentence
from timebank.words import Unit

__all__ = [
    "ADJUSTMENT",
    "ALLOTMENT",
    "ELAPSED",
    "EXTERNAL",
    "FORFEIT",
    "Account",
    "Balance",
    "Head",
    "Movement",
    "NotEnough",
    "Refused",
    "TransferLine",
    "TransferRow",
    "balances",
    "count",
    "head",
    "house",
    "lines",
    "mint",
    "transfer",
]


class Account(NamedTuple):
    """One account: its number, its kind ("online", "house", ...) and its unit."""

    id: int
    kind: str
    unit: Unit


class Movement(NamedTuple):
    """What is to be moved, and why; `call_id` and `round_id` where it belongs to one."""

    source: Account
    target: Account
    amount: int
    reason: Reason
    call_id: int | None
    round_id: int | None


class TransferRow(NamedTuple):
    """A transfer as it stands in the books; `source` and `target` are kinds of account."""

    number: int
    reason: Reason
    amount: int
    unit: Unit
    source: str
    target: str

    @property
    def kind(self) -> str:
        """The kind of transfer."""
        return self.reason.kind

    @property
    def why(self) -> str:
        """The reason as a sentence, without a full stop."""
        return sentence(self.reason, self.amount, self.unit)


ALLOTMENT, ELAPSED, FORFEIT, EXTERNAL, ADJUSTMENT = (
    Account(number, kind, "second") for number, kind in SYSTEM_ACCOUNTS.items()
)


def transfer(
    desk: Desk, movements: Sequence[Movement], after: Head | None = None
) -> tuple[TransferRow, ...]:
    """Add one entry to the books: all the movements, in the order given.

    `after` is the end of the chain for one who has read it already, in this transaction; a stale
    one is an IntegrityError. Amounts are whole units above zero between two accounts of the same
    unit (ValueError). Raises `NotEnough` when an account would hold what its kind may not; nothing
    is moved then.
    """
    if not movements:
        return ()
    size = len(movements)
    at = stamp(desk.now)
    first, digest = after or head(desk)
    values: list[object] = []
    for place, movement in enumerate(movements, 1):
        source, target, amount, reason, call_id, round_id = movement
        if amount <= 0 or source.unit != target.unit:
            raise ValueError(f"not a transfer: {movement}")
        numbers = (first + place, place, size, at, amount, source.id, target.id, call_id, round_id)
        kind, facts = reason.kind, encode(reason)
        digest = chain.digest(digest, *numbers, kind, facts)
        values += (*numbers, kind, facts, digest)
    try:
        desk.connection.exec_driver_sql(_insertion(size), tuple(values))
    except IntegrityError as error:
        if "CHECK constraint failed: never" not in str(error.orig):
            raise
        raise NotEnough("There is not that much in the account.") from error
    return tuple(
        TransferRow(
            number,
            moved.reason,
            moved.amount,
            moved.source.unit,
            moved.source.kind,
            moved.target.kind,
        )
        for number, moved in enumerate(movements, first + 1)
    )


@lru_cache(maxsize=64)
def _insertion(size: int) -> str:
    rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * size)
    return (
        "INSERT INTO transfers"
        " (id, place, size, at, amount, source, target, call_id, round_id, kind, facts, digest)"
        f" VALUES {rows}"
    )


def head(desk: Desk) -> Head:
    """Tell where the chain of transfers ends: its last number and digest, to be noted down."""
    return chain.head(desk.connection)


HOUSE = "SELECT id FROM accounts WHERE kind = 'house' AND game = ? AND unit = ?"


def house(desk: Desk, game: str, unit: Unit) -> Account:
    """Give the house account of a game, opening it when the game is played the first time."""
    run = desk.connection.exec_driver_sql
    number = run(HOUSE, (game, unit)).scalar()
    if number is None:
        number = run(
            "INSERT INTO accounts (kind, game, unit, balance) VALUES ('house', ?, ?, 0)",
            (game, unit),
        ).lastrowid
    return Account(number, "house", unit)


def mint(desk: Desk, unit: Unit) -> Account:
    """Give the account that the play money of a unit comes from, opening it the first time."""
    run = desk.connection.exec_driver_sql
    number = run("SELECT id FROM accounts WHERE kind = ? AND unit = ?", (MINT, unit)).scalar()
    if number is None:
        number = run(
            "INSERT INTO accounts (kind, unit, balance) VALUES (?, ?, 0)", (MINT, unit)
        ).lastrowid
    return Account(number, MINT, unit)


class Balance(NamedTuple):
    """What one account holds; `caller` and `game` say whose it is, None for the system's."""

    account_id: int
    kind: str
    caller_id: int | None
    caller: str | None
    deleted: bool
    game: str | None
    unit: Unit
    amount: int


BALANCES = """
SELECT a.id, a.kind, a.caller_id, c.name, c.deleted IS NOT NULL, a.game, a.unit, a.balance
FROM accounts a LEFT JOIN callers c ON c.id = a.caller_id
ORDER BY a.caller_id IS NULL, c.name COLLATE NOCASE, a.caller_id, a.id
"""


def balances(desk: Desk) -> list[Balance]:
    """List every account: callers by name with theirs together, then the system's."""
    return [
        Balance(number, kind, caller_id, caller, bool(deleted), game, unit, amount)
        for number, kind, caller_id, caller, deleted, game, unit, amount in (
            desk.connection.exec_driver_sql(BALANCES)
        )
    ]


class TransferLine(NamedTuple):
    """A transfer with everything a reader of the books wants beside it."""

    number: int
    entry: int
    # Whole seconds since 1970, UTC (model.instant).
    at: int
    kind: str
    amount: int
    unit: Unit
    source: str
    target: str
    # See ledger/reasons.py.
    facts: str
    call_id: int | None
    round_id: int | None
    # Whose accounts were moved; the source's caller where there are two.
    caller: str | None
    game: str | None

    @property
    def why(self) -> str:
        """The reason as a sentence, without a full stop."""
        return sentence(decode(self.kind, self.facts), self.amount, self.unit)


LINES = """
SELECT t.id, t.entry, t.at, t.kind, t.amount, s.unit, s.kind, g.kind, t.facts, t.call_id,
       t.round_id, c.name, coalesce(s.game, g.game)
FROM transfers t
JOIN accounts s ON s.id = t.source
JOIN accounts g ON g.id = t.target
LEFT JOIN callers c ON c.id = coalesce(s.caller_id, g.caller_id)
"""


def lines(
    desk: Desk, *, caller_id: int | None, round_id: int | None, since: int | None
) -> list[TransferLine]:
    """List transfers in the order they were made; each filter that is None lets all pass.

    `since` is whole seconds since 1970: transfers made at or after it.
    """
    wanted: list[str] = []
    values: list[Any] = []
    if caller_id is not None:
        wanted.append("(s.caller_id = ? OR g.caller_id = ?)")
        values += [caller_id, caller_id]
    if round_id is not None:
        wanted.append("t.round_id = ?")
        values.append(round_id)
    if since is not None:
        wanted.append("t.at >= ?")
        values.append(since)
    where = f"WHERE {' AND '.join(wanted)} " if wanted else ""
    found = desk.connection.exec_driver_sql(f"{LINES}{where}ORDER BY t.id", tuple(values))
    return [TransferLine(*row) for row in found]


def count(desk: Desk) -> int:
    """Tell how many transfers the books hold."""
    number: int = desk.connection.exec_driver_sql("SELECT count(*) FROM transfers").scalar_one()
    return number
