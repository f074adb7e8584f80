"""The cost of the decisions of a try against the best actions.

A cost is the mean gain of the best action minus that of the chosen one, added up over all
decisions. It is stored in ten-thousandths of a bet (`contests.WHOLE_BET`). An audit computes it
again to the last digit, so the tutor of every release must compute the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from door.games.solver.tutor import tutor
from door.games.solver.tutor.hand_value import values
from timebank.wagers.contests import WHOLE_BET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from door.games.blackjack.duplicate import Duplicate, TryDecision
    from door.games.blackjack.phases import BlackjackAction
    from door.games.solver.tutor.spot import Spot


class Choice(NamedTuple):
    """A decision of a try, with the actions that were open."""

    made: TryDecision
    decision: tutor.Decision

    @property
    def spot(self) -> Spot:
        return self.decision.spot

    def cost(self, values: Mapping[BlackjackAction, float]) -> float:
        """Return the cost in bets, given the `hand_value.values` of the spot."""
        advice = tutor.advised(self.decision, values)
        return advice.values[advice.best] - advice.values[self.made.move]


def choices(game: Duplicate) -> Iterator[Choice]:
    for made in game.decisions:
        yield Choice(made, tutor.decision(made.at, made.at.legal()))


def stored_cost(cost: float) -> int:
    """Return a cost in bets as the books store it, in units of 1 / `WHOLE_BET`."""
    return round(cost * WHOLE_BET)


def cost_of(game: Duplicate) -> int:
    """Return the stored cost of a try. Takes some milliseconds for each uncached decision."""
    cost = 0.0
    for choice in choices(game):
        cost += choice.cost(values(choice.spot))
    return stored_cost(cost)
