"""A telnet port: each caller who connects becomes a `Line`, and `on_line` has the call."""

from collections.abc import Awaitable, Callable
from functools import partial

from door.lines.line import Line
from door.lines.port.connection import OPEN, Entrance
from door.lines.port.listener import Listener
from door.lines.telnet.framing import CommandAllowance
from door.lines.telnet.hardened import HardenedTelnet, TelnetLimits, quieten_library
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
    """A telnet port and everyone who came in through it; `limits` are `USUAL_LIMITS` but in tests.

    Each call has a task that runs `on_line`, and is hung up when that returns.
    """

    def __init__(
        self,
        on_line: Callable[[Line], Awaitable[None]],
        limits: TelnetLimits,
        entrance: Entrance = OPEN,
    ) -> None:
        super().__init__(entrance)
        self._on_line = on_line
        self._limits = limits
        quieten_library()

    def answer(self, address: str, gone: Callable[[], None]) -> HardenedTelnet:
        return HardenedTelnet(self._limits, self._serve, gone, address)

    def _serve(self, line: TelnetLine) -> None:
        self.begin_call(line, partial(self._on_line, line))
