"""Plots of days past. Each is a table, which a script draws; its rows lead to their transfers."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from door.desk.pages.forms import Parameters
from door.desk.pages.queries import title
from door.desk.pages.rendering import query
from door.desk.pages.spans import PERIODS, Span, span_in
from timebank.errors import BooksFailed
from timebank.ledger import generations
from timebank.ledger.schema import instant, stamp
from timebank.ledger.sql import NO_BOUND
from timebank.reports import house, ledger_pages
from timebank.reports import plots as plot_data
from timebank.reports.house import BEYOND_BELIEF, COMMON, Luck
from timebank.reports.plots import A_DAY, IN_CIRCULATION, DaySums
from timebank.words import clock

if TYPE_CHECKING:
    from door.desk.pages.queries import BooksReader
    from door.desk.pages.rendering import Guard, PageRenderer, Visit
    from timebank.ledger.database import Desk

DAYS = 30
PATIENCE = 2.0  # seconds that a page waits for the sums of its days
# After its end, a day may still get transfers of an entry that was being committed.
SETTLING = timedelta(hours=1)
MINUTE = 60
RESULTS = "kind=won&kind=lost"  # the transfers that make a result at a table


class PlotColumn(NamedTuple):
    """A column of numbers. `query` finds its transfers in the ledger, after that of a row.

    `drawn` is "line", "points", "bars", or the "low" end of a band, which the "high" one follows.
    """

    name: str
    query: str = ""
    drawn: str = "line"


class PlotRow(NamedTuple):
    """Numbers at a place of the axis: a second since 1970 (UTC midnight of a day), an hour or
    minutes staked. `query` finds its transfers in the ledger, if it can."""

    name: str
    place: float
    numbers: Sequence[float]
    query: str = ""


@dataclass(frozen=True)
class Plot:
    """A table to draw."""

    name: str
    words: str
    columns: Sequence[PlotColumn]
    rows: Sequence[PlotRow]
    axis: str = "day"  # "day", "hour", "staked"
    unit: str = "minutes"  # "minutes", "times"

    def shown(self, number: float) -> str:
        return clock(round(number * MINUTE)) if self.unit == "minutes" else f"{number:g}"


@dataclass(frozen=True)
class DaysPast:
    """The figures of some days, the earliest first; `is_whole` if none of `span` is missing."""

    span: Span
    today: date
    begun: date
    is_whole: bool
    days: Sequence[DaySums]
    ends: Mapping[date, Counter[str]]
    calls: Counter[int]  # by hour
    people: Sequence[Luck]  # of each caller at all tables
    names: Mapping[int, str]


class PastDays:
    """Adds days up. A day that has ended never changes, so its sums are kept.

    A day of 500 callers takes about 100 kB.
    """

    def __init__(self, reading: BooksReader) -> None:
        self._reading = reading
        self._odds = house.installed_odds()
        self._kept: tuple[int, dict[date, DaySums]] = 0, {}  # of a generation of the books

    def _known(self, desk: Desk) -> dict[date, DaySums]:
        generation, known = self._kept
        if generation != (current := generations.current(desk.connection)):
            known = {}
            self._kept = current, known
        return known

    def add_one(self, since: date) -> bool:
        """Add up the newest unknown day from `since` on; return False if all are known."""
        return self._reading.look(partial(self._add_one, since=since))

    def _add_one(self, desk: Desk, since: date) -> bool:
        known = self._known(desk)
        day = _newest_unknown(desk, known)
        if day < since:
            return False
        end = ledger_pages.first_at(desk, stamp(desk.settings.schedule.day_starts(day + A_DAY)))
        if day + A_DAY in known:
            end = known[day + A_DAY].first
        known[day] = plot_data.day_sums(desk, day, end, self._odds)
        return True

    def look(self, since: date | None, until: date | None) -> DaysPast:
        """Return the days of a span that are added up, by default of the last `DAYS` days."""
        return self._reading.look(partial(self._look, since=since, until=until))

    def _look(self, desk: Desk, since: date | None, until: date | None) -> DaysPast:
        schedule = desk.settings.schedule
        today, first = schedule.day_of(desk.now), ledger_pages.begun(desk)
        begun = today if first is None else schedule.day_of(instant(first))
        until = until or today
        since = since or until - (DAYS - 1) * A_DAY
        known, start = self._known(desk), max(begun, since)
        oldest = max(start, _newest_unknown(desk, known) + A_DAY)
        sums: list[DaySums] = []
        day, end = today, NO_BOUND
        while day >= oldest:
            sums.append(known.get(day) or plot_data.day_sums(desk, day, end, self._odds))
            day, end = day - A_DAY, sums[-1].first
        days = [each for each in reversed(sums) if each.day <= until]
        people: dict[int, Luck] = {}
        for each in days:
            for luck in each.people:
                number = luck.caller_id or 0
                people.setdefault(number, Luck("", "second", number)).join(luck)
        return DaysPast(
            span=Span(since, max(since, until)),
            today=today,
            begun=begun,
            is_whole=oldest == start,
            days=days,
            ends=plot_data.day_ends(desk, sums),
            calls=plot_data.calls_by_hour(desk, oldest, until),
            people=sorted(people.values(), key=lambda luck: luck.staked),
            names=house.names(desk, people.values()),
        )


def _newest_unknown(desk: Desk, known: Container[date]) -> date:
    """Return the newest day that has ended, and is not added up."""
    day = desk.settings.schedule.day_of(desk.now - SETTLING) - A_DAY
    while day in known:
        day -= A_DAY
    return day


class PlotPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._past = PastDays(showing.reading)
        self._since = date.max  # the first day to add up
        self._adding: asyncio.Task[None] | None = None

    def routes(self, guard: Guard) -> list[Route]:
        return [Route("/plots", guard(self._plots))]

    async def _plots(self, visit: Visit) -> Response:
        asked = Parameters(visit.query)
        since, until = span_in(asked)
        asked.check()
        look = partial(self._past.look, since, until)
        past = await self._showing.read(look)
        if not past.is_whole:
            self._since = min(max(past.begun, past.span.since), self._since)
            if self._adding is None or self._adding.done():
                self._adding = asyncio.create_task(self._add_up())
            await asyncio.wait({self._adding}, timeout=PATIENCE)
            past = await self._showing.read(look)
        return self._showing.show(
            "plots.html", visit, past=past, plots=[plot(past) for plot in PLOTS], periods=PERIODS
        )

    async def _add_up(self) -> None:
        """Add up days, also after the page is shown; other reports get turns between them."""
        with contextlib.suppress(BooksFailed):
            while await self._showing.report(lambda: self._past.add_one(self._since)):
                pass


def _outstanding(past: DaysPast) -> Plot:
    ends = [(each.day, past.ends[each.day]) for each in past.days]
    rows = [
        _of_day(day, (sum(held[kind] for kind in IN_CIRCULATION), held["bank"], -held["loan"]))
        for day, held in ends
    ]
    words = "What all callers have and owe at the end of each day."
    columns = [PlotColumn("In circulation"), PlotColumn("In the bank"), PlotColumn("Owed on loans")]
    return Plot("Savings and loans outstanding", words, columns, rows)


def _house(past: DaysPast) -> Plot:
    """Plot the house's result on each day, next to its odds."""
    lucks = zip((each.day for each in past.days), _by_day(past), strict=True)
    return _by_odds("The house by day", "The house's result on each day", past, lucks)


