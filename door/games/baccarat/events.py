"""The events of a coup of baccarat.

Amounts are whole numbers of the smallest unit of the stake. No event shows a card that lies face
down.
"""

from dataclasses import dataclass
from enum import StrEnum

from door.games.engine.cards import Card


class Side(StrEnum):
    PLAYER = "player"
    BANK = "bank"


class BaccaratOutcome(StrEnum):
    """The side whose point was nearer to nine, or a stand-off."""

    PLAYER = "player"
    BANK = "bank"
    STAND_OFF = "stand-off"


@dataclass(frozen=True, slots=True)
class BaccaratDealt:
    """A side got one of its first two cards; None is a card face down."""

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
    """A side took a third card, face up, and has `point` now."""

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
    """The coup is over. The stake is lost + returned, and the bank pays `won` more."""

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
