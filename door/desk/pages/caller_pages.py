"""The list of callers, and the page of one: balances, statement, sources of their minutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from door.desk.pages.forms import Parameters, number_in
from door.desk.pages.queries import title
from door.desk.pages.rendering import query
from door.desk.pages.spans import FIELDS, PERIODS, span_in
from door.errors import PageRefused
from timebank.reports.statements import UNITS

if TYPE_CHECKING:
    from door.desk.pages.rendering import Guard, PageRenderer, Visit
    from timebank.reports.flows import Term, Total
    from timebank.reports.roster import RosterLine


NAMES = 100  # of callers on a page


class SortColumn(NamedTuple):
    """A column of the list of callers; `key` is None for the names, which are sorted already.

    A first click on the head of a column sorts it down if `falls_first`.
    """

    head: str
    key: Callable[[RosterLine], Any] | None
    falls_first: bool = True


COLUMNS: Mapping[str, SortColumn] = {
    "number": SortColumn("#Number", lambda each: each.number, falls_first=False),
    "caller": SortColumn("Caller", None, falls_first=False),
    "since": SortColumn("Since", lambda each: each.created),
    "call": SortColumn("Last call", lambda each: (each.on_line, each.last_call or 0)),
    "online": SortColumn("#Online", lambda each: each.online),
    "bank": SortColumn("#Bank", lambda each: each.bank),
    "owing": SortColumn("#Owing", lambda each: each.owing),
    "state": SortColumn("State", lambda each: (each.locked, each.frozen, each.powers)),
}


class PeoplePages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._reading = showing.reading

    def routes(self, guard: Guard) -> list[Route]:
        return [
            Route("/callers", guard(self._callers)),
            Route("/caller/{number}", guard(self._caller)),
        ]

    async def _callers(self, visit: Visit) -> Response:
        asked = Parameters(visit.query, ("name", "sort", *FIELDS))
        name, sort = asked.text("name"), asked.text("sort") or "caller"
        column = COLUMNS.get(sort.removeprefix("-"))
        page = asked.number("page") or 1
        asked.check()
        if column is None:
            raise PageRefused(f"The field sort knows {', '.join(COLUMNS)}.")
        days = query({field: asked.text(field) for field in FIELDS})
        days = days and f"?{days}"
        record = await self._showing.read(partial(self._reading.find, name)) if name else None
        if record is not None:
            return RedirectResponse(f"/caller/{record.id}{days}", 303)
        found = await self._showing.read(partial(self._reading.callers, name))
        is_down = sort.startswith("-")
        if column.key is None:
            ordered = found[::-1] if is_down else found
        else:
            ordered = sorted(found, key=column.key, reverse=is_down)
        pages = max(1, -(-len(found) // NAMES))
        page = min(max(page, 1), pages)
        return self._showing.show(
            "callers.html",
            visit,
            callers=ordered[NAMES * (page - 1) : NAMES * page],
            count=len(found),
            columns=COLUMNS,
            asked=asked.texts,
            sort=sort,
            page=page,
            pages=pages,
            days=days,
        )

    async def _caller(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"]) or 0
        asked = Parameters(visit.query)
        days, before = span_in(asked), asked.number("before")
        asked.check()
        caller = await self._showing.read(partial(self._reading.caller, number, days, before))
        if caller is None:
            raise PageRefused("There is no caller of that number.", 404)
        return self._showing.show(
            "caller.html",
            visit,
            one=caller,
            before=before,
            drawn=sankey(caller.record.name, caller.sources),
            limits=self._reading.config.bank.limits,
            periods=PERIODS,
            units=UNITS,
        )


# Where minutes came from and went, as a drawing: a Sankey diagram in SVG.

WIDTH = 900  # in units of the drawing
SIDE = 300  # width of the words on either side
BAR = 14  # width of a bar
FLOW_HEIGHT = 220  # of all streams of a side together
LEAST = 3  # height of the smallest stream
GAP = 22  # between two streams, with room for a line of words
TOP = 12


@dataclass(frozen=True)
class Band:
    """One stream of the drawing: a bar at the side with words, and a band to the middle."""

    words: str
    seconds: int
    x: float
    y: float
    height: float
    path: str


@dataclass
class Drawing:
    name: str
    width: int = WIDTH
    height: float = 0.0
    middle: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, y and height of the middle bar
    came: list[Band] = field(default_factory=list)
    went: list[Band] = field(default_factory=list)


def sankey(name: str, total: Total) -> Drawing | None:
    """Lay out the minutes that came to and went from the caller `name`; None if there were none."""
    before = "there before" if total.opening > 0 else "owed before"
    ends = ((before, total.opening), ("left" if total.closing > 0 else "owed", -total.closing))
    streams = (ends[0], *((_words(term), term.amount) for term in total.terms), ends[1])
    left = [(words, seconds) for words, seconds in streams if seconds > 0]
    right = [(words, -seconds) for words, seconds in streams if seconds < 0]
    whole = sum(seconds for _, seconds in left)
    if not whole:
        return None
    scale = FLOW_HEIGHT / whole
    sides = [[max(LEAST, seconds * scale) for _, seconds in side] for side in (left, right)]
    tallest = max(sum(heights) + GAP * len(heights) for heights in sides)
    flow = max(map(sum, sides))
    drawing = Drawing(name, height=TOP + tallest + GAP)
    start = TOP + (tallest - flow) / 2
    drawing.middle = ((WIDTH - BAR) / 2, start, flow)
    drawing.came = _bands(left, sides[0], tallest, drawing.middle, is_left=True)
    drawing.went = _bands(right, sides[1], tallest, drawing.middle, is_left=False)
    return drawing


def _bands(
    streams: Sequence[tuple[str, int]],
    heights: Sequence[float],
    tallest: float,
    middle: tuple[float, float, float],
    *,
    is_left: bool,
) -> list[Band]:
    y = TOP + (tallest - sum(heights) - GAP * len(heights)) / 2 + GAP / 2
    centre, inner = middle[0], middle[1]
    x = SIDE if is_left else WIDTH - SIDE - BAR
    bands: list[Band] = []
    for (words, seconds), height in zip(streams, heights, strict=True):
        ends = (x + BAR, y, centre, inner) if is_left else (centre + BAR, inner, x, y)
        path = _path((ends[0], ends[1]), (ends[2], ends[3]), height)
        bands.append(Band(words, seconds, x, y, height, path))
        y += height + GAP
        inner += height
    return bands


def _path(start: tuple[float, float], end: tuple[float, float], height: float) -> str:
    (x0, y0), (x1, y1) = start, end
    bend = (x0 + x1) / 2
    return (
        f"M{x0:.1f},{y0:.1f} C{bend:.1f},{y0:.1f} {bend:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        f" V{y1 + height:.1f} C{bend:.1f},{y1 + height:.1f} {bend:.1f},{y0 + height:.1f}"
        f" {x0:.1f},{y0 + height:.1f} Z"
    )


def _words(term: Term) -> str:
    return f"{term.words} at {title(term.game)}" if term.game else term.words
