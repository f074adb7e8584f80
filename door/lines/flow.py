"""A line over an asyncio transport, for all protocols.

Whatever the other end can make grow has a limit here: bytes that wait for the board, bytes that
wait for the caller, and the time that the last words take.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from door.errors import Hangup
from door.flag import Flag
from door.lines.blame import Blame
from door.lines.line import CALLER_HUNG_UP, USUAL_COLUMNS, USUAL_ROWS, Hints, OpenKeys, Receiver

logger = logging.getLogger("door.lines")

# The most bytes in one read, and the most that wait in a line for its receiver. A small read keeps
# a flood from stalling other callers, and is cheaper than asyncio's own of 256 kB. All lines share
# the buffer: it is filled and emptied within one step of the event loop.
UNREAD = 4096  # bytes
INTAKE = memoryview(bytearray(UNREAD))

# A connection whose other end has vanished fails within a minute. An idle one fails by probes after
# 20 s, 30 s and 40 s, one with unsent bytes (a ticking screen always has some) after 45 s.
_SOCKET_OPTIONS = (
    ("SOL_SOCKET", "SO_KEEPALIVE", 1),
    ("IPPROTO_TCP", "TCP_KEEPIDLE", 20),
    ("IPPROTO_TCP", "TCP_KEEPINTVL", 10),
    ("IPPROTO_TCP", "TCP_KEEPCNT", 3),
    ("IPPROTO_TCP", "TCP_USER_TIMEOUT", 45_000),
    ("IPPROTO_TCP", "TCP_NODELAY", 1),
    # Unread output waits in the kernel first. A whole screen has some 10 kB.
    ("SOL_SOCKET", "SO_SNDBUF", 65_536),
    # Telnet's Synch sends its Data Mark as urgent data, which would be missing from the stream.
    ("SOL_SOCKET", "SO_OOBINLINE", 1),
)


@dataclass(frozen=True)
class LineLimits:
    unsent: int  # bytes that the caller may leave unread
    farewell: float  # seconds for the last bytes to leave


class StreamLine:
    """A line on a transport.

    Its protocol reads into `room()`, gives every typed byte to `deliver`, and passes on the events
    of the transport.
    """

    blame: Blame | None = None  # why the line was cut off
    end_words = CALLER_HUNG_UP  # the reason of the end when the other end sends no more

    def __init__(
        self,
        kind: str,
        transport: asyncio.Transport,
        limits: LineLimits,
        address: str | None = None,
    ) -> None:
        """`address` is the caller's, if the connection comes from another."""
        self.kind = kind
        self.address = address or address_of(transport.get_extra_info("peername"))
        self.hints = Hints()
        self.columns, self.rows = USUAL_COLUMNS, USUAL_ROWS
        self.size_is_known = False  # whether the terminal itself has reported it
        self.deliver: Callable[[bytes], None] = self._hold
        self._transport = transport
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._waiting = bytearray()
        self._paused = False
        self._yields = False
        self._blocked = False
        self._unsent = 0
        self._ended = ""
        self._drains: list[asyncio.Future[None]] = []
        self._farewell: asyncio.TimerHandle | None = None
        # Low water at 0, so that "resume writing" means that all has left.
        transport.set_write_buffer_limits(high=0)
        _set_options(transport)

    # For the owner of the line

    def attach(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._release()
        if self._ended:
            self._loop.call_soon(self._tell_end)

    def pause(self) -> None:
        if not self._ended:
            self._paused = True
            self.deliver = self._hold
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._paused and not self._ended:
            self._paused = False
            self._release()

    def write(self, data: bytes) -> None:
        if not self._ended and not self._transport.is_closing():
            self._transport.write(data)
            if self._blocked:
                self.count_unsent(len(data))

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        """Do nothing: most terminals show no keys."""

    def show_figures(self, figures: Mapping[str, int]) -> None:
        """Do nothing: most terminals show no figures."""

    async def drain(self, seconds: float) -> None:
        if self._blocked and not self._ended:
            gone = self._loop.create_future()
            self._drains.append(gone)
            try:
                async with asyncio.timeout(seconds):
                    await gone
            except TimeoutError:
                self.cut_off(f"nothing read for {seconds:g} seconds", own_fault=False)
            finally:
                self._drains.remove(gone)
        if self._ended:
            raise Hangup(self._ended)

    def hang_up(self) -> None:
        # Go on reading until the caller hangs up as well, and drop the bytes. To close a socket
        # with unread bytes would reset it, and take the last words from the caller's screen.
        if self._ended:
            return
        self._end("the board hung up")
        self._transport.resume_reading()
        if self._transport.can_write_eof():
            # The caller may have broken the connection just now; asyncio reports that later.
            with contextlib.suppress(OSError):
                self._transport.write_eof()
        else:
            self._transport.close()
        self._limit_farewell()

    def abort(self) -> None:
        self._end("the board broke the connection")
        self._transport.abort()

    # For the protocol in front of the line

    @property
    def ended(self) -> bool:
        """Whether the line is over; the last bytes may still be leaving."""
        return bool(self._ended) or self._transport.is_closing()

    @property
    def is_blocked(self) -> bool:
        """Whether written bytes have not left yet."""
        return self._blocked

    def room(self) -> memoryview:
        """Return the buffer for the next read: as long as bytes may wait here, and never empty."""
        if self._waiting and not self._ended:
            return INTAKE[: UNREAD - len(self._waiting)]
        return INTAKE

    def yield_turn(self) -> None:
        """Continue reading in the loop's next turn, after a read that has filled the buffer.

        asyncio reads once a turn. uvloop reads on while reads fill the buffer, which may be a
        hundred kilobytes of a flood.
        """
        if not (self._yields or self.ended):
            self._yields = True
            self._transport.pause_reading()
            self._loop.call_soon(self._read_again)

    def resize(self, columns: int, rows: int) -> None:
        self.size_is_known = True
        self.assume(columns, rows)

    def assume(self, columns: int, rows: int) -> None:
        """Note a bounded size that the terminal itself has not reported."""
        if (columns, rows) != (self.columns, self.rows):
            self.columns, self.rows = columns, rows
            if self._receiver is not None and not self._ended:
                self._receiver.resized(columns, rows)

    def cut_off(self, reason: str, *, own_fault: bool = True) -> None:
        """End the line now because of what the other end did, and log that in one line.

        Slow reading is not the caller's `own_fault`: their network may be the reason.
        """
        if not self._ended:
            self.blame = Blame(reason, own_fault)
            logger.warning("%s %s: cut off: %s", self.kind, self.address, reason)
            self._end(f"cut off: {reason}")
        self._transport.abort()

    def lose_carrier(self, reason: str) -> None:
        """End the line now, because the host says that the caller is gone."""
        self._end(reason)
        self._transport.abort()

    def count_unsent(self, more: int) -> None:
        """Count `more` written bytes; cut off a caller who leaves too many unread."""
        self._unsent += more
        if self._unsent > self._limits.unsent:
            # Only a sum over the limit is worth asking the transport.
            self._unsent = self._transport.get_write_buffer_size()
            if self._unsent > self._limits.unsent:
                self.cut_off(f"{self._unsent} bytes left unread", own_fault=False)

    def block(self) -> None:
        self._blocked = True
        self._unsent = self._transport.get_write_buffer_size()

    def unblock(self) -> None:
        self._blocked = False
        self._wake_drains()

    def end_of_input(self) -> None:
        """Hang up after the output has left, because the other end sends no more."""
        self._end(self.end_words)
        self._limit_farewell()

    def lose(self, error: Exception | None) -> None:
        reason = getattr(error, "strerror", None) or str(error or "") or "closed"
        self._end(f"the connection broke: {reason}")
        if self._farewell is not None:
            self._farewell.cancel()

    # Inside

    def _hold(self, data: bytes) -> None:
        self._waiting += data
        if len(self._waiting) >= UNREAD:
            self._transport.pause_reading()

    def _read_again(self) -> None:
        self._yields = False
        waits = not self._ended and (self._paused or len(self._waiting) >= UNREAD)
        if not (waits or self._transport.is_closing()):
            self._transport.resume_reading()

    def _release(self) -> None:
        """Deliver the waiting bytes, unless the receiver pauses meanwhile."""
        if self._receiver is None or self._paused:
            return
        while self._waiting and not self._paused:
            data = bytes(self._waiting[:UNREAD])
            del self._waiting[:UNREAD]
            self._receiver.received(data)
        if not self._paused and not self._ended:
            self.deliver = self._receiver.received
            self._transport.resume_reading()

    def _end(self, reason: str) -> None:
        if self._ended:
            return
        self._ended = reason
        self.deliver = lambda data: None
        self._wake_drains()
        if self._receiver is not None:
            self._waiting.clear()
            self._loop.call_soon(self._tell_end)

    def _tell_end(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.hung_up(self._ended)

    def _limit_farewell(self) -> None:
        if self._farewell is None:
            self._farewell = self._loop.call_later(self._limits.farewell, self._transport.abort)

    def _wake_drains(self) -> None:
        for gone in self._drains:
            if not gone.done():
                gone.set_result(None)


class Stage(asyncio.BufferedProtocol):
    """A protocol of a connection, such as TLS. It takes at most `UNREAD` bytes at a time."""

    def take(self, data: bytes) -> None:
        raise NotImplementedError

    def yield_turn(self) -> None:
        """Called after a read that has filled the buffer; see `StreamLine.yield_turn`."""

    def get_buffer(self, sizehint: int) -> memoryview:
        return INTAKE

    def buffer_updated(self, nbytes: int) -> None:
        self.take(bytes(INTAKE[:nbytes]))
        if nbytes == UNREAD:
            self.yield_turn()


class Answer(Stage):
    """The last stage of a connection. It has a line once a caller is there."""

    line: StreamLine
    address: str  # the caller's, as far as it is known
    blame: Blame | None = None  # why the connection was cut off before it had a line


class StreamProtocol(Answer):
    """Passes the events of a transport on to the line that `make_line` makes.

    At the very end, when nothing of the connection is left, sets `closed` and calls `gone`.
    """

    line: StreamLine  # from the connection on

    def __init__(
        self,
        make_line: Callable[[asyncio.Transport], StreamLine],
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        self._make_line = make_line
        self._gone = gone
        self.closed = Flag()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports don't subclass asyncio's.
        self.line = self._make_line(cast("asyncio.Transport", transport))
        del self._make_line  # called once; 1,000 callers would hold 1,000 of them

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.line.room()

    def take(self, data: bytes) -> None:
        self.line.deliver(data)

    def yield_turn(self) -> None:
        self.line.yield_turn()

    def eof_received(self) -> None:
        # The transport closes once all has left.
        self.line.end_of_input()

    def pause_writing(self) -> None:
        self.line.block()

    def resume_writing(self) -> None:
        self.line.unblock()

    def connection_lost(self, exc: Exception | None) -> None:
        self.line.lose(exc)
        self.closed.set()
        self._gone()


def address_of(peer: object) -> str:
    """Return the address of a connection, by `getpeername`: from the kernel, so safe to show."""
    # A local socket has no address, or the name of a file.
    if isinstance(peer, tuple) and peer:
        return str(peer[0]).removeprefix("::ffff:")
    return "unknown"


def _set_options(transport: asyncio.Transport) -> None:
    wire = transport.get_extra_info("socket")
    if wire is None:
        return
    for level, name, value in _SOCKET_OPTIONS:
        # Not every system has every option, and no call should fail for one.
        if hasattr(socket, name):
            with contextlib.suppress(OSError):
                wire.setsockopt(getattr(socket, level), getattr(socket, name), value)
