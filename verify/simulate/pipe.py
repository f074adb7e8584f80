"""A connection between two processes of one machine: the socket in the data folder, in memory.

Each end is an asyncio transport whose protocol runs as part of the process that the end is of. What
one end writes arrives at the other in the next turn of the loop, as long as both are alive.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from contextvars import Context
from typing import Any


class Peer:
    """What a server asks the kernel about a socket: whose process is at its other end."""

    def getsockopt(self, level: int, name: int, size: int) -> bytes:
        assert (level, name) == (socket.SOL_SOCKET, socket.SO_PEERCRED)
        return struct.pack("3i", os.getpid(), os.geteuid(), os.getegid())

    def setsockopt(self, *_: Any) -> None:
        """Take any option."""


class Pipe(asyncio.Transport):
    """One end; the process that it is of works in `context`."""

    other: Pipe

    def __init__(
        self, loop: asyncio.AbstractEventLoop, context: Context, is_dead: Callable[[], bool]
    ) -> None:
        super().__init__({"socket": Peer()})
        self.loop = loop
        self._context = context
        self._is_dead = is_dead
        self._protocol: asyncio.BaseProtocol | None = None
        self._arrived = bytearray()
        self._reads, self._ended, self._closed = True, False, False

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        """Have a protocol at this end."""
        self._protocol = protocol
        protocol.connection_made(self)
        self._soon(self._hand_over)

    def vanish(self) -> None:
        """Be closed by the system, whose process has died."""
        self._closed = True
        self.other._soon(self.other._end)

    # What a protocol asks of its transport.

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Have none: the other end takes everything."""

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._closed

    def pause_reading(self) -> None:
        self._reads = False

    def resume_reading(self) -> None:
        self._reads = True
        self._soon(self._hand_over)

    def write(self, data: Any) -> None:
        if not self._closed and not self._is_dead():
            self.other._arrived += data
            self.other._soon(self.other._hand_over)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.other._soon(self.other._end)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._soon(self._lost)
            self.other._soon(self.other._end)

    def abort(self) -> None:
        self.close()

    # Inside.

    def _soon(self, call: Callable[[], None]) -> None:
        self.loop.call_soon(call, context=self._context)

    def _hand_over(self) -> None:
        protocol = self._protocol
        while self._arrived and self._reads and not self._closed and not self._is_dead():
            if isinstance(protocol, asyncio.BufferedProtocol):
                room = protocol.get_buffer(-1)
                size = min(len(room), len(self._arrived))
                room[:size] = self._arrived[:size]  # type: ignore[index] # it can be written to
                del self._arrived[:size]
                protocol.buffer_updated(size)
            elif isinstance(protocol, asyncio.Protocol):
                data = bytes(self._arrived)
                self._arrived.clear()
                protocol.data_received(data)
            else:
                return
        if self._ended and not self._arrived:
            self._end()

    def _end(self) -> None:
        """Take the end of what comes, once everything has been handed over."""
        self._ended = True
        if self._closed or self._is_dead() or self._arrived or self._protocol is None:
            return
        self._ended = False
        assert isinstance(self._protocol, asyncio.Protocol | asyncio.BufferedProtocol)
        if not self._protocol.eof_received():
            self.close()

    def _lost(self) -> None:
        if self._protocol is not None and not self._is_dead():
            self._protocol.connection_lost(None)


def connect(one: Pipe, other: Pipe) -> None:
    """Make two ends those of one connection."""
    one.other, other.other = other, one


def streams(end: Pipe) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Have streams at an end."""
    reader = asyncio.StreamReader(loop=end.loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=end.loop)
    end.begin(protocol)
    return reader, asyncio.StreamWriter(end, protocol, reader, end.loop)
