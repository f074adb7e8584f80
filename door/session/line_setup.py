"""How the caller's bytes reach us: what the door's command line asks, else what the host wrote."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from socket import socket as Socket
from typing import TYPE_CHECKING

from door.dropfiles.dropfile import Connection, ConnectionKind
from door.errors import NoLine
from door.lines.host import socket, stdio
from door.lines.host.host import USUAL_LIMITS, Introduction, Signs

if TYPE_CHECKING:
    from door.lines.line import Line

CONNECT_SECONDS = 10.0  # a host that wants to be called back listens before it starts the door


@dataclass(frozen=True)
class Stdio:
    pass


@dataclass(frozen=True)
class Inherited:
    """A socket that the host hands down; `telnet` whether the caller's telnet is still on it."""

    descriptor: int
    telnet: bool


@dataclass(frozen=True)
class CallBack:
    """A port of the host's that waits for the door."""

    host: str
    port: int
    telnet: bool


WayIn = Stdio | Inherited | CallBack


def asked_for(
    *, wants_stdio: bool, descriptor: int | None, connect: str | None, telnet: bool | None
) -> WayIn | None:
    """Read the options of the command line; None where they leave it to the drop file.

    An inherited socket carries telnet unless `telnet` says otherwise: hosts hand down the caller's
    own, and looking for telnet costs nothing. What a host listens for itself carries none.
    `NoLine` where `connect` is no address.
    """
    if descriptor is not None:
        return Inherited(descriptor, telnet is not False)
    if connect is not None:
        host, port = socket.endpoint(connect)
        return CallBack(host, port, telnet is True)
    return Stdio() if wants_stdio else None


def said_by(connection: Connection, telnet: bool | None) -> WayIn:
    """Take what the drop file says; `NoLine` where that is a serial port."""
    match connection.kind:
        case ConnectionKind.SOCKET:
            assert connection.handle is not None  # a socket without one is not a socket
            return Inherited(connection.handle, telnet is not False)
        case ConnectionKind.SERIAL:
            raise NoLine(
                "The drop file names a serial port or a FOSSIL driver, which this door cannot use."
                " Have the board start it on standard input and output, or with its socket."
            )
        case ConnectionKind.STDIO | ConnectionKind.UNSAID:
            return Stdio()


@asynccontextmanager
async def opened(
    way: WayIn, ends: Sequence[int], introduction: Introduction, signs: Signs
) -> AsyncIterator[Line]:
    """Serve a caller on the descriptors that the door has for them, until the block is left.

    They are the caller's of this block, which closes none. `signs` are those that the door passes
    on. `NoLine` when nobody is on them.
    """
    match way:
        case Stdio():
            reading, writing = ends
            context = stdio.opened(reading, writing, introduction, USUAL_LIMITS, signs)
        case Inherited(_, telnet):
            context = socket.inherited(
                ends[0], introduction, USUAL_LIMITS, telnet=telnet, signs=signs
            )
        case CallBack(_, _, telnet):
            wire = Socket(fileno=os.dup(ends[0]))
            context = socket.called_back(
                wire, introduction, USUAL_LIMITS, telnet=telnet, signs=signs
            )
    async with context as line:
        yield line
