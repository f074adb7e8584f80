"""One connection to the port of our page: requests for files, until one asks for a WebSocket.

From then on the connection is a `Layer` between the socket (or TLS) and the protocol of a line.
Unsent bytes wait only in the socket's transport. Bytes that arrive while the line is paused wait
here, at most one read of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from websockets.exceptions import PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from door.errors import CallRefused, Flood, RequestRefused
from door.lines.blame import Blame
from door.lines.budget import Budget, Rate
from door.lines.flow import UNREAD, Answer, StreamProtocol
from door.lines.layer import Layer
from door.lines.web import http
from door.lines.web.pages import File
from door.lines.web.visitors import Visitors
from timebank.language import LANGUAGES, Viewer, _, speaking_to

logger = logging.getLogger("door.lines")

CALL_PATHS = frozenset({"/", "/call"})  # paths of the WebSocket; fTelnet sends no path
MAX_TEXT = 4096  # bytes of a text message; the longest text of the page fits
MOST_REQUESTS = 100  # on one connection
MOST_SILENT = 2  # unanswered pings
CHUNK = 16_384  # bytes of a file in one write
TRY_AGAIN, HUNG_UP = 1013, 1000  # RFC 6455 and its registry


@dataclass(frozen=True)
class ConnectionLimits:
    """Seconds for a whole request, for a file to be taken, and between two pings. `frames` limits
    what comes on a WebSocket."""

    head: float
    file: float
    ping: float
    frames: Rate


USUAL_CONNECTION = ConnectionLimits(
    head=10.0, file=120.0, ping=25.0, frames=Rate(burst=1000, a_second=100.0)
)


class Inside(StreamProtocol):
    """The protocol of a line that takes text messages as well."""

    def take_words(self, words: bytes) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Site:
    """What all connections of a port share. `protocols` makes the protocol of a line by the name of
    the WebSocket's subprotocol, "" for none."""

    files: Mapping[str, File]
    visitors: Visitors
    origins: tuple[str, ...]
    protocols: Mapping[str, Callable[[str], StreamProtocol]]
    limits: ConnectionLimits = USUAL_CONNECTION


