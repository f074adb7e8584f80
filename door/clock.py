"""The board's time, behind one small interface so that tests can own it.

Two clocks, never mixed: the board's clock says which day and which event it is; the monotonic
clock counts the seconds a caller uses. The board's is the wall clock of the machine, as far as that
is believed (`door.call.board_clock`).
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Protocol

from timebank.ledger.machine import Instruments, Machine

# Seconds. A sum of floats can be off by less than this, and no real clock is read so finely.
ROUNDING = 1e-6


def seconds_begun(elapsed: float) -> int:
    """Return how many seconds have begun in `elapsed` seconds: a started one counts whole.

    >>> seconds_begun(0.0), seconds_begun(0.2), seconds_begun(1.0), seconds_begun(1.001)
    (0, 1, 1, 2)
    """
    return max(0, math.ceil(elapsed - ROUNDING))


class Timer(Protocol):
    """A callback that waits for its moment."""

    def cancel(self) -> None:
        """Forget the callback; harmless when it has already run."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the instant, aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; never goes back."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Run `callback` on the event loop when `seconds` have passed."""


class MachineClock(Instruments, Clock, Protocol):
    """What the board's clock is made from: the clocks of the machine, its wall clock as it is."""


class SystemClock(Machine):
    monotonic = staticmethod(time.monotonic)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


@contextlib.asynccontextmanager
async def until(clock: Clock, instant: float | None) -> AsyncIterator[None]:
    """Raise `TimeoutError` where what is done inside is not done by an instant of the clock."""
    async with asyncio.timeout(None) as limit:
        if instant is None:
            yield
            return
        timer = clock.call_later(instant - clock.monotonic(), lambda: limit.reschedule(0.0))
        try:
            yield
        finally:
            timer.cancel()


async def sleep(clock: Clock, seconds: float) -> None:
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    timer = clock.call_later(seconds, wake)
    try:
        await woken
    finally:
        timer.cancel()
