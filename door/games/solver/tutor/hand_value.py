"""The gain of each action in a hand of black jack: the computation behind the tutor.

For each card that may come, the best next action is computed again, down to finished hands. A
finished hand is compared with the dealer's results from exactly the remaining cards.

Numbers are floats, and only rounding is inexact, with one exception. Three things look like
approximations and are exact. Other seats that draw before the dealer do not matter, because any
unseen card is as likely to come next. So the order of two split hands does not matter either. And a
look that found no natural changes the probability of every card, not only of the hole card.

The exception is a split, which is worth twice one of its hands, each played by its own cards. A
caller who also uses the cards of the other hand gains a little more; docs/tutor.md has the
difference.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf
from operator import mul, sub
from types import MappingProxyType

from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.rules import LONGEST_HAND
from door.games.solver.tutor.dealer import ACE, RESULTS, TEN, Branches, branch, dealer_hands
from door.games.solver.tutor.payments import NATURAL, Payment, payments
from door.games.solver.tutor.spot import Cards, Spot, counted, final_kind, may_double, open_actions

_CARD_KEYS = tuple(32**place for place in range(10))  # no hand has 32 cards of a value

_DOUBT = 2.0
"""The most that a missing card may shift the lead of hit over stay, times the cards in the shoe.

It is for each unit between a lost bet and the best payment.

