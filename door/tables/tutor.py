"""The tutor beside a caller: asked in a thread of its own, heard when it has an answer.

Before a decision it says what the book says; after a worse one, what the book would have done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from door.games import tutor

if TYPE_CHECKING:
    from door.games.blackjack import Action, Round
    from door.games.tutor import Advice

log = logging.getLogger("door.tables")


class Tutor:
    """One caller's tutor; it has an opinion of one decision at a time."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Speak through `say`."""
        self._say = say
        self._round: Round | None = None
        self._advice: asyncio.Future[Advice] | None = None

    def watch(self, round_: Round, affordable: Collection[Action]) -> None:
        """Look at a decision that the caller has to take; what was asked already is not again."""
        if round_ is self._round:
            return
        self._round = round_
        ask = partial(tutor.advice, round_, tuple(affordable))
        self._advice = asyncio.get_running_loop().run_in_executor(None, ask)
        self._advice.add_done_callback(partial(self._answered, round_))

    async def judge(self, chosen: Action) -> None:
        """Say what the book would have done, if that is better than what the caller chose."""
        asked, self._advice, self._round = self._advice, None, None
        if asked is None:
            return
        try:
            verdict = tutor.judge(await asked, chosen)
        except Exception:  # said in the log when it came
            return
        if verdict is not None:
            self._say(f"|11{verdict}")

    def _answered(self, round_: Round, asked: asyncio.Future[Advice]) -> None:
        if asked.cancelled():
            return
        problem = asked.exception()
        if problem is not None:
            log.error("the tutor has no advice", exc_info=problem)
        elif round_ is self._round:
            self._say(f"|11{asked.result().sentence}")
