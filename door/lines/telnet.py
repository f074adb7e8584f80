"""Telnet callers: a port is opened, each who connects becomes a `Line`, and `on_line` has the call.

The library's own server is not used: it accepts a burst of callers all in one step, forgets the
backlog, and keeps a thousand dead ones in a queue that nobody reads.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable

from door.lines.framing import Allowance
from door.lines.hardened import HardenedTelnet, TelnetLimits, TelnetLine
from door.lines.line import Hangup, Line

logger = logging.getLogger("door.lines")

USUAL_LIMITS = TelnetLimits(
    unsent=256 * 1024,
    farewell=5.0,
    subnegotiation=4096,
    # A window dragged by its corner sends some sixty sizes a second; a whole log-on, thirty.
    commands=Allowance(burst=500, a_second=50.0),
    silence=0.45,
    patience=2.0,
)

# The kernel keeps this many callers waiting, and each step of the event loop takes in this few of
# them, for setting one up costs half a millisecond that a burst would make the others wait.
_BACKLOG = 4096
_ACCEPTED_AT_ONCE = 16


class TelnetListener:
    """A telnet port and everyone who came in through it."""

    def __init__(self, on_line: Callable[[Line], Awaitable[None]], limits: TelnetLimits) -> None:
        """Prepare a port whose callers `on_line` will have; `listen` opens it."""
        self._on_line = on_line
        self._limits = limits
        self.port = 0  # the one that is listened on, once it is open
        self._server: asyncio.Server | None = None
        self._connected: set[HardenedTelnet] = set()
        self._calls: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    async def open(self, host: str, port: int) -> None:
        """Begin to listen; `OSError` when the port cannot be had."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        both = host == "::" and socket.has_dualstack_ipv6()
        wire = socket.create_server((host, port), family=family, dualstack_ipv6=both)
        self.port = int(wire.getsockname()[1])
        self._server = await asyncio.get_running_loop().create_server(
            self._answer, sock=wire, backlog=_ACCEPTED_AT_ONCE
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
        for telnet in tuple(self._connected):
            if not telnet.line.ended:
                telnet.line.abort()
        await self._empty.wait()

    def _answer(self) -> HardenedTelnet:
        telnet = HardenedTelnet(self._limits, self._begin_call, self._forget)
        self._connected.add(telnet)
        self._empty.clear()
        return telnet

    def _forget(self, telnet: HardenedTelnet) -> None:
        self._connected.discard(telnet)
        if not self._connected:
            self._empty.set()

    def _begin_call(self, line: TelnetLine) -> None:
        call = asyncio.get_running_loop().create_task(self._call(line))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _call(self, line: TelnetLine) -> None:
        try:
            await self._on_line(line)
        except Hangup as hangup:
            logger.debug("telnet %s: %s", line.address, hangup)
        except Exception:
            logger.exception("telnet %s: the call failed", line.address)
        finally:
            line.hang_up()


async def listen(
    host: str,
    port: int,
    on_line: Callable[[Line], Awaitable[None]],
    limits: TelnetLimits,
) -> TelnetListener:
    """Open a telnet port; `on_line` has each call, and when it returns the line is hung up.

    `host` is an address, ``0.0.0.0`` for every IPv4 one and ``::`` for every address there is;
    `port` 0 to 65535, 0 leaves the choice to the system; `limits` are `USUAL_LIMITS` outside tests.
    `OSError` when the port cannot be had.
    """
    _quieten_library()
    listener = TelnetListener(on_line, limits)
    await listener.open(host, port)
    return listener


def _quieten_library() -> None:
    """Keep what strangers send out of the log, unless someone wants to see just that.

    telnetlib3 words it as warnings, tracebacks included, of any length and at any rate.
    """
    library = logging.getLogger("telnetlib3")
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)
