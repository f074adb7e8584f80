"""The ledger: pages and files of the transfers sought, each entry, and balances at an instant."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from door.desk.pages.forms import Parameters, number_in
from timebank.reports.ledger_pages import Sought

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from door.desk.pages.rendering import Guard, PageRenderer, Visit

FIELDS = frozenset({each.name for each in fields(Sought)} - {"caller_id"} | {"caller"})
MINUTE = 60


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
        if asked.wrong:
            return self._showing.problem(" ".join(asked.wrong), 400, visit)
        page = await self._showing.read(partial(self._reading.leaf, sought, before))
        return self._showing.show(
            "ledger.html",
            visit,
            leaf=page.leaf,
            held=page.held,
            asked=asked.texts,
            before=before,
        )

    async def _file(
        self, write: Callable[[Sought], Iterator[str]], media_type: str, ending: str, visit: Visit
    ) -> Response:
        """Send all transfers sought as a file."""
        asked = Parameters(visit.query, FIELDS)
        sought = await self._sought(asked)
        if asked.wrong:
            return self._showing.problem(" ".join(asked.wrong), 400, visit)
        written = self._showing.file(write(sought))
        attached = {"Content-Disposition": f'attachment; filename="ledger.{ending}"'}
        return StreamingResponse(written, media_type=media_type, headers=attached)

    async def _sought(self, asked: Parameters) -> Sought:
        name = asked.text("caller")
        caller = await self._showing.read(partial(self._reading.find, name)) if name else None
        if name and caller is None:
            like = [
                each.name for each in await self._showing.read(partial(self._reading.callers, name))
            ]
            words = f" Do you mean {', '.join(like[:4])}?" if like else ""
            asked.wrong.append(f"There is no caller of that name.{words}")
        return Sought(
            caller_id=None if caller is None else caller.id,
            kind=asked.text("kind").casefold() or None,
            game="-".join(asked.text("game").casefold().split()) or None,
            least=asked.number("least", MINUTE),
            up_to=asked.number("up_to", MINUTE),
            since=asked.day("since"),
            until=asked.day("until"),
            text=asked.text("text") or None,
        )

    async def _entry(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"])
        read = self._showing.read
        rows = [] if number is None else await read(partial(self._reading.entry, number))
        if not rows:
            return self._showing.problem("There is no entry of that number.", 404, visit)
        return self._showing.show("entry.html", visit, rows=rows)

    async def _balances(self, visit: Visit) -> Response:
        """Show the balances of all accounts at an instant, now without one."""
        asked = Parameters(visit.query, ("at",))
        at = asked.instant("at", self._reading.config.bank.schedule.zone)
        if asked.wrong:
            return self._showing.problem(" ".join(asked.wrong), 400, visit)
        then = await self._showing.report(partial(self._reading.balances_at, at))
        return self._showing.show("balances.html", visit, then=then)
