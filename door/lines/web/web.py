"""The port of our page, and everyone who came in through it."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from door.errors import CallRefused
from door.lines.flow import Answer, LineLimits, StreamLine
from door.lines.line import Line
from door.lines.port.connection import OPEN, Entrance, LineConnection, Proxies
from door.lines.port.gate import Blame
from door.lines.port.listener import Listener
from door.lines.telnet.hardened import USUAL_LIMITS as TELNET_LIMITS
from door.lines.telnet.hardened import HardenedTelnet, TelnetLimits, quieten_library
from door.lines.web import pages
from door.lines.web.connection import (
    USUAL_CONNECTION,
    ConnectionLimits,
    Site,
    WebConnection,
)
from door.lines.web.page_line import SUBPROTOCOL, PageProtocol
from door.lines.web.pages import File
from door.lines.web.visitors import USUAL_VISITORS, VisitorLimits, Visitors

# Telnet and the web on one port with TLS: who is it?
#
# A browser says so in the handshake (ALPN). Other programs that want a page or a WebSocket begin
# with a request; whoever says anything else, or nothing for a moment, has called by telnet.

SILENCE = 0.25  # seconds after which a caller who says nothing is one by telnet
HTTP = "http/1.1"  # in ALPN
_REQUESTS = (b"GET ", b"HEAD ", b"POST ", b"OPTIONS ")


class Either(Answer):
    """`web` makes what answers a browser. `telnet` lets a caller by telnet in, or raises
    `CallRefused`, and makes what answers them. `gone` is called if neither was ever made."""

    def __init__(
        self,
        address: str,
        web: Callable[[], Answer],
        telnet: Callable[[], Answer],
        gone: Callable[[], None],
    ) -> None:
        super().__init__()
        self.address = address
        self._web = web
        self._telnet = telnet
        self._gone = gone
        self._read = b""
        self._inside: Answer | None = None

    @property
    def line(self) -> StreamLine:  # type: ignore[override]
        """Raise `AttributeError` where nobody is on the line yet."""
        if self._inside is None:
            raise AttributeError("nobody is on the line yet")
        return self._inside.line

    @property
    def blame(self) -> Blame | None:  # type: ignore[override]
        return None if self._inside is None else self._inside.blame

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SILENCE, self._choose, self._telnet)
        tls = transport.get_extra_info("ssl_object")
        if tls is not None and tls.selected_alpn_protocol() == HTTP:
            self._choose(self._web)

    def take(self, data: bytes) -> None:
        self._read += data
        begun = [each for each in _REQUESTS if each.startswith(self._read[: len(each)])]
        if not begun:
            self._choose(self._telnet)
        elif any(self._read.startswith(each) for each in begun):
            self._choose(self._web)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._inside is None:
            return super().get_buffer(sizehint)
        return self._inside.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        if self._inside is None:
            super().buffer_updated(nbytes)
        else:
            self._inside.buffer_updated(nbytes)

    def eof_received(self) -> None:
        if self._inside is not None:
            self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._inside.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        gone, self._gone = self._gone, _told_already
        if self._inside is None:
            gone()
        else:
            self._inside.connection_lost(exc)
        self._web = self._telnet = _no_answer
        self._inside = None

    def _choose(self, make: Callable[[], Answer]) -> None:
        self._timer.cancel()
        if self._inside is not None or self._transport.is_closing():
            return
        try:
            self._inside = make()
        except CallRefused as refused:
            self._transport.write(str(refused).encode("ascii", "replace") + b"\r\n")
            self._transport.close()
            return
        self._inside.connection_made(self._transport)
        if self._read:
            self._inside.take(self._read)


def _no_answer() -> Answer:
    raise CallRefused("")


def _told_already() -> None:
    """Be told of the end a second time."""


TELNET_INSIDE = "binary"  # what fTelnet calls it


@dataclass(frozen=True)
class WebLimits:
    """`hello` is how many seconds the page may be silent at first."""

    line: LineLimits
    telnet: TelnetLimits
    connection: ConnectionLimits
    visitors: VisitorLimits
    hello: float


USUAL_LIMITS = WebLimits(
    line=LineLimits(unsent=256 * 1024, farewell=5.0),
    telnet=TELNET_LIMITS,
    connection=USUAL_CONNECTION,
    visitors=USUAL_VISITORS,
    hello=10.0,
)


def _nobody(_: str) -> bool:
    return False


class WebListener(Listener):
    """Each call has a task that runs `on_line`, and is hung up when that returns. `limits` are
    `USUAL_LIMITS` but in tests."""

    def __init__(
        self,
        on_line: Callable[[Line], Awaitable[None]],
        limits: WebLimits,
        entrance: Entrance = OPEN,
        *,
        board: str = "",
        more: MutableMapping[str, File] | None = None,
        forwarded: Proxies = (),
        origins: tuple[str, ...] = (),
        is_blocked: Callable[[str], bool] = _nobody,
        takes_telnet: bool = False,
    ) -> None:
        """`board` is its name; `more` are files besides those of the page, or in place of them, as
        they are at the time; `forwarded` are front ends that name the caller in X-Forwarded-For;
        `origins` are those of pages that may call, where it is not the page of this port alone.
        A port that has TLS may be one for telnet as well (`takes_telnet`)."""
        clock = asyncio.get_running_loop().time
        visitors = Visitors(entrance.gate, clock, forwarded, is_blocked, limits.visitors)
        super().__init__(replace(entrance, gate=visitors, kind="web"))
        self._gate = entrance.gate
        self._takes_telnet = takes_telnet
        self._on_line = on_line
        self._limits = limits
        self._site = Site(
            files=ChainMap({} if more is None else more, dict(pages.load(board))),
            visitors=visitors,
            origins=origins,
            protocols={
                SUBPROTOCOL: self._page,
                TELNET_INSIDE: self._telnet,
                "": self._telnet,
            },
            limits=limits.connection,
        )
        quieten_library()

    def visit(self) -> LineConnection:
        def enter(address: str) -> None:
            visit.enter_as_caller(self._gate, address)

        def answer(address: str, gone: Callable[[], None]) -> Answer:
            def web() -> WebConnection:
                return WebConnection(self._site, address, enter, gone)

            def telnet() -> HardenedTelnet:
                enter(address)
                return HardenedTelnet(self._limits.telnet, self._serve, gone, address)

            return Either(address, web, telnet, gone) if self._takes_telnet else web()

        visit = LineConnection(self._entrance, self._turns, answer, self._forget)
        return visit

    def answer(self, address: str, gone: Callable[[], None]) -> WebConnection:
        raise NotImplementedError("what answers has to know the visit, which `visit` makes")

    def farewell(self, words: str) -> bytes:
        return b""

    def _page(self, address: str) -> PageProtocol:
        return PageProtocol(self._limits.line, self._serve, address, self._limits.hello)

    def _telnet(self, address: str) -> HardenedTelnet:
        return HardenedTelnet(self._limits.telnet, self._serve, _nothing, address)

    def _serve(self, line: StreamLine) -> None:
        self.begin_call(line, partial(self._on_line, line))


def _nothing() -> None:
    """The connection tells of its end itself."""
