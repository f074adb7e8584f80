"""A hand in words and transfers, with the data that the browser checks its seal by."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from door.desk.pages.forms import number_in
from door.desk.pages.rendering import HERE
from door.errors import NoSuchHand

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from door.desk.pages.rendering import Guard, PageRenderer, Visit

# The callers' web page has the fairness check that is used here too.
CALLERS_PAGE = HERE.parents[1] / "lines" / "web" / "page"
# The files of the page that checks a hand.
CHECK = {
    "check.html": "text/html",
    "check.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(
        ("check.js", "fairness.js", "payments.js", "packed.js", "rules.js"), "text/javascript"
    ),
}


class HandPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._reading = showing.reading

    def routes(self, guard: Guard) -> list[BaseRoute]:
        return [
            Route("/hand", guard(self._find)),
            Route("/hand/{number}", guard(self._hand)),
            *(Route(f"/{name}", _file(name, media_type)) for name, media_type in CHECK.items()),
        ]

    async def _find(self, visit: Visit) -> Response:
        number = number_in(visit.query.get("number", "").strip())
        if number is None:
            return self._showing.problem("A hand is named by its number.", 400, visit)
        return RedirectResponse(f"/hand/{number}", 303)

    async def _hand(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"])
        try:
            if number is None:
                raise NoSuchHand("There is no hand of that number.")
            hand = await self._showing.read(partial(self._reading.hand, number))
        except NoSuchHand as error:
            return self._showing.problem(str(error), 404, visit)
        return self._showing.show("hand.html", visit, hand=hand, proof=json.dumps(hand.proof))


def _file(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def sent(_: Request) -> Response:
        return FileResponse(CALLERS_PAGE / name, media_type=media_type)

    return sent
