"""Callers as the sysop lists them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from timebank.callers.callers import CallerRecord
from timebank.reports.exports import Record
from timebank.reports.statements import NAME, SHORT, printable
from timebank.reports.tables import Column, Listing, Loud, Row
from timebank.settings.schedule import Schedule

FIELDS = ("number", "caller", "board", "since", "last_call", "powers", "locked", "frozen", "muted")


def table(known: Iterable[CallerRecord], schedule: Schedule) -> Listing:
    columns = (
        *(Column("Caller", least=NAME), Column("Number", right=True), Column("Since", goes=1)),
        *(Column("Last call"), Column("State", least=SHORT)),
    )
    rows = [_row(record, schedule) for record in known]
    return Listing(columns, rows, "Nobody has registered yet.")


def _row(record: CallerRecord, schedule: Schedule) -> Row:
    last = f"{schedule.local(record.last_call):%Y-%m-%d %H:%M}" if record.last_call else "never"
    held_back = {"locked": record.locked, "frozen": record.frozen, "muted": record.muted}
    told = {"the sysop's powers": record.powers, **held_back}
    state = ", ".join(words for words, is_so in told.items() if is_so)
    return (
        *(printable(record.name), str(record.id)),
        *(f"{schedule.local(record.created):%Y-%m-%d}", last),
        Loud(state) if any(held_back.values()) else state,
    )


def records(known: Iterable[CallerRecord], schedule: Schedule) -> Iterator[Record]:
    for record in known:
        last = record.last_call
        values = (
            *(record.id, record.name, record.board, schedule.local(record.created).isoformat()),
            None if last is None else schedule.local(last).isoformat(),
            *(record.powers, record.locked, record.frozen, record.muted),
        )
        yield dict(zip(FIELDS, values, strict=True))
