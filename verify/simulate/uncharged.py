"""The uncharged minutes of a day: no caller is served longer than the books have counted.

It measures the time between two looks at a caller without time on an open call, over all calls of
the caller's day.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from verify.simulate.wrong import must

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.call.grace import Grace

ROUNDING = 1.0  # seconds
ENDING = 3.0  # seconds for the end of a call at an event


class _Look(NamedTuple):
    """The observed state of a caller on line without time."""

    grace: Grace
    at: float  # monotonic
    caller_id: int
    day: str  # the day that counts their use; it may last into the caller's next day
    charged: int


class Uncharged:
    """How long each caller was served without time."""

    def __init__(self, counted: Counter[str]) -> None:
        """Begin without earlier use."""
        self._counted = counted
        self._before: dict[int, _Look] = {}  # by call
        self._used: Counter[tuple[int, str]] = Counter()  # seconds of a caller's day

    def step(
        self, file: sqlite3.Connection, on: Iterable[Caller], now: float, *, is_calm: bool
    ) -> None:
        """Measure how long callers were on line without time, and compare it with the books.

        `is_calm` means that every process knows the events and the time.
        """
        looks = {}
        for caller in on:
            grace = caller.clock.day_grace
            if grace is None or grace.is_over() or caller.purse.time_left():
                continue
            if is_calm:
                _ends_before_an_event(caller, grace)
            row = file.execute(CALL, (caller.call_id,)).fetchone()
            if row is not None:  # otherwise it is closed, and the notice is on its way
                caller_id, day, charged = row
                look = _Look(grace, now, caller_id, grace.day or day, charged)
                looks[caller.call_id] = self._goes_on(caller.call_id, look)
        self._before = looks
        self._nobody_has_had_more(file)

    def _goes_on(self, call: int, look: _Look) -> _Look:
        before = self._before.get(call)
        if before is not None and before == look._replace(at=before.at):
            self._used[look.caller_id, look.day] += look.at - before.at  # type: ignore[assignment]
            self._counted["_looks at uncharged minutes"] += 1
        return look

    def _nobody_has_had_more(self, file: sqlite3.Connection) -> None:
        if not self._used:
            return
        counted = {(caller, day): seconds for caller, day, seconds in file.execute(DAYS)}
        for (caller, day), used in self._used.items():
            there = counted.get((caller, day))
            if there is not None:  # otherwise a wrong clock had begun that day
                words = "caller {} was served for {:.1f} s uncharged on {}, and the books count {}"
                must(used <= there + ROUNDING, words, caller, used, day, there)


def _ends_before_an_event(caller: Caller, grace: Grace) -> None:
    """Check that no caller without time stays during an event or reads that they may."""
    now, schedule = caller.console.clock.now(), caller.bank_settings.schedule
    closed = schedule.closed_at_or_after(now)
    if closed is None:
        return
    to_event = (closed.start - now).total_seconds()
    name, left = caller.record.name, grace.left()
    must(to_event > -ENDING, "{} is on uncharged, {:.1f} s into an event", name, -to_event)
    must(left <= max(0, to_event) + ENDING, "{} has {} s uncharged, {} to go", name, left, to_event)


CALL = """
SELECT c.id, c.day, k.charged FROM calls k JOIN callers c ON c.id = k.caller_id
WHERE k.id = ? AND k.closed IS NULL AND c.day IS NOT NULL
"""
# Several days that a wrong clock began may have been made one.
DAYS = """
SELECT d.caller_id, d.day, d.grace FROM days d
WHERE NOT EXISTS (SELECT 1 FROM mended_days m WHERE m.caller_id = d.caller_id)
"""
