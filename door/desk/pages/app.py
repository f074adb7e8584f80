"""The pages, put together. All is made here, in HTML; a script draws plots of tables that are read
as well without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from door.desk.pages.access import Access
from door.desk.pages.act_pages import ActPages
from door.desk.pages.caller_pages import PeoplePages
from door.desk.pages.hand_film import HandPages
from door.desk.pages.ledger import LedgerPages
from door.desk.pages.operations import Doing
from door.desk.pages.plots import PlotPages
from door.desk.pages.rendering import HERE, Showing, Visit
from door.desk.pages.second_step import SecondStepPages
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from door.clock import Clock
    from door.desk.pages.queries import Reading

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self';"
        " img-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    # Under "no-referrer" browsers do not say where a form of ours comes from.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Pages:
    """`is_safe` says that the browser talks to us by TLS, so that the cookie goes nowhere else."""

    def __init__(self, reading: Reading, now: Clock, *, is_safe: bool = False) -> None:
        self.is_safe = is_safe
        self._showing = Showing(reading)
        self.access = Access(self._showing, now, is_safe=is_safe)

    def app(self) -> ASGIApp:
        guard = self.access.of_sysop
        subjects = (LedgerPages, HandPages, PeoplePages, PlotPages, SecondStepPages)
        inside = Starlette(
            routes=[
                Route("/", guard(self._today)),
                Route("/on-line", self.access.of_sysop(self._on_line, uses=False)),
                *self.access.routes(),
                *(route for each in subjects for route in each(self._showing).routes(guard)),
                *ActPages(self._showing, Doing(self._showing.reading)).routes(guard),
                Mount("/static", StaticFiles(directory=HERE / "static")),
            ],
            exception_handlers={404: self._not_found, BooksFailed: self._no_books},
        )
        return _With(inside, HEADERS)

    def close(self) -> None:
        self.access.close()
        self._showing.close()

    async def _today(self, visit: Visit) -> Response:
        today = await self._showing.read(self._showing.reading.today)
        return self._showing.show("today.html", visit, today=today)

    async def _on_line(self, visit: Visit) -> Response:
        """Show who is on, for the script that keeps the page of today up to date."""
        today = await self._showing.read(self._showing.reading.on_line)
        return self._showing.show("on_line.html", visit, today=today)

    async def _not_found(self, _: Request, __: Exception) -> Response:
        return self._showing.problem("There is no such page.", 404)

    async def _no_books(self, _: Request, error: Exception) -> Response:
        return self._showing.problem(f"The books can't be read just now. {error}", 503)


class _With:
    """Adds headers to every answer."""

    def __init__(self, inside: ASGIApp, headers: Mapping[str, str]) -> None:
        self._inside = inside
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        await self._inside(scope, receive, sending)
