"""Who is richest, who won and lost most, and how the house did, in time: for the bulletins.

What hands came to is read from running totals (`model.results`), which grow with callers and days,
not with hands. `differing` compares them with the hands, and `count_anew` mends one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from timebank.ledger.database import Desk


@dataclass(frozen=True, slots=True)
class Standing:
    """A caller's place in a list; `seconds` are what they saved, won (above 0) or lost (below)."""

    name: str
    seconds: int


@dataclass(frozen=True, slots=True)
class HouseDay:
    """How one game's house did: hands settled, and what it won from callers less what it paid."""

    game: str
    hands: int
    result: int


_NET = """
SELECT c.name, sum(r.won - r.lost) AS net FROM {table} r JOIN callers c ON c.id = r.caller_id
WHERE r.unit = 'second' AND c.deleted IS NULL AND {when}
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
    return _net(desk, day, most, ">", "DESC")


def losers(desk: Desk, day: date | None, most: int) -> list[Standing]:
    """List who lost most by hands of `day`, or ever; their seconds are below zero."""
    return _net(desk, day, most, "<", "ASC")


def house_day(desk: Desk, day: date) -> list[HouseDay]:
    """Tell how each game's house did with the hands of `day` that are settled."""
    found = desk.connection.exec_driver_sql(
        "SELECT game, sum(hands), sum(lost - won) FROM results"
        " WHERE unit = 'second' AND day = ? GROUP BY game ORDER BY game",
        (day.isoformat(),),
    )
    return [HouseDay(*row) for row in found]


def _net(desk: Desk, day: date | None, most: int, sign: str, order: str) -> list[Standing]:
    table, when = ("results_ever", "1") if day is None else ("results", "r.day = ?")
    values = () if day is None else (day.isoformat(),)
    query = _NET.format(table=table, when=when, sign=sign, order=order)
    found = desk.connection.exec_driver_sql(query, (*values, most))
    return [Standing(*row) for row in found]


# Each table of totals, with the columns that its hands have in common.
_TOTALS = {"results": "day, caller_id, game, unit", "results_ever": "caller_id, game, unit"}
_COUNTED = """
SELECT {columns}, count(*), sum(lost), sum(won) FROM rounds
WHERE settled IS NOT NULL AND outcome <> 'void' AND {these} GROUP BY {columns}
"""


class Total(NamedTuple):
    """A row of the running totals: its table, and what its hands have in common."""

    table: str
    of: tuple[str | int, ...]

    def __str__(self) -> str:
        """Name it as a finding of the audit does."""
        return f"{self.table} of {', '.join(map(str, self.of))}"


def differing(desk: Desk) -> list[Total]:
    """List the running totals that are not what the hands add up to; reads every hand."""
    found: list[Total] = []
    for table, columns in _TOTALS.items():
        counted = _COUNTED.format(columns=columns, these="1")
        kept = f"SELECT {columns}, hands, lost, won FROM {table}"
        rows = desk.connection.exec_driver_sql(
            f"SELECT DISTINCT {columns} FROM (SELECT * FROM ({kept} EXCEPT {counted})"
            f" UNION SELECT * FROM ({counted} EXCEPT {kept})) ORDER BY 1, 2, 3"
        )
        found += [Total(table, tuple(row)) for row in rows]
    return found


def count_anew(desk: Desk, total: Total) -> None:
    """Make one running total anew from its hands; without any, it goes."""
    columns = _TOTALS[total.table]
    these = " AND ".join(f"{column} = ?" for column in columns.split(", "))
    run = desk.connection.exec_driver_sql
    run(f"DELETE FROM {total.table} WHERE {these}", total.of)
    run(
        f"INSERT INTO {total.table} ({columns}, hands, lost, won)"
        f" {_COUNTED.format(columns=columns, these=these)}",
        total.of,
    )
