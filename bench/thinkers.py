"""Callers whose tutor thinks all the time, inside the board: hard decisions in sequence.

The decisions are pairs from six decks at Vegas, the slowest ones: other seats' cards are open, so
that no two are equal and none is cached. The tutor runs in the board's own process for it or, as
the simplest alternative, in the threads of the loop's executor.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace

from door.games.blackjack.rules import VEGAS
from door.games.engine.cards import CARDS_IN_DECK
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.spot import Spot
from door.tables.tutor.tutor_process import TutorProcess, Weighed

DECKS = 6
RULES = replace(VEGAS, decks=DECKS)
OPEN_CARDS = 12  # of six other seats


def hard_decisions(seed: int) -> Iterator[Spot]:
    """Yield random pairs against random up cards, without end."""
    chance = random.Random(seed)
    copies = DECKS * CARDS_IN_DECK // 13
    while True:
        unseen = [copies] * 9 + [4 * copies]
        pair, up = chance.randrange(10), chance.randrange(10)
        for gone in (pair, pair, up, *chance.choices(range(10), k=OPEN_CARDS)):
            unseen[gone] -= 1
        hand = tuple(2 if place == pair else 0 for place in range(10))
        yield Spot(RULES, tuple(unseen), up + 1, up in (0, 9), hand, False, None)


class Threads:
    """Thinks in threads of the board."""

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        return asyncio.get_running_loop().run_in_executor(None, values, spot)

    async def close(self) -> None:
        pass


class Thinkers:
    """So many callers, each with the next decision as soon as the last is weighed."""

    def __init__(self, process: TutorProcess) -> None:
        self._ways: dict[str, TutorProcess] = {"process": process, "threads": Threads()}
        self._tasks: list[asyncio.Task[None]] = []
        self._answered = 0

    def begin(self, words: str) -> None:
        """Begin with this number in this way: "10 process", "10 threads"."""
        count, way = words.split()
        self._answered = 0
        self._tasks = [
            asyncio.create_task(self._think(self._ways[way], hard_decisions(number)))
            for number in range(int(count))
        ]

    def end(self, _: str) -> int:
        """Stop them; return how many decisions were weighed."""
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()
        return self._answered

    async def _think(self, thinking: TutorProcess, decisions: Iterator[Spot]) -> None:
        for decision in decisions:
            await thinking.ask(decision)
            self._answered += 1
