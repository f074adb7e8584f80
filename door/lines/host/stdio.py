"""A caller on standard input and output: a door on a pseudo-terminal, or between two pipes.

Hosts give a terminal that edits lines and echoes. So it is set to raw mode here, and restored in
any case. Raw also means that output is not translated: a new line is CR LF.
"""

import contextlib
import os
import signal
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

from door.errors import NoHostLine
from door.lines import hand_over
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.host.descriptors import DescriptorTransport, taken
from door.lines.host.host import CleanLine, Introduction, Signs, held, introduce
from door.lines.line import Line, bounded_size

# The fields of tcgetattr's result, and the flags that cfmakeraw(3) clears in them. IXOFF too: the
# terminal would send ^S to the caller when keys pile up.
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

    Raises `NoHostLine` if one of them is not open, or is a file. The screen follows the terminal's
    size, or has the host's if the terminal reports none. The terminal is restored at the end.
    `signs` are the host's.
    """
    # Check both first: to open one again may take the number of the other if it is closed.
    check(reading, "input")
    check(writing, "output")
    terminal = next((end for end in (reading, writing) if os.isatty(end)), None)
    with contextlib.ExitStack() as exits:
        source = exits.enter_context(closing(taken(reading, os.O_RDONLY)))
        sink = exits.enter_context(closing(taken(writing, os.O_WRONLY)))
        if terminal is not None:
            exits.enter_context(_raw(terminal))
        protocol = StreamProtocol(lambda transport: CleanLine("stdio", transport, limits))
        DescriptorTransport(source, sink, protocol)
        introduce(protocol.line, introduction)
        if terminal is not None:
            exits.enter_context(_followed(terminal, protocol.line, signs))
        async with held(protocol, signs) as line:
            yield line


def check(descriptor: int, name: str) -> None:
    try:
        flows = hand_over.flows(descriptor)
    except OSError as error:
        raise NoHostLine(
            f"There is no standard {name} to talk to the caller ({error.strerror})."
            " The host must start the door with its standard input and output connected."
        ) from error
    if not flows:
        raise NoHostLine(
            f"Standard {name} is a file or a device, where no caller can be. The host must start"
            " the door on a terminal, a pipe or a socket."
        )


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    try:
        before = termios.tcgetattr(terminal)
        raw = termios.tcgetattr(terminal)
    except termios.error as error:
        raise NoHostLine(f"The terminal of the caller is gone ({error.args[1]}).") from error
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
    """Set a terminal's attributes, also from the background; ignore a terminal that is gone."""
    # SIGTTOU would stop a background process here unless it is blocked. TCSANOW keeps what was
    # typed ahead.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def _followed(terminal: int, line: StreamLine, signs: Signs) -> Iterator[None]:
    reported = line.columns, line.rows

    def look() -> None:
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(terminal)
            if columns and rows:
                line.resize(*bounded_size(columns, rows))
            else:
                line.assume(*bounded_size(columns or reported[0], rows or reported[1]))

    look()
    stop = signs.follow(look)
    try:
        yield
    finally:
        stop()
