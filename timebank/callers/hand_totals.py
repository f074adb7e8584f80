"""Running totals and awards in the books, counted hand by hand and recounted from all hands.

The rules are in hand_counts.py. `count` runs in the transaction that settles the hand. `differing`
compares the totals with all hands, and `mend` corrects them.
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
    greatest,
    insert_or_change,
    insert_or_keep,
    parameters,
)

# The tables.


class _Derived:
    """A table that is computed from hands. `columns` are those after its key."""

    def __init__(self, table: Table, *columns: str) -> None:
        names = [*table.primary_key.columns.keys(), *columns]
        # Awards without a hand are not computed from hands.
        of_hands = [awards.c.round_id.is_not(None)] if table is awards else []

        def rows(*where: ColumnElement[bool]) -> Query:
            query = select(*(table.c[name] for name in names)).where(*of_hands, *where)
            return query.order_by(*table.primary_key)

        self.table, self.names = table, names
        self.rows = Prepared(rows)
        self.rows_of = Prepared(lambda: rows(equal(table.c.caller_id)))
        self.put = Prepared(
            lambda: insert_or_change(table, parameters(*names), **parameters(*columns))
        )
        self.drop = Prepared(lambda: delete(table).where(equal(*table.primary_key)))

    def row(self, key: Sequence[object], values: Sequence[object]) -> dict[str, object]:
        """Return the values of a row, or of its key alone, by column."""
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
    return insert_or_change(results, parameters(*row.keys()), **change)


_ADD_TO_DAY = Prepared(_add_to_day)
_EARN = Prepared(lambda: insert_or_keep(awards, parameters(*_AWARDS.names)))


def count(desk: Desk, totals_ever: str | None, hand: EndedHand) -> list[str]:
    """Count a hand in the transaction that settles it, and return the awards that it earns.

    `totals_ever` is `Posting.totals_ever` before the hand.
    """
    books, key = desk.connection, (hand.caller_id, hand.game, hand.unit)
    rows = json.loads(totals_ever or "[]")
    before = {(game, unit): GameTotals.from_row(row) for _, game, unit, *row in rows}
    after, sums, deserved = hand_counts.settle(before, hand)
    _EVER.put.defer(books, **_EVER.row(key, after[hand.game, hand.unit].row))
    _ADD_TO_DAY.defer(books, **_BY_DAY.row((hand.day, *key), sums))
    rows = {each: _AWARDS.row((hand.caller_id, each), (hand.at, hand.number)) for each in deserved}
    return [award for award, row in rows.items() if _EARN.count_changed(books, **row)]


# From all hands.


class WrongRow(NamedTuple):
    """A row of totals, or an award, that differs from the hands.

    `key` is its primary key. `right` has its correct other columns, None if there should be no row.
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
    """Select finished hands by number, which is the order in which a caller settled them.

    The last column is the number of the hand that leads the table.
    """
    names = ("id", "caller_id", "game", "unit", "day", "settled", "outcome", "bet", "lost", "won")
    columns = [rounds.c[name] for name in names]
    table = func.coalesce(rounds.c.lead, rounds.c.id)
    return select(*columns, table).where(*_is_over(rounds), *where).order_by(rounds.c.id)


def _full_tables() -> Query:
    """Select tables with enough settled hands for an award, and the number of hands."""
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
    """Return the totals and awards that differ from the hands, of all callers or of one.

    Reads every hand of these callers.
    """
    caller_filter = {} if caller_id is None else {"caller_id": caller_id}
    wrong_rows: list[WrongRow] = []
    counted: tuple[Any, ...] = hand_counts.recount(_settled(desk, caller_filter))
    for derived, right in zip(_DERIVED, counted, strict=True):
        size = len(derived.table.primary_key)
        wrong: dict[tuple[Any, ...], tuple[Any, ...] | None] = {}
        for row in (derived.rows_of if caller_filter else derived.rows).run_long(
            desk.connection, **caller_filter
        ):
            key, stored = tuple(row[:size]), tuple(row[size:])
            is_right = right.pop(key, None)
            if is_right != stored:
                wrong[key] = is_right
        wrong.update(right)  # those that have no row
        wrong_rows += [WrongRow(derived.table, *each) for each in wrong.items()]
    return wrong_rows


def mend(desk: Desk, caller_id: int | None = None) -> None:
    """Correct the totals and awards of all callers, or of one."""
    derived = {each.table: each for each in _DERIVED}
    for table, key, right in differing(desk, caller_id):
        if right is None:
            derived[table].drop(desk.connection, **derived[table].row(key, ()))
        else:
            derived[table].put(desk.connection, **derived[table].row(key, right))


def _settled(desk: Desk, caller_filter: dict[str, int]) -> Iterator[EndedHand]:
    full = {row.lead: row.together for row in _FULL_TABLES(desk.connection)}
    for *hand, table in (_HANDS_OF if caller_filter else _HANDS).run_long(
        desk.connection, **caller_filter
    ):
        yield EndedHand._make((*hand, full.get(table, 1)))
