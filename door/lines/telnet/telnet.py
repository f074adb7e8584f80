"""Telnet callers: a port is opened, each who connects becomes a `Line`, and `on_line` has the call.

The library's own server is not used: it accepts a burst of callers all in one step, forgets the
backlog, and keeps a thousand dead ones in a queue that nobody reads.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from door.lines.line import Line
from door.lines.port.connection import OPEN, Entrance
from door.lines.port.listener import Listener
from door.lines.telnet.framing import CommandAllowance
from door.lines.telnet.hardened import HardenedTelnet, TelnetFace, TelnetLimits
from door.lines.telnet.passive import TelnetLine

USUAL_LIMITS = TelnetLimits(
    unsent=256 * 1024,
    farewell=5.0,
    subnegotiation=4096,
    # A window dragged by its corner sends some sixty sizes a second; a whole log-on, thirty.
    commands=CommandAllowance(burst=500, a_second=50.0),
    silence=0.45,
    patience=2.0,
)


class TelnetListener(Listener):
    """A telnet port and everyone who came in through it."""

    def __init__(
        self,
        on_line: Callable[[Line], Awaitable[None]],
        limits: TelnetLimits,
        entrance: Entrance,
    ) -> None:
        """Prepare a port whose callers `on_line` will have; `open` opens it."""
        super().__init__(entrance)
        self._on_line = on_line
        self._limits = limits

    def answer(self, address: str, gone: Callable[[], None]) -> TelnetFace:
        """Make the telnet of one more caller."""
        return TelnetFace(HardenedTelnet(self._limits, self._serve, gone, address))

    def _serve(self, line: TelnetLine) -> None:
        self.begin_call(line, partial(self._on_line, line))


async def listen(
    host: str,
    port: int,
    on_line: Callable[[Line], Awaitable[None]],
    limits: TelnetLimits,
    entrance: Entrance = OPEN,
) -> TelnetListener:
    """Open a telnet port; `on_line` has each call, and when it returns the line is hung up.

    `host` is an address, ``0.0.0.0`` for every IPv4 one and ``::`` for every address there is;
    `port` 0 to 65535, 0 leaves the choice to the system; `limits` are `USUAL_LIMITS` outside tests.
    Everybody may come in through an `OPEN` entrance. `OSError` when the port cannot be had.
    """
    _quieten_library()
    listener = TelnetListener(on_line, limits, entrance)
    await listener.open(host, port)
    return listener


def _quieten_library() -> None:
    """Keep what strangers send out of the log, unless someone wants to see just that.

    telnetlib3 words it as warnings, tracebacks included, of any length and at any rate.
    """
    library = logging.getLogger("telnetlib3")
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)
