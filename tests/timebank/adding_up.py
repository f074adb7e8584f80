"""A second account of each caller's days: from all transfers, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.schema import instant
from timebank.ledger.transfers import Extract
from timebank.reports import extracts, ledger_pages, statements
from timebank.reports.flows import GROUPS, flows
from timebank.reports.ledger_pages import Sought
from timebank.reports.person import held_before

MOST_DAYS = 4  # each with all to the days after it
PAGE = 7  # transfers of a leaf of the ledger


def check(desk: Desk) -> int:
    """Check that each caller's days add up to the second; return how many terms they have."""
    rows = extracts.chosen(desk, Sought())
    owners = {each for row in rows for each in (row.source_caller_id, row.target_caller_id) if each}
    days = sorted({desk.settings.schedule.day_of(instant(row.at)) for row in rows})
    chosen = days[:: max(1, len(days) // MOST_DAYS)]
    spans = [(since, until) for since in chosen for until in (since, days[-1])]
    return sum(
        _check_span(desk, rows, caller_id, *span)
        for caller_id in sorted(owners)
        for span in dict.fromkeys(spans)
    )


def _check_span(
    desk: Desk, rows: Sequence[Extract], caller_id: int, since: date, until: date
) -> int:
    span = {"callers": (caller_id,), "since": since, "until": until}
    first, end = ledger_pages.bounds(desk, Sought(**span))
    own = transfers.balances(desk, caller_id)
    moved = flows(desk, own, caller_id, first, end)
    counted = 0
    for name, group in GROUPS.items():
        ways = {row.number: _way(row, caller_id, group.unit, group.kinds) for row in rows}
        total = moved.total(group)
        what = caller_id, since, until, name, total
        assert total.opening == _sum(rows, ways, 0, first), what
        assert total.closing == _sum(rows, ways, 0, end), what
        assert total.opening + sum(term.amount for term in total.terms) == total.closing, what
        by_game = moved.total(group, by_game=True)
        assert sum(term.amount for term in by_game.terms) == total.closing - total.opening, what
        linked = []
        for term in total.terms:
            end_of = {"source" if term.amount > 0 else "target": term.other}
            found = list(_sought(desk, Sought(of=name, **end_of, **span)))
            assert sum(row.amount for row in found) == abs(term.amount), (what, term)
            linked += [row.number for row in found]
        crossing = [row.number for row in rows if ways[row.number] and first <= row.number < end]
        assert sorted(linked) == crossing, what
        counted += len(total.terms)
    _check_statement(desk, rows, caller_id, first, end)
    return counted


def _check_statement(
    desk: Desk, rows: Sequence[Extract], caller_id: int, first: int, end: int
) -> None:
    own = transfers.balances(desk, caller_id)
    mine = [
        row
        for row in rows
        if caller_id in (row.source_caller_id, row.target_caller_id) and first <= row.number < end
    ]
    opening = held_before(desk, own, first)
    entries = list(statements.statement(extracts.entries(iter(mine)), caller_id, opening))
    in_time = [entry for entry in entries if entry.unit == "second"]
    lines = list(statements.folded(in_time, caller_id))
    assert [row for line in lines for row in line.rows] == [
        row for entry in in_time for row in entry.rows
    ]
    together = sum(each.amount for each in opening if each.unit == "second")
    for line in lines:
        together += line.change
        assert line.balance == together, line
    if in_time:
        then = held_before(desk, own, end)
        seconds = {each.kind: each.amount for each in then if each.unit == "second"}
        assert {kind: in_time[-1].after.get(kind, 0) for kind in seconds} == seconds


def _sought(desk: Desk, sought: Sought) -> Iterator[Extract]:
    leaf = ledger_pages.leaf(desk, sought, None, PAGE)
    yield from leaf.rows
    while leaf.before is not None:
        leaf = ledger_pages.leaf(desk, sought, leaf.before, PAGE)
        yield from leaf.rows


def _way(row: Extract, caller_id: int, unit: str, kinds: frozenset[str]) -> int:
    if row.unit != unit:
        return 0
    goes = row.source_caller_id == caller_id and row.source in kinds
    comes = row.target_caller_id == caller_id and row.target in kinds
    return int(comes) - int(goes)


def _sum(rows: Sequence[Extract], ways: dict[int, int], low: int, end: int) -> int:
    return sum(ways[row.number] * row.amount for row in rows if low <= row.number < end)
