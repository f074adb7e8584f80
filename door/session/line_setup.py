"""How the caller's bytes reach us: by the door's command line, else by the host's drop file."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from socket import socket as Socket
from typing import TYPE_CHECKING

from door.dropfiles.dropfile import Connection, ConnectionKind
from door.errors import NoHostLine
from door.lines.host import socket, stdio
from door.lines.host.host import USUAL_LIMITS, Introduction, Signs

if TYPE_CHECKING:
    from door.lines.line import Line

CONNECT_SECONDS = 10.0  # short: a host that wants to be called back listens before it starts us


@dataclass(frozen=True)
class Stdio:
    pass


@dataclass(frozen=True)
class Inherited:
    """A socket that the host hands down; `telnet` is True if it still carries telnet."""

    descriptor: int
    telnet: bool


@dataclass(frozen=True)
class CallBack:
    """A port on which the host waits for the door."""

    host: str
    port: int
    telnet: bool


WayIn = Stdio | Inherited | CallBack


def way_by_options(
    *, wants_stdio: bool, descriptor: int | None, connect: str | None, telnet: bool | None
) -> WayIn | None:
    """Return the line that the options of the command line name; None if they name none.

    An inherited socket carries telnet unless `telnet` is False: hosts hand down the caller's own,
    and looking for telnet costs nothing. A port that the host itself listens on carries none
    unless `telnet` is True. Raises `NoHostLine` where `connect` is not an address.
    """
    if descriptor is not None:
        return Inherited(descriptor, telnet is not False)
    if connect is not None:
        host, port = socket.endpoint(connect)
        return CallBack(host, port, telnet is True)
    return Stdio() if wants_stdio else None


def way_by_dropfile(connection: Connection, telnet: bool | None) -> WayIn:
    """Return the line that the drop file names; raises `NoHostLine` for a serial port."""
    match connection.kind:
        case ConnectionKind.SOCKET:
            assert connection.handle is not None  # always set for a socket
            return Inherited(connection.handle, telnet is not False)
        case ConnectionKind.SERIAL:
            raise NoHostLine(
                "The drop file names a serial port or a FOSSIL driver, which this door cannot use."
                " Have the board start it on standard input and output, or with its socket."
            )
        case ConnectionKind.STDIO | ConnectionKind.UNKNOWN:
            return Stdio()


@asynccontextmanager
async def opened(
    way: WayIn, ends: Sequence[int], introduction: Introduction, signs: Signs
) -> AsyncIterator[Line]:
    """Open a line on the descriptors `ends` until the block is left, without closing them.

    `signs` are the signals that the door passes on. Raises `NoHostLine` when no caller is on them.
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
