"""The socket of doors that hand over callers: packets with descriptors, in memory.

Each end stands for a kernel socket, as `door.run.relay` and `door.server.door_calls` use it. The
descriptors in a packet are real, and are duplicated on the way.
"""

from __future__ import annotations

import array
import asyncio
import os
import random
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, Self

from door.lines import hand_over
from verify.simulate.clock import SimulatedLoop
from verify.simulate.disk import Mortal

LATE = 0.2  # how often a process reads a packet late
LATEST = 0.5  # seconds after which it does


@dataclass(frozen=True)
class Packet:
    """One message, and the descriptors that came with it."""

    data: bytes
    ends: list[int]


class Peer:
    """The kernel's answer about a socket: the process at its other end."""

    def getsockopt(self, level: int, name: int, size: int) -> bytes:
        assert (level, name) == (socket.SOL_SOCKET, socket.SO_PEERCRED)
        return struct.pack("3i", os.getpid(), os.geteuid(), os.getegid())

    def setsockopt(self, *_: Any) -> None:
        """Accept any option."""


class Readable(Peer):
    """A socket that the loop of the simulation calls a reader for, as long as one is set."""

    def __init__(self, loop: SimulatedLoop, chance: random.Random, mortal: Mortal) -> None:
        self.of = (loop, chance, mortal)  # its process
        self.loop, self.chance, self.mortal = self.of
        self.closed = False
        self._reader: tuple[Callable[..., object], Context] | None = None
        self._number = loop.register(self)

    def fileno(self) -> int:
        return self._number

    def setblocking(self, blocks: bool) -> None:
        """Nothing here blocks."""

    def is_readable(self) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        self.closed, self._reader = True, None

    def vanish(self) -> None:
        """Close, as the system does for a dead process."""
        self.close()

    def set_reader(self, reader: Callable[..., object] | None) -> None:
        self._reader = None if reader is None else (reader, copy_context())
        self.ring()

    def ring(self) -> None:
        """Call the reader soon, if there is anything to read by then."""
        if self.chance.random() < LATE:
            self.loop.call_later(self.chance.uniform(0.001, LATEST), self._ring)
        else:
            self.loop.call_soon(self._ring)

    def _ring(self) -> None:
        if self._reader is None or self.mortal.dead or not self.is_readable():
            return
        reader, context = self._reader
        context.run(reader)
        if self._reader is not None and self.is_readable():
            self.loop.call_soon(self._ring)


class End(Readable):
    """One end of a connection."""

    other: End

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self._arrived = deque[Packet]()
        self._was_reset = False
        self._timeout: float | None = None
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_readable(self) -> bool:
        return bool(self._arrived) or self._was_reset or self.other.closed

    def settimeout(self, seconds: float | None) -> None:
        self._timeout = seconds

    def send(self, data: bytes, flags: int = 0) -> int:
        return self._send(Packet(data, []))

    def sendmsg(self, buffers: list[bytes], ancillary: list[tuple[int, int, bytes]]) -> int:
        numbers = array.array("i")
        for _, _, content in ancillary:
            numbers.frombytes(content)
        return self._send(Packet(b"".join(buffers), [os.dup(number) for number in numbers]))

    def recv(self, size: int) -> bytes:
        packet = self._next()
        _close(packet.ends)
        return packet.data

    def recvmsg(self, size: int, ancillary: int) -> tuple[bytes, list[Any], int, None]:
        packet = self._next()
        content = array.array("i", packet.ends).tobytes()
        found = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, content)] if packet.ends else []
        return packet.data, found, 0, None

    def close(self) -> None:
        """Close it; the other end gets a reset if packets were unread, as on Linux."""
        if self.closed:
            return
        super().close()
        self.other._was_reset = bool(self._arrived)
        for packet in self._arrived:
            _close(packet.ends)
        self._arrived.clear()
        self.other.ring()

    # For a process that waits in recv().

    async def receive(self) -> bytes:
        """Wait for a packet and return it; raises `OSError` like a socket."""
        waiter = self._waiter = self.loop.create_future()
        self.set_reader(self._wake)
        if self._error is not None:
            self._wake()
        try:
            async with asyncio.timeout(self._timeout):
                await waiter
        finally:
            self.set_reader(None)
        if self._error is not None:
            raise self._error
        return hand_over.receive(self)  # type: ignore[arg-type] # a fake

    def interrupt(self, error: Exception) -> None:
        """Have the process that waits here raise an error, as a handler of a signal does."""
        self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # Inside.

    def _send(self, packet: Packet) -> int:
        self.mortal.talk()
        if self.other.closed or self.mortal.dead:
            _close(packet.ends)
            raise BrokenPipeError("nobody is there")
        self.other._arrived.append(packet)
        self.other.ring()
        return len(packet.data)

    def _next(self) -> Packet:
        self.mortal.talk()
        if self._was_reset:
            self._was_reset = False
            raise ConnectionResetError("it was closed, and had not read everything")
        if self._arrived:
            return self._arrived.popleft()
        if self.other.closed:
            return Packet(b"", [])
        raise BlockingIOError


class Ear(Readable):
    """The socket in the data folder, at which a server listens."""

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self._calls = deque[End]()
        self._ends: list[End] = []  # all ends opened here

    def is_readable(self) -> bool:
        return bool(self._calls)

    def accept(self) -> tuple[End, str]:
        if not self._calls:
            raise BlockingIOError
        return self._calls.popleft(), ""

    def close(self) -> None:
        super().close()
        while self._calls:
            self._calls.popleft().close()

    def vanish(self) -> None:
        super().vanish()
        for end in self._ends:
            end.vanish()

    def dial(self, *of: Any) -> End:
        """Connect a process to the one that listens; `of` says which."""
        if self.closed or self.mortal.dead:
            raise ConnectionRefusedError("nobody listens there")
        ours, theirs = End(*of), End(*self.of)
        ours.other, theirs.other = theirs, ours
        self._ends.append(theirs)
        self._calls.append(theirs)
        self.ring()
        return ours


def _close(ends: list[int]) -> None:
    for end in ends:
        os.close(end)
