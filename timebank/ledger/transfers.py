"""`transfer`, the only function that moves time, and readers of the transfers.

A transfer is one row that moves an amount above zero between two accounts of the same unit. The
rows of one entry are added by one statement, have consecutive numbers, and store their place and
the size of the entry, so that a missing row is noticed. Triggers keep the balances
(`sqlite.TRIGGERS`).
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
    DUELS,
    MINT,
    PRIZES,
    SYSTEM_ACCOUNTS,
    accounts,
    callers,
    rounds,
    source,
    stamp,
    target,
    transfers,
    transfers_with_accounts,
)
from timebank.ledger.sentences import sentence
from timebank.words import Unit


class Account(NamedTuple):
    """One account: its number, its kind ("online", "house", ...) and its unit."""

    id: int
    kind: str
    unit: Unit


class Movement(NamedTuple):
    """A transfer to be made. `amount` is in the unit of both accounts: seconds or cents.

    `call_id` and `round_id` name its call and hand, if any.
    """

    source: Account
    target: Account
    amount: int
    reason: Reason
    call_id: int | None
    round_id: int | None


class TransferRow(NamedTuple):
    """A transfer in the books; `source` and `target` are kinds of account."""

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
    """Add one entry with all movements to the books, in order.

    `after` is the end of the chain, if this transaction has read it already. Raises ValueError
    unless each amount is above zero and both its accounts have the same unit. The transaction
    raises `NotEnough` if a balance would break the limits of its kind of account, and
    IntegrityError if `after` is stale; nothing is moved then.
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
    """Yield the values of each row of an entry, in the order of `COLUMNS`.

    `at` is in whole seconds since 1970. Raises ValueError as `transfer` does.
    """
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
    """Return the end of the chain of transfers: its last number and digest."""
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
_DUELS: sql.Reader[int] = sql.value(lambda: select(accounts.c.id).where(accounts.c.kind == DUELS))


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
    return _account_of_board(desk, PRIZES, _PRIZES.first(desk.connection))


def duel_stakes(desk: Desk) -> Account:
    return _account_of_board(desk, DUELS, _DUELS.first(desk.connection))


def _account_of_board(desk: Desk, kind: str, number: int | None) -> Account:
    return open_account(desk, kind, "second") if number is None else Account(number, kind, "second")


class Balance(NamedTuple):
    """The balance of one account, in its unit (seconds or cents).

    `caller` or `game` names the owner; both are None for an account of the system.
    """

    account_id: int
    kind: str
    caller_id: int | None
    caller: str | None
    deleted: bool
    game: str | None
    unit: Unit
    amount: int


def _balances() -> sql.Query:
    own, caller = accounts.c, callers.c
    owner = {"caller": caller.name, "deleted": caller.deleted.is_not(None)}
    query = sql.fields_of(Balance, accounts, account_id=own.id, **owner, amount=own.balance)
    return query.join(callers, caller.id == own.caller_id, isouter=True).order_by(
        own.caller_id.is_(None), sql.by_name(caller.name), own.caller_id, own.id
    )


_BALANCES = sql.read(Balance, _balances)
_BALANCES_OF = sql.read(Balance, lambda: _balances().where(sql.equal(accounts.c.caller_id)))


def balances(desk: Desk, caller_id: int | None = None) -> list[Balance]:
    """Return the balances of all accounts, or of one caller's."""
    if caller_id is None:
        rows = _BALANCES.all(desk.connection)
    else:
        rows = _BALANCES_OF.all(desk.connection, caller_id=caller_id)
    return [row._replace(deleted=bool(row.deleted)) for row in rows]


_COUNT: sql.Reader[int] = sql.value(lambda: select(func.count()).select_from(transfers))
_COUNT_AFTER: sql.Reader[int] = sql.value(
    lambda: select(func.count()).where(transfers.c.id > bindparam("after"))
)


def count(desk: Desk, after: int | None = None) -> int:
    """Return the number of transfers, or of those after transfer number `after`."""
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
    # The owner of the source; None for accounts of the system and the houses.
    source_caller_id: int | None
    source_caller: str | None
    target: str
    target_caller_id: int | None
    target_caller: str | None
    # The game of the house or the hand.
    game: str | None
    call_id: int | None
    round_id: int | None
    # JSON; see reasons.py.
    facts: str
    # SHA-256 over this row and all before it (chain.py).
    digest: str
    # The generation of the books that the row was written in, from 1 (generations.py).
    generation: int

    @property
    def reason(self) -> Reason:
        return decode(self.kind, self.facts)

    @property
    def why(self) -> str:
        return sentence(self.reason, self.amount, self.unit)

    @property
    def caller(self) -> str | None:
        """The caller whose time was moved; "Ann > Bob" for a transfer between two callers."""
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
            transfers_with_accounts,
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
