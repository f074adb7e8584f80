"""The callers, and one of them: balances, statement, where their minutes come from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from door.desk.pages.drawing import sankey
from door.desk.pages.forms import number_in
from door.desk.pages.queries import LUCKY_DAYS

if TYPE_CHECKING:
    from door.desk.pages.rendering import Guard, Showing, Visit


class PeoplePages:
    def __init__(self, showing: Showing) -> None:
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
            found = await self._showing.read(partial(self._reading.find, name))
            if found is not None:
                return RedirectResponse(f"/caller/{found.id}", 303)
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
        drawn = sankey(caller.record.name, caller.came, caller.went, caller.has)
        return self._showing.show(
            "caller.html",
            visit,
            one=caller,
            before=before,
            drawn=drawn,
            limits=self._reading.config.bank.limits,
            lucky_days=LUCKY_DAYS,
        )
