"""Whether this server can serve, for a front end that asks: a short answer of HTTP, nothing else.

HAProxy asks every second (`option httpchk`). 200: it serves. 404: it drains, or its books have not
answered for ten seconds: new callers are led elsewhere, and those who are on stay (`http-check
disable-on-404`). 503: its books have not answered for so long that all callers are better off
elsewhere. A server that stands still says nothing, which is an answer, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from door.clock import sleep
from door.lines.flow import LineLimits
from door.lines.port.connection import Proxies
from door.lines.port.gate import Blame
from door.lines.port.questions import QUESTION, QuestionGate, QuestionPort, http
from door.lines.rlogin.trust import address_in
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.books import Books
    from door.clock import Clock
    from timebank.ledger.database import Desk

AT_ONCE = 32  # that may ask at the same time

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
_LIMITS = LineLimits(unsent=4096, farewell=2.0)


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


class HealthPort(QuestionPort):
    def __init__(self, status: Callable[[], int], proxies: Proxies, refusals: Refusals) -> None:
        """`status` gives the number to answer with. Only `proxies` and this machine may ask."""

        async def answer(question: bytes) -> bytes:
            found = QUESTION.match(question)
            number = status() if found else REFUSED
            reason, words = _ANSWERS[number]
            has_body = not (found and found[1] == b"HEAD")
            return http(f"{number} {reason}", f"{words}\r\n".encode("ascii"), has_body=has_body)

        super().__init__("health", _Gate(proxies, refusals), answer, _LIMITS)


def _may_ask(address: str, proxies: Proxies) -> bool:
    """Whether an answer is for somebody at this address: a front end, or this machine."""
    found = address_in(address)
    return found is not None and (found.is_loopback or any(found in network for network in proxies))


class _Gate(QuestionGate):
    def __init__(self, proxies: Proxies, refusals: Refusals) -> None:
        super().__init__(lambda address: _may_ask(address, proxies), AT_ONCE)
        self._refusals = refusals

    def refused(self, address: str, *, is_known: bool) -> None:
        why = "too many questions at once" if is_known else "not a front end"
        self._refusals.note(address, f"health: {why}", own_fault=not is_known)

    def cut_off(self, address: str, blame: Blame) -> None:
        self._refusals.cut_off(address, Blame(f"health: {blame.why}", blame.own_fault))


def _nothing(_desk: Desk) -> None:
    """Ask for nothing but an answer."""
