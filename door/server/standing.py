"""How each of several servers on one machine stands: what all of them and their parent can see.

One byte for each, in memory that a parent shares with the servers that it forks. Each writes its
own; the parent writes for one that has ended, or says nothing any more.
"""

from __future__ import annotations

import logging
import mmap
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from door.clock import sleep
from door.server import health

if TYPE_CHECKING:
    from door.clock import Clock
    from door.server.health import Pulse

log = logging.getLogger("door.server")

LOOK_SECONDS = 1.0
# After so long a silence of its books a server takes no new callers, where another one has them.
ASIDE_SECONDS = 10.0


class How(IntEnum):
    """How a server stands."""

    AWAY = 0  # it starts, has ended, or stands still
    SERVES = 1
    SILENT = 2  # its books have not answered for a while
    LOST = 3  # nor for so long that callers are better off elsewhere
    DRAINS = 4


class Standings:
    """How all servers of a parent stand, by their numbers from 1."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._shared = mmap.mmap(-1, count)

    def note(self, number: int, how: How) -> None:
        self._shared[number - 1] = how

    def of(self, number: int) -> How:
        return How(self._shared[number - 1])

    def others_serve(self, number: int) -> bool:
        """Whether another server than this one can serve."""
        return any(
            self.of(each) is How.SERVES for each in range(1, self._count + 1) if each != number
        )

    def status(self) -> int:
        """Return what front ends are told of all of them, as a number of HTTP."""
        hows = {self.of(number) for number in range(1, self._count + 1)}
        if hows & {How.SERVES, How.SILENT}:
            return health.SERVES
        return health.DRAINS if How.DRAINS in hows else health.LOST


class Aside:
    """Lets a server step aside, and back, as its books and the other servers are.

    New calls come to whoever listens at the ports that all share. Where nobody else could serve
    them either it stays, and tells callers what is wrong.
    """

    def __init__(
        self,
        pulse: Pulse,
        standing: Standings,
        number: int,
        step: Callable[[bool], Awaitable[None]],
        drains: Callable[[], bool],
    ) -> None:
        """`step` is called with whether to step aside, when that changes."""
        self._pulse, self._standing, self._number = pulse, standing, number
        self._step, self._drains = step, drains
        self._is_aside = False

    def how(self) -> How:
        if self._drains():
            return How.DRAINS
        if not self._pulse.is_felt():
            return How.LOST
        return How.SILENT if self._pulse.silence() >= ASIDE_SECONDS else How.SERVES

    async def look(self) -> None:
        """See how it stands, say so, and do what follows."""
        how = self.how()
        self._standing.note(self._number, how)
        has_books = how not in (How.SILENT, How.LOST)
        is_aside = not has_books and self._standing.others_serve(self._number)
        if is_aside != self._is_aside and how is not How.DRAINS:
            try:
                await self._step(is_aside)
            except OSError as error:  # no room for one more socket, say: it is tried again
                log.error("nobody listens at the ports here: %s", error.strerror)
            else:
                self._is_aside = is_aside

    async def keep_looking(self, clock: Clock) -> None:
        while True:
            await self.look()
            await sleep(clock, LOOK_SECONDS)
