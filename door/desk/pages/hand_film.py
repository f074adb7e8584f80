"""A hand as a film that the browser plays, with the data to check its seal."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from door.desk.pages.forms import number_in
from door.desk.pages.rendering import HERE, query
from door.errors import NoSuchHand, PageRefused
from door.tables import film

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from door.desk.pages.rendering import Guard, PageRenderer, Visit

# The callers' web page has the terminal and the fairness check that are used here too.
CALLERS_PAGE = HERE.parents[1] / "lines" / "web" / "page"
SHARED = ("fairness.js", "look.js", "styles.js")
# The files of the page that checks a hand.
CHECK = {
    "check.html": "text/html",
    "check.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(
        ("check.js", "fairness.js", "payments.js", "packed.js", "rules.js"), "text/javascript"
    ),
}
CAST = "application/x-asciicast"
USUAL = "80x24"
MOST_HANDS = 200  # in a film


class HandPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._reading = showing.reading

    def routes(self, guard: Guard) -> list[BaseRoute]:
        return [
            Route("/hand", guard(self._find)),
            Route("/hand/{number}.cast", guard(self._cast)),
            Route("/hand/{number}", guard(self._hand)),
            *(Route(f"/terminal/{name}", _file(name)) for name in SHARED),
            *(Route(f"/{name}", _file(name, media_type)) for name, media_type in CHECK.items()),
            Mount("/terminal/vendored", StaticFiles(directory=CALLERS_PAGE / "vendored")),
        ]

    async def _find(self, visit: Visit) -> Response:
        number = number_in(visit.query.get("number", "").strip())
        if number is None:
            raise PageRefused("A hand is named by its number.")
        return RedirectResponse(f"/hand/{number}", 303)

    async def _hand(self, visit: Visit) -> Response:
        number = number_in(visit.request.path_params["number"]) or 0
        evening = _evening(visit.query)
        hand = await self._showing.read(partial(self._reading.hand, number))
        return self._showing.show(
            "hand.html",
            visit,
            hand=hand,
            cast=f"/hand/{number}.cast?{query(evening)}",
            is_evening=bool(evening),
            proof=json.dumps(hand.proof),
        )

    async def _cast(self, visit: Visit) -> Response:
        """Send a film of `size`: of one hand, up to the hand `to`, or to the end of the `day`."""
        number = number_in(visit.request.path_params["number"])
        asked = _evening(visit.query)
        last = number_in(asked.get("to", ""))
        try:
            reel = film.reel_of(visit.query.get("size", USUAL))
        except ValueError:
            return PlainTextResponse("The size needs columns and rows, as 80x24.", 400)
        if number is None or ("to" in asked and (last is None or last < number)):
            return PlainTextResponse("A film begins and ends at the number of a hand.", 400)
        try:
            hands = await self._showing.read(
                partial(self._reading.hands, number, last, MOST_HANDS, is_one=not asked)
            )
            cast = await self._showing.read(lambda: "".join(film.film(hands, reel)))
        except NoSuchHand as error:
            return PlainTextResponse(str(error), 404)
        return Response(cast, media_type=CAST)


def _evening(asked: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that extend a film beyond one hand."""
    return {name: asked[name] for name in ("to", "day") if asked.get(name)}


def _file(
    name: str, media_type: str = "text/javascript"
) -> Callable[[Request], Awaitable[Response]]:
    async def sent(_: Request) -> Response:
        return FileResponse(CALLERS_PAGE / name, media_type=media_type)

    return sent
