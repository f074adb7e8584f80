"""A port that answers by HTTP whether this server can serve, and its metrics.

HAProxy asks every second (`option httpchk`). 200: the server serves. 404: the server drains, or its
books have not answered for ten seconds. New callers then go to other servers, and the callers
online stay (`http-check disable-on-404`). 503: the books have been silent for so long that all
callers are better off on another server. A server that hangs does not answer at all, which HAProxy
counts as a failure. Prometheus asks for `/metrics` (`metrics.py`).

A connection may ask one short question. The client's address is checked before the connection takes
a place, and both the length and the time of a question are limited. So neither strangers nor slow
senders can keep HAProxy out.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from door.clock import SystemClock, sleep
from door.errors import CallRefused
from door.lines.addresses import Network, address_in, is_in
from door.lines.blame import Blame
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.port.connection import Entrance, LineConnection
from door.lines.port.gate import OpenGate
from door.lines.port.listener import Listener
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.books import Books
    from door.clock import Clock
    from door.defence.reception import Reception
    from timebank.ledger.database import Desk

AT_ONCE = 32  # connections at the same time
QUESTION_SECONDS = 5.0  # from the connection to the end of the question
LONGEST_QUESTION = 2048  # bytes
QUESTION = re.compile(rb"(GET|HEAD|OPTIONS) ([!-~]+) HTTP/1\.[01]\r?\n")  # its first line
METRICS = b"/metrics"

# The books are asked every `ASK_SECONDS`. No new callers come after `LATE_SECONDS` of silence.
# Callers online are sent away after `SILENT_SECONDS`: a standby becomes the primary sooner.
ASK_SECONDS = 2.0
LATE_SECONDS = 10.0
SILENT_SECONDS = 40.0

SERVES, REFUSED, DRAINS, LOST = 200, 400, 404, 503
_ANSWERS = {
    SERVES: ("OK", "This server serves."),
    REFUSED: ("Bad Request", "This port answers GET, HEAD and OPTIONS."),
    DRAINS: ("Not Found", "This server takes no new calls."),
    LOST: ("Service Unavailable", "This server does not reach its books."),
}
_LIMITS = LineLimits(unsent=256 * 1024, farewell=2.0)
_END = re.compile(rb"\r?\n\r?\n")


class Pulse:
    """Whether the books answer."""

    def __init__(self, books: Books, clock: Clock) -> None:
        """Count the silence from now on, because the books are open."""
        self._books = books
        self._clock = clock
        self._answered = clock.monotonic()

    def silence(self) -> float:
        """The seconds since the books last answered."""
        return self._clock.monotonic() - self._answered

    def is_felt(self) -> bool:
        return self.silence() < SILENT_SECONDS

    async def feel(self) -> None:
        """Ask the books every `ASK_SECONDS`, after all operations that wait, until cancelled."""
        while True:
            with contextlib.suppress(BooksFailed):
                await self._books.run(_nothing)
                self._answered = self._clock.monotonic()
            await sleep(self._clock, ASK_SECONDS)


class HealthPort(Listener):
    def __init__(
        self,
        status: Callable[[], int],
        numbers: Callable[[], Awaitable[str]],
        friends: tuple[Network, ...],
        refusals: Reception,
        clock: Clock | None = None,
    ) -> None:
        """`status` returns the HTTP status to answer with, and `numbers` the text of `/metrics`.
        Only `friends` and this machine may ask."""
        super().__init__(Entrance(_Gate(friends, refusals)))
        self._status = status
        self._numbers = numbers
        self.clock = SystemClock() if clock is None else clock

    def farewell(self, words: str) -> bytes:
        return b""

    def answer(self, address: str, visit: LineConnection) -> _Connection:
        return _Connection(self, visit.end)

    def reply(self, line: StreamLine, question: bytes) -> None:
        async def call() -> None:
            line.write(await self._answer_to(question))

        self.begin_call(line, call)

    async def _answer_to(self, question: bytes) -> bytes:
        match = QUESTION.match(question)
        has_body = not (match and match[1] == b"HEAD")
        if match and match[2].partition(b"?")[0] == METRICS:
            return http("200 OK", (await self._numbers()).encode(), has_body=has_body)
        number = self._status() if match else REFUSED
        reason, words = _ANSWERS[number]
        return http(f"{number} {reason}", f"{words}\r\n".encode("ascii"), has_body=has_body)


class _Gate(OpenGate):
    """Lets in at most `AT_ONCE` connections, from addresses that may ask."""

    def __init__(self, friends: tuple[Network, ...], refusals: Reception) -> None:
        self._friends = friends
        self._refusals = refusals
        self._here = 0

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        is_known = self._may_ask(address)
        if not is_known or self._here >= AT_ONCE:
            why = "too many questions at once" if is_known else "not a front end"
            self._refusals.note(address, f"health: {why}", own_fault=not is_known)
            raise CallRefused("")
        self._here += 1
        return self._leave

    def cut_off(self, address: str, blame: Blame) -> None:
        self._refusals.cut_off(address, Blame(f"health: {blame.why}", blame.own_fault))

    def _may_ask(self, address: str) -> bool:
        parsed = address_in(address)
        return parsed is not None and (parsed.is_loopback or is_in(address, self._friends))

    def _leave(self) -> None:
        self._here -= 1


class _Connection(StreamProtocol):
    def __init__(self, port: HealthPort, gone: Callable[[], None]) -> None:
        super().__init__(lambda transport: StreamLine("health", transport, _LIMITS), gone)
        self._port = port
        self._read = b""
        self._is_asked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._timer = self._port.clock.call_later(QUESTION_SECONDS, self._give_up)

    def take(self, data: bytes) -> None:
        if self.line.ended or self._is_asked:
            return
        self._read += data
        if (end := _END.search(self._read)) is not None:
            self._is_asked = True
            self._timer.cancel()
            self._port.reply(self.line, self._read[: end.end()])
        elif len(self._read) > LONGEST_QUESTION:
            self._cut_off("its question is too long")

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        self._cut_off(f"no question in {QUESTION_SECONDS:g} seconds")

    def _cut_off(self, why: str) -> None:
        self.line.cut_off(why, own_fault=False)


def http(status: str, body: bytes, *, has_body: bool = True) -> bytes:
    """Return a whole HTTP response; the response to HEAD states the length of the body it omits.

    >>> http("404 Not Found", b"").split(b"\\r\\n")[0]
    b'HTTP/1.0 404 Not Found'
    """
    lines = (
        f"HTTP/1.0 {status}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
        "",
        "",
    )
    return "\r\n".join(lines).encode("ascii") + (body if has_body else b"")


def _nothing(_desk: Desk) -> None:
    """Do nothing: only the answer counts."""
