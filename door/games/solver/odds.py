"""The odds of a table as data: the outcomes of each strategy for a unit.

A unit is the opening bet. The gain of a double, a split or a raise counts for this unit, and its
stake is extra.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from timebank.reports.house import FinishedHand

STRATEGIES = ("perfect", "totals", "dealer", "never-bust")
"""The best play by the cards in sight, the best by totals, the dealer's play, never risk a bust."""

RUNS_ON = (
    "The shoe runs on, and these are the odds of a fresh one. They hold for every round that is"
    " sure to be dealt, for whoever does not remember cards."
)

K = TypeVar("K")

_NEGLIGIBLE = 1e-15  # smaller chances are rounding


@dataclass(frozen=True)
class Figures:
    """The outcomes of one strategy.

    `net` has the chances of a round by its gain for a unit, `outcomes` those of a hand by its
    outcome. Both add up to 1, also with the two hands of a split. The true mean is at most
    `mean_within` higher, and the true deviation within `sd_within`; both are 0 if exact.
    """

    mean: float
    sd: float
    outcomes: Mapping[str, float]
    net: Mapping[float, float]
    staked: float  # the mean for a unit
    mean_within: float = 0.0
    sd_within: float = 0.0


@dataclass(frozen=True)
class Insurance:
    """The odds of insurance.

    `offered` is the chance of an offer, and `mean` the gain of a unit of insurance if it is always
    bought. `adds` is the gain for a unit of the opening bet if insurance is bought only when it
    gains.
    """

    offered: float
    mean: float
    adds: float


@dataclass(frozen=True)
class Odds:
    game: str
    rules: Mapping[str, object]
    strategies: Mapping[str, Figures]
    insurance: Insurance | None = None
    notes: tuple[str, ...] = field(default=())  # also about figures that are not exact

    def plain(self) -> dict[str, object]:
        """Return the odds as data for JSON."""
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
    net = {f"{gain:g}": chance for gain, chance in figures.net.items()}
    return {**vars(figures), "outcomes": dict(figures.outcomes), "net": net}


Costs = Callable[["FinishedHand", Mapping[str, Any]], float]
"""Returns the cost of a hand's decisions against the best ones, for a unit of the bet.

It is given the hand and its parsed result. The cost is below 0 if insurance with a gain was
bought."""


def figures_of(net: Mapping[float, float], outcomes: Mapping[str, float], staked: float) -> Figures:
    """Return the figures, given the chances of each gain and of each outcome.

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
        outcomes=dict(_possible((word, chance / hands) for word, chance in outcomes.items())),
        net=dict(sorted(_possible(net.items()))),
        staked=staked,
    )


def _possible(chances: Iterable[tuple[K, float]]) -> list[tuple[K, float]]:
    return [(key, chance) for key, chance in chances if chance > _NEGLIGIBLE]
