"""Running totals and awards in the books: counted hand by hand, and recounted from all hands.

The rules are in hand_counts.py. `count` is part of the transaction that settles the hand.
`differing` compares the books with all hands, and `mend` makes them agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Table,
    bindparam,
    delete,
    func,
    select,
)

from timebank.callers import hand_counts
from timebank.callers.hand_counts import FULL_TABLE, EndedHand, GameTotals, HandSums, Streaks
from timebank.ledger.database import Desk
from timebank.ledger.schema import awards, results, results_ever, rounds
from timebank.ledger.sql import (
    Prepared,
    Query,
    equal,
    given,
    greatest,
    insert_or_change,
    insert_or_keep,
)

# The tables.


class _Derived:
    """A table that follows from the hands; `columns` are those behind its key."""

    def __init__(self, table: Table, *columns: str) -> None:
        names = [*table.primary_key.columns.keys(), *columns]
        # Other awards are earned by no hand.
        of_hands = [awards.c.round_id.is_not(None)] if table is awards else []

        def rows(*where: ColumnElement[bool]) -> Query:
            found = select(*(table.c[name] for name in names)).where(*of_hands, *where)
            return found.order_by(*table.primary_key)

        self.table, self.names = table, names
        self.rows = Prepared(rows)
        self.rows_of = Prepared(lambda: rows(equal(table.c.caller_id)))
        self.put = Prepared(lambda: insert_or_change(table, given(*names), **given(*columns)))
        self.drop = Prepared(lambda: delete(table).where(equal(*table.primary_key)))

    def row(self, key: Sequence[object], values: Sequence[object]) -> dict[str, object]:
        """Name the values of a row, or of its key alone."""
        return dict(zip(self.names, (*key, *values), strict=False))


_BY_DAY = _Derived(results, *HandSums._fields)
_EVER = _Derived(results_ever, *HandSums._fields, *Streaks._fields)
_AWARDS = _Derived(awards, "at", "round_id")
# In the order of `hand_counts.Recount`.
_DERIVED = (_BY_DAY, _EVER, _AWARDS)

# With each hand.


def _add_to_day() -> Any:
    """Add the sums of a hand to a day's."""
    row = results.c
    change: dict[str, Any] = {name: row[name] + bindparam(name) for name in HandSums._fields}
    change["best"] = greatest(row.best, bindparam("best"))
    return insert_or_change(results, given(*row.keys()), **change)


_ADD_TO_DAY = Prepared(_add_to_day)
_EARN = Prepared(lambda: insert_or_keep(awards, given(*_AWARDS.names)))


def count(desk: Desk, totals_ever: str | None, hand: EndedHand) -> None:
    """Count a hand in the transaction that settles it, and note the awards that it earns.

    `totals_ever` is what `Posting.totals_ever` says before it.
    """
    books, key = desk.connection, (hand.caller_id, hand.game, hand.unit)
    rows = json.loads(totals_ever or "[]")
    before = {(game, unit): GameTotals.of(row) for _, game, unit, *row in rows}
    standing, sums, deserved = hand_counts.settle(before, hand)
    _EVER.put.later(books, **_EVER.row(key, standing[hand.game, hand.unit].row))
    _ADD_TO_DAY.later(books, **_BY_DAY.row((hand.day, *key), sums))
    for award in deserved:
        _EARN.later(books, **_AWARDS.row((hand.caller_id, award), (hand.at, hand.number)))


# From all hands.


class WrongRow(NamedTuple):
    """A row of totals, or an award, that is not what the hands come to.

    `key` is its primary key. `right` is the rest of the row as it should be, None for no row.
    """

    table: Table
    key: tuple[Any, ...]
    right: tuple[Any, ...] | None

    @property
    def caller_id(self) -> int:
        number: int = self.key[self.table.primary_key.columns.keys().index("caller_id")]
        return number

    def __str__(self) -> str:
        if self.table is awards:
            caller_id, award = self.key
            return f"award {award!r} of caller {caller_id}"
        return f"{self.table.name} of {', '.join(map(str, self.key))}"


def _is_over(hand: FromClause) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return hand.c.settled.is_not(None), hand.c.outcome != "void"


def _hands(*where: ColumnElement[bool]) -> Query:
    """Choose hands in the order of their numbers: those of one caller were settled in it.

    The last column is the table at which they were played: the number of the hand that leads it.
    """
    names = ("id", "caller_id", "game", "unit", "day", "settled", "outcome", "bet", "lost", "won")
    columns = [rounds.c[name] for name in names]
    table = func.coalesce(rounds.c.lead, rounds.c.id)
    return select(*columns, table).where(*_is_over(rounds), *where).order_by(rounds.c.id)


def _full_tables() -> Query:
    """Choose tables at which so many hands were settled that they earn an award, and how many."""
    leads = rounds.alias("leads")
    its_lead = select(func.count()).where(leads.c.id == rounds.c.lead, *_is_over(leads))
    return (
        select(rounds.c.lead, (func.count() + its_lead.scalar_subquery()).label("together"))
        .where(rounds.c.lead.is_not(None), *_is_over(rounds))
        .group_by(rounds.c.lead)
        .having(func.count() >= FULL_TABLE - 1)
    )


_HANDS, _HANDS_OF = Prepared(_hands), Prepared(lambda: _hands(equal(rounds.c.caller_id)))
_FULL_TABLES = Prepared(_full_tables)


def differing(desk: Desk, caller_id: int | None = None) -> list[WrongRow]:
    """List the totals and awards that are not what hands come to; reads every hand.

    With `caller_id`, those of one caller, whose hands are read.
    """
    of = {} if caller_id is None else {"caller_id": caller_id}
    found: list[WrongRow] = []
    counted: tuple[Any, ...] = hand_counts.recount(_settled(desk, of))
    for derived, right in zip(_DERIVED, counted, strict=True):
        size = len(derived.table.primary_key)
        wrong: dict[tuple[Any, ...], tuple[Any, ...] | None] = {}
        for row in (derived.rows_of if of else derived.rows).long(desk.connection, **of):
            key, kept = tuple(row[:size]), tuple(row[size:])
            is_right = right.pop(key, None)
            if is_right != kept:
                wrong[key] = is_right
        wrong.update(right)  # those that have no row
        found += [WrongRow(derived.table, *each) for each in wrong.items()]
    return found


def mend(desk: Desk, caller_id: int | None = None) -> None:
    """Make totals and awards what hands come to: all of them, or one caller's."""
    derived = {each.table: each for each in _DERIVED}
    for table, key, right in differing(desk, caller_id):
        if right is None:
            derived[table].drop(desk.connection, **derived[table].row(key, ()))
        else:
            derived[table].put(desk.connection, **derived[table].row(key, right))


def _settled(desk: Desk, of: dict[str, int]) -> Iterator[EndedHand]:
    full = {row.lead: row.together for row in _FULL_TABLES(desk.connection)}
    for *hand, table in (_HANDS_OF if of else _HANDS).long(desk.connection, **of):
        yield EndedHand._make((*hand, full.get(table, 1)))
