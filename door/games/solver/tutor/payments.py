"""The gain of a finished hand against each result of the dealer.

The payments are computed by settling a sample hand of each kind against a sample dealer's hand of
each result in `blackjack_hand`. So the tutor pays like the table under all rules.
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
"""The kinds of finished hands besides the totals to 21."""

_MAX_CACHED = 16

_BET = 2  # even, so that half of it is a whole number

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
    """The gain of a kind of hand for one bet at first; a loss is below 0."""

    against: tuple[float, ...]  # by the place in `RESULTS`
    outcomes: tuple[BlackjackOutcome, ...]  # by the place in `RESULTS`
    fixed: float | None  # the gain against all results, or None if it differs
    above_bust: tuple[float, ...]  # `against` minus the gain against a bust, the last

    def expected(self, chances: list[float]) -> float:
        expected: float = sum(map(mul, self.against, chances))
        return expected


@dataclass(frozen=True, slots=True)
class Payments:
    """The payments of one table, by the kind of hand: a total, `CHARLIE` or `NATURAL`."""

    single: tuple[Payment, ...]
    doubled: tuple[Payment, ...]  # by the total, to 21

    @property
    def most(self) -> float:
        return max(max(payment.against) for payment in self.single)


@lru_cache(maxsize=_MAX_CACHED)
def payments(rules: BlackjackRules) -> Payments:
    kinds = range(NATURAL + 1)
    return Payments(
        tuple(_payment(rules, _hand(kind, doubled=False)) for kind in kinds),
        tuple(_payment(rules, _hand(kind, doubled=True)) for kind in range(22)),
    )


def _hand(kind: int, *, doubled: bool) -> Hand:
    special = {21: "7S 7H 7D", CHARLIE: "2S 2H 2D 2C 3S", NATURAL: "AS TS"}
    cards = parse_cards(special[kind]) if kind in special else _cards_of_total(kind)
    return Hand(cards, 2 * _BET if doubled else _BET, doubled, False, True, None)


def _cards_of_total(total: int) -> tuple[Card, ...]:
    """Return two cards of this hard total. A total below 4, which does not occur, counts as 4."""
    high = min(10, max(total, 4) - 2)
    low = max(total, 4) - high
    return parse_cards(f"{'T' if high == 10 else high}S {'T' if low == 10 else low}H")


def _payment(rules: BlackjackRules, hand: Hand) -> Payment:
    paid = paid_at_once(rules, hand)
    against, outcomes = [], []
    for dealer in _DEALERS:
        outcome = showdown(rules, hand, dealer)
        # A natural is paid at once only if the dealer has none.
        if paid is not None and not (hand.is_natural and is_natural(dealer)):
            outcome = paid
        event = settled(rules, Turn(0, 0), hand, outcome)
        against.append((event.won - event.lost) / _BET)
        outcomes.append(outcome)
    same = len(set(against)) == 1
    above_bust = tuple(gain - against[-1] for gain in against[:-1])
    return Payment(tuple(against), tuple(outcomes), against[0] if same else None, above_bust)
