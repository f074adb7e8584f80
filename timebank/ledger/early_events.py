"""The events that the sysop started early, as stored in the books.

Every entry of a caller reads them in its own transaction. So no entry grants, lends or stakes time
past an event, even if the process has no news of that event yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import early_events, instant
from timebank.ledger.sql import Reader, columns_of, json_list
from timebank.settings.schedule import EarlyEvent, Schedule

_NAMES = "name starts ends instead_of"
_ROWS: Reader[tuple[str, int, int, int | None]] = Reader(
    tuple,
    lambda: select(*columns_of(early_events, _NAMES)).order_by(early_events.c.starts),
)


def column() -> ColumnElement[Any]:
    """Return all early events as one JSON column for any query; `parse` reads its value."""
    return select(json_list(*columns_of(early_events, _NAMES))).scalar_subquery()


def parse(rows: str | None) -> tuple[EarlyEvent, ...]:
    """Return the early events in a value of `column`."""
    return () if rows in (None, "[]") else _events(json.loads(rows))


def _events(rows: Iterable[tuple[str, int, int, int | None]]) -> tuple[EarlyEvent, ...]:
    return tuple(
        EarlyEvent(
            name,
            instant(starts),
            instant(ends),
            None if instead_of is None else instant(instead_of),
        )
        for name, starts, ends, instead_of in rows
    )


def load(desk: Desk) -> tuple[EarlyEvent, ...]:
    """Read all early events, the earliest first."""
    return _events(_ROWS.all(desk.connection))


def current_schedule(desk: Desk) -> Schedule:
    """Return the schedule of the settings with the early events of the books."""
    return desk.settings.schedule.with_early(load(desk))
