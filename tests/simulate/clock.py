"""Time that passes only when nothing is left to do, and never by itself."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

START = 1000.0  # the first instant of the monotonic clock, in seconds
SHORTEST = 1e-4  # of all waits; a timer is never late by more than this


MOST_TURNS = 20_000  # of the loop in one second; three hundred callers need a few hundred


class Standstill(Exception):
    """Nothing is left that could ever happen: somebody waits for what nobody will do."""


class Spinning(Exception):
    """The loop turns and turns, and hardly any time passes."""


class _NothingComes(selectors.SelectSelector):
    """No byte comes from outside: to wait for one is to let time pass."""

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        super().__init__()
        self._pass_time = pass_time

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Standstill
        self._pass_time(timeout)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop under its own clock, without threads: one order of events, always the same."""

    def __init__(self, begins: float, work_takes: Callable[[], float]) -> None:
        """Begin at `begins`; `work_takes` says how long work beside the loop lasts."""
        self._instant = begins
        self._work_takes = work_takes
        self._second, self._turns = begins, 0  # turns since that instant
        self.problems: list[str] = []  # what no task has caught
        super().__init__(_NothingComes(self._pass_time))
        self.set_exception_handler(self._note)

    def time(self) -> float:
        return self._instant

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Do the work on the loop, a while later."""
        answer = self.create_future()

        def work() -> None:
            if answer.cancelled():
                return
            try:
                result = func(*args)
            except Exception as error:
                answer.set_exception(error)
            else:
                answer.set_result(result)

        self.call_later(self._work_takes(), work)
        return answer

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> Any:
        return self.call_soon(callback, *args, context=context)

    def _pass_time(self, seconds: float) -> None:
        if seconds > 0:
            self._instant += max(seconds, SHORTEST)
        self._turns += 1
        if self._instant >= self._second + 1:
            self._second, self._turns = self._instant, 0
        elif self._turns > MOST_TURNS:
            raise Spinning(f"{self._turns} turns in {self._instant - self._second:.4f} s")

    def _note(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.problems.append(
            f"{context['message']}: {context.get('exception')!r} {context.get('future')!r}"
        )


class WallClock:
    """The clock on the wall: it follows the monotonic one, and can be set."""

    def __init__(self, now: datetime) -> None:
        self._zero = now - timedelta(seconds=START)
        self.furthest = now  # that it has ever shown

    def at(self, monotonic: float) -> datetime:
        now = self._zero + timedelta(seconds=monotonic)
        self.furthest = max(self.furthest, now)
        return now

    def step(self, seconds: float) -> None:
        self._zero += timedelta(seconds=seconds)


class BoardClock:
    """Both clocks as a board asks for them (`door.clock.Clock`)."""

    def __init__(self, loop: SimulatedLoop, wall: WallClock, is_dead: Callable[[], bool]) -> None:
        self._loop = loop
        self._wall = wall
        self._is_dead = is_dead

    def now(self) -> datetime:
        return self._wall.at(self._loop.time())

    def monotonic(self) -> float:
        return self._loop.time()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        def ring() -> None:
            if not self._is_dead():
                callback()

        return self._loop.call_later(max(seconds, SHORTEST), ring)