With more, no opening hand from 1 to 8 decks changes. With half of it, the first changes by
0.00003."""


_Hit = tuple[list[tuple[float, int]], float]
"""The probability of each next card with the key of the new hand, and the probability of a bust."""

_Double = tuple[list[tuple[float, int, Payment]], float]
"""Like `_Hit` for a doubled hand, with the payment of each new hand."""

_SecondCard = tuple[float, int, _Double | None]
"""A second card of a split hand: its probability, the key of the hand, and its double if legal."""


@dataclass(slots=True)
class _Hands:
    """The hands that may follow, and their worth by their keys.

    An entry is a hand's key, the payment for standing and the cards after a hit. The payment or the
    hit is None if it is surely not the best. The hands after a hit come before the hand.
    """

    entries: list[tuple[int, Payment | None, _Hit | None]] = field(default_factory=list)
    keys: set[int] = field(default_factory=set)
    worth: dict[int, float] = field(default_factory=dict)


class WeighedHand:
    """The hand of a spot.

    `values` first lists the hands that may follow, and those that may stand. Then it computes the
    dealer's results against all of these at once. Last it computes the worth of each hand, longer
    hands first. `unseen`, `cards` and `key` describe the shoe while cards are tried: `_take`
    removes a card, `_put_back` returns it. `key` identifies the removed cards in any order.
    """

    def __init__(self, spot: Spot, hand: Cards) -> None:
        """`hand` is the count of the spot's hand."""
        self.rules = spot.rules
        self.hand = hand
        self.pair = max(range(10), key=spot.hand.__getitem__)
        self.all_unseen = spot.unseen
        self.unseen = list(spot.unseen)
        self.all_cards = self.cards = sum(spot.unseen)
        self.key = 0
        self.dealer = dealer_hands(spot.rules, spot.up, spot.looked)
        self.pays = payments(spot.rules)
        self.spread = self.pays.most + 1
        self.contested: Branches = {}  # hands whose payment depends on the dealer
        self.look_factors: dict[int, float] = {}  # make the ends conditional on the look
        self.leads: dict[Cards, float] = {}
        self.estimated_cards = self._next_cards(0)
        chances = self.dealer.chances(self.unseen, self.cards)
        self.estimated_worth = [payment.expected(chances) for payment in self.pays.single]

    def values(self, actions: Iterable[BlackjackAction]) -> dict[BlackjackAction, float]:
        """Return the gain of each action for one bet at first. Excludes insurance."""
        whole, halves = _Hands(), _Hands()  # after a split, the same cards are another hand
        worth: dict[BlackjackAction, Callable[[], float]] = {}
        for action in actions:
            match action:
                case BlackjackAction.DOUBLE:
                    worth[action] = partial(self._double_worth, self._double(self.hand))
                case BlackjackAction.SPLIT:
                    worth[action] = partial(self._split_worth, self._second_cards(halves), halves)
                case BlackjackAction.HIT:
                    worth[action] = partial(self._hit_worth, self._hit(self.hand, whole), whole)
                case _:
                    payment = self._note_payment(self.pays.single[self.hand.total])
                    worth[action] = partial(self._stand_worth, payment, 0)
        orders = self.dealer.orders(self.all_cards, LONGEST_HAND)
        self.ends = self.dealer.ends(self.contested, orders, list(map(float, self.all_unseen)))
        for hands in (whole, halves):
            self._compute(hands)
        return {action: compute() for action, compute in worth.items()}

    # The hands that may follow.

    def _hit(self, hand: Cards, hands: _Hands) -> _Hit:
        """Add the hands after a hit to `hands`; return the cards."""
        drawn, bust = [], 1.0
        for place, chance in self._next_cards(hand.hard):
            bust -= chance
            self._take(place)
            drawn.append((chance, self.key))
            if self.key not in hands.keys:
                hands.keys.add(self.key)
                after = hand.with_card(place)
                self._add(after, final_kind(self.rules, after), hands)
            self._put_back(place)
        return drawn, bust

    def _add(self, hand: Cards, kind: int | None, hands: _Hands) -> None:
        """Add a hand to `hands`, after the hands that follow it. `kind` is None for a decision.

        Leaves out hit or stand if the other leads by more than the removed cards can change.
        """
        if kind is not None:
            payment = self._note_payment(self.pays.single[kind])
            hands.entries.append((self.key, payment, None))
            return
        lead = self._estimated_lead(hand)
        doubt = _DOUBT * self.spread * (self.all_cards - self.cards) / max(self.cards, 1)
        stand = None if lead > doubt else self._note_payment(self.pays.single[hand.total])
        hit = None if lead < -doubt else self._hit(hand, hands)
        hands.entries.append((self.key, stand, hit))

    def _double(self, hand: Cards) -> _Double:
        doubled, bust = [], 1.0
        for place, chance in self._next_cards(hand.hard):
            bust -= chance
            self._take(place)
            payment = self._note_payment(self.pays.doubled[hand.with_card(place).total])
            doubled.append((chance, self.key, payment))
            self._put_back(place)
        return doubled, bust

    def _second_cards(self, hands: _Hands) -> list[_SecondCard]:
        """Add the hands that may follow a split to `hands`; return the second cards."""
        card = Cards(self.pair + 1, self.pair == ACE, 1)
        seconds: list[_SecondCard] = []
        for place, chance in self._next_cards(card.hard):
            self._take(place)
            hand = card.with_card(place)
            kind = self._final_kind_of_two(hand)
            self._add(hand, kind, hands)
            doubles = kind is None and may_double(self.rules, hand, from_split=True)
            seconds.append((chance, self.key, self._double(hand) if doubles else None))
            self._put_back(place)
        return seconds

    def _final_kind_of_two(self, hand: Cards) -> int | None:
        """Return `final_kind` of a split hand with its second card."""
        if hand.total == 21 and self.rules.split_21 == "natural":
            return NATURAL
        if self.pair == ACE and self.rules.split_aces == "one card":
            return hand.total
        return final_kind(self.rules, hand)

    def _note_payment(self, payment: Payment) -> Payment:
        """Return the payment. Add the hand to `contested` if the dealer's result decides it."""
        if payment.fixed is None and self.key not in self.look_factors:
            excluded = self.dealer.excluded
            holes = self.cards if excluded is None else self.cards - self.unseen[excluded]
            self.look_factors[self.key] = self.cards / holes if holes else 1.0
            out = tuple(map(sub, self.all_unseen, self.unseen))
            branch(self.contested, out, self.all_cards - self.cards, self.key)
        return payment

    # The worth of the hands.

    def _compute(self, hands: _Hands) -> None:
        worth = hands.worth
        for key, stand, hit in hands.entries:
            best = -inf if stand is None else self._stand_worth(stand, key)
            if hit is not None:
                best = max(best, self._hit_worth(hit, hands))
            worth[key] = best

    def _hit_worth(self, hit: _Hit, hands: _Hands) -> float:
        cards, bust = hit
        worth = hands.worth
        return sum([chance * worth[key] for chance, key in cards]) - bust

    def _double_worth(self, double: _Double) -> float:
        cards, bust = double
        paid = [chance * self._stand_worth(payment, key) for chance, key, payment in cards]
        return sum(paid) - 2 * bust

    def _split_worth(self, seconds: list[_SecondCard], hands: _Hands) -> float:
        gain = 0.0
        for chance, key, double in seconds:
            best = hands.worth[key]
            if double is not None:
                best = max(best, self._double_worth(double))
            gain += chance * best
        return 2 * gain

    def _stand_worth(self, payment: Payment, key: int) -> float:
        """Return the gain of a finished hand."""
        if payment.fixed is not None:
            return payment.fixed
        gained: float = sum(map(mul, payment.above_bust, self.ends[key]))
        return payment.against[-1] + self.look_factors[key] * gained

    # Estimates that draw each card from the full shoe. They show which action is surely worse.

    def _estimated_lead(self, hand: Cards) -> float:
        """Return the estimated worth of hit minus that of stay."""
        lead = self.leads.get(hand)
        if lead is None:
            gain, bust = 0.0, 1.0
            for place, chance in self.estimated_cards:
                if hand.hard + place < 21:
                    bust -= chance
                    gain += chance * self._estimated(hand.with_card(place))
            lead = self.leads[hand] = gain - bust - self.estimated_worth[hand.total]
        return lead

    def _estimated(self, hand: Cards) -> float:
        kind = final_kind(self.rules, hand)
        if kind is not None:
            return self.estimated_worth[kind]
        return self.estimated_worth[hand.total] + max(0.0, self._estimated_lead(hand))

    # Cards.

    def _next_cards(self, hard: int) -> list[tuple[int, float]]:
        """Return the next cards that do not bust a hand of `hard`, and their probability.

        A value that the look excludes as the hole card is a little more likely to come next.
        """
        if self.cards < 2:
            return []  # only the hole card is left
        unseen = self.unseen[: 21 - hard]
        excluded = self.dealer.excluded
        if excluded is None:
            return [(place, copies / self.cards) for place, copies in enumerate(unseen) if copies]
        holes = self.cards - self.unseen[excluded]
        every = holes * (self.cards - 1)
        chances = [
            (place, copies * (holes - (place != excluded)) / every)
            for place, copies in enumerate(unseen)
        ]
        return [(place, chance) for place, chance in chances if chance]

    def _take(self, place: int) -> None:
        self.unseen[place] -= 1
        self.cards -= 1
        self.key += _CARD_KEYS[place]

    def _put_back(self, place: int) -> None:
        self.unseen[place] += 1
        self.cards += 1
        self.key -= _CARD_KEYS[place]


