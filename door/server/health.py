"""Whether this server can serve, for a front end that asks: a short answer of HTTP, nothing else.

HAProxy asks every second (`option httpchk`). 200: it serves. 404: it drains, and who is on stays
(`http-check disable-on-404`). 503: its books have not answered for so long that callers are better
off elsewhere. A server that stands still says nothing, which is an answer, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from door.clock import sleep
from door.errors import CallRefused
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.port.connection import Entrance, Proxies
from door.lines.port.gate import Blame
from door.lines.port.listener import Listener
from door.lines.rlogin.trust import address_in
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.books import Books
    from door.clock import Clock
    from timebank.ledger.database import Desk

AT_ONCE = 32  # that may ask at the same time
QUESTION_SECONDS = 5.0  # that a question may take
LONGEST_QUESTION = 2048  # bytes

# How often the books are asked, and after how long a silence of theirs callers are sent away. It is
# longer than a standby takes to become the primary: nobody is better off elsewhere meanwhile.
ASK_SECONDS = 2.0
SILENT_SECONDS = 40.0

SERVES, REFUSED, DRAINS, LOST = 200, 400, 404, 503
_ANSWERS = {
    SERVES: ("OK", "This server serves."),
    REFUSED: ("Bad Request", "This port answers GET, HEAD and OPTIONS."),
    DRAINS: ("Not Found", "This server takes no more calls."),
    LOST: ("Service Unavailable", "This server does not reach its books."),
}
_LIMITS = LineLimits(unsent=4096, farewell=2.0)
_QUESTION = re.compile(rb"(GET|HEAD|OPTIONS) [!-~]+ HTTP/1\.[01]\r?\n")
_END = re.compile(rb"\r?\n\r?\n")


class Refusals(Protocol):
    """Who keeps the log of refusals."""

    def note(self, address: str, why: str, *, own_fault: bool = True) -> None: ...

    def cut_off(self, address: str, blame: Blame) -> None: ...


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
    def __init__(self, status: Callable[[], int], proxies: Proxies, refusals: Refusals) -> None:
        """`status` gives the number to answer with; who asks is one of `proxies`, or is here."""
        super().__init__(Entrance(_Gate(proxies, refusals)))
        self._status = status

    def farewell(self, words: str) -> bytes:
        return b""

    def answer(self, address: str, gone: Callable[[], None]) -> HealthConnection:
        return HealthConnection(self._status, gone)


class HealthConnection(StreamProtocol):
    def __init__(self, status: Callable[[], int], gone: Callable[[], None]) -> None:
        super().__init__(lambda transport: StreamLine("health", transport, _LIMITS), gone)
        self._status = status
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._timer = asyncio.get_running_loop().call_later(
            QUESTION_SECONDS, self._cut_off, f"no question in {QUESTION_SECONDS:g} seconds"
        )

    def take(self, data: bytes) -> None:
        if self.line.ended:
            return
        self._read += data
        try:
            answer = said_to(self._read, self._status)
        except ValueError as refused:
            self._cut_off(str(refused))
            return
        if answer is not None:
            self._timer.cancel()
            self.line.write(answer)
            self.line.hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _cut_off(self, why: str) -> None:
        self.line.cut_off(why, own_fault=False)


def said_to(asked: bytes, status: Callable[[], int]) -> bytes | None:
    """Return the answer to a question; None while it is not whole. Raises `ValueError` for one
    that is too long."""
    if not _END.search(asked):
        if len(asked) > LONGEST_QUESTION:
            raise ValueError("its question is too long")
        return None
    found = _QUESTION.match(asked)
    has_body = not (found and found[1] == b"HEAD")
    return answer_of(status() if found else REFUSED, has_body=has_body)


def may_ask(address: str, proxies: Proxies) -> bool:
    """Whether an answer is for somebody at this address: a front end, or this machine."""
    found = address_in(address)
    return found is not None and (found.is_loopback or any(found in network for network in proxies))


def answer_of(status: int, *, has_body: bool = True) -> bytes:
    """Return a whole answer of HTTP with one line of text.

    >>> answer_of(404, has_body=False).split(b"\\r\\n")[0]
    b'HTTP/1.0 404 Not Found'
    """
    reason, words = _ANSWERS[status]
    body = f"{words}\r\n"
    lines = (
        f"HTTP/1.0 {status} {reason}",
        "Content-Type: text/plain; charset=us-ascii",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
        "",
        body if has_body else "",
    )
    return "\r\n".join(lines).encode("ascii")


class _Gate:
    def __init__(self, proxies: Proxies, refusals: Refusals) -> None:
        self._proxies = proxies
        self._refusals = refusals
        self._here = 0

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        may = may_ask(address, self._proxies)
        if not may or self._here >= AT_ONCE:
            why = "too many questions at once" if may else "not a front end"
            self._refusals.note(address, f"health: {why}", own_fault=not may)
            raise CallRefused("")
        self._here += 1
        return self._leave

    def malformed(self, address: str, what: str) -> None:
        """There is no header here."""

    def cut_off(self, address: str, blame: Blame) -> None:
        self._refusals.cut_off(address, Blame(f"health: {blame.why}", blame.own_fault))

    def _leave(self) -> None:
        self._here -= 1


def _nothing(_desk: Desk) -> None:
    """Ask for nothing but an answer."""
