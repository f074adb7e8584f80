"""The ledger: pages and files of the transfers sought, each entry, and balances at an instant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from door.desk.pages.forms import Parameters, number_in
from door.desk.pages.queries import title
from door.desk.pages.rendering import query
from door.desk.pages.spans import FIELDS as DAYS
from door.desk.pages.spans import Span, span_in
from door.errors import PageRefused
from timebank.errors import NothingToList
from timebank.names.names import sort_key
from timebank.reports.flows import ACCOUNTS, GROUPS
from timebank.reports.ledger_pages import LedgerTally, Sought

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from door.desk.pages.queries import LedgerLeaf
    from door.desk.pages.rendering import Guard, PageRenderer, Visit

FIELDS = ("caller", "kind", "game", "least", "up_to", *DAYS, "text", "source", "target", "of")
MOST_CALLERS = 20  # sought at once
MINUTE = 60

T = TypeVar("T")


# Kinds of transfer that their names do not explain.
MEANINGS = {
    "clamp": "clamp (won past an event)",
    "carry": "carry (earned, and left at the end of a day)",
    "put up": "put up (prizes, by the house)",
}


class FilterChoice(NamedTuple):
    """A value of a filter to choose; `times` is how many transfers the other filters leave it."""

    value: str
    words: str
    times: int
    is_chosen: bool


class LedgerPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._reading = showing.reading

    def routes(self, guard: Guard) -> list[Route]:
        read = self._reading
        return [
            Route("/ledger", guard(self._ledger)),
            Route("/ledger.csv", guard(partial(self._file, read.csv, "text/csv", "csv"))),
            Route(
                "/ledger.beancount",
                guard(partial(self._file, read.beancount, "text/plain", "beancount")),
            ),
            Route("/entry/{number}", guard(self._entry)),
            Route("/balances", guard(self._balances)),
        ]

    async def _ledger(self, visit: Visit) -> Response:
        asked = Parameters(visit.query, FIELDS)
        sought = await self._sought(asked)
        before = asked.number("before")
        page = None
        if not asked.wrong:
            if any(not each.startswith("#") for each in asked.several("caller")):
                return RedirectResponse(f"/ledger?{query(asked.texts)}", 303)
            try:
                page = await self._showing.read(partial(self._reading.leaf, sought, before))
            except NothingToList as unknown:
                asked.wrong.append(str(unknown))
        return self._showing.show(
            "ledger.html",
            visit,
            400 if asked.wrong else 200,
            page=page,
            choices=_choices(sought, page),
            accounts=sorted(ACCOUNTS),
            groups=GROUPS,
            around=Span.around,
            asked=asked.texts,
            wrong=asked.wrong,
            before=before,
        )

    async def _file(
        self, write: Callable[[Sought], Iterator[str]], media_type: str, ending: str, visit: Visit
    ) -> Response:
        """Send all transfers sought as a file."""
        asked = Parameters(visit.query, FIELDS)
        sought = await self._sought(asked)
        try:
            await self._showing.report(partial(self._reading.refuse_unknown, sought))
        except NothingToList as unknown:
            asked.wrong.append(str(unknown))
        asked.check()
        written = self._showing.file(write(sought))
        attached = {"Content-Disposition": f'attachment; filename="ledger.{ending}"'}
        return StreamingResponse(written, media_type=media_type, headers=attached)

    async def _sought(self, asked: Parameters) -> Sought:
        """Read the filters of an address, and put the texts of a lasting address into `asked`."""
        since, until = span_in(asked)
        sought = Sought(
            callers=await self._callers(asked),
            kinds=tuple(each.casefold() for each in asked.several("kind")),
            games=tuple("-".join(each.casefold().split()) for each in asked.several("game")),
            least=asked.number("least", MINUTE),
            up_to=asked.number("up_to", MINUTE),
            since=since,
            until=until,
            text=asked.text("text") or None,
            source=asked.text("source").casefold() or None,
            target=asked.text("target").casefold() or None,
            of=asked.text("of").casefold() or None,
        )
        if sought.of is not None and (sought.of not in GROUPS or len(sought.callers) != 1):
            asked.wrong.append(f"The field of needs one caller, and knows {', '.join(GROUPS)}.")
        for name, kind in (("source", sought.source), ("target", sought.target)):
            if kind is not None and kind not in ACCOUNTS:
                asked.wrong.append(f"The field {name} knows {', '.join(sorted(ACCOUNTS))}.")
        if sought.least and sought.up_to is not None and sought.least > sought.up_to:
            asked.wrong.append("The least amount is more than the largest: swap them.")
        for name in sorted(asked.others("before")):
            asked.wrong.append(f"The ledger has no field {name}.")
        asked.texts |= {"kind": sought.kinds, "game": sought.games}
        return sought

    async def _callers(self, asked: Parameters) -> tuple[int, ...]:
        """Return the numbers of the callers asked for."""
        names = asked.several("caller")
        if len(names) > MOST_CALLERS:
            asked.wrong.append(f"The ledger shows {MOST_CALLERS} callers at once.")
            return ()
        numbers = []
        for name in names:
            caller = await self._showing.read(partial(self._reading.find, name))
            if caller is not None:
                numbers.append(caller.id)
                continue
            asked.wrong.append(str(await self._showing.read(partial(self._reading.unknown, name))))
        asked.texts["caller"] = [f"#{number}" for number in numbers]
        return tuple(dict.fromkeys(numbers))

    async def _entry(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"]) or 0
        rows = await self._showing.read(partial(self._reading.entry, number))
        if not rows:
            raise PageRefused("There is no entry of that number.", 404)
        return self._showing.show("entry.html", visit, rows=rows)

    async def _balances(self, visit: Visit) -> Response:
        """Show the balances of all accounts at an instant, now without one."""
        asked = Parameters(visit.query, ("at",))
        at = asked.instant("at", self._reading.config.bank.schedule.zone)
        asked.check()
        then = await self._showing.report(partial(self._reading.balances_at, at))
        return self._showing.show("balances.html", visit, then=then)


def _choices(sought: Sought, page: LedgerLeaf | None) -> dict[str, list[FilterChoice]]:
    """Return what the lists of the form offer: all that is left by the other filters or chosen."""
    # Those sought have no names on a page that says what is wrong.
    names = {number: f"#{number}" for number in sought.callers}
    names |= {} if page is None else page.names
    counts = LedgerTally() if page is None else page.tally

    return {
        "kind": _listed(
            counts.kinds, sought.kinds, counts.kinds, lambda kind: MEANINGS.get(kind, kind)
        ),
        "game": _listed(counts.games, sought.games, counts.games, title),
        "caller": _listed(names, sought.callers, counts.callers, names.__getitem__),
    }


def _listed(
    offered: Iterable[T], chosen: Sequence[T], counts: Mapping[T, int], words: Callable[[T], str]
) -> list[FilterChoice]:
    each_once = dict.fromkeys([*offered, *chosen])
    found = [
        FilterChoice(str(each), words(each), counts[each], each in chosen) for each in each_once
    ]
    return sorted(found, key=lambda choice: sort_key(choice.words))
