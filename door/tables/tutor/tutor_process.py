"""The tutor's process, which weighs decisions so that no key waits for them.

A decision usually takes milliseconds, and a tenth of a second at worst. A thread would hold the
interpreter from the event loop for five milliseconds at a time. bench/README.md has the delay that
is left for a key.
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

MAX_ANSWERS = 512  # some hundred bytes each
ANSWER_SECONDS = 20.0  # the time-out of an answer

Weighed = Mapping[BlackjackAction, float]


class TutorProcess(Shared):
    """The process that weighs decisions for a board, one after the other."""

    def __init__(self) -> None:
        self.helper = Helper("the tutor's process", ANSWER_SECONDS)
        self._answers: OrderedDict[Spot, Weighed] = OrderedDict()  # the latest used last

    def ask(self, spot: Spot) -> asyncio.Future[Weighed]:
        """Return a future of the answer or of `HelperUnavailable`. A known answer is set at once.

        Cancel the future when the answer is not needed any more.
        """
        known = self._answers.get(spot)
        if known is None:
            asked = self.helper.ask(weigh, spot)
            asked.add_done_callback(partial(self._remember, spot))
            return asked
        self._answers.move_to_end(spot)
        answer: asyncio.Future[Weighed] = asyncio.get_running_loop().create_future()
        answer.set_result(known)
        return answer

    async def close(self) -> None:
        await self.helper.close()

    def _remember(self, spot: Spot, answer: asyncio.Future[Weighed]) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        self._answers[spot] = answer.result()
        if len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
