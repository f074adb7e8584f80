"""What a hand that takes no more cards is worth against each result of the dealer.

Nothing is decided here: one hand of each kind is put before one dealer's hand of each kind, and
`blackjack.hands`, which settles the real ones, is asked what would move. So whatever a sysop
changes in the rules, the tutor pays as the table does.
"""

from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from door.games.blackjack.blackjack_hand import Hand, Turn, paid_at_once, settled, showdown
from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, is_natural, parse_cards
from door.games.solver.tutor.dealer import RESULTS

CHARLIE, NATURAL = 22, 23
"""Beside the totals to 21, the two kinds of hands that are more than their count."""

_TABLES_KEPT = 16

_BET = 2  # so that the half of it is a whole number

_DEALERS = tuple(
    parse_cards(text)
    for text in (
        "TS 7S",
        "TS 8S",
        "TS 9S",
        "TS KS",
        "7S 7H 7D",
        "2S 2H 2D 2C 3S",
        "AS TS",
        "TS 6S 9S",
    )
)
assert len(_DEALERS) == len(RESULTS)


@dataclass(frozen=True, slots=True)
class Payment:
    """What a kind of hand gains for one that was bet at first, a loss being less than 0."""

    against: tuple[float, ...]  # each of `RESULTS`
    outcomes: tuple[BlackjackOutcome, ...]  # how it ends, against each of them
    fixed: float | None  # the same against all: paid before the dealer plays
    above_bust: tuple[float, ...]  # how much more than against a dealer who goes over, the last

    def expected(self, chances: list[float]) -> float:
        expected: float = sum(map(mul, self.against, chances))
        return expected


@dataclass(frozen=True, slots=True)
class Payments:
    """The payments of one table: of a hand that counts so much, at `NATURAL` and at `CHARLIE`."""

    single: tuple[Payment, ...]
    doubled: tuple[Payment, ...]  # totals to 21

    @property
    def most(self) -> float:
        return max(max(payment.against) for payment in self.single)


@lru_cache(maxsize=_TABLES_KEPT)
def payments(rules: BlackjackRules) -> Payments:
    kinds = range(NATURAL + 1)
    return Payments(
        tuple(_payment(rules, _hand(kind, doubled=False)) for kind in kinds),
        tuple(_payment(rules, _hand(kind, doubled=True)) for kind in range(22)),
    )


def _hand(kind: int, *, doubled: bool) -> Hand:
    special = {21: "7S 7H 7D", CHARLIE: "2S 2H 2D 2C 3S", NATURAL: "AS TS"}
    cards = parse_cards(special[kind]) if kind in special else _counting(kind)
    return Hand(cards, 2 * _BET if doubled else _BET, doubled, False, True, None)


def _counting(total: int) -> tuple[Card, ...]:
    """Two cards of this hard total; what is below 4 does not occur and is worth what 4 is."""
    high = min(10, max(total, 4) - 2)
    low = max(total, 4) - high
    return parse_cards(f"{'T' if high == 10 else high}S {'T' if low == 10 else low}H")


def _payment(rules: BlackjackRules, hand: Hand) -> Payment:
    paid = paid_at_once(rules, hand)
    against, outcomes = [], []
    for dealer in _DEALERS:
        outcome = showdown(rules, hand, dealer)
        # A natural paid before the dealer plays waits until the dealer is known to have none.
        if paid is not None and not (hand.is_natural and is_natural(dealer)):
            outcome = paid
        event = settled(rules, Turn(0, 0), hand, outcome)
        against.append((event.won - event.lost) / _BET)
        outcomes.append(outcome)
    same = len(set(against)) == 1
    above_bust = tuple(gain - against[-1] for gain in against[:-1])
    return Payment(tuple(against), tuple(outcomes), against[0] if same else None, above_bust)
