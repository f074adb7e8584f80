"""The ledger in leaves, newest first, or in stretches, oldest first, and its counts.

Leaves are found by numbers, so the last of five million transfers takes no longer than the first. A
filter that few transfers pass could mean a scan of all of them. So a leaf ends after a number of
stretches, and says where the next one continues. Counts are of the newest `COUNTED` transfers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from timebank.callers.history import KINDS, last_numbers
from timebank.ledger.database import Desk
from timebank.ledger.schema import rounds, source, stamp, target, transfers, transfers_with_accounts
from timebank.ledger.sql import NO_BOUND, Query, Reader, among, among_words, equal, fields_of, read
from timebank.ledger.sql import value as single
from timebank.ledger.transfers import Extract, extracts_query, game_column
from timebank.reports.flows import GROUPS
from timebank.words import Unit

ROWS = 100  # of a leaf
STRETCH = 5000  # transfers per statement
OF_CALLERS = 2000  # the same for some callers' transfers, which are spread over the books
IN_WORDS = 500  # the same if sentences are compared
COUNTED, COUNTED_IN_WORDS = 10_000, 1000  # the newest transfers, which are counted
MOST_STRETCHES = 6  # per leaf
MOST_OF_ENTRY = 200  # rows; the largest entry of this program has about ten
ONE_VALUE = ("least", "up_to", "source", "target", "call", "hand")  # filters of `Sought`


@dataclass(frozen=True)
class Sought:
    """Filters of transfers; an empty one passes all. Days are the board's, both included.

    `least` and `up_to` are seconds, and pass no play money. `text` is a part of the transfer's
    reason, in any case. `source` and `target` are kinds of account. `of` names a group of the one
    caller's accounts in `GROUPS`: only transfers that enter or leave it, from `source` or to
    `target` outside it.
    """

    callers: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    least: int | None = None
    up_to: int | None = None
    text: str | None = None
    since: date | None = None
    until: date | None = None
    source: str | None = None
    target: str | None = None
    of: str | None = None
    call: int | None = None
    hand: int | None = None


@dataclass(frozen=True)
class Leaf:
    """One leaf. `before` is the argument for the next leaf, None if this is the last.

    `is_cut` says that the leaf may be short because few transfers pass the filters.
    """

    rows: list[Extract]
    before: int | None
    is_cut: bool = False


@dataclass(frozen=True)
class LedgerTally:
    """How many transfers pass, and how much they moved by unit and `_way`.

    Kinds, games and callers have their counts by what the other filters leave. If `first` is not
    None, only the newest `most` transfers are counted, from that number on; `callers_first` is the
    same for the counts of callers.
    """

    count: int = 0
    sums: dict[Unit, Counter[int]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    games: Counter[str] = field(default_factory=Counter)
    callers: Counter[int] = field(default_factory=Counter)
    most: int = COUNTED
    first: int | None = None
    callers_first: int | None = None


class _Written(NamedTuple):
    number: int
    at: int


class _Cell(NamedTuple):
    """Transfers that are counted together. Names are those of `Extract`."""

    kind: str
    unit: Unit
    source: str
    source_caller_id: int | None
    target: str
    target_caller_id: int | None
    game: str | None
    times: int
    amount: int


class _Window(NamedTuple):
    """Transfers from `low` to below `end`, or of these only those with some numbers, as JSON."""

    low: int
    end: int
    numbers: str | None = None


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
_BEYOND: Reader[int] = single(
    lambda: (
        select(transfers.c.id)
        .where(transfers.c.id < bindparam("before"))
        .order_by(transfers.c.id.desc())
        .limit(1)
        .offset(bindparam("most"))
    )
)
_OF_HAND: Reader[int] = single(
    lambda: select(transfers.c.id).where(equal(transfers.c.round_id)).order_by(transfers.c.id)
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


def _filtered(query: Query, names: Iterable[str]) -> Query:
    row = transfers.c
    passes = {
        "kinds": (among_words(row.kind, "kinds"),),
        "games": (among_words(game_column(), "games"),),
        "least": (row.amount >= bindparam("least"), source.c.unit == "second"),
        "up_to": (row.amount <= bindparam("up_to"), source.c.unit == "second"),
        "source": (source.c.kind == bindparam("source"),),
        "target": (target.c.kind == bindparam("target"),),
        "call": (row.call_id == bindparam("call"),),
        "hand": (row.round_id == bindparam("hand"),),
        "numbers": (among(row.id, "numbers"),),
        "low": (row.id >= bindparam("low"), row.id < bindparam("end")),
    }
    return query.where(*(condition for name in names for condition in passes[name]))


def _cells_query() -> Query:
    row = transfers.c
    names: dict[str, ColumnElement[Any]] = {
        "unit": source.c.unit,
        "source": source.c.kind,
        "source_caller_id": source.c.caller_id,
        "target": target.c.kind,
        "target_caller_id": target.c.caller_id,
        "game": game_column(),
    }
    totals = {"times": func.count(), "amount": func.sum(row.amount)}
    query = fields_of(_Cell, transfers_with_accounts, kind=row.kind, **names, **totals)
    query = query.join(rounds, rounds.c.id == row.round_id, isouter=True)
    return query.group_by(row.kind, *names.values())


@cache
def _extracts(*filters: str) -> Reader[Extract]:
    newest = transfers.c.id.desc()
    return read(
        Extract,
        lambda: _filtered(extracts_query(), filters).order_by(newest).limit(bindparam("most")),
    )


@cache
def _cells(*filters: str) -> Reader[_Cell]:
    return read(_Cell, lambda: _filtered(_cells_query(), filters))


@cache
def _own_numbers(of: str | None) -> Reader[int]:
    kinds = KINDS if of is None else {GROUPS[of].unit: GROUPS[of].kinds}
    return single(lambda: last_numbers(kinds))


for window in ("low", "numbers"):
    _extracts(window, "kinds", "games", *ONE_VALUE)
    _cells(window, "kinds", "games", *ONE_VALUE)
_own_numbers(None)


def leaf(desk: Desk, sought: Sought, before: int | None = None, most: int = ROWS) -> Leaf:
    """Return the next `most` transfers below number `before`, newest first."""
    low, end = bounds(desk, sought)
    edge = end if before is None else min(before, end)
    rows: list[Extract] = []
    size = OF_CALLERS if sought.callers else STRETCH
    for _ in range(MOST_STRETCHES):
        if edge <= low:
            return Leaf(rows, None)
        window = _newest(desk, sought, low, edge, size)
        rows_below, edge = _last_of(desk, sought, window, most - len(rows))
        rows += rows_below
        if len(rows) == most:
            return Leaf(rows, edge if edge > low else None)
    return Leaf(rows, edge if edge > low else None, is_cut=edge > low)


def stretch(desk: Desk, sought: Sought, low: int, end: int) -> tuple[list[Extract], int]:
    """Return the sought transfers of the stretch from number `low`, oldest first, and the number
    after the stretch, which is at most `end`."""
    if sought.callers:
        numbers, _ = _numbers(desk, sought, low, end)
        behind = end if len(numbers) <= STRETCH else numbers[STRETCH]
        window = _Window(low, behind, json.dumps(numbers[:STRETCH]))
    else:
        following = _NEXT.first(desk.connection, number=low)  # a restore leaves numbers out
        if following is None or following.number >= end:
            return [], end
        behind = min(following.number + STRETCH, end)
        window = _Window(low, behind)
    rows = [row for row in _read(desk, sought, window) if _says(row, sought)]
    return rows[::-1], behind


def tally(desk: Desk, sought: Sought) -> LedgerTally:
    """Count the transfers sought, or the newest of them."""
    most = COUNTED if sought.text is None else COUNTED_IN_WORDS
    if sought.callers:
        most //= 2  # as there are two scans
    mine, first = _counted(desk, sought, most)
    everybody, callers_first = mine, first
    if sought.callers:
        anybody = replace(sought, callers=(), of=None)
        everybody, callers_first = _counted(desk, anybody, most)
    kinds, games, callers = Counter[str](), Counter[str](), Counter[int]()
    count, sums = 0, dict[Unit, Counter[int]]()
    for cell in mine:
        is_kind, is_game = _passes(cell, sought)
        if is_game:
            kinds[cell.kind] += cell.times
        if is_kind and cell.game is not None:
            games[cell.game] += cell.times
        if is_kind and is_game:
            count += cell.times
            sums.setdefault(cell.unit, Counter())[_way(cell, sought)] += cell.amount
    for cell in everybody:
        if all(_passes(cell, sought)):
            for caller in {cell.source_caller_id, cell.target_caller_id}:
                if caller is not None:
                    callers[caller] += cell.times
    return LedgerTally(count, sums, kinds, games, callers, most, first, callers_first)


def _counted(desk: Desk, sought: Sought, most: int) -> tuple[Sequence[_Cell], int | None]:
    """Count the newest transfers by all but kinds and games; return also the first one's number,
    None if these are all."""
    asked = replace(sought, kinds=(), games=())
    low, end = bounds(desk, sought)
    window = _newest(desk, asked, low, end, most)
    first = window.low if window.low > low else None
    if sought.text is not None:
        rows = [row.number for row in _read(desk, asked, window) if _says(row, sought)]
        window = window._replace(numbers=json.dumps(rows))
    values = _values(asked, window)
    cells = _cells(*values).all(desk.connection, **values, end=end)
    return [cell for cell in cells if _crosses(cell, sought)], first


def _passes(cell: _Cell, sought: Sought) -> tuple[bool, bool]:
    """Return whether transfers are of the kinds sought, and of the games."""
    is_kind = not sought.kinds or cell.kind in sought.kinds
    return is_kind, not sought.games or cell.game in sought.games


def _way(row: Extract | _Cell, sought: Sought) -> int:
    """Return 1 for transfers that come to the sought callers, or to any, or to the group of
    accounts that is sought; -1 for those that go from there, and 0 for all others."""
    group = None if sought.of is None else GROUPS[sought.of]
    goes, comes = (
        caller is not None
        and (not sought.callers or caller in sought.callers)
        and (group is None or (row.unit == group.unit and kind in group.kinds))
        for caller, kind in (
            (row.source_caller_id, row.source),
            (row.target_caller_id, row.target),
        )
    )
    return comes - goes


def _crosses(row: Extract | _Cell, sought: Sought) -> bool:
    """Return whether transfers enter or leave the group of accounts that is sought, if one is."""
    way = _way(row, sought)
    return sought.of is None or (
        way > 0 if sought.source else way < 0 if sought.target else way != 0
    )


def entry(desk: Desk, number: int) -> list[Extract]:
    """Return the transfers of an entry in order, an empty list if there is no such entry."""
    values = {"first": number, "end": number + MOST_OF_ENTRY, "entry": number}
    return _ENTRY.all(desk.connection, **values)


def _newest(desk: Desk, sought: Sought, low: int, end: int, size: int) -> _Window:
    """Return the newest transfers of the sought callers, or of all, from `low` to below `end`.

    These are `size` transfers at most. `low` of the result is above `low` if there are more.
    """
    if not sought.callers:
        beyond = _BEYOND.first(desk.connection, before=end, most=size)
        return _Window(low if beyond is None else max(low, beyond + 1), end)
    share = max(1, size // len(sought.callers))
    numbers, low = _numbers(desk, sought, low, end, share)
    return _Window(low, end, json.dumps(numbers))


def _numbers(
    desk: Desk, sought: Sought, low: int, end: int, most: int = NO_BOUND
) -> tuple[list[int], int]:
    """Return the numbers of callers' transfers in order, `most` of each: the newest below `end`.

    Returns also the number from which on they are complete, at least `low`.
    """
    found: set[int] = set()
    for caller_id in sought.callers:
        asked = {"caller_id": caller_id, "before": end, "most": most + 1}
        numbers = _own_numbers(sought.of).all(desk.connection, **asked)
        if len(numbers) > most:
            low = max(low, numbers[-1] + 1)
        found.update(numbers)
    return sorted(number for number in found if number >= low), low


def _values(sought: Sought, window: _Window) -> dict[str, object]:
    """Return the values of the filters that are given, by their names in `_filtered`."""
    values: dict[str, object] = {name: getattr(sought, name) for name in ONE_VALUE}
    values |= {"numbers": window.numbers, "low": window.low if window.numbers is None else None}
    for name, words in (("kinds", sought.kinds), ("games", sought.games)):
        values[name] = json.dumps(words) if words else None
    return {name: value for name, value in values.items() if value is not None}


def _read(desk: Desk, sought: Sought, window: _Window, most: int = NO_BOUND) -> list[Extract]:
    """Return the last transfers of a window that pass all filters but the text, newest first."""
    values = _values(sought, window)
    return _extracts(*values).all(desk.connection, **values, end=window.end, most=most)


def _last_of(desk: Desk, sought: Sought, window: _Window, most: int) -> tuple[list[Extract], int]:
    """Return the last transfers sought of a window, and the number of the last one read."""
    # The text of a transfer is made from its facts, so Python must filter it.
    wanted = IN_WORDS if sought.text or sought.of else most
    last = _read(desk, sought, window, wanted)
    passing = [row for row in last if _says(row, sought)][:most]
    if len(passing) == most:
        return passing, passing[-1].number
    return passing, last[-1].number if len(last) == wanted else window.low


def _says(row: Extract, sought: Sought) -> bool:
    is_said = sought.text is None or sought.text.casefold() in row.why.casefold()
    return is_said and _crosses(row, sought)


def bounds(desk: Desk, sought: Sought) -> tuple[int, int]:
    """Return the first number of the sought days or hand, and the number after the last."""
    starts = desk.settings.schedule.day_starts
    since = until = None
    if sought.since is not None:
        since = stamp(starts(sought.since))
    if sought.until is not None and sought.until != date.max:
        until = stamp(starts(sought.until + timedelta(days=1)))
    low, end = numbers_between(desk, since, until)
    if sought.hand is not None:
        own = _OF_HAND.all(desk.connection, round_id=sought.hand) or [end]
        return max(low, own[0]), min(end, own[-1] + 1)
    return low, end


def numbers_between(desk: Desk, since: int | None, until: int | None) -> tuple[int, int]:
    """Return the number of the first transfer from `since` on, and the number after the last before
    `until`, in seconds since 1970."""
    first = 0 if since is None else first_at(desk, since)
    if until is not None:
        return first, first_at(desk, until)
    last = _LAST.first(desk.connection)
    return first, 1 if last is None else last.number + 1


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
