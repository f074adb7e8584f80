"""Where the tutor thinks: in a process of its own, so that no key waits for it.

A decision takes milliseconds as a rule and a tenth of a second at worst. In a thread it would keep
the event loop waiting for the interpreter, five milliseconds at a time; cut into slices it would
still take its time from all callers. So one process works out what is asked, one question after the
other. It is started with the first question, and again when it has died; it ends with the board.
bench/README.md says what is left of it in the wait for a key.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from door.beside import Beside, command
from door.call.shared import Shared
from door.errors import NoAdviceNow
from door.games.blackjack.course import BlackjackAction

if TYPE_CHECKING:
    from door.call.board import Board
    from door.games.blackjack.tutor.spot import Spot

MOST_WAITING = 256  # questions; a process answers some hundred in a second
KEPT = 512  # answers, some hundred bytes each
TRIES = 2  # a process that dies is started once more for the question that it had
PATIENCE = 20.0  # seconds for one answer, the start of the process included
PAUSE = 30.0  # seconds after two failures until the next process is started

COMMAND = command("door.games.blackjack.tutor.process")

Weighed = Mapping[BlackjackAction, float]

log = logging.getLogger("door.tables")


class Thinking(Shared):
    """Something that weighs decisions beside the event loop, as `hands.values` does."""

    @abstractmethod
    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        """Give what will be the answer, or raise `NoAdviceNow`. Who cancels it needs none any
        more."""


class ThinkingProcess(Thinking):
    """A process that thinks for a whole board, one question after the other."""

    def __init__(self, command: Sequence[str] = COMMAND, patience: float = PATIENCE) -> None:
        """Prepare it; `command` is started when the first question comes."""
        self._command, self._patience = command, patience
        self._process: Beside | None = None
        self._known: OrderedDict[Spot, Weighed] = OrderedDict()  # the latest used last
        self._waiting: OrderedDict[Spot, list[asyncio.Future[Weighed]]] = OrderedDict()
        self._work: asyncio.Task[None] | None = None
        self._pause_until = 0.0

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.number

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        """Give what will be the answer: at once what is known, else when its turn has come."""
        answer: asyncio.Future[Weighed] = asyncio.get_running_loop().create_future()
        known = self._known.get(spot)
        if known is not None:
            self._known.move_to_end(spot)
            answer.set_result(known)
        elif spot not in self._waiting and len(self._waiting) >= MOST_WAITING:
            answer.set_exception(NoAdviceNow("too many questions wait"))
        else:
            self._waiting.setdefault(spot, []).append(answer)
            if self._work is None:
                self._work = asyncio.create_task(self._answer_all())
        return answer

    async def close(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        for answers in self._waiting.values():
            for answer in answers:
                answer.cancel()
        self._waiting.clear()
        await self._end()

    async def _answer_all(self) -> None:
        try:
            while self._waiting:
                spot = next(iter(self._waiting))
                if all(answer.cancelled() for answer in self._waiting[spot]):
                    del self._waiting[spot]  # nobody wants to know any more
                    continue
                try:
                    weighed = await self._weigh(spot)
                except Exception as problem:  # whoever asked says it, in words or in the log
                    for answer in self._wanted(spot):
                        answer.set_exception(problem)
                else:
                    self._remember(spot, weighed)
                    for answer in self._wanted(spot):
                        answer.set_result(weighed)
        finally:
            self._work = None

    def _wanted(self, spot: Spot) -> list[asyncio.Future[Weighed]]:
        """Take a question off the list, and return the answers that somebody waits for."""
        return [answer for answer in self._waiting.pop(spot) if not answer.done()]

    def _remember(self, spot: Spot, weighed: Weighed) -> None:
        self._known[spot] = weighed
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _weigh(self, spot: Spot) -> Weighed:
        """Ask the process, and another one should it die."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._pause_until:
            raise NoAdviceNow("its process failed a moment ago")
        problem: Exception | None = None
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(self._patience):
                    return await self._asked(spot)
            except NoAdviceNow:
                raise
            except Exception as error:  # each loop says in its own way that a pipe is closed
                problem = error
                await self._end()
        self._pause_until = loop.time() + PAUSE
        log.error("the tutor's process does not answer: %r", problem)
        raise NoAdviceNow("its process does not answer") from problem

    async def _asked(self, spot: Spot) -> Weighed:
        if self._process is None:
            self._process = Beside(self._command)
        await self._process.say(pickle.dumps(spot))
        said: dict[str, Any] = json.loads(await self._process.hear())
        if "error" in said:
            log.error("the tutor has no advice: %s", said["error"])
            raise NoAdviceNow("it cannot tell")
        return {BlackjackAction(name): worth for name, worth in said.items()}

    async def _end(self) -> None:
        """End the process, if there is one; it holds nothing that would be lost."""
        process, self._process = self._process, None
        if process is not None:
            await process.end()


def for_board(board: Board) -> Thinking:
    return ThinkingProcess()


def thinking_of(board: Board) -> Thinking:
    thinking = board.shared["tutor"]
    assert isinstance(thinking, Thinking)
    return thinking
