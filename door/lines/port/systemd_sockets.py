"""Ports that systemd has opened and hands down, by sd_listen_fds(3): those of its socket unit.

They stay open while the board is started again, so that whoever calls meanwhile waits a moment and
is not refused. A port of `[[listeners]]` that is among them is taken from there; all others are
opened by the board itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from functools import cache

FIRST = 3  # the number of the first one
_COUNT, _PROCESS, _NAMES = "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"

Place = tuple[str, int]


def taken(host: str, port: int) -> socket.socket | None:
    """Return another descriptor of the port, if it was handed down."""
    found = _sockets().get((host, port))
    return None if found is None else found.dup()


@cache
def _sockets() -> dict[Place, socket.socket]:
    """Return the sockets that this process was given, read once."""
    return read(os.environ)


def read(environment: MutableMapping[str, str]) -> dict[Place, socket.socket]:
    """Read what is handed down, and take that out of the environment: it is for this process."""
    count, process = environment.pop(_COUNT, ""), environment.pop(_PROCESS, "")
    environment.pop(_NAMES, None)
    if process != str(os.getpid()) or not (count.isascii() and count.isdecimal()):
        return {}
    found = {}
    for number in range(FIRST, FIRST + int(count)):
        os.set_inheritable(number, False)
        wire = socket.socket(fileno=number)
        if wire.family in (socket.AF_INET, socket.AF_INET6) and wire.type == socket.SOCK_STREAM:
            host, port = wire.getsockname()[:2]
            found[host, port] = wire
        else:
            wire.detach()  # a pipe, or what else a unit may name
    return found