class WebConnection(Layer, Answer):
    """`enter` lets in a caller from an address, or raises `CallRefused`. `gone` is called last."""

    _inside: StreamProtocol | None

    def __init__(
        self, site: Site, address: str, enter: Callable[[str], None], gone: Callable[[], None]
    ) -> None:
        super().__init__(address)
        self._site = site
        self._enter = enter
        self._gone = gone
        self.origin = ""  # of the calling page; "" for a program that names none
        self.is_own_page = False  # whether that page is from the host that it calls
        self._heads: http.Heads | None = http.Heads()
        self._requests = 0
        self._answers = False  # whether an answer is being sent; `_body` is its unsent part
        self._body = memoryview(b"")
        self._stays = True  # whether another request may follow
        self._blocked = False
        self._closing = False
        self._socket: ServerProtocol | None = None
        self._waiting: deque[bytes] = deque()  # typed bytes while the line is paused
        self._in_words: bytearray | None = None  # a text message that is not whole
        self._silent = 0  # pings since the last frame

    # A protocol to the socket's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._wait("no request", self._site.limits.head)

    def take(self, data: bytes) -> None:
        if self._closing:
            return
        if self._socket is not None:
            self._take_frames(data)
        elif self._heads is not None:
            self._heads.feed(data)
            if not self._answers:
                self._serve_next()

    def pause_writing(self) -> None:
        self._blocked = True
        super().pause_writing()

    def resume_writing(self) -> None:
        self._blocked = False
        super().resume_writing()
        if self._inside is None and self._answers and not self._transport.is_closing():
            self._send_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._closing = True
        self._waiting.clear()
        self._body = memoryview(b"")
        inside, self._inside = self._inside, None  # the two refer to each other
        self._socket = None
        gone = self._gone
        del self._gone, self._enter  # they refer to this connection too
        if inside is not None:
            inside.connection_lost(exc)
        gone()

    # Requests

    def _wait(self, what: str, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._too_late, what, seconds)

    def _too_late(self, what: str, seconds: float) -> None:
        # A connection that a browser keeps for later is no fault.
        begun = self._answers or (self._heads is not None and self._heads.has_begun)
        self._fail(f"{what} in {seconds:g} seconds", own_fault=False, is_logged=begun)

    def _serve_next(self) -> None:
        """Answer a whole request; the next one waits until the answer has left."""
        if self._heads is None or self._closing or self._transport.is_closing():
            return
        try:
            head = self._heads.next()
            if head is not None:
                self._serve(head)
        except RequestRefused as refused:
            self._refuse(refused)

    def _serve(self, head: bytes) -> None:
        self._requests += 1
        protocol = http.protocol_for(tuple(name for name in self._site.protocols if name))
        request = http.read(protocol, head)
        address = self._caller_of(request)
        try:
            # A front end that names no caller asks for itself, as a health check.
            if address is not None:
                self._site.visitors.ask(address)
        except Flood as flood:
            raise RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, str(flood)) from flood
        if request.method not in ("GET", "HEAD"):
            raise RequestRefused(HTTPStatus.METHOD_NOT_ALLOWED, "a request other than GET")
        path = request.path.partition("?")[0]
        if http.wants(request.headers, "Upgrade", "websocket"):
            if path not in CALL_PATHS:
                raise RequestRefused(HTTPStatus.NOT_FOUND, "a WebSocket elsewhere", own_fault=False)
            self._begin_call(protocol, request, address)
            return
        self._stays = (
            request.protocol == "HTTP/1.1"
            and not http.wants(request.headers, "Connection", "close")
            and self._requests < MOST_REQUESTS
        )
        file = self._site.files.get(path)
        if file is None:
            more, body = http.words(HTTPStatus.NOT_FOUND, "")
            status = HTTPStatus.NOT_FOUND
        else:
            status, more, body = http.answer_of(file, request.headers)
        self._answer(status, more, b"" if request.method == "HEAD" else body)

    def _answer(self, status: HTTPStatus, more: Mapping[str, str], body: bytes) -> None:
        self._timer.cancel()
        self._wait("an answer is not taken", self._site.limits.file)
        self._transport.pause_reading()
        self._answers = True
        self._body = memoryview(body)
        self._transport.write(http.head_of(status, more, stays=self._stays))
        self._send_on()

    def _send_on(self) -> None:
        while self._body and not self._blocked:
            chunk, self._body = self._body[:CHUNK], self._body[CHUNK:]
            self._transport.write(bytes(chunk))
        if self._body or self._blocked:
            return
        if not self._stays:
            self._closing = True
            self._transport.close()
            return
        self._timer.cancel()
        self._wait("no request", self._site.limits.head)
        # Another request may be here already; many of them take turns with all other callers.
        self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._answers = False
        if not self._closing and not self._transport.is_closing():
            self._transport.resume_reading()
            self._serve_next()

    def _refuse(self, refused: RequestRefused) -> None:
        """Answer with a text, and close."""
        if refused.own_fault:
            self.blame = Blame(str(refused))
        self._heads = None
        self._stays = False
        more, body = http.words(refused.status, f"{refused.status.phrase}: {refused}.")
        self._answer(refused.status, more, body)

    # From a request to a call

    def _caller_of(self, request: Request) -> str | None:
        """Return the address of a request's caller; None if a front end names none."""
        forwarded = http.header_value(request.headers, "X-Forwarded-For")
        return self._site.visitors.caller_behind(self.address, forwarded)

    def _begin_call(self, protocol: ServerProtocol, request: Request, address: str | None) -> None:
        headers = request.headers
        origin = http.header_value(headers, "Origin").lower()
        host = http.header_value(headers, "Host")
        if origin and not self._may_call(origin, host):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "a page of another origin", own_fault=False)
        self.origin, self.is_own_page = origin, http.is_from_us(origin, host)
        response = protocol.accept(request)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            status = HTTPStatus(response.status_code)
            raise RequestRefused(status, "a WebSocket that is not understood")
        if address is None:
            self._site.visitors.malformed(self.address, "its X-Forwarded-For names nobody")
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "nobody is named", own_fault=False)
        protocol.send_response(response)
        self._socket = protocol
        self._timer.cancel()
        self._timer = self._loop.call_later(self._site.limits.ping, self._ping)
        try:
            self._enter(address)
        except CallRefused as refused:
            accepted = http.header_value(headers, "Accept-Language")
            with speaking_to(Viewer(http.preferred(accepted, tuple(LANGUAGES)))):
                self._turn_away(_(str(refused)) if str(refused) else "")
            return
        self.address = address
        self._connect(self._site.protocols[protocol.subprotocol or ""](address))

    def _may_call(self, origin: str, host: str) -> bool:
        if self._site.origins:
            return origin in self._site.origins
        return http.is_from_us(origin, host)

    def _turn_away(self, words: str) -> None:
        assert self._socket is not None  # it has just been answered
        self._socket.send_close(TRY_AGAIN, words)
        self._flush()
        self._closing = True
        self._transport.close()

    def _connect(self, inside: StreamProtocol) -> None:
        assert self._heads is not None  # no call begins twice
        rest, self._heads = self._heads.rest, None
        self._budget = Budget(self._site.limits.frames, self._loop.time, "WebSocket frames")
        self._flush()
        self._inside = inside
        inside.connection_made(self)
        self.line = inside.line
        if rest:
            self._take_frames(rest)

    # Layer the socket and the line

    def _take_frames(self, data: bytes) -> None:
        if self._socket is None or self._ended or self._inside is None:
            return
        self._silent = 0
        self._socket.receive_data(data)
        try:
            for event in self._socket.events_received():
                self._budget.pay(1)
                self._take_frame(cast("Frame", event))
        except Flood as flood:
            self._fail(str(flood))
            return
        self._flush()
        broken = self._socket.parser_exc
        if broken is not None:
            self._fail(_why(broken))
        elif self._socket.state is not OPEN:  # the caller's goodbye has been answered
            self.eof_received()
            self._transport.close()

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.TEXT:
            self._in_words = bytearray()
        elif frame.opcode is Opcode.BINARY:
            self._in_words = None
        elif frame.opcode is not Opcode.CONT:
            return
        if self._in_words is None:
            self._waiting.append(bytes(frame.data))
            self._read_on()
            return
        self._in_words += frame.data
        if len(self._in_words) > MAX_TEXT or not isinstance(self._inside, Inside):
            raise Flood("words that a WebSocket should not have")
        if frame.fin:
            words, self._in_words = bytes(self._in_words), None
            self._inside.take_words(words)

    def _read_on(self) -> None:
        while self._waiting and self._reading and self._inside is not None:
            data = self._waiting.popleft()
            if len(data) > UNREAD:
                self._waiting.appendleft(data[UNREAD:])
                data = data[:UNREAD]
            if data:
                self._inside.take(data)

    def _ping(self) -> None:
        if self._socket is None or self._inside is None or self._transport.is_closing():
            return
        if self._silent == MOST_SILENT and self._reading:
            self._fail("it answers no ping", own_fault=False)
            return
        self._silent += 1
        if self._socket.state is OPEN:
            self._socket.send_ping(b"")
            self._flush()
        self._timer = self._loop.call_later(self._site.limits.ping, self._ping)

    def _flush(self) -> None:
        """Send the WebSocket's own frames, and count them, since a caller may cause them."""
        assert self._socket is not None  # there is a call
        waiting = self._socket.data_to_send()
        for data in filter(None, waiting):
            self._transport.write(data)
        if waiting and self._blocked and self._inside is not None:
            self.line.count_unsent(sum(map(len, waiting)))

    def _fail(self, reason: str, *, own_fault: bool = True, is_logged: bool = True) -> None:
        """Cut the connection off."""
        self._closing = True
        if self._inside is not None:
            self.line.cut_off(reason, own_fault=own_fault)
            return
        if is_logged:
            self.blame = Blame(reason, own_fault)
            logger.info("web %s: %s", self.address, reason)
        self._transport.abort()

    def _may_read_again(self) -> bool:
        return self._reading and not self._answers

    # A transport to the protocol inside

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if data and self._socket is not None and self._socket.state is OPEN:
            self._socket.send_binary(data)
            self._pass_on()

    def say(self, words: bytes) -> None:
        """Send a text message, in UTF-8."""
        if self._socket is not None and self._socket.state is OPEN:
            self._socket.send_text(words)
            self._pass_on()

    def _pass_on(self) -> None:
        assert self._socket is not None  # both callers of this have asked
        for data in self._socket.data_to_send():
            self._transport.write(data)

    def write_eof(self) -> None:
        """Send no more after a goodbye, and wait for the caller's."""
        self._waiting.clear()
        self._say_good_bye()

    def close(self) -> None:
        self._say_good_bye()
        self._transport.close()

    def abort(self) -> None:
        self._closing = True
        self._transport.abort()

    def _say_good_bye(self) -> None:
        if self._socket is not None and self._socket.state is OPEN:
            self._socket.send_close(HUNG_UP)
            self._pass_on()


def _why(broken: Exception) -> str:
    if isinstance(broken, PayloadTooBig):
        return f"a WebSocket message longer than {http.MOST_MESSAGE} bytes"
    if isinstance(broken, UnicodeDecodeError):
        return "a WebSocket with bad UTF-8"
    return "broken WebSocket frames"