_MAX_CACHED = 512  # spots of some hundred bytes; a decision needs one or two

_DEALER_NATURAL = RESULTS.index("natural")


@lru_cache(maxsize=_MAX_CACHED)
def values(spot: Spot) -> Mapping[BlackjackAction, float]:
    """Return the mean gain of each legal action, for one bet at first.

    The later actions are the best ones, and the purse suffices for all. The gain is that of the
    hand at turn, of both hands after a split, and of insurance while it is offered.
    """
    if spot.insurance is not None:
        return MappingProxyType(_insurance_values(spot, spot.insurance))
    hand = WeighedHand(spot, counted(spot.hand))
    return MappingProxyType(hand.values(open_actions(spot)))


def weigh(spot: Spot) -> Mapping[BlackjackAction, float]:
    """Return the `values` in a form that can be pickled."""
    return dict(values(spot))


def _insurance_values(spot: Spot, price: float) -> dict[BlackjackAction, float]:
    cards, tens = sum(spot.unseen), spot.unseen[TEN]
    # A single division of whole numbers, so the sign of the gain is exact.
    gain = (tens * (spot.rules.insurance_pays + 1) - cards) / cards
    without = _uninsured(spot, tens / cards)
    return {
        BlackjackAction.INSURANCE: without + price * gain,
        BlackjackAction.NO_INSURANCE: without,
    }


def _uninsured(spot: Spot, natural: float) -> float:
    """Return the worth of the hand before the dealer looks under the ace, without insurance.

    `natural` is the probability of the dealer's natural.
    """
    pays = payments(spot.rules).single
    hand = counted(spot.hand)
    if hand.cards == 2 and hand.total == 21:
        dealer = dealer_hands(spot.rules, spot.up, looked=False)
        return pays[NATURAL].expected(dealer.chances(spot.unseen, sum(spot.unseen)))
    rest = replace(spot, looked=spot.rules.peek_under_ace, insurance=None)
    best = max(values(rest).values())
    if not rest.looked:
        return best
    return natural * pays[hand.total].against[_DEALER_NATURAL] + (1 - natural) * best
