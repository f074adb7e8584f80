"""The report on other boards: the time that their callers brought, took home and gained.

Amounts are seconds unless they are called minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import bindparam, func, select

from timebank.guests.departure import HostPayment
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, given_back, instant, visits
from timebank.ledger.sql import Prepared, Query, by_name, total
from timebank.ledger.visit import debt_column
from timebank.reports.statements import NAME, WORDS, printable
from timebank.reports.tables import Column, Listing, Row
from timebank.settings.schedule import Schedule
from timebank.words import clock


@dataclass
class BoardReport:
    """The sums of all callers of one board, in the order of FIELDS."""

    board: str
    # `callers` leaves out deleted ones, `visits` does not.
    callers: int
    visits: int
    brought: int = 0
    elapsed: int = 0
    taken_home: int = 0
    gained: int = 0
    # The part of `taken_home` that paid debts, which arise where a host's clock showed too much.
    debt_paid: int = 0
    # Today's debts of all callers.
    debt: int = 0
    # Minutes by way ("moduser", ...) and state ("waiting", "written", ...); losses are below zero.
    given: dict[tuple[str, str], int] = field(default_factory=dict)


def _boards() -> Query:
    who, visit = callers.c, visits.c
    brought = visit.brought + func.coalesce(visit.also_brought, 0)
    living = func.count(who.id.distinct()).filter(who.deleted.is_(None))
    amounts = (brought, visit.elapsed, visit.taken_home, visit.gain, visit.debt_paid)
    return (
        select(who.board, living, func.count(visit.call_id), *map(total, amounts))
        .select_from(callers)
        .join(visits, visit.caller_id == who.id, isouter=True)
        .where(who.board.is_not(None))
        .group_by(who.board)
        .order_by(by_name(who.board))
    )


_BOARDS = Prepared(_boards)
_GIVEN = Prepared(
    lambda: (
        select(callers.c.board, given_back.c.way, given_back.c.state, total(given_back.c.minutes))
        .join(callers, callers.c.id == given_back.c.caller_id)
        .group_by(callers.c.board, given_back.c.way, given_back.c.state)
        .order_by(given_back.c.way, given_back.c.state)
    )
)
_DEBTS = Prepared(
    lambda: select(callers.c.board, debt_column(callers.c.id, bindparam("today"))).where(
        callers.c.board.is_not(None), callers.c.deleted.is_(None)
    )
)


def boards(desk: Desk) -> list[BoardReport]:
    reports = {row.board: BoardReport(*row) for row in _BOARDS(desk.connection)}
    for board, way, state, minutes in _GIVEN(desk.connection):
        reports[board].given[way, state] = minutes
    today = desk.settings.schedule.day_of(desk.now).isoformat()
    for board, debt in _DEBTS(desk.connection, today=today):
        reports[board].debt += max(0, debt)
    return list(reports.values())


HEADINGS = ("Callers", "Visits", "Brought", "Used", "Taken home", "Gained", "Paid", "Owed today")
FIELDS = (
    *("board", "callers", "visits", "brought", "used", "taken_home", "gained", "debt_paid"),
    *("debt_today", "given_back"),
)


# The columns to drop first in a narrow window.
_GOING = {"Paid": 1, "Used": 2, "Visits": 3}


def boards_table(reports: Iterable[BoardReport]) -> Listing:
    columns = (
        Column("Board", least=NAME),
        *(Column(heading, right=True, goes=_GOING.get(heading, 0)) for heading in HEADINGS),
    )
    return Listing(columns, _rows(reports), "No caller from another board has been here yet.")


def _rows(reports: Iterable[BoardReport]) -> Iterator[Row]:
    for report in reports:
        brought = (report.brought, report.elapsed, report.taken_home)
        gained = (report.gained, report.debt_paid, report.debt)
        counts = str(report.callers), str(report.visits)
        yield printable(report.board), *counts, *map(clock, (*brought, *gained))
        for (way, state), minutes in report.given.items():
            yield f"  {_given(way, state, minutes)}"


def _given(way: str, state: str, minutes: int) -> str:
    return f"by {way}: {minutes} minute{'' if abs(minutes) == 1 else 's'} {state}"


def board_line(report: BoardReport) -> dict[str, object]:
    text = "; ".join(_given(way, state, minutes) for (way, state), minutes in report.given.items())
    return {**board_record(report), "given_back": text}


def board_record(report: BoardReport) -> dict[str, object]:
    given = [
        {"way": way, "state": state, "minutes": minutes}
        for (way, state), minutes in report.given.items()
    ]
    *counted, _ = vars(report).values()
    return dict(zip(FIELDS, (*counted, given), strict=True))


OUTSTANDING = (
    *(Column("Number", right=True), Column("When", goes=2), Column("Caller", least=NAME)),
    *(Column("Minutes", right=True), Column("Way", goes=1), Column("State", least=WORDS)),
)


def outstanding_table(payments: Iterable[HostPayment], schedule: Schedule) -> Listing:
    rows = [
        (
            *(str(row.number), f"{schedule.local(instant(row.at)):%Y-%m-%d %H:%M:%S}"),
            *(printable(row.caller), str(row.minutes), row.way),
            f"{row.state}: {printable(row.why)}" if row.why else row.state,
        )
        for row in payments
    ]
    return Listing(OUTSTANDING, rows, "")
