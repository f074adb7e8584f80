"""Time that passes only when no work is left, and never by itself."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol

START = 1000.0  # the first instant of the monotonic clock, in seconds
SHORTEST = 1e-4  # of all waits, and by how much timers are late


FIRST_NUMBER = 1_000_000  # of sockets in memory: no descriptor has it
MOST_TURNS = 20_000  # of the loop in one second; three hundred callers need a few hundred


class Standstill(Exception):
    """No event is left that could ever happen: a task waits in vain."""


class Spinning(Exception):
    """The loop turns and turns, and hardly any time passes."""


class _NothingComes(selectors.SelectSelector):
    """No byte comes from outside: waiting for one lets time pass."""

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        super().__init__()
        self._pass_time = pass_time

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Standstill
        self._pass_time(timeout)
        return []


class Readable(Protocol):
    """A socket in memory."""

    def set_reader(self, reader: Callable[..., object] | None) -> None:
        """Call a reader whenever there is something to read; None removes it."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop under its own clock, without threads: one order of events, always the same."""

    def __init__(self, begins: float, work_takes: Callable[[], float]) -> None:
        """Begin at `begins`; `work_takes` returns the duration of work outside the loop."""
        self._instant = begins
        self._work_takes = work_takes
        self._second, self._turns = begins, 0  # turns since that instant
        self.problems: list[str] = []  # errors that no task has caught
        self._readable: dict[int, Readable] = {}  # by numbers that are no descriptors
        super().__init__(_NothingComes(self._pass_time))
        self.set_exception_handler(self._note)

    def time(self) -> float:
        return self._instant

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Do the work on the loop after a while."""
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

    def register(self, what: Readable) -> int:
        """Return the number by which readers of a socket in memory are added and removed."""
        number = FIRST_NUMBER + len(self._readable)
        self._readable[number] = what
        return number

    def add_reader(self, fd: Any, callback: Callable[..., object], *args: Any) -> None:
        self._readable[fd].set_reader(callback)

    def remove_reader(self, fd: Any) -> bool:
        self._readable[fd].set_reader(None)
        return True

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


class MachineClocks:
    """The machine's clocks: the wall clock, which can be set, and the others."""

    def __init__(self, now: datetime) -> None:
        self._zero = now - timedelta(seconds=START)
        self._asleep = 0.0
        self._boots = 1
        self.wrong = 0.0  # seconds by which the wall clock is ahead of the true time
        self.synchronised = False  # whether time servers agree with it
        self.furthest = now  # the latest true time shown, with small corrections

    def at(self, monotonic: float) -> datetime:
        """Return the wall clock's time."""
        return self._zero + timedelta(seconds=monotonic)

    def really(self, monotonic: float) -> datetime:
        """Return the true time."""
        now = self.at(monotonic) - timedelta(seconds=self.wrong)
        self.furthest = max(self.furthest, now)
        return now

    def uptime(self, monotonic: float) -> float:
        return monotonic + self._asleep

    @property
    def boot(self) -> str:
        return f"boot {self._boots}"

    def step(self, seconds: float) -> None:
        """Correct the wall clock."""
        self._zero += timedelta(seconds=seconds)

    def go_wrong(self, seconds: float) -> None:
        """Set the wall clock to a wrong time."""
        self.step(seconds)
        self.wrong += seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass while no process runs."""
        self.step(seconds)
        self._asleep += seconds

    def reboot(self) -> None:
        self._boots += 1
        self.synchronised = False


class ProcessClock:
    """The clocks as a process reads them (`door.clock.MachineClock`)."""

    def __init__(
        self, loop: SimulatedLoop, wall: MachineClocks, is_dead: Callable[[], bool]
    ) -> None:
        self._loop = loop
        self._wall = wall
        self._is_dead = is_dead

    def now(self) -> datetime:
        return self._wall.at(self._loop.time())

    def uptime(self) -> float:
        return self._wall.uptime(self._loop.time())

    def boot(self) -> str:
        return self._wall.boot

    def is_synchronised(self) -> bool:
        return self._wall.synchronised

    def monotonic(self) -> float:
        return self._loop.time()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        def ring() -> None:
            if not self._is_dead():
                callback()

        return self._loop.call_later(max(seconds, 0) + SHORTEST, ring)  # late, as timers are
