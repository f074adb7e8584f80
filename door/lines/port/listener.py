"""A port, its connections, and the calls on their lines.

The protocols of telnet and rlogin answer a connection and decide when a call begins. `connection`
is the way up to there.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Self

from door.errors import CallRefused, Hangup
from door.lines.flow import Answer, Stage, StreamLine, address_of
from door.lines.port.connection import Entrance, LineConnection
from door.lines.port.systemd import handed_down
from door.lines.turns import Turns

logger = logging.getLogger("door.lines")

# The length of the kernel's queue. Each step of the event loop accepts few callers: one costs half
# a millisecond, and in a burst other callers' keys would wait for the whole step. With 16 a key
# waited up to 20 ms, with 4 up to 9.
_BACKLOG = 4096
_ACCEPTED_AT_ONCE = 2
_NOTHING_LEFT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE = 1.0  # seconds until the next try when no descriptor is free


def _bound(host: str, port: int) -> socket.socket:
    if (ready := handed_down(host, port)) is not None:
        return ready
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wire = socket.socket(family, socket.SOCK_STREAM)
    try:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            both = host == "::" and socket.has_dualstack_ipv6()
            wire.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not both)
        wire.bind((host, port))
    except BaseException:
        wire.close()
        raise
    return wire


class Listener(ABC):
    def __init__(self, entrance: Entrance) -> None:
        self.port = 0  # the open port
        self._entrance = entrance
        self._turns = Turns()
        self._wire: socket.socket | None = None
        self._again: asyncio.TimerHandle | None = None
        self._is_full = False  # whether the lack of descriptors has been logged
        self._arriving: set[asyncio.Task[tuple[asyncio.Transport, object]]] = set()
        self._visits: set[LineConnection] = set()
        self._calls: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    @abstractmethod
    def answer(self, address: str, visit: LineConnection) -> Answer:
        """Make the answer to a connection from `address`; it calls `visit.end` at its very end."""

    def farewell(self, words: str) -> bytes:
        return words.encode("ascii", "replace") + b"\r\n"

    async def open(self, host: str, port: int) -> Self:
        """Start to listen; raise `OSError` if the port is unavailable.

        `host` is an address, ``0.0.0.0`` for every IPv4 address or ``::`` for every address.
        `port` is 0 to 65535; the system chooses one for 0.
        """
        wire = _bound(host, port)
        wire.listen(_BACKLOG)
        self.port = int(wire.getsockname()[1])
        self._listen_on(wire)
        return self

    def _listen_on(self, wire: socket.socket) -> None:
        self._wire = wire
        wire.setblocking(False)
        asyncio.get_running_loop().add_reader(wire.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more callers; calls in progress stay."""
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire.fileno())
            self._wire.close()
            self._wire = None
        if self._again is not None:
            self._again.cancel()

    async def finish(self, seconds: float | None = None) -> None:
        """Close, end every remaining call, and wait for their ends. Written bytes still leave,
        within the limits or `seconds`."""
        self.close()
        tasks: set[asyncio.Task[Any]] = {*self._arriving, *self._calls}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for visit in tuple(self._visits):
            if not visit.has_ended:
                visit.cut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._empty.wait()
        for visit in tuple(self._visits):
            visit.cut()
        await self._empty.wait()

    # Accepting

    def _accept(self) -> None:
        assert self._wire is not None  # a closed socket has no reader
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                wire, peer = self._wire.accept()
            except BlockingIOError:
                self._nobody_waits()
                return
            except (InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _NOTHING_LEFT:
                    raise
                self._wait_for_room(error)
                return
            wire.setblocking(False)
            self._take_in(wire, address_of(peer))
        if self._is_full:
            # The loop reports nothing if these were the last callers, so try again to log that.
            asyncio.get_running_loop().call_soon(self._accept_again)

    def _accept_again(self) -> None:
        if self._wire is not None:
            self._accept()

    def _wait_for_room(self, error: OSError) -> None:
        """Stop listening for a moment; the loop would report waiting callers without pause."""
        assert self._wire is not None  # as above
        if not self._is_full:  # log it once: the next tries may go on for hours
            self._is_full = True
            logger.error("no caller can be taken in: %s", error.strerror)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._wire.fileno())
        self._again = loop.call_later(_PAUSE, loop.add_reader, self._wire.fileno(), self._accept)

    def _nobody_waits(self) -> None:
        if self._is_full:
            self._is_full = False
            logger.warning("callers are taken in again")

    def _take_in(self, wire: socket.socket, address: str) -> None:
        try:
            visit, first = self.admit(address)
        except CallRefused as refused:
            self._turn_away(wire, str(refused))
            return
        loop = asyncio.get_running_loop()
        connecting = loop.create_task(loop.connect_accepted_socket(lambda: first, wire))
        self._arriving.add(connecting)
        connecting.add_done_callback(self._arriving.discard)
        connecting.add_done_callback(visit.connected)

    def admit(self, address: str) -> tuple[LineConnection, Stage]:
        """Return a connection and its first stage, or raise `CallRefused`."""
        visit = LineConnection(self._entrance, self._turns, self.answer, self._forget)
        first = visit.begin(address)
        self._visits.add(visit)
        self._empty.clear()
        return visit, first

    def _turn_away(self, wire: socket.socket, words: str) -> None:
        with contextlib.closing(wire), contextlib.suppress(OSError):
            if words and self._entrance.certificate is None:
                wire.send(self.farewell(words))

    def _forget(self, visit: LineConnection) -> None:
        self._visits.discard(visit)
        if not self._visits:
            self._empty.set()

    # For the callers' protocols

    def begin_call(self, line: StreamLine, call: Callable[[], Awaitable[None]]) -> None:
        """Let `call` serve `line`, and hang up when it returns or fails."""
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