def _so_far(past: DaysPast) -> Plot:
    """Plot the house's result from the first day on."""
    so_far, lucks = Luck("", "second"), []
    for luck in _by_day(past):
        so_far.join(luck)
        lucks.append((past.days[0].day, replace(so_far)))
    return _by_odds("The house so far", "The house's result from the first day on", past, lucks)


def _by_day(past: DaysPast) -> Iterator[Luck]:
    for each in past.days:
        luck = Luck("", "second")
        for table in each.tables:
            luck.join(table)
        yield luck


def _by_odds(name: str, what: str, past: DaysPast, lucks: Iterable[tuple[date, Luck]]) -> Plot:
    """Plot the lucks of days, each from a first day on."""
    rows = [
        _of_day(each.day, (luck.house, luck.house - luck.luck, *luck.band(COMMON)), first)
        for each, (first, luck) in zip(past.days, lucks, strict=True)
    ]
    words = (
        f"{what}, and by the odds of its hands. Chance alone leaves the band one time in twenty."
    )
    columns = [PlotColumn("House won", RESULTS), PlotColumn("By odds"), *_edges(COMMON)]
    return Plot(name, words, columns, rows if any(each.tables for each in past.days) else [])


def _edges(deviations: float) -> tuple[PlotColumn, PlotColumn]:
    low, high = (f"{sign}{deviations:g} deviations" for sign in "-+")
    return PlotColumn(low, drawn="low"), PlotColumn(high, drawn="high")


