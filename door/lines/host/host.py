"""A caller that a host board hands over to a door: what it says of them, and how the call ends.

The host owns the connection and goes on with it when the door is done. It ends a call with signals
(Synchronet: SIGHUP, SIGTERM five seconds later, SIGKILL after five more; ENiGMA: SIGHUP alone), or
the input just ends.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from door.lines.flow import StreamLine, StreamProtocol
from door.lines.line import LANGUAGE_VARIABLES, MOST_TERMINAL_TYPES, Hints, bounded_size, printable
from door.lines.telnet.framing import IAC_BYTE, CommandAllowance
from door.lines.telnet.passive import CommandLimits

USUAL_LIMITS = CommandLimits(
    unsent=256 * 1024,
    farewell=2.0,
    subnegotiation=4096,
    commands=CommandAllowance(burst=500, a_second=50.0),
)

HUNG_UP, ENDED = "the host hung up", "the host ended the door"


class Signs(Protocol):
    """How a host says that it ends a call, or that the caller's window has another size."""

    def watch(self, lose_carrier: Callable[[str], None]) -> None:
        """Call `lose_carrier` with the reason when the host ends the call, from now on."""

    def follow(self, look: Callable[[], None]) -> Callable[[], None]:
        """Call `look` when the window may be another; returns what ends that."""


@dataclass(frozen=True)
class Introduction:
    """What a host says of a caller's connection before it starts the door.

    `address` is empty and `columns` and `rows` are 0 where it does not say; what the terminal
    itself says comes first. `size_is_certain` is set where the host has asked the terminal.
    """

    address: str
    hints: Hints
    columns: int
    rows: int
    size_is_certain: bool = False


class CleanLine(StreamLine):
    """A line without any 0xFF, for hosts that may not double it on its way to a telnet caller."""

    def write(self, data: bytes) -> None:
        super().write(data.replace(IAC_BYTE, b""))


def with_environment(hints: Hints, environment: Mapping[str, str]) -> Hints:
    """Add what the environment says of the terminal to what the host said, which counts first.

    TERM and LANG may be those of the shell that the host was started from.

    >>> found = with_environment(Hints(("ansi",)), {"TERM": "xterm", "LANG": "en_US.UTF-8"})
    >>> found.terminal_types, found.language
    (('ansi', 'xterm'), 'en_US.UTF-8')
    """
    terminal = printable(environment.get("TERM", ""))
    types = hints.terminal_types
    if terminal and terminal not in types and len(types) < MOST_TERMINAL_TYPES:
        types = (*types, terminal)
    spoken = (environment[name] for name in LANGUAGE_VARIABLES if environment.get(name))
    return replace(
        hints, terminal_types=types, language=hints.language or printable(next(spoken, ""))
    )


def introduce(line: StreamLine, introduction: Introduction) -> None:
    line.hints = introduction.hints
    line.address = introduction.address or line.address
    line.assume(*bounded_size(introduction.columns, introduction.rows))
    line.size_is_known = introduction.size_is_certain


@asynccontextmanager
async def held(protocol: StreamProtocol, signs: Signs) -> AsyncIterator[StreamLine]:
    """Hold a line until the block is left, or its host ends it; then hang up, and wait for its
    end."""
    line = protocol.line
    try:
        signs.watch(line.lose_carrier)
        yield line
    finally:
        line.hang_up()
        try:
            await protocol.closed.wait()
        finally:
            line.abort()
