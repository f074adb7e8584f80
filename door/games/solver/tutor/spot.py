"""A decision as the tutor sees it, and the rules about a hand, by counts of cards alone.

The engine plays with cards that have suits. The tutor tries thousands of hands for one sentence, so
it needs counts. Four rules of `round` and `phases` are repeated here for counts;
tests/door/games/solver/test_every_deal.py compares both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.rules import CHARLIE_CARDS, BlackjackRules
from door.games.solver.tutor.dealer import ACE, Counts
from door.games.solver.tutor.payments import CHARLIE


@dataclass(frozen=True, slots=True)
class Spot:
    """All facts on which the best action depends."""

    rules: BlackjackRules
    unseen: Counts  # the cards that may come, including the hole card
    up: int  # the count of the dealer's up card, an ace as 1
    looked: bool  # whether the dealer has looked at the hole card and has no natural
    hand: Counts  # the cards of the hand at turn
    from_split: bool
    insurance: float | None  # its price for one bet, if insurance is offered now


class Cards(NamedTuple):
    """The count of a hand, as far as its next card and its payment depend on it."""

    hard: int  # aces as 1
    ace: bool
    cards: int

    @property
    def soft(self) -> bool:
        return self.ace and self.hard <= 11

    @property
    def total(self) -> int:
        return self.hard + 10 if self.ace and self.hard <= 11 else self.hard

    def with_card(self, place: int) -> "Cards":
        return Cards(self.hard + place + 1, self.ace or place == ACE, self.cards + 1)


def counted(hand: Counts) -> Cards:
    """Return the count of these cards.

    >>> counted((1, 0, 0, 0, 0, 1, 0, 0, 0, 0)).total
    17
    """
    hard = sum(value * copies for value, copies in enumerate(hand, start=1))
    return Cards(hard, hand[ACE] > 0, sum(hand))


def open_actions(spot: Spot) -> Iterable[BlackjackAction]:
    """Yield the actions of `BlackjackRound.legal` in the same order, except for insurance."""
    hand = counted(spot.hand)
    if hand.cards == 2 and may_double(spot.rules, hand, from_split=spot.from_split):
        yield BlackjackAction.DOUBLE
    if max(spot.hand) == 2 == hand.cards and spot.rules.split == "once" and not spot.from_split:
        yield BlackjackAction.SPLIT
    yield BlackjackAction.HIT
    yield BlackjackAction.STAY


def may_double(rules: BlackjackRules, hand: Cards, *, from_split: bool) -> bool:
    if from_split and not rules.double_after_split:
        return False
    if rules.double == "always":
        return hand.total < 21
    return hand.total in (10, 11) and not hand.soft


def final_kind(rules: BlackjackRules, hand: Cards) -> int | None:
    """Return the kind (`payments`) of a hand to 21 that is complete; None if the caller decides."""
    if rules.charlie and hand.cards == CHARLIE_CARDS:
        charlie = hand.total < 21 or rules.five_card_21 == "charlie"
        return CHARLIE if charlie else 21
    return 21 if hand.total == 21 and not rules.hit_on_21 else None
