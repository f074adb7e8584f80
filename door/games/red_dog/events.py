"""What can happen in a round of Red Dog: one small frozen class for each thing.

Amounts are whole numbers of the smallest unit of whatever the stake is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from door.games.engine.cards import Card


class RedDogOutcome(StrEnum):
    """How a round ended; neighbours, and a pair without a third of its rank, are a push."""

    THREE_OF_A_KIND = "three-of-a-kind"
    WIN = "win"
    PUSH = "push"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class RedDogDealt:
    card: Card


@dataclass(frozen=True, slots=True)
class Spread:
    """What the two cards leave between them, 0 for neighbours and -1 for a pair, and what a card
    there pays for each one bet."""

    spread: int
    pays: int


@dataclass(frozen=True, slots=True)
class RedDogRaised:
    amount: int


@dataclass(frozen=True, slots=True)
class Stayed:
    """The bet stays as it is."""


@dataclass(frozen=True, slots=True)
class RedDogDrew:
    card: Card


@dataclass(frozen=True, slots=True)
class RedDogSettled:
    """The round is over: `lost` of the stake to the house, `returned` of it to the caller, and
    `won` from the house besides. lost + returned is all that was staked."""

    outcome: RedDogOutcome
    lost: int
    returned: int
    won: int


Event = RedDogDealt | Spread | RedDogRaised | Stayed | RedDogDrew | RedDogSettled
