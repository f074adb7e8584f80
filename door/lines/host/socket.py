"""A caller on a socket: inherited from the host, or by a connection of the door back to the host.

An inherited socket is the host's own connection to the caller. Its flags stay, nothing is shut
down, and the host goes on with the caller after the door.
"""

import asyncio
import contextlib
import os
import re
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

from door.errors import NoHostLine
from door.lines.flow import StreamProtocol, address_of
from door.lines.host.descriptors import DescriptorTransport, SocketEnd
from door.lines.host.host import CleanLine, Introduction, Signs, held, introduce
from door.lines.line import Line
from door.lines.telnet.passive import CommandLimits, PassiveTelnet

KIND = "socket"
_HAND_DOWN = "The host must let the door inherit the caller's socket and name its number."
_ENDPOINT = re.compile(r"(?P<host>[^:\s]+|\[[0-9A-Fa-f:.%\w]+\]):(?P<port>[0-9]{1,5})", re.ASCII)


@asynccontextmanager
async def inherited(
    descriptor: int,
    introduction: Introduction,
    limits: CommandLimits,
    *,
    telnet: bool,
    signs: Signs,
) -> AsyncIterator[Line]:
    """Serve the caller on an inherited socket until the block is left; raise `NoHostLine` if the
    descriptor is no connected socket.

    `telnet` says whether the caller's telnet codes are still on it (Synchronet's plain telnet
    calls), or the host removes them. `signs` are the host's.
    """
    address = checked(descriptor)
    with contextlib.ExitStack() as exits:
        end = exits.enter_context(closing(SocketEnd(descriptor)))
        if telnet:
            exits.enter_context(_urgent_data_in_line(descriptor))
        protocol = _protocol(limits, telnet=telnet)
        DescriptorTransport(end, end, protocol)
        protocol.line.address = address
        introduce(protocol.line, introduction)
        async with held(protocol, signs) as line:
            yield line


@asynccontextmanager
async def called_back(
    wire: socket.socket,
    introduction: Introduction,
    limits: CommandLimits,
    *,
    telnet: bool,
    signs: Signs,
) -> AsyncIterator[Line]:
    """Serve the caller on a connection that another process has made back to the host.

    `signs` are the host's.
    """
    protocol = _protocol(limits, telnet=telnet)
    wire.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: protocol, sock=wire)
    introduce(protocol.line, introduction)
    async with held(protocol, signs) as line:
        yield line


def endpoint(text: str) -> tuple[str, int]:
    """Read ``HOST:PORT``, with an IPv6 address in brackets; raise `NoHostLine` if it is neither.

    >>> endpoint("127.0.0.1:4000"), endpoint("[::1]:4000")
    (('127.0.0.1', 4000), ('::1', 4000))
    """
    form = _ENDPOINT.fullmatch(text)
    if form is None or not 1 <= int(form["port"]) <= 65535:
        raise NoHostLine(
            f"{text!r} is not an address to connect to: use HOST:PORT, port 1 to 65535."
        )
    return form["host"].strip("[]"), int(form["port"])


def _protocol(limits: CommandLimits, *, telnet: bool) -> StreamProtocol:
    if telnet:
        return PassiveTelnet(KIND, limits)
    return StreamProtocol(lambda transport: CleanLine(KIND, transport, limits))


def checked(descriptor: int) -> str:
    """Return the address at the other end; raise `NoHostLine` unless it is a connected socket."""
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise NoHostLine(f"Descriptor {descriptor} is not a socket. {_HAND_DOWN}")
    except (OSError, OverflowError) as error:
        raise NoHostLine(f"Descriptor {descriptor} is not open. {_HAND_DOWN}") from error
    with _shared(descriptor) as wire:
        try:
            peer = wire.getpeername()
        except OSError as error:
            raise NoHostLine(f"Nobody is connected to descriptor {descriptor} any more.") from error
    return address_of(peer)


@contextmanager
def _urgent_data_in_line(descriptor: int) -> Iterator[None]:
    """Keep the data mark of telnet's Synch in the stream, as `flow` does, until the block ends."""
    option = socket.SOL_SOCKET, socket.SO_OOBINLINE
    with _shared(descriptor) as wire:
        before = wire.getsockopt(*option)
        wire.setsockopt(*option, 1)
        try:
            yield
        finally:
            wire.setsockopt(*option, before)


def _shared(descriptor: int) -> socket.socket:
    return socket.socket(fileno=os.dup(descriptor))
