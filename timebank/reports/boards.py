"""What the callers of each board brought, took home and gained: for the sysop.

Amounts are seconds unless they are called minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from timebank.guests.departure import HostPayment
from timebank.ledger.database import Desk
from timebank.ledger.visit import DEBT
from timebank.reports.statements import AMOUNT, printable
from timebank.settings.schedule import Schedule
from timebank.words import clock


@dataclass
class BoardReport:
    """A board, and all its callers together."""

    board: str
    # Those who are not deleted; and how often they, and those who are, came in.
    callers: int
    visits: int
    brought: int = 0
    elapsed: int = 0
    taken_home: int = 0
    gained: int = 0
    # What of it went home to pay debts, by the clocks of hosts that showed too much.
    debt_paid: int = 0
    # Debts of today, of all callers.
    debt: int = 0
    # Minutes by way ("moduser", ...) and state ("waiting", "written", ...); losses are below zero.
    given: dict[tuple[str, str], int] = field(default_factory=dict)


BOARDS = """
SELECT c.board, count(DISTINCT c.id) FILTER (WHERE c.deleted IS NULL), count(v.call_id),
    coalesce(sum(v.brought + coalesce(v.also_brought, 0)), 0), coalesce(sum(v.elapsed), 0),
    coalesce(sum(v.taken_home), 0), coalesce(sum(v.gain), 0), coalesce(sum(v.debt_paid), 0)
FROM callers c LEFT JOIN visits v ON v.caller_id = c.id
WHERE c.board IS NOT NULL GROUP BY c.board ORDER BY c.board COLLATE NOCASE
"""
GIVEN = """
SELECT c.board, b.way, b.state, sum(b.minutes)
FROM given_back b JOIN callers c ON c.id = b.caller_id
GROUP BY c.board, b.way, b.state ORDER BY b.way, b.state
"""
DEBTS = f"""
SELECT c.board, max(0, ({DEBT.replace("?1", "c.id").replace("?2", "?1")})) FROM callers c
WHERE c.board IS NOT NULL AND c.deleted IS NULL
"""


def boards(desk: Desk) -> list[BoardReport]:
    """Report on every board that a caller ever came from, by name."""
    run = desk.connection.exec_driver_sql
    found = {row[0]: BoardReport(*row) for row in run(BOARDS)}
    for board, way, state, minutes in run(GIVEN):
        found[board].given[way, state] = minutes
    today = desk.settings.schedule.day_of(desk.now).isoformat()
    for board, debt in run(DEBTS, (today,)):
        found[board].debt += debt
    return list(found.values())


HEADINGS = ("Callers", "Visits", "Brought", "Used", "Taken home", "Gained", "Paid", "Owed today")
FIELDS = (
    *("board", "callers", "visits", "brought", "used", "taken_home", "gained", "debt_paid"),
    *("debt_today", "given_back"),
)


def boards_table(reports: Iterable[BoardReport]) -> Iterator[str]:
    """Write a line a board, and under it how its callers' gains were given back."""
    nobody = True
    for report in reports:
        if nobody:
            yield f"{'Board':<24}" + "".join(f"{heading:>{AMOUNT}}" for heading in HEADINGS)
        nobody = False
        counts = f"{report.callers:>{AMOUNT}}{report.visits:>{AMOUNT}}"
        brought = (report.brought, report.elapsed, report.taken_home)
        gained = (report.gained, report.debt_paid, report.debt)
        amounts = "".join(f"{clock(amount):>{AMOUNT}}" for amount in (*brought, *gained))
        yield f"{printable(report.board):<24}{counts}{amounts}"
        for (way, state), minutes in report.given.items():
            yield f"  {_given(way, state, minutes)}"
    if nobody:
        yield "No caller of another board has come here yet."


def _given(way: str, state: str, minutes: int) -> str:
    return f"by {way}: {minutes} minute{'' if abs(minutes) == 1 else 's'} {state}"


def board_line(report: BoardReport) -> dict[str, object]:
    """Give a report as `board_record` does, for a table of plain fields."""
    said = "; ".join(_given(way, state, minutes) for (way, state), minutes in report.given.items())
    return {**board_record(report), "given_back": said}


def board_record(report: BoardReport) -> dict[str, object]:
    """Give a report as a record by the names of FIELDS, amounts in seconds."""
    given = [
        {"way": way, "state": state, "minutes": minutes}
        for (way, state), minutes in report.given.items()
    ]
    values = (report.board, report.callers, report.visits, report.brought, report.elapsed)
    more = (report.taken_home, report.gained, report.debt_paid, report.debt, given)
    return dict(zip(FIELDS, (*values, *more), strict=True))


def outstanding_table(rows: Iterable[HostPayment], schedule: Schedule) -> Iterator[str]:
    """Write what is not with its host, a line each; nothing where there is nothing."""
    for number, row in enumerate(rows):
        if number == 0:
            yield ""
            yield f"{'Number':>7}  {'When':<19}  {'Caller':<32}{'Minutes':>8}  {'Way':<9}  State"
        doubt = f": {printable(row.why)}" if row.why else ""
        yield (
            f"{row.number:>7}  {schedule.local(row.at):%Y-%m-%d %H:%M:%S}"
            f"  {printable(row.caller):<32}{row.minutes:>8}  {row.way:<9}  {row.state}{doubt}"
        )
