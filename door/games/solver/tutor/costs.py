"""What the decisions of a try cost against the book.

A cost is what the best move would have won more, on average, in ten-thousandths of a bet
(`contests.WHOLE_BET`), added up over all decisions. The books keep it, and an audit works it out
again to the last digit: a tutor that comes to other numbers would have to know which deals were
weighed by the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from door.games.solver.tutor import tutor
from door.games.solver.tutor.hand_value import values
from timebank.wagers.contests import WHOLE_BET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from door.games.blackjack.duplicate import Duplicate
    from door.games.blackjack.phases import BlackjackAction
    from door.games.solver.tutor.spot import Spot


class Met(NamedTuple):
    """A decision of a try, and what was done."""

    asked: tutor.Decision
    action: BlackjackAction

    @property
    def spot(self) -> Spot:
        return self.asked.spot

    def lost(self, weighed: Mapping[BlackjackAction, float]) -> float:
        """Return what it cost, in bets, of a spot that was weighed by `hands.values`."""
        told = tutor.advised(self.asked, weighed)
        return told.values[told.best] - told.values[self.action]


def decisions(game: Duplicate) -> Iterator[Met]:
    for hand, action in game.decisions:
        yield Met(tutor.decision(hand, hand.legal()), action)


def whole(lost: float) -> int:
    """Return what several decisions cost together as the books keep it."""
    return round(lost * WHOLE_BET)


def cost_of(game: Duplicate) -> int:
    """Weigh a try at once: some milliseconds for each decision that was not met lately."""
    lost = 0.0
    for met in decisions(game):
        lost += met.lost(values(met.spot))
    return whole(lost)
