"""Totals of transfers by quarters of an hour and by accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import and_, bindparam, case, func, select, union_all

from timebank.ledger.database import Desk
from timebank.ledger.schema import rounds, source, target, transfers, transfers_with_accounts
from timebank.ledger.sql import NO_BOUND, Query, fields_of, read
from timebank.ledger.transfers import game_column
from timebank.words import Unit

QUARTER = 900  # seconds; every zone's day begins with one
# Kinds of transfer from and to `external` that count as accounts of their own.
ENDS = ("brought", "taken home", "given back", "kept")


class QuarterMoved(NamedTuple):
    """The sum moved in a quarter of an hour between two kinds of accounts, at a game or none."""

    quarter: int  # quarters of an hour since 1970
    source: str
    target: str
    game: str | None
    unit: Unit
    amount: int


class _AccountChange(NamedTuple):
    account: int
    amount: int


def _moved() -> Query:
    row = transfers.c
    ends = {
        name: case((and_(end == "external", row.kind.in_(ENDS)), row.kind), else_=end)
        for name, end in (("source", source.c.kind), ("target", target.c.kind))
    }
    quarter = row.at // QUARTER
    what = {**ends, "game": game_column(), "unit": source.c.unit}
    return (
        fields_of(
            QuarterMoved,
            transfers_with_accounts,
            quarter=quarter,
            **what,
            amount=func.sum(row.amount),
        )
        .join(rounds, rounds.c.id == row.round_id, isouter=True)
        .where(row.at >= bindparam("since"), row.at < bindparam("until"))
        .where(row.id >= bindparam("first"), row.id < bindparam("end"))
        .group_by(quarter, *what.values())
    )


def _changes() -> Query:
    sides = union_all(
        *(
            # "+ 0" keeps SQLite from scanning an index through all of the books.
            select((end + 0).label("account"), func.sum(sign * transfers.c.amount).label("amount"))
            .where(transfers.c.id >= bindparam("first"))
            .group_by(end + 0)
            for end, sign in ((transfers.c.source, -1), (transfers.c.target, 1))
        )
    ).subquery()
    amount = func.sum(sides.c.amount).label("amount")
    return select(sides.c.account, amount).group_by(sides.c.account)


_MOVED = read(QuarterMoved, _moved)
_CHANGES = read(_AccountChange, _changes)


def moved_by_quarter(
    desk: Desk, first: int = 0, since: int = -NO_BOUND, until: int = NO_BOUND, end: int = NO_BOUND
) -> Iterator[QuarterMoved]:
    """Sum the transfers numbered `first` to before `end`, made from `since` to before `until`."""
    return _MOVED.stream(desk.connection, first=first, end=end, since=since, until=until)


def changes(desk: Desk, first: int) -> Counter[int]:
    """Return the change of each account by the transfers from number `first` on."""
    rows = _CHANGES.stream(desk.connection, first=first)
    return Counter({row.account: row.amount for row in rows})
