"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

# Seconds. A rounded sum of seconds can fall short of a whole one by less than this; a real clock
# would be past it by the time it is asked again.
SHORTEST = 1e-6
BOOTED = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class FakeClock:
    """The clocks of a machine; the wall clock can also be stepped on its own.

    All of one boot are clocks of the same machine, which was started at BOOTED; one that shows a
    later instant than another is read later. Time servers say nothing unless the test says so.
    """

    def __init__(self, now: datetime, boot: str = "the tests' machine") -> None:
        self._boot = boot
        self._up = (now - BOOTED).total_seconds()
        self.synchronised = False
        self._now = now
        self._monotonic = 1000.0
        self._numbers = itertools.count()
        self._timers: list[tuple[float, int, FakeTimer]] = []
        # Awaited before time passes: a board's open work takes no time, even on a busy machine.
        self.rests: list[Callable[[], Awaitable[None]]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def call_later(self, seconds: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(callback)
        due = self._monotonic + max(seconds, SHORTEST)
        heapq.heappush(self._timers, (due, next(self._numbers), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Let time pass once all open work is done; see `advance_at_once`."""
        for rest in self.rests:
            await rest()
        await self.advance_at_once(seconds)

    async def advance_at_once(self, seconds: float) -> None:
        """Let time pass; every timer runs at its moment, and tasks run after each."""
        end = self._monotonic + seconds
        while self._timers and self._timers[0][0] <= end:
            due, _, timer = heapq.heappop(self._timers)
            self._move_to(max(due, self._monotonic))
            if timer.callback is not None:
                timer.callback()
                await asyncio.sleep(0)
        self._move_to(end)
        await asyncio.sleep(0)

    def uptime(self) -> float:
        return self._up

    def boot(self) -> str:
        return self._boot

    def is_synchronised(self) -> bool:
        return self.synchronised

    def suspend(self, seconds: float) -> None:
        """Let the machine sleep: time passes, unnoticed by timers and callers."""
        self._now += timedelta(seconds=seconds)
        self._up += seconds

    def step_wall_clock(self, seconds: float) -> None:
        """Set the wall clock forward or back; the monotonic clock knows nothing of it."""
        self._now += timedelta(seconds=seconds)

    def _move_to(self, monotonic: float) -> None:
        self._now += timedelta(seconds=monotonic - self._monotonic)
        self._up += monotonic - self._monotonic
        self._monotonic = monotonic
