"""`door pages`: the process that shows the books, by uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from door.clock import SystemClock
from door.config.pages import open_to_all
from door.defence.front_ends import known_networks
from door.desk.pages.access import Access
from door.desk.pages.act_pages import ActPages
from door.desk.pages.caller_pages import PeoplePages
from door.desk.pages.hand_film import HandPages
from door.desk.pages.ledger import LedgerPages
from door.desk.pages.operations import SysopActs
from door.desk.pages.plots import PlotPages
from door.desk.pages.queries import BooksReader
from door.desk.pages.rendering import HERE, PageRenderer, Visit
from door.desk.pages.second_step import SecondStepPages
from door.errors import CannotListen, CertificateRefused
from door.lines.addresses import networks
from door.lines.budget import Rate
from door.lines.flow import Answer
from door.lines.port.connection import Entrance, LineConnection
from door.lines.port.gate import OpenGate
from door.lines.port.listener import Listener
from door.lines.tls.tls import Certificate
from door.lines.web.visitors import VisitorLimits, Visitors, nobody
from timebank.errors import BooksFailed
from timebank.ledger.engines import books_of

if TYPE_CHECKING:
    import socket

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from door.clock import Clock, Timer
    from door.config.config import Config
    from door.lines.addresses import Network

# The pages, put together. They are plain HTML; a script only draws plots of tables.

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self';"
        " img-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    # Under "no-referrer" browsers do not send the origin of our forms.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Pages:
    """The application. With `is_safe` browsers use TLS, and send the cookie by TLS only."""

    def __init__(self, reading: BooksReader, now: Clock, *, is_safe: bool = False) -> None:
        self.is_safe = is_safe
        self._showing = PageRenderer(reading)
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
                *ActPages(self._showing, SysopActs(self._showing.reading)).routes(guard),
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
        return self._showing.show("today.html", visit, today=today, calls=today.calls)

    async def _on_line(self, visit: Visit) -> Response:
        """Show the callers who are on, for the script that keeps the page of today up to date."""
        calls = await self._showing.read(self._showing.reading.on_line)
        return self._showing.show("on_line.html", visit, calls=calls)

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


# Connections to the pages: uvicorn's HTTP behind a port of the board.
#
# A port of the board (`door.lines.port`) checks each address before TLS and HTTP begin. No client
# can keep others out: one subscriber has few connections, a request must be complete within
# seconds, and when all places are taken a new connection replaces the oldest one of a stranger.

MOST_AT_ONCE = 64  # connections
REQUEST_SECONDS = 10.0  # until a request must be complete
LIMITS = VisitorLimits(
    connections=MOST_AT_ONCE,
    of_one=16,  # a browser opens half a dozen
    requests=Rate(burst=0, a_second=0.0),  # they are not counted here
    remembered=0,
)


class PagesPort(Listener):
    """The port of the pages.

    `server` answers the requests; `front_ends` bring many readers from one address.
    """

    def __init__(
        self,
        server: uvicorn.Server,
        clock: Clock,
        certificate: Certificate | None = None,
        front_ends: tuple[Network, ...] = (),
        is_blocked: Callable[[str], bool] = nobody,
        is_known: Callable[[str], bool] = nobody,
    ) -> None:
        rules = (front_ends, is_blocked, LIMITS, is_known)
        gate = Visitors(OpenGate(), clock.monotonic, *rules)
        super().__init__(Entrance(gate, certificate=certificate, kind="pages"))
        self.server = server
        self.clock = clock
        self.scheme: Literal["http", "https"] = "http" if certificate is None else "https"
        server.config.load()

    def farewell(self, words: str) -> bytes:
        return b""

    def answer(self, address: str, visit: LineConnection) -> PageConnection:
        return PageConnection(self, address, visit.end)


class PageConnection(Answer, H11Protocol):
    """One connection, which is cut off if a request is not complete in time."""

    def __init__(self, port: PagesPort, address: str, gone: Callable[[], None]) -> None:
        H11Protocol.__init__(self, port.server.config, port.server.server_state, {})
        self.address = address
        self._port = port
        self._gone = gone
        self._timer: Timer | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        H11Protocol.connection_made(self, transport)
        self.scheme = self._port.scheme  # uvicorn does not see that our transport uses TLS
        self._look()

    def take(self, data: bytes) -> None:
        H11Protocol.data_received(self, data)
        self._look()

    def eof_received(self) -> None:
        """Do nothing: the transport closes once everything has been sent."""

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        H11Protocol.connection_lost(self, exc)
        self._gone()

    def _look(self) -> None:
        """Limit the time from the connection or the last answer to the next complete request."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._timer is None:
            self._timer = self._port.clock.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


