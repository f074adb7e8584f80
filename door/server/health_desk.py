"""What front ends are told of several servers on one machine, by the process that keeps them.

It serves nobody and has no event loop: it looks at its sockets when it looks at everything else.
So it answers also while one of the servers stands still, or is gone.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from door.lines.flow import address_of
from door.lines.port.connection import Proxies
from door.lines.port.questions import QUESTION_SECONDS, whole
from door.server.health import AT_ONCE, may_ask, said_to

READ_BYTES = 4096
MOST_NAMED = 64  # strangers that the log names, each once

log = logging.getLogger("door.server")


@dataclass
class _Asking:
    wire: socket.socket
    began: float
    asked: bytearray = field(default_factory=bytearray)


class HealthDesk:
    def __init__(self, wire: socket.socket, proxies: Proxies, status: Callable[[], int]) -> None:
        """Listen on a socket that is bound; `status` gives the number to answer with."""
        self._wire = wire
        self._proxies = proxies
        self._status = status
        self._asking: dict[int, _Asking] = {}  # by descriptor
        self._named: set[str] = set()
        wire.setblocking(False)
        wire.listen(AT_ONCE)

    @property
    def port(self) -> int:
        return int(self._wire.getsockname()[1])

    def descriptors(self) -> list[int]:
        """What becomes readable when there is something to do."""
        return [self._wire.fileno(), *self._asking]

    def look(self, readable: Sequence[int]) -> None:
        """Take in who comes, answer who has asked, and send away who takes too long."""
        for asking in [self._asking[each] for each in readable if each in self._asking]:
            self._read(asking)
        if self._wire.fileno() in readable:
            self._take_in()
        for asking in list(self._asking.values()):
            if time.monotonic() - asking.began >= QUESTION_SECONDS:
                self._forget(asking)

    def close(self) -> None:
        for asking in list(self._asking.values()):
            self._forget(asking)
        self._wire.close()

    def _take_in(self) -> None:
        try:
            wire, peer = self._wire.accept()
        except OSError:  # they have gone, or there is no room: they ask again
            return
        address = address_of(peer)
        if len(self._asking) >= AT_ONCE or not may_ask(address, self._proxies):
            wire.close()
            self._name(address)
            return
        wire.setblocking(False)
        self._asking[wire.fileno()] = _Asking(wire, time.monotonic())

    def _name(self, address: str) -> None:
        if len(self._named) < MOST_NAMED and address not in self._named:
            self._named.add(address)
            log.warning("health: %s is not a front end, or asks too much at once", address)

    def _read(self, asking: _Asking) -> None:
        try:
            data = asking.wire.recv(READ_BYTES)
            asking.asked += data
            question = whole(bytes(asking.asked))
            if question is not None:
                # A new socket has room for so little.
                asking.wire.send(said_to(question, self._status))
        except BlockingIOError:
            return
        except (OSError, ValueError):
            self._forget(asking)
            return
        if question is not None or not data:
            self._forget(asking)

    def _forget(self, asking: _Asking) -> None:
        self._asking.pop(asking.wire.fileno(), None)
        with contextlib.suppress(OSError):
            asking.wire.shutdown(socket.SHUT_WR)
        asking.wire.close()
