"""What each decision in black jack is worth, from what can be seen: the odds behind the tutor.

Numbers are floats, and but for one thing wrong by rounding only. Three things look like
approximations and are none. Seats that draw before the dealer do not matter: whoever takes the
cards between, any card unseen is as likely to come next. For the same reason it does not matter
which of two split hands is played first. And a look that found no natural is weighed into every
card that may come, not only into the hole card.

The one approximation: a split is worth twice what one of its hands is, each played by its own
cards. Who heeds the cards of the other hand besides does a little better; docs/tutor.md says how
little.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from door.games.blackjack_course import Action
from door.games.tutor_dealer import RESULTS, TEN, dealer_ways
from door.games.tutor_hands import WeighedHand
from door.games.tutor_payments import NATURAL, payments
from door.games.tutor_spot import Spot, counted, open_actions

_SPOTS_KEPT = 512  # some hundred bytes each; one decision asks for one or two

_DEALER_NATURAL = RESULTS.index("natural")


@lru_cache(maxsize=_SPOTS_KEPT)
def values(spot: Spot) -> Mapping[Action, float]:
    """The expected gain of each action that the rules allow, for one that was bet at first.

    After the action the book goes on to play best, with a purse that always suffices. Only the
    hand at turn counts, and insurance while it is the question; a split counts both of its hands.
    """
    if spot.insurance is not None:
        return MappingProxyType(_insurance_values(spot, spot.insurance))
    hand = WeighedHand(spot, counted(spot.hand))
    return MappingProxyType({action: hand.value(action) for action in open_actions(spot)})


def _insurance_values(spot: Spot, price: float) -> dict[Action, float]:
    cards, tens = sum(spot.unseen), spot.unseen[TEN]
    # One division of whole numbers: the sign of what insurance gains is exact.
    gain = (tens * (spot.rules.insurance_pays + 1) - cards) / cards
    without = _uninsured(spot, tens / cards)
    return {Action.INSURANCE: without + price * gain, Action.NO_INSURANCE: without}


def _uninsured(spot: Spot, natural: float) -> float:
    """What the hand is worth before the dealer looks under his ace, or turns up what is there."""
    pays = payments(spot.rules).single
    hand = counted(spot.hand)
    if hand.cards == 2 and hand.total == 21:
        ways = dealer_ways(spot.rules, spot.up, looked=False)
        return pays[NATURAL].expected(ways.chances(spot.unseen, sum(spot.unseen)))
    rest = replace(spot, looked=spot.rules.peek_under_ace, insurance=None)
    best = max(values(rest).values())
    if not rest.looked:
        return best
    return natural * pays[hand.total].against[_DEALER_NATURAL] + (1 - natural) * best
