"""The odds of a table, as data: for each way to play, what comes of a unit that is staked.

A unit is the opening bet: what doubling, a split or a raise adds is staked besides, and what comes
of it counts for the unit it was added to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

STRATEGIES = ("perfect", "totals", "dealer", "never-bust")
"""By the cards in sight; by totals alone; as the dealer plays; without ever risking to bust."""

RUNS_ON = (
    "The shoe runs on, and these are the odds of a fresh one. They hold for every round that is"
    " sure to be dealt, for whoever does not remember cards."
)

K = TypeVar("K")

_NOTHING = 1e-15  # chances less than that are rounding


@dataclass(frozen=True)
class Figures:
    """What one way to play comes to. Chances are from 0 to 1; `net` has them by what a round wins
    for a unit, `outcomes` by how a hand ends (a split makes two hands; they add up to 1).

    `mean_within` and `sd_within` say how far the true figure may be: from the mean upwards, from
    the deviation either way. Both are 0 where nothing is left out.
    """

    mean: float
    sd: float
    outcomes: Mapping[str, float]
    net: Mapping[float, float]
    staked: float  # on average, for a unit of the opening bet
    mean_within: float = 0.0
    sd_within: float = 0.0


@dataclass(frozen=True)
class Insurance:
    """Insurance, for a unit of it: how often it is offered, what it wins when it is always bought,
    and what buying it only where it gains adds to a unit of the opening bet."""

    offered: float
    mean: float
    adds: float


@dataclass(frozen=True)
class Odds:
    game: str
    rules: Mapping[str, object]
    strategies: Mapping[str, Figures]
    insurance: Insurance | None = None
    notes: tuple[str, ...] = field(default=())  # what is not exact, and by how much

    def plain(self) -> dict[str, object]:
        """What JSON has of it."""
        plain: dict[str, object] = {
            "game": self.game,
            "rules": dict(self.rules),
            "strategies": {name: _plain(each) for name, each in self.strategies.items()},
        }
        if self.insurance is not None:
            plain["insurance"] = vars(self.insurance)
        plain["notes"] = list(self.notes)
        return plain


def _plain(figures: Figures) -> dict[str, object]:
    shares = {"outcomes": dict(figures.outcomes), "net": _shares(figures.net)}
    return {**vars(figures), **shares}


def _shares(net: Mapping[float, float]) -> dict[str, float]:
    return {f"{gain:g}": chance for gain, chance in net.items()}


@dataclass(frozen=True, slots=True)
class PlayedHand:
    """A hand that is over, as the books have it: `result` is what the journal keeps of it, `words`
    are its actions, which are asked for where more was `staked` than the bet."""

    game: str
    rules: str
    decks: int
    bet: int
    staked: int
    result: str
    words: tuple[str, ...] = ()


Costs = Callable[[PlayedHand, Mapping[str, Any]], float]
"""What the decisions of a hand cost against the best ones, by its result as JSON reads it, for a
unit of the bet; below 0 where what it staked besides gains."""


def figures_of(net: Mapping[float, float], outcomes: Mapping[str, float], staked: float) -> Figures:
    """Return the figures of a distribution and of how often each outcome comes.

    >>> coin = figures_of({-1.0: 0.5, 1.0: 0.5}, {"lose": 0.5, "win": 0.5}, 1.0)
    >>> coin.mean, coin.sd
    (0.0, 1.0)
    """
    mean = math.fsum(gain * chance for gain, chance in net.items())
    square = math.fsum(gain * gain * chance for gain, chance in net.items())
    hands = math.fsum(outcomes.values())
    return Figures(
        mean=mean,
        sd=math.sqrt(max(0.0, square - mean * mean)),
        outcomes=dict(_some((word, chance / hands) for word, chance in outcomes.items())),
        net=dict(sorted(_some(net.items()))),
        staked=staked,
    )


def _some(chances: Iterable[tuple[K, float]]) -> list[tuple[K, float]]:
    return [(what, chance) for what, chance in chances if chance > _NOTHING]
