"""The clocks of the board, behind an interface that tests implement.

The board's clock decides the day and the events. The monotonic clock counts the seconds that a
caller uses. The board's clock is the machine's wall clock after the checks of
`door.call.board_clock`.
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

# In seconds: more than the rounding error of a sum of floats, and less than a clock's tick.
ROUNDING = 1e-6


def seconds_begun(elapsed: float) -> int:
    """Round `elapsed` seconds up to whole ones, never below 0.

    >>> seconds_begun(0.0), seconds_begun(0.2), seconds_begun(1.0), seconds_begun(1.001)
    (0, 1, 1, 2)
    """
    return max(0, math.ceil(elapsed - ROUNDING))


class Timer(Protocol):
    """A scheduled callback."""

    def cancel(self) -> None:
        """Cancel the callback; do nothing if it has run already."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the time as an aware datetime in UTC."""

    def monotonic(self) -> float:
        """Return the seconds since an arbitrary start; they never decrease."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Run `callback` on the event loop after `seconds`."""


class MachineClock(Instruments, Clock, Protocol):
    """The clocks of the machine, with an unchecked wall clock. The board's clock reads them."""


class SystemClock(Machine):
    monotonic = staticmethod(time.monotonic)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


@contextlib.asynccontextmanager
async def until(clock: Clock, instant: float | None) -> AsyncIterator[None]:
    """Raise `TimeoutError` if the block still runs at `instant`, by `clock.monotonic()`.

    None sets no limit.
    """
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
