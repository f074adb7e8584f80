"""Tables of the days past, which a script draws as plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from door.desk.pages.forms import Parameters
from door.desk.pages.queries import title
from timebank.words import clock

if TYPE_CHECKING:
    from door.desk.pages.queries import DaysPast
    from door.desk.pages.rendering import Guard, PageRenderer, Visit

DAYS, MOST_DAYS = 30, 3660
MINUTE = 60


@dataclass(frozen=True)
class Plot:
    """A table to draw: a row for each day or hour, and columns of numbers.

    Each row has its label, its place on the axis, which is a second since 1970 (UTC midnight of the
    day) or an hour, and its numbers, each None if unknown.
    """

    name: str
    words: str
    kind: str  # "line", "bars"
    axis: str  # "day", "hour"
    unit: str  # "minutes", "calls"
    columns: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[float | None]]]

    def shown(self, number: float | None) -> str:
        if number is None:
            return ""
        return clock(round(number * MINUTE)) if self.unit == "minutes" else f"{number:g}"


class PlotPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing

    def routes(self, guard: Guard) -> list[Route]:
        return [Route("/plots", guard(self._plots))]

    async def _plots(self, visit: Visit) -> Response:
        asked = Parameters(visit.query, ("days",))
        days = asked.number("days")
        if days is not None and not 1 <= days <= MOST_DAYS:
            asked.wrong.append(f"The field days needs a number from 1 to {MOST_DAYS:,}.")
        if asked.wrong:
            return self._showing.problem(" ".join(asked.wrong), 400, visit)
        past = await self._showing.report(
            partial(self._showing.reading.past_days, DAYS if days is None else days)
        )
        return self._showing.show(
            "plots.html", visit, plots=plots_of(past), days=days or DAYS, most=MOST_DAYS
        )


def plots_of(past: DaysPast) -> list[Plot]:
    return [_circulation(past), _house(past), _deposits(past), _flows(past), _calls(past)]


def _circulation(past: DaysPast) -> Plot:
    rows = [_row(end.day, [end.in_circulation]) for end in past.ends]
    words = "What all callers have at the end of each day: on line, on the table, held and banked."
    return Plot("Minutes in circulation", words, "line", "day", "minutes", ["Minutes"], rows)


def _house(past: DaysPast) -> Plot:
    games = sorted({each.game for each in past.house})
    results = {(each.day, each.game): each.result for each in past.house}
    rows = [
        _row(end.day, [results.get((end.day.isoformat(), game), 0) for game in games])
        for end in past.ends
    ]
    words = "What the house won at each table on each day; below zero is what it lost."
    columns = [title(game) for game in games]
    return Plot("The house by table", words, "line", "day", "minutes", columns, rows)


def _deposits(past: DaysPast) -> Plot:
    rows = [_row(end.day, [end.held["bank"], -end.held["loan"]]) for end in past.ends]
    words = "What callers have in the time bank, and what they owe, at the end of each day."
    columns = ["In the bank", "Owed on loans"]
    return Plot("Deposits and loans", words, "line", "day", "minutes", columns, rows)


def _flows(past: DaysPast) -> Plot:
    by_day = {period.first: period for period in past.flows}
    rows = []
    for end in past.ends:
        period = by_day.get(end.day)
        flows = {} if period is None else period.flows
        won = 0 if period is None else _sum_of_games(past, end.day, won=True)
        lost = 0 if period is None else _sum_of_games(past, end.day, won=False)
        rows.append(_row(end.day, [flows.get("granted", 0), flows.get("used", 0), won, lost]))
    words = "What was granted and used on each day, and what callers won and lost at the tables."
    columns = ["Granted", "Used", "Won", "Lost"]
    return Plot("Minutes by day", words, "line", "day", "minutes", columns, rows)


def _sum_of_games(past: DaysPast, day: date, *, won: bool) -> int:
    period = next(each for each in past.flows if each.first == day)
    return sum(
        result.won if won else result.lost
        for (_, unit), result in period.games.items()
        if unit == "second"
    )


def _calls(past: DaysPast) -> Plot:
    rows = [(f"{hour:02}:00", hour, [float(times)]) for hour, times in enumerate(past.calls)]
    words = f"How many calls began in each hour of the day since {past.since.isoformat()}."
    return Plot("Calls by hour", words, "bars", "hour", "calls", ["Calls"], rows)


def _row(day: date, seconds: Sequence[int]) -> tuple[str, int, Sequence[float | None]]:
    place = (day - date(1970, 1, 1)) // timedelta(seconds=1)
    return day.isoformat(), place, [each / MINUTE for each in seconds]
