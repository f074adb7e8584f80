"""Sums that take seconds, for callers: strategy cards, and how lucky they were.

A process of its own does each, one after the other, and nothing of the board is in it but what it
is asked. It runs at a lower priority than the board, and ends with its answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from door.beside import Beside, command
from door.call.page import Page
from door.call.shared import Shared
from door.errors import NoAdviceNow
from door.odds.card import StrategyCard, card_of_plain
from timebank.language import _
from timebank.reports.house import FinishedHand, TableLuck

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.console import Console

PATIENCE = 120.0  # seconds for an answer, on a machine that has much else to do

COMMAND = command("door.odds.process")

log = logging.getLogger("door.tables")


class Sums(Shared):
    """What works out sums for the callers of a board. An answer that cannot be had raises
    `NoAdviceNow` where it is awaited."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._cards: dict[tuple[str, str], asyncio.Future[StrategyCard]] = {}
        self._work: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()  # of those who ask, so that they share no more than a core

    def card(self, game: str, rules: Any) -> asyncio.Future[StrategyCard]:
        """Give what will be the strategy card of a table, worked out once for its rules."""
        which = game, repr(rules)
        found = self._cards.get(which)
        if found is None or (found.done() and (found.cancelled() or found.exception())):
            found = self._cards[which] = self._begin(self._card(game, rules))
        return found

    def lucks(self, hands: Iterable[FinishedHand]) -> asyncio.Future[list[TableLuck]]:
        """Give what will be the luck of these hands, by table; who cancels it needs none."""
        return self._begin(self._lucks([tuple(hand) for hand in hands]))

    async def close(self) -> None:
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._cards.clear()

    def _begin(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task

    async def _card(self, game: str, rules: Any) -> StrategyCard:
        said = await self._ask("card", game, rules)
        try:
            return card_of_plain(said)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise _refused("card", error) from error

    async def _lucks(self, hands: list[tuple[object, ...]]) -> list[TableLuck]:
        said = await self._ask("lucks", hands)
        try:
            return [TableLuck(*each) for each in said]
        except TypeError as error:
            raise _refused("lucks", error) from error

    async def _ask(self, *question: object) -> Any:
        async with self._turn:
            process: Beside | None = None
            try:
                process = Beside(self._command)
                async with asyncio.timeout(PATIENCE):
                    await process.say(pickle.dumps(question))
                    return json.loads(await process.hear())
            except (OSError, EOFError, ValueError) as error:  # a timeout is an OSError as well
                raise _refused(str(question[0]), error) from error
            finally:
                if process is not None:
                    await process.end()


def _refused(what: str, error: Exception) -> NoAdviceNow:
    log.error("no answer to a sum, %s: %r", what, error)
    return NoAdviceNow("its process gave no answer")


def for_board(board: Board) -> Sums:
    return Sums()


def sums_of(board: Board) -> Sums:
    sums = board.shared["sums"]
    assert isinstance(sums, Sums)
    return sums


async def is_awaited(console: Console, title: str, asked: asyncio.Future[Any]) -> bool:
    """Wait for an answer; `False` when the caller presses a key before it comes, and goes back."""

    def wake(_asked: object) -> None:
        console.nudge()

    if asked.done():
        return True
    asked.add_done_callback(wake)
    try:
        console.stage(Page(title, [f"|07{_('Working it out. Any key goes back.')}"]))
        console.offer("any")
        console.show_offer()
        while not asked.done():
            await console.pause(PATIENCE)
            if await console.does_command():
                continue
            if console.next_key() is not None or console.interruption is not None:
                await console.key()
                return False
    finally:
        asked.remove_done_callback(wake)
    return True
