"""The list of callers, and the page of one: balances, statement, sources of their minutes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from door.desk.pages.forms import number_in
from door.desk.pages.queries import LUCKY_DAYS

if TYPE_CHECKING:
    from door.desk.pages.rendering import Guard, PageRenderer, Visit


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
        name = visit.query.get("name", "").strip()
        if name:
            record = await self._showing.read(partial(self._reading.find, name))
            if record is not None:
                return RedirectResponse(f"/caller/{record.id}", 303)
        after = visit.query.get("after", "")
        listed, more = await self._showing.read(partial(self._reading.callers, after))
        return self._showing.show("callers.html", visit, callers=listed, more=more, name=name)

    async def _caller(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"])
        before = number_in(visit.query.get("before", ""))
        caller = None
        if number is not None:
            caller = await self._showing.read(partial(self._reading.caller, number, before))
        if caller is None:
            return self._showing.problem("There is no caller of that number.", 404, visit)
        return self._showing.show(
            "caller.html",
            visit,
            one=caller,
            before=before,
            limits=self._reading.config.bank.limits,
            lucky_days=LUCKY_DAYS,
        )
