"""A port for programs that ask by HTTP: whether this server can serve, and its numbers.

HAProxy asks every second (`option httpchk`). 200: it serves. 404: it drains, or its books have not
answered for ten seconds: new callers are led elsewhere, and those who are on stay (`http-check
disable-on-404`). 503: its books have not answered for so long that all callers are better off
elsewhere. A server that stands still says nothing, which is an answer, too. Prometheus asks for
`/metrics` (`metrics.py`).

A connection is for one short question. Its address is checked before it takes a place, and a
question may be so long and take so much time. So strangers take no place from those who may ask,
and slow senders keep none.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from door.clock import SystemClock, sleep
from door.errors import CallRefused
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.port.connection import Entrance, Proxies
from door.lines.port.gate import Blame, OpenGate
from door.lines.port.listener import Listener
from door.lines.rlogin.trust import address_in
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.books import Books
    from door.clock import Clock
    from door.defence.reception import Reception
    from timebank.ledger.database import Desk

AT_ONCE = 32  # that may ask at the same time
QUESTION_SECONDS = 5.0  # that a question may take
LONGEST_QUESTION = 2048  # bytes
QUESTION = re.compile(rb"(GET|HEAD|OPTIONS) ([!-~]+) HTTP/1\.[01]\r?\n")  # its first line
METRICS = b"/metrics"

# How often the books are asked, and after how long a silence of theirs no new callers come. Those
# who are on are sent away later: a standby takes less time to become the primary.
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
        """Take it that they do: they are open."""
        self._books = books
        self._clock = clock
        self._answered = clock.monotonic()

    def silence(self) -> float:
        """For how many seconds they have not answered."""
        return self._clock.monotonic() - self._answered

    def is_felt(self) -> bool:
        return self.silence() < SILENT_SECONDS

    async def feel(self) -> None:
        """Ask the books again and again, behind all that waits for them."""
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
        friends: Proxies,
        refusals: Reception,
        clock: Clock | None = None,
    ) -> None:
        """`status` gives the number of HTTP to answer with, and `numbers` what `/metrics` says.
        Only `friends` and this machine may ask."""
        super().__init__(Entrance(_Gate(friends, refusals)))
        self._status = status
        self._numbers = numbers
        self.clock = SystemClock() if clock is None else clock

    def farewell(self, words: str) -> bytes:
        return b""

    def answer(self, address: str, gone: Callable[[], None]) -> _Connection:
        return _Connection(self, gone)

    def reply(self, line: StreamLine, question: bytes) -> None:
        async def call() -> None:
            line.write(await self._answer_to(question))

        self.begin_call(line, call)

    async def _answer_to(self, question: bytes) -> bytes:
        found = QUESTION.match(question)
        has_body = not (found and found[1] == b"HEAD")
        if found and found[2].partition(b"?")[0] == METRICS:
            return http("200 OK", (await self._numbers()).encode(), has_body=has_body)
        number = self._status() if found else REFUSED
        reason, words = _ANSWERS[number]
        return http(f"{number} {reason}", f"{words}\r\n".encode("ascii"), has_body=has_body)


class _Gate(OpenGate):
    """Lets in at most `AT_ONCE` connections, from addresses that may ask."""

    def __init__(self, friends: Proxies, refusals: Reception) -> None:
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
        found = address_in(address)
        return found is not None and (
            found.is_loopback or any(found in network for network in self._friends)
        )

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
    """Return a whole answer of HTTP; that to a HEAD only says how long the body is.

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
    """Ask for nothing but an answer."""
