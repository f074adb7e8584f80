"""The books: `transfer`, the only function that moves time, and what can be read from its rows.

A transfer is one row, from one account to another, of an amount above zero in the unit of both.
Rows that belong together are one entry: they are added by one statement, follow one another, and
each says which of how many it is, so that a missing one is missed. Balances are kept by the
trigger that sees the rows come in (`sqlite.TRIGGERS`), never written from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from timebank.ledger import chain, sql
from timebank.ledger.chain import Head
from timebank.ledger.database import Desk
from timebank.ledger.generations import generation_of_transfer
from timebank.ledger.reasons import Reason, decode, encode
from timebank.ledger.schema import (
    MINT,
    PRIZES,
    SYSTEM_ACCOUNTS,
    accounts,
    callers,
    moved,
    rounds,
    source,
    stamp,
    target,
    transfers,
)
from timebank.ledger.sentences import sentence
from timebank.words import Unit


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
        return self.reason.kind

    @property
    def why(self) -> str:
        return sentence(self.reason, self.amount, self.unit)


ALLOTMENT, ELAPSED, FORFEIT, EXTERNAL, ADJUSTMENT = (
    Account(number, kind, "second") for number, kind in SYSTEM_ACCOUNTS.items()
)


COLUMNS = "id place size at kind amount source target facts call_id round_id digest"
_ADD = sql.Insertion(transfers, COLUMNS)


def transfer(
    desk: Desk, movements: Sequence[Movement], after: Head | None = None
) -> tuple[TransferRow, ...]:
    """Add one entry to the books: all the movements, in the order given.

    `after` is the end of the chain for one who has read it already, in this transaction. Amounts
    are whole units above zero between two accounts of the same unit (ValueError). The transaction
    raises `NotEnough` when an account would hold what its kind may not, and IntegrityError when
    `after` is stale: nothing is moved then.
    """
    if not movements:
        return ()
    at = stamp(desk.now)
    before = after or head(desk)
    values: list[object] = []
    for row in entry_values(before, at, movements):
        values += row
    _ADD.defer(desk.connection, len(movements), values)
    return _rows(before.number + 1, movements)


def entry_values(
    after: Head, at: int, movements: Sequence[Movement]
) -> Iterator[tuple[object, ...]]:
    """Give the values of each row of an entry, in the order of `COLUMNS`; ValueError as above."""
    first, digest = after
    size = len(movements)
    for place, movement in enumerate(movements, 1):
        source, target, amount, reason, call_id, round_id = movement
        if amount <= 0 or source.unit != target.unit:
            raise ValueError(f"not a transfer: {movement}")
        begins, ends = (first + place, place, size, at), (amount, source.id, target.id)
        kind, facts = reason.kind, encode(reason)
        digest = chain.digest(digest, *begins, *ends, call_id, round_id, kind, facts)
        yield (*begins, kind, *ends, facts, call_id, round_id, digest)


def _rows(first: int, movements: Sequence[Movement]) -> tuple[TransferRow, ...]:
    return tuple(
        TransferRow(first + place, reason, amount, source.unit, source.kind, target.kind)
        for place, (source, target, amount, reason, *_) in enumerate(movements)
    )


def head(desk: Desk) -> Head:
    """Tell where the chain of transfers ends: its last number and digest, to be noted down."""
    return chain.head(desk.connection)


_OPEN = sql.Prepared(lambda: sql.insert_into(accounts, "kind caller_id game unit", balance=0))
_HOUSE: sql.Reader[int] = sql.value(
    lambda: select(accounts.c.id).where(
        accounts.c.kind == "house", sql.equal(accounts.c.game, accounts.c.unit)
    )
)
_MINT: sql.Reader[int] = sql.value(
    lambda: select(accounts.c.id).where(accounts.c.kind == MINT, sql.equal(accounts.c.unit))
)
_PRIZES: sql.Reader[int] = sql.value(lambda: select(accounts.c.id).where(accounts.c.kind == PRIZES))


def open_account(
    desk: Desk, kind: str, unit: Unit, *, caller_id: int | None = None, game: str | None = None
) -> Account:
    number = _OPEN.insert(desk.connection, kind=kind, caller_id=caller_id, game=game, unit=unit)
    return Account(number, kind, unit)


def house(desk: Desk, game: str, unit: Unit) -> Account:
    number = _HOUSE.first(desk.connection, game=game, unit=unit)
    if number is None:
        return open_account(desk, "house", unit, game=game)
    return Account(number, "house", unit)


def mint(desk: Desk, unit: Unit) -> Account:
    number = _MINT.first(desk.connection, unit=unit)
    return open_account(desk, MINT, unit) if number is None else Account(number, MINT, unit)


def prizes(desk: Desk) -> Account:
    number = _PRIZES.first(desk.connection)
    return (
        open_account(desk, PRIZES, "second")
        if number is None
        else Account(number, PRIZES, "second")
    )


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


def _balances() -> sql.Query:
    own, who = accounts.c, callers.c
    of_caller = {"caller": who.name, "deleted": who.deleted.is_not(None)}
    chosen = sql.fields_of(Balance, accounts, account_id=own.id, **of_caller, amount=own.balance)
    return chosen.join(callers, who.id == own.caller_id, isouter=True).order_by(
        own.caller_id.is_(None), sql.by_name(who.name), own.caller_id, own.id
    )


_BALANCES = sql.read(Balance, _balances)
_BALANCES_OF = sql.read(Balance, lambda: _balances().where(sql.equal(accounts.c.caller_id)))


def balances(desk: Desk, caller_id: int | None = None) -> list[Balance]:
    """List what all accounts hold, or those of a caller."""
    if caller_id is None:
        found = _BALANCES.all(desk.connection)
    else:
        found = _BALANCES_OF.all(desk.connection, caller_id=caller_id)
    return [each._replace(deleted=bool(each.deleted)) for each in found]


_COUNT: sql.Reader[int] = sql.value(lambda: select(func.count()).select_from(transfers))
_COUNT_AFTER: sql.Reader[int] = sql.value(
    lambda: select(func.count()).where(transfers.c.id > bindparam("after"))
)


def count(desk: Desk, after: int | None = None) -> int:
    """Count the transfers, or those after one with a number."""
    if after is None:
        return _COUNT.one(desk.connection)
    return _COUNT_AFTER.one(desk.connection, after=after)


class Extract(NamedTuple):
    number: int
    entry: int
    # Whole seconds since 1970, UTC (schema.instant).
    at: int
    kind: str
    amount: int
    unit: Unit
    source: str
    # Whose account that is; None for the system's and the houses'.
    source_caller_id: int | None
    source_caller: str | None
    target: str
    target_caller_id: int | None
    target_caller: str | None
    # The game of the house or the hand.
    game: str | None
    call_id: int | None
    round_id: int | None
    # See ledger/reasons.py.
    facts: str
    # Of the row and of those before it (chain.py).
    digest: str
    # Of the books that it was written in, 1 until a backup is restored (generations.py).
    generation: int

    @property
    def reason(self) -> Reason:
        return decode(self.kind, self.facts)

    @property
    def why(self) -> str:
        return sentence(self.reason, self.amount, self.unit)

    @property
    def caller(self) -> str | None:
        """Whose time was moved; "Ann > Bob" where it went from one to the other."""
        names = [self.source_caller, self.target_caller]
        if self.source_caller_id == self.target_caller_id:
            names.pop()
        return " > ".join(name for name in names if name) or None


def extracts_query() -> sql.Query:
    row, giver, taker = transfers.c, callers.alias("giver"), callers.alias("taker")
    names = "entry at kind amount call_id round_id facts digest"
    own = {name: row[name] for name in names.split()}
    return (
        sql.fields_of(
            Extract,
            moved,
            **own,
            number=row.id,
            unit=source.c.unit,
            source=source.c.kind,
            source_caller_id=source.c.caller_id,
            source_caller=giver.c.name,
            target=target.c.kind,
            target_caller_id=target.c.caller_id,
            target_caller=taker.c.name,
            game=game_column(),
            generation=generation_of_transfer(row.id),
        )
        .join(giver, giver.c.id == source.c.caller_id, isouter=True)
        .join(taker, taker.c.id == target.c.caller_id, isouter=True)
        .join(rounds, rounds.c.id == row.round_id, isouter=True)
    )


def game_column() -> ColumnElement[str]:
    return func.coalesce(source.c.game, target.c.game, rounds.c.game)
