"""No bet exceeds its caller's own limits, by the file itself."""

from __future__ import annotations

import sqlite3
from collections import Counter

from verify.simulate.wrong import must

# Callers with stakes since then, and their current limits in the file.
STAKED = """
SELECT caller.id, caller.name, caller.day, sum(source.kind = 'online'), max(moved.at),
    own.most_lost, own.later_lost, own.later_from, own.paused_until
FROM transfers AS moved
JOIN accounts AS source ON source.id = moved.source
JOIN callers AS caller ON caller.id = source.caller_id
JOIN own_limits AS own ON own.caller_id = caller.id
WHERE moved.id > ? AND moved.kind = 'stake' GROUP BY caller.id
"""
ROWS = "SELECT caller_id, most_lost, later_lost, later_from, paused_until FROM own_limits"
AT_RISK = """
SELECT (SELECT coalesce(sum(lost - won), 0) FROM rounds
        WHERE caller_id = :caller AND unit = 'second' AND day = :day)
    + (SELECT balance FROM accounts
        WHERE caller_id = :caller AND unit = 'second' AND kind = 'stake')
"""
Row = tuple[int | None, int | None, int | None, int | None]
NONE: Row = (None, None, None, None)
FREE = 2**62


class OwnLimits:
    """Callers' limits before a step, and whether their stakes in it obey them."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._before: dict[int, Row] = {}
        self._days: dict[int, str] = {}
        self._last: int | None = None

    def step(self, file: sqlite3.Connection) -> None:
        """Check the stakes of a step; of the limits set in it, the looser may have applied."""
        if self._last is not None:
            for caller, name, day, of_time, at, *row in file.execute(STAKED, (self._last,)):
                self._check(file, (caller, name, day, at), bool(of_time), _row(row))
        self._before = {caller: _row(row) for caller, *row in file.execute(ROWS)}
        self._days = dict(file.execute("SELECT id, day FROM callers"))
        (self._last,) = file.execute("SELECT coalesce(max(id), 0) FROM transfers").fetchone()

    def _check(
        self, file: sqlite3.Connection, who: tuple[int, str, str, int], of_time: bool, after: Row
    ) -> None:
        caller, name, day, at = who
        before = self._before.get(caller, NONE)
        paused = min(before[3] or 0, after[3] or 0)
        must(at >= paused, "{} has paused until {}, and bets at {}", name, paused, at)
        if not of_time or day < (self._days.get(caller) or ""):  # a wrong day was taken back
            return
        most = max(_most(before, at), _most(after, at))
        (risk,) = file.execute(AT_RISK, {"caller": caller, "day": day}).fetchone()
        must(risk <= most, "{} may lose {} a day, and has staked up to {}", name, most, risk)
        self._counted["_bets within a limit of one's own"] += most < FREE


def _row(values: list[int | None]) -> Row:
    most, later, later_from, paused = values
    return most, later, later_from, paused


def _most(row: Row, at: int) -> int:
    most, later, later_from, _ = row
    if later_from is not None and at >= later_from:
        most = later or None
    return FREE if most is None else most
