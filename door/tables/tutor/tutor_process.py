"""Where the tutor thinks: in a process of its own, so that no key waits for it.

A decision takes milliseconds as a rule and a tenth of a second at worst. In a thread it would keep
the event loop waiting for the interpreter, five milliseconds at a time; cut into slices it would
still take its time from all callers. bench/README.md says what is left of it in the wait for a key.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from door.call.shared import Shared
from door.games.blackjack.phases import BlackjackAction
from door.games.solver.tutor.hand_value import weigh
from door.helper import Helper

if TYPE_CHECKING:
    from door.games.solver.tutor.spot import Spot

KEPT = 512  # answers, some hundred bytes each
PATIENCE = 20.0  # seconds for one answer

Weighed = Mapping[BlackjackAction, float]


class Thinking(Shared):
    """A process that weighs decisions for a whole board, one after the other."""

    def __init__(self) -> None:
        self.helper = Helper("the tutor's process", PATIENCE)
        self._known: OrderedDict[Spot, Weighed] = OrderedDict()  # the latest used last

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        """Give what will be the answer, or raise `NoAdviceNow`; who cancels it needs none any more.

        What is known is answered at once, anything else when its turn has come.
        """
        known = self._known.get(spot)
        if known is None:
            asked = self.helper.ask(weigh, spot)
            asked.add_done_callback(partial(self._remember, spot))
            return asked
        self._known.move_to_end(spot)
        answer: asyncio.Future[Weighed] = asyncio.get_running_loop().create_future()
        answer.set_result(known)
        return answer

    async def close(self) -> None:
        await self.helper.close()

    def _remember(self, spot: Spot, answer: asyncio.Future[Weighed]) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        self._known[spot] = answer.result()
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
