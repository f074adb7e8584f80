"""A port, everyone who came in through it, and the calls that run on their lines.

What the protocols of the callers have in common: telnet and rlogin say what answers a connection
and when a call begins.
"""

import asyncio
import logging
import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol

from door.lines.flow import StreamLine
from door.lines.line import Hangup

logger = logging.getLogger("door.lines")

# The kernel keeps this many callers waiting, and each step of the event loop takes in this few of
# them, for setting one up costs half a millisecond that a burst would make the others wait.
_BACKLOG = 4096
_ACCEPTED_AT_ONCE = 16


class Connected(Protocol):
    """Whoever is connected, served already or not."""

    @property
    def line(self) -> StreamLine:
        """His line."""


class Listener(ABC):
    """A port and everyone who came in through it."""

    def __init__(self) -> None:
        """Prepare a port; `open` opens it."""
        self.port = 0  # the one that is listened on, once it is open
        self._server: asyncio.Server | None = None
        self._connected: set[Connected] = set()
        self._calls: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    @abstractmethod
    def answer(self) -> asyncio.BaseProtocol:
        """Make what answers the next connection, and `join` it."""

    async def open(self, host: str, port: int) -> None:
        """Begin to listen; `OSError` when the port cannot be had."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        both = host == "::" and socket.has_dualstack_ipv6()
        wire = socket.create_server((host, port), family=family, dualstack_ipv6=both)
        self.port = int(wire.getsockname()[1])
        self._server = await asyncio.get_running_loop().create_server(
            self.answer, sock=wire, backlog=_ACCEPTED_AT_ONCE
        )
        # asyncio takes one number for both; the kernel's may be changed afterwards.
        wire.listen(_BACKLOG)

    def close(self) -> None:
        """Take no more callers. Those on the line stay."""
        if self._server is not None:
            self._server.close()

    async def finish(self) -> None:
        """Close, end every call that is left, and return when nothing of it runs any more.

        What was written last still goes out, for as long as the limits let it.
        """
        self.close()
        for call in self._calls:
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)
        for connected in tuple(self._connected):
            if not connected.line.ended:
                connected.line.abort()
        await self._empty.wait()

    # For the protocols of the callers

    def join(self, connected: Connected) -> None:
        """Note one more connection."""
        self._connected.add(connected)
        self._empty.clear()

    def forget(self, connected: Connected) -> None:
        """Note that a connection is gone."""
        self._connected.discard(connected)
        if not self._connected:
            self._empty.set()

    def begin_call(self, line: StreamLine, call: Callable[[], Awaitable[None]]) -> None:
        """Let `call` serve `line`, which is hung up when it returns or fails."""
        task = asyncio.get_running_loop().create_task(_serve(line, call))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)


async def _serve(line: StreamLine, call: Callable[[], Awaitable[None]]) -> None:
    try:
        await call()
    except Hangup as hangup:
        logger.debug("%s %s: %s", line.kind, line.address, hangup)
    except Exception:
        logger.exception("%s %s: the call failed", line.kind, line.address)
    finally:
        line.hang_up()