def _tables(past: DaysPast) -> Plot:
    games = sorted({luck.game for each in past.days for luck in each.tables})
    results = [{luck.game: luck.house for luck in each.tables} for each in past.days]
    rows = [
        _of_day(each.day, [of_day.get(game, 0) for game in games])
        for each, of_day in zip(past.days, results, strict=True)
    ]
    words = "What the house won at each table on each day; below zero is what it lost."
    columns = [PlotColumn(title(game), f"{RESULTS}&game={game}") for game in games]
    return Plot("The house by table", words, columns, rows if games else [])


def _funnel(past: DaysPast) -> Plot:
    days = past.span.fields
    rows = []
    for luck in past.people:
        bands = [luck.band(deviations) for deviations in (COMMON, BEYOND_BELIEF)]
        ends = [-result for low, high in bands for result in (high, low)]
        numbers = [-luck.house, luck.luck - luck.house, *ends]
        find = query({"caller": f"#{luck.caller_id}", **days})
        place, in_minutes = luck.staked / MINUTE, [each / MINUTE for each in numbers]
        rows.append(PlotRow(past.names[luck.caller_id or 0], place, in_minutes, find))
    words = (
        "Each caller's result at the tables, from the one who staked least to the one who staked"
        f" most. {COMMON:g} deviations from the odds are common; {BEYOND_BELIEF:g} are not to be"
        " believed."
    )
    edges = (*_edges(COMMON), *_edges(BEYOND_BELIEF))
    columns = [PlotColumn("Result", RESULTS, "points"), PlotColumn("By odds"), *edges]
    return Plot("Luck of callers", words, columns, rows, "staked")


def _flows(past: DaysPast) -> Plot:
    rows = []
    for each in past.days:
        flows, tables = each.period.flows, each.period.tables
        rows.append(_of_day(each.day, [flows["granted"], flows["used"], tables.won, tables.lost]))
    words = "What was granted and used on each day, and what callers won and lost at the tables."
    kinds = {"Granted": "grant", "Used": "elapsed", "Won": "won", "Lost": "lost"}
    columns = [PlotColumn(name, f"kind={kind}") for name, kind in kinds.items()]
    return Plot("Minutes by day", words, columns, rows)


def _calls(past: DaysPast) -> Plot:
    return _by_hour("Calls by hour", "How many calls began in each hour of the day.", past.calls)


def _bets(past: DaysPast) -> Plot:
    bets = sum((each.bets for each in past.days), Counter[int]())
    return _by_hour("Bets by hour", "How many hands were dealt in each hour of the day.", bets)


def _by_hour(name: str, words: str, times: Counter[int]) -> Plot:
    rows = [PlotRow(f"{hour:02}:00", hour, [times[hour]]) for hour in range(24)]
    return Plot(name, words, [PlotColumn("Times", drawn="bars")], rows, "hour", "times")


def _of_day(day: date, seconds: Iterable[float], first: date | None = None) -> PlotRow:
    """Return the row of a day, which leads to its transfers, or to all from `first` on."""
    place = (day - date(1970, 1, 1)) // timedelta(seconds=1)
    find = query(Span(first or day, day).fields)
    return PlotRow(day.isoformat(), place, [each / MINUTE for each in seconds], find)


PLOTS: Sequence[Callable[[DaysPast], Plot]] = (
    *(_house, _so_far, _tables, _funnel, _outstanding, _flows, _calls, _bets),
)
