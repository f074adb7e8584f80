"""The audit of loans: none is added to one of an earlier day, and a guest takes nothing past one.

Days of before the first release do not say what was owed: no such rule held on them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, groupby
from operator import itemgetter
from typing import NamedTuple

from timebank.audit.finding import Finding
from timebank.ledger.database import Desk

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
    # On a loan when the day began; None for a day of before the first release.
    owed: int | None


class _Loan:
    """The loan of one caller: its transfers in order, and what was owed before each."""

    def __init__(self, rows: list[_Row]) -> None:
        self.rows = rows
        self.numbers = [row.number for row in rows]
        self.owed = [0, *accumulate(row.change for row in rows)]

    def place(self, after: int) -> int:
        """Give the place of the first row behind the transfer `after`."""
        return bisect_left(self.numbers, after + 1)


def check_loans(desk: Desk) -> Iterator[Finding]:
    """Name every loan, day and visit that does not go with what was owed at the time."""
    run = desk.connection.exec_driver_sql
    rows: defaultdict[int, list[_Row]] = defaultdict(list)
    for caller_id, *row in run(MOVED):
        rows[caller_id].append(_Row(*row))
    loans = {caller_id: _Loan(moved) for caller_id, moved in rows.items()}
    nobodys = _Loan([])
    for caller_id, days in groupby(run(DAYS), key=itemgetter(0)):
        found = [_Day(*day) for _, *day in days]
        begun = [day for day in found if isinstance(day.after, int)]
        for day in found:
            if not isinstance(day.after, int):
                yield Finding(f"caller {caller_id}", f"{day.day} begins behind no transfer.")
        loan = loans.get(caller_id, nobodys)
        for day in begun:
            was = loan.owed[loan.place(day.after)]
            if day.owed not in (None, was):
                yield Finding(
                    f"caller {caller_id}",
                    f"When {day.day} began {was} was owed on a loan, not {day.owed}.",
                )
        yield from _check_days(loan, begun)
    visits = {call_id: (number, loan) for call_id, number, loan in run(VISITS)}
    for loan in loans.values():
        yield from _check_visits(loan, visits)


def _check_days(loan: _Loan, days: list[_Day]) -> Iterator[Finding]:
    """Check what was lent, and left to guests, on the days that say what was owed."""
    begins = [day.after for day in days]
    for place, row in enumerate(loan.rows):
        began = bisect_left(begins, row.number)
        if not began or days[began - 1].owed is None:
            continue
        where, owed = f"transfer {row.number}", loan.owed[place]
        if row.kind in ("gain", "put back") and owed:
            yield Finding(where, f"It leaves {row.amount} to a guest who owes {owed}.")
        if row.kind == "loan":
            today = loan.rows[loan.place(begins[began - 1]) : place]
            older = owed - sum(each.change for each in today if each.kind == "loan")
            if older > 0:
                yield Finding(where, f"It lends {row.amount} while {older} is owed since before.")


def _check_visits(loan: _Loan, visits: dict[int, tuple[int, int]]) -> Iterator[Finding]:
    """Compare what visits say was owed when they ended with the loans themselves."""
    rows, owed = loan.rows, loan.owed
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
