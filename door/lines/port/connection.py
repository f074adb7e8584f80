"""The way of an accepted socket to its answer: the gate, a front end's header, and TLS.

A refused connection costs next to nothing, and a stranger cannot keep one open for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from door.errors import CallRefused, ProxyHeaderRefused
from door.lines.addresses import Network, is_in
from door.lines.blame import Blame
from door.lines.flow import Answer, Stage
from door.lines.port.gate import Gate, OpenGate
from door.lines.port.proxy_header import Passed, ProxyHeader
from door.lines.tls.tls import Certificate, TlsLayer
from door.lines.turns import Turns

FRONT_END_SECONDS = 5.0  # for a front end's header to arrive


@dataclass(frozen=True)
class Entrance:
    gate: Gate
    proxies: tuple[Network, ...] = ()  # front ends, which are believed about the caller's address
    certificate: Certificate | None = None
    kind: str = "telnets"  # the protocol inside TLS, for the log


OPEN = Entrance(OpenGate())


class LineConnection:
    """One connection of a port, from the gate to its end."""

    def __init__(
        self,
        entrance: Entrance,
        turns: Turns,
        make_answer: Callable[[str, LineConnection], Answer],
        on_end: Callable[[LineConnection], None],
    ) -> None:
        """`make_answer` takes the caller's address, and this connection, which it must `end`.
        `on_end` is called last.
        """
        self.answer: Answer | None = None
        self._entrance = entrance
        self._turns = turns
        self._make_answer = make_answer
        self._tls: TlsLayer | None = None
        self._leave: Callable[[], None] | None = None
        self._on_end: Callable[[LineConnection], None] | None = on_end
        self._transport: asyncio.BaseTransport | None = None
        self._cut = False

    def begin(self, address: str) -> Stage:
        """Return the first stage of a connection from `address`; raise `CallRefused`."""
        if is_in(address, self._entrance.proxies):
            return _FrontEnd(self, address)
        return self.enter(address)

    def enter(self, address: str) -> Stage:
        """Return the stage for a caller from `address`; raise `CallRefused` if the gate is shut."""
        self._leave = self._entrance.gate.enter(address, self.cut)
        return self.stage_behind_gate(address)

    def enter_as_caller(self, gate: Gate, address: str) -> None:
        """Turn a visitor into a caller from `address`; raise `CallRefused`."""
        leave = gate.enter(address, self.cut)
        if self._leave is not None:
            self._leave()
        self._leave = leave

    @property
    def has_ended(self) -> bool:
        """Whether there was a line, and it is over."""
        line = getattr(self.answer, "line", None)
        return line is not None and line.ended

    def stage_behind_gate(self, address: str) -> Stage:
        """Return the first stage of an admitted connection: TLS, or the answer itself."""
        if self._entrance.certificate is None:
            return self._begin_answer(address)
        context = self._entrance.certificate.context()
        self._tls = TlsLayer(
            *(context, self._turns, address, lambda: self._begin_answer(address), self.end),
            kind=self._entrance.kind,
        )
        return self._tls

    def note_malformed(self, address: str, what: str) -> None:
        self._entrance.gate.malformed(address, what)

    def connected(self, connecting: asyncio.Task[tuple[asyncio.Transport, object]]) -> None:
        if connecting.cancelled() or connecting.exception() is not None:
            self.end()
            return
        self._transport = connecting.result()[0]
        if self._cut:
            self._transport.abort()

    def cut(self) -> None:
        self._cut = True
        if self.answer is not None and hasattr(self.answer, "line"):
            self.answer.line.abort()
        elif isinstance(self._transport, asyncio.Transport):
            self._transport.abort()

    def end(self) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is None:
            return
        self._report_blame()
        if self._leave is not None:
            self._leave()
        # A reference cycle would stay until the garbage collector finds it.
        self.answer = self._leave = self._transport = self._tls = None
        on_end(self)

    def _report_blame(self) -> None:
        for part in (self._tls, self.answer, getattr(self.answer, "line", None)):
            if part is not None and part.blame is not None:
                # A front end's own call was never let in, and should not be banned for.
                own_fault = part.blame.own_fault and self._leave is not None
                self._entrance.gate.cut_off(part.address, Blame(part.blame.why, own_fault))
                return

    def _begin_answer(self, address: str) -> Answer:
        self.answer = self._make_answer(address, self)
        return self.answer


class _FrontEnd(Stage):
    """A front end that has not sent its header yet."""

    def __init__(self, visit: LineConnection, address: str) -> None:
        self._visit = visit
        self._address = address
        self._header = ProxyHeader()
        self._done = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports don't subclass asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._timer = asyncio.get_running_loop().call_later(
            FRONT_END_SECONDS, self._refuse, f"no PROXY header in {FRONT_END_SECONDS:g} seconds"
        )

    def take(self, data: bytes) -> None:
        if self._done:
            return
        try:
            passed = self._header.feed(data)
        except ProxyHeaderRefused as malformed:
            self._refuse(str(malformed))
            return
        if passed is not None:
            self._done = True
            self._timer.cancel()
            self._pass_on(passed)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._visit.end()

    def _pass_on(self, passed: Passed) -> None:
        """Let in the caller whom the front end brings, or the front end itself."""
        try:
            if passed.address is None:
                behind = self._visit.stage_behind_gate(self._address)
            else:
                behind = self._visit.enter(passed.address)
        except CallRefused:
            # Without words: the front end may expect TLS, or take any words for a live board.
            self._transport.close()
            return
        self._transport.set_protocol(behind)
        behind.connection_made(self._transport)
        if passed.rest:
            behind.take(passed.rest)  # less than one read, and the stage is empty

    def _refuse(self, reason: str) -> None:
        self._done = True
        self._timer.cancel()
        self._visit.note_malformed(self._address, reason)
        self._transport.abort()
