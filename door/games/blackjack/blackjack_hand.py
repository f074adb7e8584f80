"""What lies on a black jack table, and what it is worth when the round is over.

Hands and seats as frozen data, how a hand compares with the dealer's, and what that moves. When a
hand is asked, paid or settled is the business of `course`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from door.games.blackjack.events import BlackjackOutcome, BlackjackSettled, InsuranceSettled
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, Count, count, is_natural


class Turn(NamedTuple):
    """Whose decision it is: the seat, and its hand, from 0."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand of a seat; it plays until it stands or is settled."""

    cards: tuple[Card, ...]
    stake: int  # with what doubling added
    doubled: bool
    from_split: bool
    standing: bool  # takes no more cards, waits for the dealer
    settled: BlackjackSettled | None

    @property
    def count(self) -> Count:
        """What it counts, for the screen: `str()` of it is "soft 17" or "17"."""
        return count(self.cards)

    @property
    def is_natural(self) -> bool:
        """21 in the two cards first dealt; after a split there is none."""
        return not self.from_split and is_natural(self.cards)

    @property
    def in_play(self) -> bool:
        return not self.standing and self.settled is None

    @property
    def waiting(self) -> bool:
        return self.standing and self.settled is None

    # Audits replay millions of hands, and `replace` takes three times as long.

    def with_card(self, card: Card) -> "Hand":
        cards = (*self.cards, card)
        return Hand(cards, self.stake, self.doubled, self.from_split, self.standing, self.settled)

    def that_stands(self) -> "Hand":
        return Hand(self.cards, self.stake, self.doubled, self.from_split, True, self.settled)

    def that_ended(self, how: BlackjackSettled) -> "Hand":
        return Hand(self.cards, self.stake, self.doubled, self.from_split, self.standing, how)


class Seat(NamedTuple):
    bet: int
    insurance: int | None  # None: not asked, or not answered yet; 0: declined
    insurance_settled: InsuranceSettled | None
    hands: tuple[Hand, ...]

    @property
    def staked(self) -> int:
        return (self.insurance or 0) + sum([hand.stake for hand in self.hands])

    def with_hand(self, place: int, *hands: Hand) -> "Seat":
        """The seat with these hands where it has the one at `place`, from 0."""
        every = (*self.hands[:place], *hands, *self.hands[place + 1 :])
        return Seat(self.bet, self.insurance, self.insurance_settled, every)


def insurance_amount(rules: BlackjackRules, bet: int) -> int:
    """What insurance on a bet costs, or may cost at most: half of it, or under "down" the whole
    units in that half."""
    if rules.insurance_rounding == "exact":
        return bet // 2
    return bet // (2 * rules.insurance_unit) * rules.insurance_unit


def insurance_settled(
    rules: BlackjackRules, turn: int, amount: int, natural: bool
) -> InsuranceSettled:
    """What becomes of seat `turn`'s insurance, the dealer having a natural or not."""
    if natural:
        return InsuranceSettled(turn, 0, amount, amount * rules.insurance_pays)
    return InsuranceSettled(turn, amount, 0, 0)


def counts_as_natural(rules: BlackjackRules, hand: Hand) -> bool:
    """Whether a hand has the rank and the pay of a natural: where the house says so, an ace and a
    ten of a split too."""
    of_split = hand.from_split and rules.split_21 == "natural" and is_natural(hand.cards)
    return of_split or hand.is_natural


def paid_at_once(rules: BlackjackRules, hand: Hand) -> BlackjackOutcome | None:
    """Return how a hand ends that is paid before the dealer plays; None for one that waits. A
    natural is paid so only where the dealer is known to have none.

    A doubled 21 waits: "Once the dealer's play is ended, the player's hand is counted".
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
    back = _back_for_one(rules, hand, outcome)
    if not back:
        return BlackjackSettled(turn.seat, turn.hand, outcome, hand.stake, 0, 0)
    won, rest = divmod(hand.stake * (back.numerator - back.denominator), back.denominator)
    assert not rest  # start() refused stakes whose half is needed and odd
    return BlackjackSettled(turn.seat, turn.hand, outcome, 0, hand.stake, won)


def _back_for_one(rules: BlackjackRules, hand: Hand, outcome: BlackjackOutcome) -> Fraction:
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
    """How a hand that stood ends against the dealer's complete hand.

    In this order: the dealer's natural and Five-Card Charlie ("even if the player's count is 21"),
    the caller's natural and Charlie, a dealer who went over, and only then the counts.
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
