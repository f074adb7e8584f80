"""The audit of loans: no loan is added to an earlier day's, and guests in debt take nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import case, func, or_, select

from timebank.audit.findings import Finding
from timebank.ledger.database import Desk
from timebank.ledger.schema import days, source, target, transfers, transfers_with_accounts, visits
from timebank.ledger.sql import Prepared, Query

_LENT, _PAID = source.c.kind == "loan", target.c.kind == "loan"
# Time that a guest leaves with.
_LEFT = transfers.c.kind.in_(["gain", "put back"])


def _moved() -> Query:
    row = transfers.c
    change = case((_LENT, row.amount), else_=0) - case((_PAID, row.amount), else_=0)
    return (
        select(
            func.coalesce(source.c.caller_id, target.c.caller_id),
            *(row.id, row.kind, row.amount, change, source.c.kind, row.call_id),
        )
        .select_from(transfers_with_accounts)
        .where(or_(_LENT, _PAID, _LEFT))
        .order_by(row.id)
    )


_MOVED = Prepared(_moved)
_DAYS = Prepared(
    lambda: select(days.c.caller_id, days.c.day, days.c.after, days.c.owed).order_by(
        days.c.caller_id, days.c.after
    )
)
_VISITS = Prepared(
    lambda: select(visits.c.call_id, visits.c.id, visits.c.loan).where(
        visits.c.call_id.is_not(None), visits.c.loan.is_not(None)
    )
)


class _LoanRow(NamedTuple):
    """A transfer of a caller's loan, or of time that a guest leaves with. Amounts in seconds."""

    number: int
    kind: str
    amount: int
    # Seconds added to the debt; below zero for a payment.
    change: int
    source: str
    call_id: int | None

    @property
    def is_of_exit(self) -> bool:
        return self.kind == "loan paid" and self.source in ("online", "held")


class _Day(NamedTuple):
    day: str
    after: int
    # The debt when the day began. None is reported by the audit of days.
    owed: int | None


class _Loan:
    """The loan of one caller: its transfers in order, and the debt before each."""

    def __init__(self, rows: list[_LoanRow]) -> None:
        self.rows = rows
        self.numbers = [row.number for row in rows]
        self.owed = [0, *accumulate(row.change for row in rows)]

    def place(self, after: int) -> int:
        return bisect_left(self.numbers, after + 1)


def check_loans(desk: Desk) -> Iterator[Finding]:
    rows: defaultdict[int, list[_LoanRow]] = defaultdict(list)
    for caller_id, *row in _MOVED.run_long(desk.connection):
        rows[caller_id].append(_LoanRow(*row))
    loans = {caller_id: _Loan(own_rows) for caller_id, own_rows in rows.items()}
    no_loan = _Loan([])
    for caller_id, rows_of_days in groupby(_DAYS.run_long(desk.connection), key=itemgetter(0)):
        days_called = [_Day(*day) for _, *day in rows_of_days]
        begun = [day for day in days_called if isinstance(day.after, int)]
        for day in days_called:
            if not isinstance(day.after, int):
                yield Finding(f"caller {caller_id}", f"{day.day} follows no transfer.")
        loan = loans.get(caller_id, no_loan)
        for day in begun:
            was = loan.owed[loan.place(day.after)]
            if day.owed not in (None, was):
                yield Finding(
                    f"caller {caller_id}",
                    f"When {day.day} began {was} was owed on a loan, not {day.owed}.",
                )
        yield from _check_days(loan, begun)
    ended = {call_id: (number, owed) for call_id, number, owed in _VISITS.run_long(desk.connection)}
    for loan in loans.values():
        yield from _check_visits(loan, ended)


def _check_days(loan: _Loan, days: list[_Day]) -> Iterator[Finding]:
    begins = [day.after for day in days]
    for place, row in enumerate(loan.rows):
        began = bisect_left(begins, row.number)
        if not began:
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
    rows, owed = loan.rows, loan.owed
    for place, row in enumerate(rows):
        visit = None if row.call_id is None else visits.get(row.call_id)
        if visit is None or not row.is_of_exit:
            continue
        # The online account pays first, then the held one.
        follows = place and rows[place - 1].is_of_exit and rows[place - 1].call_id == row.call_id
        if not follows and visit[1] != owed[place]:
            yield Finding(
                f"visit {visit[0]}", f"At its end {owed[place]} was owed on a loan, not {visit[1]}."
            )
