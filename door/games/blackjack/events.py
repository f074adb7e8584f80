"""What can happen in a round of black jack: one small frozen class for each thing.

Seats and hands count from 0; a seat has one hand unless it was split. Amounts are whole numbers of
the smallest unit of whatever the stakes are in. No event shows a card that lies face down.
"""

from dataclasses import dataclass
from enum import StrEnum

from door.games.engine.cards import Card


class BlackjackOutcome(StrEnum):
    NATURAL = "natural"
    TWENTY_ONE = "twenty-one"
    CHARLIE = "charlie"
    WIN = "win"
    PUSH = "push"
    LOSE = "lose"
    BUST = "bust"
    DEALER_NATURAL = "dealer-natural"
    DEALER_CHARLIE = "dealer-charlie"


@dataclass(frozen=True, slots=True)
class BlackjackDealt:
    """A card, face up, to a hand of a seat."""

    seat: int
    hand: int
    card: Card


@dataclass(frozen=True, slots=True)
class DealerDealt:
    """A card to the dealer; None is the hole card, face down."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class BlackjackNatural:
    """A seat was dealt 21 in two cards. Whether it is paid comes later."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class InsuranceOffered:
    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class InsuranceBought:
    """`amount` more was staked, on insurance."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class InsuranceDeclined:
    seat: int


@dataclass(frozen=True, slots=True)
class Peeked:
    """The dealer looked at the hole card, under a ten or an ace."""

    natural: bool


@dataclass(frozen=True, slots=True)
class Doubled:
    """`amount` more was staked on the hand, for one final card."""

    seat: int
    hand: int
    amount: int


@dataclass(frozen=True, slots=True)
class Split:
    """`amount` more was staked: `hand` became two, itself and the one after it."""

    seat: int
    hand: int
    amount: int


@dataclass(frozen=True, slots=True)
class BlackjackStood:
    """The hand takes no more cards and waits for the dealer."""

    seat: int
    hand: int
    total: int


@dataclass(frozen=True, slots=True)
class TwentyOne:
    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class Charlie:
    seat: int
    hand: int
    total: int


@dataclass(frozen=True, slots=True)
class Busted:
    seat: int
    hand: int
    total: int


@dataclass(frozen=True, slots=True)
class BlackjackRevealed:
    card: Card


@dataclass(frozen=True, slots=True)
class DealerNatural:
    """The dealer faces 21 in two cards and announces it."""


@dataclass(frozen=True, slots=True)
class DealerStood:
    """The dealer has 17 or more and draws no further."""

    total: int


@dataclass(frozen=True, slots=True)
class DealerCharlie:
    total: int


@dataclass(frozen=True, slots=True)
class DealerBusted:
    total: int


@dataclass(frozen=True, slots=True)
class InsuranceSettled:
    """A seat's insurance is over: `lost` of it to the house, `returned` of it to the caller, and
    `won` from the house besides. lost + returned is what it cost."""

    seat: int
    lost: int
    returned: int
    won: int


@dataclass(frozen=True, slots=True)
class BlackjackSettled:
    """A hand is over: `lost` of its stake to the house, `returned` of its stake to the caller,
    and `won` from the house besides. lost + returned is all that was staked on it."""

    seat: int
    hand: int
    outcome: BlackjackOutcome
    lost: int
    returned: int
    won: int


Event = (
    BlackjackDealt
    | DealerDealt
    | BlackjackNatural
    | InsuranceOffered
    | InsuranceBought
    | InsuranceDeclined
    | Peeked
    | Doubled
    | Split
    | BlackjackStood
    | TwentyOne
    | Charlie
    | Busted
    | BlackjackRevealed
    | DealerNatural
    | DealerStood
    | DealerCharlie
    | DealerBusted
    | InsuranceSettled
    | BlackjackSettled
)
