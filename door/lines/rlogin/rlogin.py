"""Callers that other boards send by rlogin (RFC 1282): a port, and a `Line` and a header for each.

Anybody can write any name into the header; `trust` decides what it is worth. Flow control with ^S
and ^Q is left to the callers' programs: every byte that arrives is a key.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from door.errors import RloginHeaderRefused
from door.lines.blame import Blame
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.line import Hints, Line, bounded_size, printable
from door.lines.port.connection import OPEN, Entrance, LineConnection
from door.lines.port.listener import Listener
from door.lines.rlogin.header import HeaderParser, RloginHeader, WindowSize, WindowSizes

logger = logging.getLogger("door.lines")

_ACCEPTED = b"\0"
_REFUSED = b"\x01"  # 4.3BSD's programs show the rest of the line after it (rcmd(3))
# As urgent data: "report your window size, now and after each change". Other programs do not see
# the byte, because urgent data is left out of the stream unless a program asks for it.
_TELL_WINDOW = b"\x80"
_APOLOGY = b"This port takes rlogin from boards that are known here.\r\n"


@dataclass(frozen=True)
class RloginLimits(LineLimits):
    """The limits of one rlogin caller; `header` is the seconds for the header to arrive."""

    header: float


USUAL_LIMITS = RloginLimits(unsent=256 * 1024, farewell=5.0, header=10.0)


class RloginConnection(StreamProtocol):
    """One caller by rlogin. Calls `ready` when the header is accepted, and `gone` last."""

    def __init__(
        self,
        limits: RloginLimits,
        ready: Callable[[StreamLine, RloginHeader], None],
        gone: Callable[[], None],
        address: str,
    ) -> None:
        super().__init__(lambda transport: StreamLine("rlogin", transport, limits, address), gone)
        self._limits = limits
        self._ready = ready
        self._parser: HeaderParser | None = HeaderParser()
        self._sizes = WindowSizes()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(
            self._limits.header, self._refuse, f"no header in {self._limits.header:g} seconds"
        )

    def take(self, data: bytes) -> None:
        if self._parser is not None:
            if self.line.ended:
                return
            try:
                header = self._parser.feed(data)
            except RloginHeaderRefused as refusal:
                self._refuse(str(refusal))
                return
            if header is None:
                return
            data, self._parser = self._parser.rest, None
            self._timer.cancel()
            self._accept(header)
        if b"\xff" not in data and self._sizes.between:
            self.line.deliver(data)
            return
        for part in self._sizes.feed(data):
            if isinstance(part, WindowSize):
                self.line.resize(*bounded_size(part.columns, part.rows))
            else:
                self.line.deliver(part)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _accept(self, header: RloginHeader) -> None:
        terminal = printable(header.terminal)
        self.line.hints = Hints(terminal_types=(terminal,) if terminal else ())
        self.line.write(_ACCEPTED)
        self._ask_for_window()
        self._ready(self.line, header)

    def _ask_for_window(self) -> None:
        wire = self._transport.get_extra_info("socket")
        # asyncio's wrapper of the socket cannot send; a duplicate of its descriptor can.
        with (
            contextlib.suppress(OSError),
            contextlib.closing(socket.socket(fileno=os.dup(wire.fileno()))) as own,
        ):
            own.send(_TELL_WINDOW, socket.MSG_OOB | socket.MSG_DONTWAIT)

    def _refuse(self, reason: str) -> None:
        self._timer.cancel()
        logger.warning("rlogin %s: refused: %s", self.line.address, reason)
        self.line.blame = Blame(f"rlogin: {reason}")
        self.line.write(_REFUSED + _APOLOGY)
        self.line.hang_up()


class RloginListener(Listener):
    """An rlogin port and its connections; RFC 1282's own port is 513.

    `on_call` serves each call in a task of its own. It must ask `trust.trusted`: nobody has yet.
    `limits` are `USUAL_LIMITS`, except in tests.
    """

    def __init__(
        self,
        on_call: Callable[[Line, RloginHeader], Awaitable[None]],
        limits: RloginLimits,
        entrance: Entrance = OPEN,
    ) -> None:
        super().__init__(entrance)
        self._on_call = on_call
        self._limits = limits

    def answer(self, address: str, visit: LineConnection) -> RloginConnection:
        return RloginConnection(self._limits, self._serve, visit.end, address)

    def farewell(self, words: str) -> bytes:
        return _REFUSED + super().farewell(words)

    def _serve(self, line: StreamLine, header: RloginHeader) -> None:
        self.begin_call(line, partial(self._on_call, line, header))
