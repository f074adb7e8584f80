"""Which events the sysop has started early, as the books have it.

Every entry of a caller reads them in its own transaction: however late a process hears of one,
nobody is granted, lent or staked a second that reaches past it.
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
    """Choose them beside something else, for `parse`."""
    return select(json_list(*columns_of(early_events, _NAMES))).scalar_subquery()


def parse(rows: str | None) -> tuple[EarlyEvent, ...]:
    """Return the events that `column` has found."""
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
    return _events(_ROWS.all(desk.connection))


def current_schedule(desk: Desk) -> Schedule:
    """The board's schedule as the books have it at this moment."""
    return desk.settings.schedule.with_early(load(desk))
