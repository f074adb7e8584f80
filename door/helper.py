"""A helper process for work that would block the board's event loop.

A `ProcessPoolExecutor` cannot end a worker that hangs, and its workers outlive a board that is
killed. So a pool of one thread asks a process that ends when its input is closed.
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

from door.errors import HelperUnavailable

MAX_QUESTIONS = 256  # waiting or being answered
TRIES = 2  # a question is repeated once if its process dies or hangs
PAUSE_SECONDS = 30.0  # after all tries of a question have failed
IDLE_SECONDS = 60.0  # until an idle process ends, to free its memory
# How long the process may still work on a cancelled question. Starting another takes as long.
CANCELLED_SECONDS = 0.5

# With -P no module of the board's working folder is imported.
_HOME = str(Path(__file__).parents[1])
_BEGIN = f"import sys; sys.path.insert(0, {_HOME!r}); from door.helper_process import main; main()"
COMMAND = (sys.executable, "-P", "-c", _BEGIN)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

log = logging.getLogger("door.helper")


class Helper:
    """A process that calls functions for a board, one at a time.

    The first question starts it. It ends after `IDLE_SECONDS` without a question.
    """

    def __init__(self, name: str, patience: float) -> None:
        """`name` is for the log. An answer may take `patience` seconds, including a start."""
        self._name, self._patience = name, patience
        self._thread = ThreadPoolExecutor(1, name)
        self._process: subprocess.Popen[bytes] | None = None
        self._questions: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._pause_until = 0.0

    def ask(self, function: Callable[[*Ts], T], *arguments: *Ts) -> asyncio.Future[T]:
        """Return a future of the function's result or of `HelperUnavailable`.

        The process imports the function. Cancelling the future ends the work soon.
        """
        if len(self._questions) >= MAX_QUESTIONS:
            refused: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            refused.set_exception(HelperUnavailable("too many questions wait"))
            return refused
        task = asyncio.create_task(self._call(function, arguments))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)
        return task

    async def close(self) -> None:
        """End the process and cancel all questions."""
        for task in self._questions:
            task.cancel()
        await asyncio.gather(*self._questions, return_exceptions=True)
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
            raise HelperUnavailable("it has no answer")
        answer: T = result
        return answer

    async def _answer(self, question: object) -> tuple[Any, str]:
        """Ask the process; return result and traceback. If it dies or hangs, ask a new one."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._pause_until:
            raise HelperUnavailable("its process failed a moment ago")
        problem: Exception | None = None
        for _ in range(TRIES):
            try:
                process = self._process = self._process or _start()
                exchange = self._thread.submit(_exchange, process, question)
                async with asyncio.timeout(self._patience):
                    return await asyncio.wrap_future(exchange)
            except asyncio.CancelledError:
                loop.call_later(CANCELLED_SECONDS, self._end_unless_done, exchange, process)
                raise
            except Exception as error:  # from the system, a pipe, or unpickling
                problem = error
                self._end()
        self._pause_until = loop.time() + PAUSE_SECONDS
        log.error("%s does not answer: %r", self._name, problem)
        raise HelperUnavailable("its process does not answer") from problem

    def _end_unless_done(self, exchange: Future[Any], process: subprocess.Popen[bytes]) -> None:
        """Kill a process that still works on a cancelled question."""
        if process is self._process and not exchange.done():
            self._end()

    def _end(self) -> None:
        """Kill the process, if any. It holds no state."""
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._thread.submit(_reap, process)


def _start() -> subprocess.Popen[bytes]:
    """Start a process. This takes a millisecond, so the event loop may do it."""
    return subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # in a door, stderr may be the caller's line
        start_new_session=True,  # Ctrl-C and a closed terminal signal the board alone
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
