"""The events of a round of Red Dog.

Amounts are whole numbers of the smallest unit of the stake.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from door.games.engine.cards import Card


class RedDogOutcome(StrEnum):
    """How a round ended. Neighbours, and a pair without a third of its rank, are a push."""

    THREE_OF_A_KIND = "three-of-a-kind"
    WIN = "win"
    PUSH = "push"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class RedDogDealt:
    card: Card


@dataclass(frozen=True, slots=True)
class Spread:
    """The number of ranks between two cards, and what a card between them pays for each one bet.

    The spread is 0 for neighbours and -1 for a pair.
    """

    spread: int
    pays: int


@dataclass(frozen=True, slots=True)
class RedDogRaised:
    amount: int


@dataclass(frozen=True, slots=True)
class Stayed:
    """The caller did not raise."""


@dataclass(frozen=True, slots=True)
class RedDogDrew:
    card: Card


@dataclass(frozen=True, slots=True)
class RedDogSettled:
    """The round is over. The stake is lost + returned, and the house pays `won` more."""

    outcome: RedDogOutcome
    lost: int
    returned: int
    won: int


Event = RedDogDealt | Spread | RedDogRaised | Stayed | RedDogDrew | RedDogSettled
