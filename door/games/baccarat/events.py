"""What can happen in a coup of baccarat: one small frozen class for each thing.

Amounts are whole numbers of the smallest unit of whatever the stake is in. No event shows a card
that lies face down.
"""

from dataclasses import dataclass
from enum import StrEnum

from door.games.engine.cards import Card


class Side(StrEnum):
    PLAYER = "player"
    BANK = "bank"


class BaccaratOutcome(StrEnum):
    """How a coup ended: whose point was nearer to nine, or that both were as near."""

    PLAYER = "player"
    BANK = "bank"
    STAND_OFF = "stand-off"


@dataclass(frozen=True, slots=True)
class BaccaratDealt:
    """One of the first two cards of a side; None lies face down."""

    side: Side
    card: Card | None


@dataclass(frozen=True, slots=True)
class BaccaratRevealed:
    """The bank turned up its two cards."""

    cards: tuple[Card, ...]
    point: int


@dataclass(frozen=True, slots=True)
class BaccaratNatural:
    """A side has eight or nine in its first two cards and turns them up."""

    side: Side
    point: int


@dataclass(frozen=True, slots=True)
class BaccaratDrew:
    """A third card, face up, to a side that now has `point`."""

    side: Side
    card: Card
    point: int


@dataclass(frozen=True, slots=True)
class BaccaratStood:
    """A side takes no third card and stays at `point`."""

    side: Side
    point: int


@dataclass(frozen=True, slots=True)
class BaccaratSettled:
    """The coup is over: `lost` of the stake to the bank, `returned` of it to the caller, and `won`
    from the bank besides. lost + returned is all that was staked."""

    outcome: BaccaratOutcome
    player_point: int
    bank_point: int
    lost: int
    returned: int
    won: int


Event = (
    BaccaratDealt
    | BaccaratRevealed
    | BaccaratNatural
    | BaccaratDrew
    | BaccaratStood
    | BaccaratSettled
)
