"""A port for programs that ask by HTTP: one short question for each connection, and one answer.

The address is checked before a connection takes a place, and a question may be so long and take so
much time. So strangers take no place from those who may ask, and slow senders keep none.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from door.clock import Clock, SystemClock
from door.errors import CallRefused
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.port.connection import Entrance
from door.lines.port.gate import OpenGate
from door.lines.port.listener import Listener

QUESTION_SECONDS = 5.0  # that a question may take
LONGEST_QUESTION = 2048  # bytes

QUESTION = re.compile(rb"(GET|HEAD|OPTIONS) [!-~]+ HTTP/1\.[01]\r?\n")  # its first line
PLAIN = "text/plain; charset=us-ascii"

_END = re.compile(rb"\r?\n\r?\n")


class QuestionGate(OpenGate):
    """Lets in at most `at_once` connections, from addresses that may ask."""

    def __init__(self, may_ask: Callable[[str], bool], at_once: int) -> None:
        self._may_ask = may_ask
        self._at_once = at_once
        self._here = 0

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        if not self._may_ask(address):
            self.refused(address, is_known=False)
            raise CallRefused("")
        if self._here >= self._at_once:
            self.refused(address, is_known=True)
            raise CallRefused("")
        self._here += 1
        return self._leave

    def refused(self, address: str, *, is_known: bool) -> None:
        """Learn that an address was refused, or found no place where it `is_known`."""

    def _leave(self) -> None:
        self._here -= 1


class QuestionPort(Listener):
    """Calls `answer` with each question, up to its empty line, and sends what that returns."""

    def __init__(
        self,
        kind: str,
        gate: QuestionGate,
        answer: Callable[[bytes], Awaitable[bytes]],
        limits: LineLimits,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(Entrance(gate))
        self._kind = kind
        self._answer = answer
        self._limits = limits
        self.clock = SystemClock() if clock is None else clock

    def farewell(self, words: str) -> bytes:
        return b""

    def answer(self, address: str, gone: Callable[[], None]) -> QuestionConnection:
        return QuestionConnection(self, gone)

    def line(self, transport: asyncio.Transport) -> StreamLine:
        return StreamLine(self._kind, transport, self._limits)

    def reply(self, line: StreamLine, question: bytes) -> None:
        async def call() -> None:
            line.write(await self._answer(question))

        self.begin_call(line, call)


class QuestionConnection(StreamProtocol):
    def __init__(self, port: QuestionPort, gone: Callable[[], None]) -> None:
        super().__init__(port.line, gone)
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
        try:
            question = whole(self._read)
        except ValueError as refused:
            self._cut_off(str(refused))
            return
        if question is not None:
            self._is_asked = True
            self._timer.cancel()
            self._port.reply(self.line, question)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        self._cut_off(f"no question in {QUESTION_SECONDS:g} seconds")

    def _cut_off(self, why: str) -> None:
        self.line.cut_off(why, own_fault=False)


def whole(asked: bytes) -> bytes | None:
    """Return the question with the empty line at its end; None until that has come. Raises
    `ValueError` if the question is too long."""
    end = _END.search(asked)
    if end is not None:
        return asked[: end.end()]
    if len(asked) > LONGEST_QUESTION:
        raise ValueError("its question is too long")
    return None


def http(status: str, body: bytes = b"", kind: str = PLAIN, *, has_body: bool = True) -> bytes:
    """Return a whole answer of HTTP; that to a HEAD only says how long the body is.

    >>> http("404 Not Found").split(b"\\r\\n")[0]
    b'HTTP/1.0 404 Not Found'
    """
    lines = (
        f"HTTP/1.0 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
        "",
        "",
    )
    return "\r\n".join(lines).encode("ascii") + (body if has_body else b"")
