"""Ports that systemd has opened and passes on, by sd_listen_fds(3): those of its socket unit.

They stay open while the board restarts, so that callers wait a moment and are not refused. The
board opens all other ports itself.
"""

import os
import socket
from collections.abc import MutableMapping
from functools import cache

FIRST_HANDED = 3  # the number of the first descriptor
_COUNT, _PROCESS, _NAMES = "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"

_Place = tuple[str, int]


def handed_down(host: str, port: int) -> socket.socket | None:
    """Return another descriptor of a port if systemd has passed it on."""
    wire = _sockets().get((host, port))
    return None if wire is None else wire.dup()


@cache
def _sockets() -> dict[_Place, socket.socket]:
    """Return the sockets that this process was given; read only once."""
    return sockets_in(os.environ)


def sockets_in(environment: MutableMapping[str, str]) -> dict[_Place, socket.socket]:
    """Return the passed sockets, and remove their variables, which are for this process alone."""
    count, process = environment.pop(_COUNT, ""), environment.pop(_PROCESS, "")
    environment.pop(_NAMES, None)
    if process != str(os.getpid()) or not (count.isascii() and count.isdecimal()):
        return {}
    sockets = {}
    for number in range(FIRST_HANDED, FIRST_HANDED + int(count)):
        os.set_inheritable(number, False)
        wire = socket.socket(fileno=number)
        if wire.family in (socket.AF_INET, socket.AF_INET6) and wire.type == socket.SOCK_STREAM:
            host, port = wire.getsockname()[:2]
            sockets[host, port] = wire
        else:
            wire.detach()  # a pipe, or another thing that a unit may name
    return sockets
