"""Who is richest, who won and lost most, and how the house did, in time: for the bulletins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from timebank.database import Desk


@dataclass(frozen=True, slots=True)
class Standing:
    """A caller's place in a list; `seconds` are what he saved, won (above 0) or lost (below)."""

    name: str
    seconds: int


@dataclass(frozen=True, slots=True)
class HouseDay:
    """How one game's house did: hands settled, and what it won from callers less what it paid."""

    game: str
    hands: int
    result: int


_RESULTS = """
SELECT c.name, sum(r.won - r.lost) AS net FROM rounds r JOIN callers c ON c.id = r.caller_id
WHERE r.settled IS NOT NULL AND r.outcome <> 'void' AND r.unit = 'second' AND c.deleted IS NULL
    AND {when}
GROUP BY c.id HAVING net {sign} 0 ORDER BY net {order}, c.name LIMIT ?
"""


def richest(desk: Desk, most: int) -> list[Standing]:
    """List up to `most` callers by what they have in the bank, the richest first."""
    found = desk.connection.exec_driver_sql(
        "SELECT c.name, a.balance FROM accounts a JOIN callers c ON c.id = a.caller_id"
        " WHERE a.kind = 'bank' AND a.unit = 'second' AND a.balance > 0 AND c.deleted IS NULL"
        " ORDER BY a.balance DESC, c.name LIMIT ?",
        (most,),
    )
    return [Standing(*row) for row in found]


def winners(desk: Desk, day: date | None, most: int) -> list[Standing]:
    """List who won most by hands of `day` (by which they are counted as turns), or ever."""
    return _results(desk, day, most, ">", "DESC")


def losers(desk: Desk, day: date | None, most: int) -> list[Standing]:
    """List who lost most by hands of `day`, or ever; their seconds are below zero."""
    return _results(desk, day, most, "<", "ASC")


def house_day(desk: Desk, day: date) -> list[HouseDay]:
    """Tell how each game's house did with the hands of `day` that are settled."""
    found = desk.connection.exec_driver_sql(
        "SELECT game, count(*), sum(lost - won) FROM rounds"
        " WHERE settled IS NOT NULL AND outcome <> 'void' AND unit = 'second' AND day = ?"
        " GROUP BY game ORDER BY game",
        (day.isoformat(),),
    )
    return [HouseDay(*row) for row in found]


def _results(desk: Desk, day: date | None, most: int, sign: str, order: str) -> list[Standing]:
    when, values = ("1", ()) if day is None else ("r.day = ?", (day.isoformat(),))
    query = _RESULTS.format(when=when, sign=sign, order=order)
    found = desk.connection.exec_driver_sql(query, (*values, most))
    return [Standing(*row) for row in found]
