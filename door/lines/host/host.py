"""A caller whom a host board hands over to a door: what the host says, and how the call ends.

The host owns the connection and goes on with it after the door. It ends a call with signals
(Synchronet: SIGHUP, SIGTERM five seconds later, SIGKILL after five more; ENiGMA: SIGHUP alone), or
closes the input.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from door.lines.budget import Rate
from door.lines.flow import StreamLine, StreamProtocol
from door.lines.line import LANGUAGE_VARIABLES, MOST_TERMINAL_TYPES, Hints, bounded_size, printable
from door.lines.telnet.framing import IAC_BYTE
from door.lines.telnet.passive import CommandLimits

USUAL_LIMITS = CommandLimits(
    unsent=256 * 1024,
    farewell=2.0,
    subnegotiation=4096,
    commands=Rate(burst=500, a_second=50.0),
)

HUNG_UP, ENDED = "the host hung up", "the host ended the door"


class Signs(Protocol):
    """The host's signs that it ends a call, or that the caller's window has changed."""

    def watch(self, lose_carrier: Callable[[str], None]) -> None:
        """Call `lose_carrier` with the reason when the host ends the call, from now on."""

    def follow(self, look: Callable[[], None]) -> Callable[[], None]:
        """Call `look` when the window may have changed; return a function that stops that."""


@dataclass(frozen=True)
class Introduction:
    """The host's facts about a caller's connection, from before the door's start.

    `address` is "" and `columns` and `rows` are 0 if unknown; what the terminal itself reports
    comes first. `size_is_certain` is true if the host has asked the terminal.
    """

    address: str
    hints: Hints
    columns: int
    rows: int
    size_is_certain: bool = False


class CleanLine(StreamLine):
    """A line that sends no 0xFF, for hosts that may not double it for a telnet caller."""

    def write(self, data: bytes) -> None:
        super().write(data.replace(IAC_BYTE, b""))


def with_environment(hints: Hints, environment: Mapping[str, str]) -> Hints:
    """Add the environment's hints about the terminal to the host's, which come first.

    TERM and LANG may be those of the shell that started the host.

    >>> hints = with_environment(Hints(("ansi",)), {"TERM": "xterm", "LANG": "en_US.UTF-8"})
    >>> hints.terminal_types, hints.language
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
    """Keep a line until the block is left or the host ends it; then hang up, and wait for its
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