IDLE_SECONDS = 5
LOOPBACK = networks(["127.0.0.0/8", "::1"])  # a front end on this machine
LONGEST_HEAD = 16_384  # bytes
NICE = 5  # less urgent than the board, as the tutor's process is


def check_place(host: str, certificate: Path | None, key: Path | None) -> None:
    """Raise `CannotListen` if passwords would go over a network unencrypted."""
    if problem := open_to_all(host, certificate, key):
        where, why = problem
        raise CannotListen(f"--{where} {why}.")


def serve(
    config: Config,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    announce: Callable[[str], None],
    pipe: int | None = None,
) -> None:
    """Serve the pages until SIGTERM or SIGINT, or until the writing end of `pipe` is closed.

    Raises `CannotListen`, and the errors of opening the books.
    """
    check_place(host, certificate, key)

    def tell(where: str) -> None:
        announce(f"The books are shown at {where}")
        if pipe is None:
            announce("Log on with your name and password on the board. Stop with Ctrl-C.")

    _go_behind_callers()
    with contextlib.closing(books_of(config.bank)) as database:
        database.open_existing()
        clock = SystemClock()
        pages = Pages(BooksReader(config, database, clock), clock, is_safe=certificate is not None)
        server = _HttpServer(
            uvicorn.Config(
                pages.app(),
                ws="none",
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                date_header=True,
                access_log=False,
                log_config=None,
                timeout_keep_alive=IDLE_SECONDS,
                h11_max_incomplete_event_size=LONGEST_HEAD,
            )
        )
        if pipe is not None:
            Thread(target=_end_with, args=(pipe, server), daemon=True).start()
        try:
            contexts = _contexts(certificate, key)
            asyncio.run(_serve(config, pages, server, (host, port), contexts, tell))
        finally:
            pages.close()


class _HttpServer(uvicorn.Server):
    """Answers the connections of a port of the board; it has no sockets of its own."""

    entrance: PagesPort

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.entrance.close()
        await super().shutdown(sockets)


async def _serve(
    config: Config,
    pages: Pages,
    server: _HttpServer,
    place: tuple[str, int],
    certificate: Certificate | None,
    tell: Callable[[str], None],
) -> None:
    host, port = place
    access = pages.access
    await access.learn()
    front_ends = (*LOOPBACK, *known_networks(config))
    who = (front_ends, access.reception.is_blocked, access.reception.is_known)
    entrance = PagesPort(server, SystemClock(), certificate, *who)
    try:
        await entrance.open(host, port)
    except OSError as error:
        words = f"Port {port} on {host} cannot be opened ({error.strerror or error})."
        raise CannotListen(words) from error
    scheme = "http" if certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    tell(f"{scheme}://{shown}:{entrance.port}/")
    server.entrance = entrance
    await server.serve(sockets=[])
    await entrance.finish(0)


def _contexts(certificate: Path | None, key: Path | None) -> Certificate | None:
    if certificate is None or key is None:
        return None
    try:
        return Certificate(certificate, key)
    except CertificateRefused as refused:
        raise CannotListen(str(refused)) from refused


def _go_behind_callers() -> None:
    """Run with less priority than the board: a report may take minutes, but a key may not."""
    with contextlib.suppress(OSError):
        os.nice(NICE)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # not the board's own policy


def _end_with(pipe: int, server: uvicorn.Server) -> None:
    """Stop the server when the writing end of a pipe is closed, as the board has ended."""
    while os.read(pipe, 64):
        continue
    server.should_exit = True
