"""Messages between the processes of one machine: a socket for each, in the board's data folder.

Datagrams are whole or not there at all, and a sender is never kept: where the queue of a process is
full because it has stopped, it misses them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from door.lines import link
from door.servers.bus import LARGEST

# The sockets of servers, those of door processes that serve a caller of theirs, and all of them.
SERVERS, DOORS, ALL = "bus-server-*.sock", "bus-door-*.sock", "bus-*.sock"
AT_ONCE = 32  # messages that are taken in a turn of the event loop
_CREDENTIALS = struct.Struct("3i")

log = logging.getLogger("door.servers")


class Datagrams:
    """A `MessageWay` of the bus."""

    def __init__(self, folder: Path, process: str, own: str, to: str) -> None:
        """`own` is which kind of process this is, `to` which are told."""
        self._path = folder / link.own_name(process, own)
        self._to = to
        self._wire: socket.socket | None = None

    async def start(self, heard: Callable[[bytes], None], missed: Callable[[], None]) -> None:
        """Begin; where no socket can be made nothing is heard, and the log says so."""
        try:
            wire = bound(self._path)
        except OSError as error:
            log.warning(
                "No socket can be made in %s (%s): notices and words of other processes are heard"
                " some seconds late.",
                *(self._path.parent, error.strerror),
            )
            return
        self._wire = wire
        asyncio.get_running_loop().add_reader(wire.fileno(), self._receive, heard)

    def send(self, message: bytes) -> None:
        if self._wire is None:
            return
        try:
            paths = list(self._path.parent.glob(self._to))
        except OSError:  # no descriptor is left to look with: they hear of it some seconds late
            return
        for path in paths:
            if path.name == self._path.name:
                continue
            with contextlib.suppress(OSError), link.short(path) as name:
                try:
                    self._wire.sendto(message, name)
                except BlockingIOError:
                    log.debug("%s misses a message", path.name)
                except ConnectionRefusedError:  # it was killed
                    os.unlink(name)

    async def stop(self) -> None:
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire.fileno())
            self._wire.close()
            self._wire = None
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _receive(self, heard: Callable[[bytes], None]) -> None:
        for _ in range(AT_ONCE):
            if self._wire is None:  # somebody who heard has stopped us
                return
            try:
                data, more, _, _ = self._wire.recvmsg(
                    LARGEST + 1, socket.CMSG_SPACE(_CREDENTIALS.size)
                )
            except OSError:  # there is nothing more
                return
            if _is_ours(more):
                heard(data)


def bound(path: Path) -> socket.socket:
    """Make a socket that our own user alone can send to; `OSError` where none can be made."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        wire.setblocking(False)
        if hasattr(socket, "SO_PASSCRED"):
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with link.short(path) as name:
            # Only a process that had the number of ours before can have left one.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            wire.bind(name)
            os.chmod(name, 0o600)
    except OSError:
        wire.close()
        raise
    return wire


def _is_ours(more: list[tuple[int, int, bytes]]) -> bool:
    """Tell, by the kernel's word, whether the sender is of our user, or root.

    The mode of the socket says the same, unless the folder was copied with other rights.
    """
    if not hasattr(socket, "SCM_CREDENTIALS"):
        return True
    for level, kind, data in more:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return _CREDENTIALS.unpack(data)[1] in (os.geteuid(), 0)
    return False
