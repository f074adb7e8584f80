"""Report the state of this process to systemd, for units with `Type=notify`.

The protocol is that of sd_notify(3): datagrams of assignments to the socket that the environment
names. Sends nothing without such a socket, and never blocks on a service manager that does not
read.
"""

from __future__ import annotations

import contextlib
import os
import socket
from asyncio import sleep
from collections.abc import MutableMapping
from typing import Self

READY, STOPPING, TURNS = "READY=1", "STOPPING=1", "WATCHDOG=1"
_PLACE, _EVERY, _PROCESS = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"


class ServiceManager:
    def __init__(self, place: str, seconds: float | None = None) -> None:
        """`place` is the path of its socket, "@..." for an abstract socket, "" for none.

        `seconds` is the longest pause between two signs of life; None if it expects none.
        """
        self._place = place
        self._seconds = seconds

    @classmethod
    def from_environment(cls, environment: MutableMapping[str, str]) -> Self:
        """Read the environment, and remove the variables that are not meant for child processes."""
        place = environment.pop(_PLACE, "")
        every, process = environment.pop(_EVERY, ""), environment.pop(_PROCESS, "")
        is_meant = process in ("", str(os.getpid()))
        watched = is_meant and every.isascii() and every.isdecimal() and int(every) > 0
        return cls(place, int(every) / 1_000_000 if watched else None)

    def say(self, *facts: str) -> None:
        if not self._place:
            return
        name = f"\0{self._place[1:]}" if self._place.startswith("@") else self._place
        with (
            contextlib.suppress(OSError),  # the service manager has ended, or its queue is full
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as wire,
        ):
            wire.setblocking(False)
            wire.sendto("\n".join(facts).encode(), name)

    async def keep_alive(self) -> None:
        """Send signs of life until cancelled; return at once if none are expected."""
        while self._place and self._seconds is not None:
            self.say(TURNS)
            await sleep(self._seconds / 3)
