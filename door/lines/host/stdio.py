"""A caller on standard input and output: a door on a pseudo-terminal, or between two pipes.

Hosts give a terminal that is cooked and echoes, so it is set raw here, and set back whatever
happens. Raw means that nothing is translated on the way out either: a new line is CR LF.
"""

import contextlib
import os
import signal
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

from door.errors import NoLine
from door.lines import hand_over
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.host.descriptors import DescriptorTransport, taken
from door.lines.host.host import CleanLine, Introduction, Signs, held, introduce
from door.lines.line import Line, bounded_size

# The fields of what tcgetattr returns, and what cfmakeraw(3) clears in them. IXOFF too: a ^S of the
# terminal's own, sent when keys pile up, would be one to the caller.
_INPUT, _OUTPUT, _CONTROL, _LOCAL, _CHARACTERS = 0, 1, 2, 3, 6
_CLEARED = {
    _INPUT: termios.IGNBRK
    | termios.BRKINT
    | termios.PARMRK
    | termios.ISTRIP
    | termios.INLCR
    | termios.IGNCR
    | termios.ICRNL
    | termios.IXON
    | termios.IXOFF,
    _OUTPUT: termios.OPOST,
    _CONTROL: termios.CSIZE | termios.PARENB,
    _LOCAL: termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN,
}


@asynccontextmanager
async def opened(
    reading: int,
    writing: int,
    introduction: Introduction,
    limits: LineLimits,
    signs: Signs,
) -> AsyncIterator[Line]:
    """Serve the caller on two descriptors, usually 0 and 1, until the block is left.

    `NoLine` when one of them is not open, or is a file. The screen is as large as the terminal
    says, as the host says where it says nothing, and follows it. A terminal is as it was when the
    block is left. `signs` are the host's.
    """
    # Both before either is opened again: that may get the number of the one that is not open.
    check(reading, "input")
    check(writing, "output")
    terminal = next((end for end in (reading, writing) if os.isatty(end)), None)
    with contextlib.ExitStack() as found:
        source = found.enter_context(closing(taken(reading, os.O_RDONLY)))
        sink = found.enter_context(closing(taken(writing, os.O_WRONLY)))
        if terminal is not None:
            found.enter_context(_raw(terminal))
        protocol = StreamProtocol(lambda transport: CleanLine("stdio", transport, limits))
        DescriptorTransport(source, sink, protocol)
        introduce(protocol.line, introduction)
        if terminal is not None:
            found.enter_context(_followed(terminal, protocol.line, signs))
        async with held(protocol, signs) as line:
            yield line


def check(descriptor: int, name: str) -> None:
    try:
        flows = hand_over.flows(descriptor)
    except OSError as error:
        raise NoLine(
            f"There is no standard {name} to talk to the caller ({error.strerror})."
            " The host must start the door with its standard input and output connected."
        ) from error
    if not flows:
        raise NoLine(
            f"Standard {name} is a file or a device, where no caller can be. The host must start"
            " the door on a terminal, a pipe or a socket."
        )


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    try:
        before = termios.tcgetattr(terminal)
        raw = termios.tcgetattr(terminal)
    except termios.error as error:
        raise NoLine(f"The terminal of the caller is gone ({error.args[1]}).") from error
    for field, flags in _CLEARED.items():
        raw[field] &= ~flags
    raw[_CONTROL] |= termios.CS8
    raw[_CHARACTERS][termios.VMIN] = 1
    raw[_CHARACTERS][termios.VTIME] = 0
    _set(terminal, raw)
    try:
        yield
    finally:
        _set(terminal, before)


def _set(terminal: int, attributes: list[Any]) -> None:
    """Set a terminal's attributes, of whatever process group we are; none if it is gone."""
    # Whoever sets them from the background is stopped with SIGTTOU, unless it is blocked. What was
    # typed ahead stays: hence TCSANOW.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def _followed(terminal: int, line: StreamLine, signs: Signs) -> Iterator[None]:
    told = line.columns, line.rows

    def look() -> None:
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(terminal)
            if columns and rows:
                line.resize(*bounded_size(columns, rows))
            else:
                line.assume(*bounded_size(columns or told[0], rows or told[1]))

    look()
    stop = signs.follow(look)
    try:
        yield
    finally:
        stop()
