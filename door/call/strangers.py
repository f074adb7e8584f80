"""What the servers of a board count together about strangers.

Each counts for itself, tells the others what came to it in the last moment, and hears the same of
them. What is lost on the way is counted by one alone; a server that begins knows nothing of before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from door.defence.counts import StrangerCount, after
from door.servers import bus

if TYPE_CHECKING:
    from door.clock import Clock, Timer
    from door.servers.bus import Bus, Facts

GATHER_SECONDS = 0.2  # so that a flood of calls is few messages
MOST_WAITING = 4000  # counts; of a flood that is greater the last are not told
AT_ONCE = 80  # in a message: none is longer than 90 bytes


class SharedCounts:
    def __init__(
        self, messages: Bus, clock: Clock, name: str, has_others: Callable[[], bool]
    ) -> None:
        """`name` is this process; `has_others` tells whether anybody counts with it."""
        self._bus = messages
        self._clock = clock
        self._name = name
        self._has_others = has_others
        self._waiting: dict[tuple[str, int], StrangerCount] = {}
        self._timer: Timer | None = None

    def tell(self, count: StrangerCount) -> None:
        """Tell the others in a moment, if there are any."""
        key = count.table, count.what
        before = self._waiting.get(key)
        if before is not None:
            count = after(before, count)
        elif not self._has_others() or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting[key] = count
        if self._timer is None:
            self._timer = self._clock.call_later(GATHER_SECONDS, self._send)

    def lead_to(self, hear: Callable[[Iterable[StrangerCount], str], None]) -> None:
        """Call `hear` with what another server has counted, and which that is."""

        def heard(facts: Facts) -> None:
            server, told = facts.get("server"), facts.get("counts")
            if isinstance(server, str) and isinstance(told, list):
                hear(_read(told), server)

        self._bus.subscribe(bus.STRANGERS, heard)

    def _send(self) -> None:
        self._timer = None
        keys = list(islice(self._waiting, AT_ONCE))
        told = [self._waiting.pop(key) for key in keys]
        self._bus.publish(bus.STRANGERS, server=self._name, counts=told)
        if self._waiting:
            self._timer = self._clock.call_later(GATHER_SECONDS, self._send)


def _read(told: list[Any]) -> Iterator[StrangerCount]:
    for each in told:
        match each:
            case [str(table), int(what), int() | float() as number, int() | float() as most] if (
                isfinite(number) and isfinite(most)
            ):
                yield StrangerCount(table, what, number, most)
