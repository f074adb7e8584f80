"""The audit of loans: none is added to one of an earlier day, and a guest takes nothing past one.

Days that began before version 4 of the schema do not say what was owed: no such rule held on them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from timebank.database import Desk
from timebank.findings import Finding

MOVED = """
SELECT coalesce(s.caller_id, g.caller_id), t.id, t.kind, t.amount,
    iif(s.kind = 'loan', t.amount, 0) - iif(g.kind = 'loan', t.amount, 0), s.kind, t.call_id
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
WHERE s.kind = 'loan' OR g.kind = 'loan' OR t.kind IN ('gain', 'put back')
ORDER BY t.id
"""
DAYS = "SELECT caller_id, day, after, owed FROM days ORDER BY caller_id, after"
VISITS = "SELECT call_id, id, loan FROM visits WHERE call_id IS NOT NULL AND loan IS NOT NULL"


class _Row(NamedTuple):
    """A transfer of a caller's loan, or of what a guest leaves with. Amounts are seconds."""

    number: int
    kind: str
    amount: int
    # What it adds to what is owed; below zero for a payment.
    change: int
    source: str
    call_id: int | None

    @property
    def is_of_exit(self) -> bool:
        """Whether it pays a loan out of what a guest leaves with."""
        return self.kind == "loan paid" and self.source in ("online", "held")


class _Day(NamedTuple):
    day: str
    after: int
    # On a loan when the day began; None for a day of before version 4.
    owed: int | None


def check_loans(desk: Desk) -> Iterator[Finding]:
    """Name every loan, day and visit that does not go with what was owed at the time."""
    run = desk.connection.exec_driver_sql
    rows: defaultdict[int, list[_Row]] = defaultdict(list)
    for caller_id, *row in run(MOVED):
        rows[caller_id].append(_Row(*row))
    days: defaultdict[int, list[_Day]] = defaultdict(list)
    for caller_id, *begun in run(DAYS):
        days[caller_id].append(_Day(*begun))
    visits = {call_id: (number, loan) for call_id, number, loan in run(VISITS)}
    for caller_id in sorted({*rows, *days}):
        owed = [0, *accumulate(row.change for row in rows[caller_id])]
        numbers = [row.number for row in rows[caller_id]]
        for day in days[caller_id]:
            was = owed[bisect_left(numbers, day.after + 1)]
            if day.owed not in (None, was):
                yield Finding(
                    f"caller {caller_id}",
                    f"When {day.day} began {was} was owed on a loan, not {day.owed}.",
                )
        yield from _check_rows(rows[caller_id], owed, days[caller_id])
        yield from _check_visits(rows[caller_id], owed, visits)


def _check_rows(rows: list[_Row], owed: list[int], days: list[_Day]) -> Iterator[Finding]:
    begins = [day.after for day in days]
    for place, row in enumerate(rows):
        began = bisect_left(begins, row.number)
        # Whether the rule held then: the day's row says what was owed.
        if not began or days[began - 1].owed is None:
            continue
        where = f"transfer {row.number}"
        if row.kind in ("gain", "put back") and owed[place]:
            yield Finding(where, f"It leaves {row.amount} to a guest who owes {owed[place]}.")
        if row.kind == "loan":
            first = bisect_left([each.number for each in rows], days[began - 1].after + 1)
            lent = sum(each.amount for each in rows[first:place] if each.kind == "loan")
            if owed[place] > lent:
                yield Finding(
                    where, f"It lends {row.amount} while {owed[place] - lent} is owed since before."
                )


def _check_visits(
    rows: list[_Row], owed: list[int], visits: dict[int, tuple[int, int]]
) -> Iterator[Finding]:
    """Compare what visits say was owed when they ended with the loans themselves."""
    for place, row in enumerate(rows):
        visit = None if row.call_id is None else visits.get(row.call_id)
        if visit is None or not row.is_of_exit:
            continue
        # What is on line pays first, and then what is held.
        follows = place and rows[place - 1].is_of_exit and rows[place - 1].call_id == row.call_id
        if not follows and visit[1] != owed[place]:
            yield Finding(
                f"visit {visit[0]}", f"At its end {owed[place]} was owed on a loan, not {visit[1]}."
            )
