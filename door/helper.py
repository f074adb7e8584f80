"""A process beside a board for work that would hold its event loop.

A `ProcessPoolExecutor` cannot end a worker that hangs, and its workers outlive a board that is
killed. So a pool of one thread asks a process of ours, which ends with its input.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from door.errors import NoAdviceNow

MAX_WAITING = 256  # questions
TRIES = 2  # a process that dies is started once more for the question that it had
PAUSE_SECONDS = 30.0  # after two failures until the next process is started
IDLE_SECONDS = 60.0  # until a process that nobody asks ends, and gives back its memory
# How long it may go on with a question that is not wanted any more: a new process takes as long.
UNWANTED_SECONDS = 0.5

# With -P nothing of the folder that the board runs in is imported.
_HOME = str(Path(__file__).parents[1])
_BEGIN = f"import sys; sys.path.insert(0, {_HOME!r}); from door.helper_process import main; main()"
COMMAND = (sys.executable, "-P", "-c", _BEGIN)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

log = logging.getLogger("door.helper")


class Helper:
    """A process that calls functions for a board, one after the other.

    It is started by the first question, and ends when nobody has asked for a while.
    """

    def __init__(self, name: str, patience: float) -> None:
        """Name it for the log. An answer may take `patience` seconds, a start included."""
        self._name, self._patience = name, patience
        self._thread = ThreadPoolExecutor(1, name)
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._pause_until = 0.0

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def ask(self, function: Callable[[*Ts], T], *arguments: *Ts) -> asyncio.Future[T]:
        """Return a future of the function's result; it raises `NoAdviceNow` where there is none.

        The process imports the function. Cancelling the future ends the work on it, soon.
        """
        if len(self._asked) >= MAX_WAITING:
            refused: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            refused.set_exception(NoAdviceNow("too many questions wait"))
            return refused
        task = asyncio.create_task(self._call(function, arguments))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return task

    async def close(self) -> None:
        """End the process and cancel all questions."""
        for task in self._asked:
            task.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)
        self._end()
        await asyncio.to_thread(self._thread.shutdown)

    async def _call(self, function: Callable[..., T], arguments: tuple[object, ...]) -> T:
        async with self._turn:
            if self._idle is not None:
                self._idle.cancel()
            try:
                result, failure = await self._answer((function, arguments))
            finally:
                self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end)
        if failure:
            log.error("%s cannot answer: %s", self._name, failure)
            raise NoAdviceNow("it cannot tell")
        answer: T = result
        return answer

    async def _answer(self, question: object) -> tuple[Any, str]:
        """Ask the process, and another one should it die or hang."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._pause_until:
            raise NoAdviceNow("its process failed a moment ago")
        problem: Exception | None = None
        for _ in range(TRIES):
            try:
                process = self._process = self._process or _start()
                exchange = self._thread.submit(_exchange, process, question)
                async with asyncio.timeout(self._patience):
                    return await asyncio.wrap_future(exchange)
            except asyncio.CancelledError:
                loop.call_later(UNWANTED_SECONDS, self._end_unless, exchange, process)
                raise
            except Exception as error:  # of the system, of a pipe, of what came through it
                problem = error
                self._end()
        self._pause_until = loop.time() + PAUSE_SECONDS
        log.error("%s does not answer: %r", self._name, problem)
        raise NoAdviceNow("its process does not answer") from problem

    def _end_unless(self, exchange: Future[Any], process: subprocess.Popen[bytes]) -> None:
        """Kill a process that is still at something that nobody wants."""
        if process is self._process and not exchange.done():
            self._end()

    def _end(self) -> None:
        """Kill the process, if there is one; it holds nothing that would be lost."""
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._thread.submit(_reap, process)


def _start() -> subprocess.Popen[bytes]:
    """Start a process, which takes a millisecond."""
    return subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # in a door, ours may be the caller's line
        start_new_session=True,  # Ctrl-C and a terminal that hangs up are for the board
    )


def _exchange(process: subprocess.Popen[bytes], question: object) -> tuple[Any, str]:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(question, process.stdin)
    process.stdin.flush()
    result, failure = pickle.load(process.stdout)
    return result, failure


def _reap(process: subprocess.Popen[bytes]) -> None:
    with process:
        pass
