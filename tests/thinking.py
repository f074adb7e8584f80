"""The tutor's sums without a process: done in place, done a while later, or when a test says so."""

from __future__ import annotations

import asyncio

from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.spot import Spot
from door.tables.tutor.tutor_process import TutorProcess, Weighed


class InPlace(TutorProcess):
    """Thinks at once, and keeps the event loop waiting."""

    def __init__(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        answer: asyncio.Future[Weighed] = asyncio.get_running_loop().create_future()
        answer.set_result(values(spot))
        return answer


class Later(InPlace):
    """Thinks beside the loop; on a simulated one that is a while later, and no thread."""

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        return asyncio.get_running_loop().run_in_executor(None, values, spot)


class AtOurWord(InPlace):
    """Thinks about a question when the test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[Spot, asyncio.Future[Weighed]]] = []

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        answer: asyncio.Future[Weighed] = asyncio.get_running_loop().create_future()
        self.asked.append((spot, answer))
        return answer

    def answers(self) -> None:
        """Answer the oldest question."""
        spot, answer = self.asked.pop(0)
        answer.set_result(values(spot))

    def fails(self, problem: Exception) -> None:
        """Have no answer to the oldest question."""
        self.asked.pop(0)[1].set_exception(problem)
