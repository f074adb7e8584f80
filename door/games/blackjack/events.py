"""The events of a round of black jack.

Seats and hands count from 0. A seat has one hand, or two after a split. Amounts are whole numbers
of the smallest unit of the stakes. No event shows a card that lies face down.
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
    """A hand of a seat got a card, face up."""

    seat: int
    hand: int
    card: Card


@dataclass(frozen=True, slots=True)
class DealerDealt:
    """The dealer got a card; None is the hole card, face down."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class BlackjackNatural:
    """A seat has 21 in its first two cards. It may be paid later."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class InsuranceOffered:
    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class InsuranceBought:
    """The seat staked `amount` on insurance."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class InsuranceDeclined:
    seat: int


@dataclass(frozen=True, slots=True)
class Peeked:
    """The dealer looked at the hole card, under a ten or an ace. `natural` is the result."""

    natural: bool


@dataclass(frozen=True, slots=True)
class Doubled:
    """The seat staked `amount` more on the hand, for a last card."""

    seat: int
    hand: int
    amount: int


@dataclass(frozen=True, slots=True)
class Split:
    """The seat staked `amount` more, and `hand` became two hands, `hand` and the next."""

    seat: int
    hand: int
    amount: int


@dataclass(frozen=True, slots=True)
class BlackjackStood:
    """The hand stands and waits for the dealer."""

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
    """The dealer has 21 in two cards."""


@dataclass(frozen=True, slots=True)
class DealerStood:
    """The dealer stands on 17 or more."""

    total: int


@dataclass(frozen=True, slots=True)
class DealerCharlie:
    total: int


@dataclass(frozen=True, slots=True)
class DealerBusted:
    total: int


@dataclass(frozen=True, slots=True)
class InsuranceSettled:
    """A seat's insurance is settled. Its price is lost + returned; the house pays `won` more."""

    seat: int
    lost: int
    returned: int
    won: int


@dataclass(frozen=True, slots=True)
class BlackjackSettled:
    """A hand is over. Its stake is lost + returned, and the house pays `won` more."""

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
