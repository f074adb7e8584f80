"""The hands and seats of black jack, and the outcome and payment of a hand.

`phases` decides when a hand is played, paid and settled.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from door.games.blackjack.events import BlackjackOutcome, BlackjackSettled, InsuranceSettled
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, Count, count, is_natural


class Turn(NamedTuple):
    """The seat and its hand that decide now, both from 0."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand of a seat. It is in play until it has stood or is settled."""

    cards: tuple[Card, ...]
    stake: int  # including a double
    doubled: bool
    from_split: bool
    has_stood: bool  # takes no further cards
    settled: BlackjackSettled | None

    @property
    def count(self) -> Count:
        """The count of the cards. Its `str()` is "soft 17" or "17"."""
        return count(self.cards)

    @property
    def is_natural(self) -> bool:
        """Whether the first two cards are 21, without a split."""
        return not self.from_split and is_natural(self.cards)

    @property
    def in_play(self) -> bool:
        return not self.has_stood and self.settled is None

    @property
    def waiting(self) -> bool:
        return self.has_stood and self.settled is None

    # Not by `replace`, which takes three times as long: audits replay millions of hands.

    def with_card(self, card: Card) -> "Hand":
        cards = (*self.cards, card)
        return Hand(cards, self.stake, self.doubled, self.from_split, self.has_stood, self.settled)

    def as_stood(self) -> "Hand":
        return Hand(self.cards, self.stake, self.doubled, self.from_split, True, self.settled)

    def with_settlement(self, settlement: BlackjackSettled) -> "Hand":
        return Hand(
            self.cards, self.stake, self.doubled, self.from_split, self.has_stood, settlement
        )


class Seat(NamedTuple):
    bet: int
    insurance: int | None  # None before the answer or without an offer; 0 if declined
    insurance_settled: InsuranceSettled | None
    hands: tuple[Hand, ...]

    @property
    def staked(self) -> int:
        return (self.insurance or 0) + sum([hand.stake for hand in self.hands])

    def with_hand(self, place: int, *hands: Hand) -> "Seat":
        """Return the seat with `hands` instead of the hand at `place`, from 0."""
        every = (*self.hands[:place], *hands, *self.hands[place + 1 :])
        return Seat(self.bet, self.insurance, self.insurance_settled, every)


def insurance_amount(rules: BlackjackRules, bet: int) -> int:
    """Return the highest insurance of a bet: half of it, in whole units with "down"."""
    if rules.insurance_rounding == "exact":
        return bet // 2
    return bet // (2 * rules.insurance_unit) * rules.insurance_unit


def insurance_settled(
    rules: BlackjackRules, turn: int, amount: int, natural: bool
) -> InsuranceSettled:
    """Return how the insurance of seat `turn` ends. `natural` is whether the dealer has one."""
    if natural:
        return InsuranceSettled(turn, 0, amount, amount * rules.insurance_pays)
    return InsuranceSettled(turn, amount, 0, 0)


def counts_as_natural(rules: BlackjackRules, hand: Hand) -> bool:
    """Return whether a hand is paid as a natural. The rules may include a split's ace and ten."""
    is_split_natural = hand.from_split and rules.split_21 == "natural" and is_natural(hand.cards)
    return is_split_natural or hand.is_natural


def is_complete(rules: BlackjackRules, hand: Hand) -> bool:
    """Return whether a hand gets no further card: after a double, or as a split ace with one."""
    is_lone_ace = hand.from_split and hand.cards[0].is_ace and rules.split_aces == "one card"
    return hand.doubled or is_lone_ace


def paid_at_once(rules: BlackjackRules, hand: Hand) -> BlackjackOutcome | None:
    """Return the outcome of a hand that is paid before the dealer plays; None if it waits.

    The caller checks that the dealer has no natural. A doubled 21 waits: "Once the dealer's play is
    ended, the player's hand is counted".
    """
    if rules.is_charlie(hand.cards):
        outcome, when = BlackjackOutcome.CHARLIE, rules.charlie_paid
    elif counts_as_natural(rules, hand):
        outcome, when = BlackjackOutcome.NATURAL, rules.natural_paid
    elif hand.count.total == 21 and not hand.doubled:
        outcome, when = BlackjackOutcome.TWENTY_ONE, rules.twenty_one_paid
    else:
        return None
    return outcome if when == "at once" else None


def settled(
    rules: BlackjackRules, turn: Turn, hand: Hand, outcome: BlackjackOutcome
) -> BlackjackSettled:
    """Return the settlement of a hand with this outcome."""
    back = _return_for_one(rules, hand, outcome)
    if not back:
        return BlackjackSettled(turn.seat, turn.hand, outcome, hand.stake, 0, 0)
    won, rest = divmod(hand.stake * (back.numerator - back.denominator), back.denominator)
    assert not rest  # start() refuses odd stakes if these rules need their half
    return BlackjackSettled(turn.seat, turn.hand, outcome, 0, hand.stake, won)


def _return_for_one(rules: BlackjackRules, hand: Hand, outcome: BlackjackOutcome) -> Fraction:
    """Return what comes back for each unit of the stake, the stake included."""
    match outcome:
        case BlackjackOutcome.NATURAL:
            return rules.natural_pays
        case BlackjackOutcome.CHARLIE:
            return rules.charlie_pays
        case BlackjackOutcome.TWENTY_ONE:
            return rules.doubled_21_pays if hand.doubled else rules.twenty_one_pays
        case BlackjackOutcome.WIN:
            return rules.win_pays
        case BlackjackOutcome.PUSH:
            return Fraction(1)
        case _:
            return Fraction(0)


def showdown(rules: BlackjackRules, hand: Hand, dealer: tuple[Card, ...]) -> BlackjackOutcome:
    """Return the outcome of a hand that has stood against the dealer's complete hand.

    The order is: the dealer's natural and Five-Card Charlie ("even if the player's count is 21"),
    the caller's natural and Charlie, a dealer's bust, and last the counts.
    """
    total, against = hand.count.total, count(dealer).total
    natural, dealt = counts_as_natural(rules, hand), is_natural(dealer)
    beats_21 = rules.twenty_one_beats == "all totals"
    ranked = (
        (dealt and natural, BlackjackOutcome.PUSH),
        (dealt, BlackjackOutcome.DEALER_NATURAL),
        (rules.is_charlie(dealer), BlackjackOutcome.DEALER_CHARLIE),
        (natural, BlackjackOutcome.NATURAL),
        (rules.is_charlie(hand.cards), BlackjackOutcome.CHARLIE),
        (total == 21 and (beats_21 or against != 21), BlackjackOutcome.TWENTY_ONE),
        (against > 21 and rules.dealer_over == "push", BlackjackOutcome.PUSH),
        (against > 21 or total > against, BlackjackOutcome.WIN),
        (total == against and rules.ties == "push", BlackjackOutcome.PUSH),
    )
    return next((outcome for holds, outcome in ranked if holds), BlackjackOutcome.LOSE)
