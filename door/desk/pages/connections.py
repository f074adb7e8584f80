"""Connections to the pages: uvicorn's HTTP behind a port of the board.

A port of the board (`door.lines.port`) checks each address before TLS and HTTP begin. Nobody can
keep others out: one subscriber has few connections, a request must be complete within seconds, and
when there is no room a new connection gets the place of the stranger who has been there longest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from door.lines.flow import Answer
from door.lines.port.connection import Entrance
from door.lines.port.gate import OpenGate
from door.lines.port.listener import Listener
from door.lines.telnet.framing import CommandAllowance
from door.lines.web.visitors import VisitorLimits, Visitors

if TYPE_CHECKING:
    import asyncio

    from door.clock import Clock, Timer
    from door.lines.port.connection import Proxies
    from door.lines.tls.tls import Contexts

MOST_AT_ONCE = 64  # connections
REQUEST_SECONDS = 10.0  # until a request must be complete
LIMITS = VisitorLimits(
    connections=MOST_AT_ONCE,
    of_one=16,  # a browser opens half a dozen
    requests=CommandAllowance(burst=0, a_second=0.0),  # they are not counted here
    remembered=0,
)


def _nobody(_: str) -> bool:
    return False


class PagesPort(Listener):
    """`server` answers the requests; `front_ends` bring many readers from one address."""

    def __init__(
        self,
        server: uvicorn.Server,
        clock: Clock,
        certificate: Contexts | None = None,
        front_ends: Proxies = (),
        is_blocked: Callable[[str], bool] = _nobody,
        is_known: Callable[[str], bool] = _nobody,
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

    def answer(self, address: str, gone: Callable[[], None]) -> PageConnection:
        return PageConnection(self, address, gone)


class PageConnection(Answer, H11Protocol):
    """One connection, which is cut off when a request takes too long to be whole."""

    def __init__(self, port: PagesPort, address: str, gone: Callable[[], None]) -> None:
        H11Protocol.__init__(self, port.server.config, port.server.server_state, {})
        self.address = address
        self._port = port
        self._gone = gone
        self._timer: Timer | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        H11Protocol.connection_made(self, transport)
        self.scheme = self._port.scheme  # uvicorn takes our transport for one without TLS
        self._look()

    def take(self, data: bytes) -> None:
        H11Protocol.data_received(self, data)
        self._look()

    def eof_received(self) -> None:
        """The transport closes once everything has left."""

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        H11Protocol.connection_lost(self, exc)
        self._gone()

    def _look(self) -> None:
        """Limit the time until a request is complete, from the connection or the last answer on."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._timer is None:
            self._timer = self._port.clock.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
