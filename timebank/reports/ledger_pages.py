"""The ledger in leaves, newest first, or in stretches, oldest first.

Leaves are found by numbers, so the last of five million transfers takes no longer than the first. A
filter that few transfers pass could mean a scan of all of them. So a leaf ends after a number of
stretches, and says where the next one continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from sqlalchemy import bindparam, select

from timebank.callers.history import last_numbers
from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp, transfers
from timebank.ledger.sql import Query, Reader, equal, read
from timebank.ledger.transfers import Extract, extracts_query, game_column

ROWS = 100  # of a leaf
STRETCH = 5000  # transfers per statement
OF_CALLER = 500  # a caller's transfers per statement, which are spread over the books
MOST_STRETCHES = 6  # per leaf
MOST_OF_ENTRY = 200  # rows; the largest entry of this program has about ten


@dataclass(frozen=True)
class Sought:
    """Filters of transfers; None passes all. Days are the board's, both included.

    `least` and `up_to` are amounts in the transfer's unit. `text` is a part of the transfer's
    reason, in any case.
    """

    caller_id: int | None = None
    kind: str | None = None
    game: str | None = None
    least: int | None = None
    up_to: int | None = None
    text: str | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True)
class Leaf:
    """One leaf. `before` is the argument for the next leaf, None if this is the last.

    `is_cut` says that the leaf may be short because few transfers pass the filters.
    """

    rows: list[Extract]
    before: int | None
    is_cut: bool = False


class _Written(NamedTuple):
    number: int
    at: int


_FILTERS = ("kind", "game", "least", "up_to")
_NEXT = read(
    _Written,
    lambda: (
        select(transfers.c.id, transfers.c.at)
        .where(transfers.c.id >= bindparam("number"))
        .order_by(transfers.c.id)
        .limit(1)
    ),
)
_LAST = read(
    _Written,
    lambda: select(transfers.c.id, transfers.c.at).order_by(transfers.c.id.desc()).limit(1),
)
_ENTRY: Reader[Extract] = read(
    Extract,
    lambda: (
        extracts_query()
        .where(transfers.c.id >= bindparam("first"), transfers.c.id < bindparam("end"))
        .where(equal(transfers.c.entry))
        .order_by(transfers.c.id)
    ),
)


def _stretch(of_caller: bool, filters: Iterator[str] | tuple[str, ...]) -> Query:
    row = transfers.c
    passes = {
        "kind": equal(row.kind),
        "game": game_column() == bindparam("game"),
        "least": row.amount >= bindparam("least"),
        "up_to": row.amount <= bindparam("up_to"),
    }
    statement = extracts_query().where(
        row.id >= bindparam("low"), *(passes[name] for name in filters)
    )
    if of_caller:
        statement = statement.where(row.id.in_(last_numbers()))
    else:
        statement = statement.where(row.id < bindparam("before")).limit(bindparam("most"))
    return statement.order_by(row.id.desc())


@cache
def _stretches(of_caller: bool, *filters: str) -> Reader[Extract]:
    return read(Extract, lambda: _stretch(of_caller, filters))


for whose in (True, False):
    _stretches(whose, *_FILTERS)


def leaf(desk: Desk, sought: Sought, before: int | None = None, most: int = ROWS) -> Leaf:
    """Return the next `most` transfers below number `before`, newest first."""
    low, end = bounds(desk, sought)
    edge = end if before is None else min(before, end)
    rows: list[Extract] = []
    find = _of_caller if sought.caller_id is not None else _of_all
    for _ in range(MOST_STRETCHES):
        if edge <= low:
            return Leaf(rows, None)
        rows_below, edge = find(desk, sought, low, edge, most - len(rows))
        rows += rows_below
        if len(rows) == most:
            return Leaf(rows, edge if edge > low else None)
    return Leaf(rows, edge if edge > low else None, is_cut=edge > low)


def stretch(desk: Desk, sought: Sought, low: int, end: int) -> tuple[list[Extract], int]:
    """Return the sought transfers of the stretch from number `low`, oldest first, and the number
    after the stretch, which is at most `end`."""
    following = _NEXT.first(desk.connection, number=low)  # a restore leaves numbers out
    if following is None or following.number >= end:
        return [], end
    low = following.number
    edge = behind = min(low + STRETCH, end)
    rows: list[Extract] = []
    find = _of_caller if sought.caller_id is not None else _of_all
    while edge > low:
        rows_below, edge = find(desk, sought, low, edge, STRETCH)
        rows += rows_below
    return rows[::-1], behind


def entry(desk: Desk, number: int) -> list[Extract]:
    """Return the transfers of an entry in order, an empty list if there is no such entry."""
    values = {"first": number, "end": number + MOST_OF_ENTRY, "entry": number}
    return _ENTRY.all(desk.connection, **values)


def _given(sought: Sought) -> dict[str, object]:
    values = {each.name: getattr(sought, each.name) for each in fields(sought)}
    return {name: values[name] for name in _FILTERS if values[name] is not None}


def _of_all(
    desk: Desk, sought: Sought, low: int, edge: int, most: int
) -> tuple[list[Extract], int]:
    """Return up to `most` transfers of the stretch below `edge`, and the last number read."""
    given, low = _given(sought), max(low, edge - STRETCH)
    # The text of a transfer is made from its facts, so Python must filter it.
    wanted = most if sought.text is None else OF_CALLER
    last = _stretches(False, *given).all(
        desk.connection, low=low, before=edge, most=wanted, **given
    )
    passing = [row for row in last if _says(row, sought)][:most]
    if len(passing) == most:
        return passing, passing[-1].number
    return passing, last[-1].number if len(last) == wanted else low


def _of_caller(
    desk: Desk, sought: Sought, low: int, edge: int, most: int
) -> tuple[list[Extract], int]:
    """Return the same for one caller, with `OF_CALLER` transfers in a stretch."""
    last = _stretches(True).all(
        desk.connection, caller_id=sought.caller_id, before=edge, most=OF_CALLER, low=low
    )
    passing = [row for row in last if _passes(row, sought)][:most]
    if len(passing) == most:
        return passing, passing[-1].number
    return passing, last[-1].number if len(last) == OF_CALLER else low


def _passes(row: Extract, sought: Sought) -> bool:
    return (
        sought.kind in (None, row.kind)
        and sought.game in (None, row.game)
        and (sought.least is None or row.amount >= sought.least)
        and (sought.up_to is None or row.amount <= sought.up_to)
        and _says(row, sought)
    )


def _says(row: Extract, sought: Sought) -> bool:
    return sought.text is None or sought.text.casefold() in row.why.casefold()


def bounds(desk: Desk, sought: Sought) -> tuple[int, int]:
    """Return the first number of the sought days, and the number after the last."""
    starts = desk.settings.schedule.day_starts
    first = 0 if sought.since is None else first_at(desk, stamp(starts(sought.since)))
    if sought.until is None or sought.until == date.max:
        last = _LAST.first(desk.connection)
        return first, 1 if last is None else last.number + 1
    return first, first_at(desk, stamp(starts(sought.until + timedelta(days=1))))


def begun(desk: Desk) -> int | None:
    """Return the time of the first transfer in seconds since 1970, None if there is none."""
    first = _NEXT.first(desk.connection, number=1)
    return None if first is None else first.at


def first_at(desk: Desk, at: int) -> int:
    """Return the number of the first transfer at or after `at`, in seconds since 1970.

    Near a correction of the board's clock, where times do not rise with numbers, the result is
    approximate.
    """
    last = _LAST.first(desk.connection)
    if last is None:
        return 1
    low, high = 1, last.number + 1  # the bounds of the result
    while low < high:
        middle = _NEXT.first(desk.connection, number=(low + high) // 2)
        assert middle is not None  # the last transfer is at or above the middle
        if middle.at >= at:
            high = (low + high) // 2
        else:
            low = middle.number + 1
    return low
