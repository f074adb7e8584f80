"""A hand against one up card, weighed for every card that may come.

A hand is not valued for whoever holds it, but times the chance that its cards come in one order.
So what hitting is worth is the sum of what the hands are worth that it leads to, each way to play
needs only additions, and how often a hand comes is a whole number of orders.

Where the dealer looks under the up card, all chances are those of a deal in which the look finds
nothing; what it finds is counted apart, for nobody decides anything then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import mul

from door.games.blackjack.rules import BlackjackRules
from door.games.blackjack.tutor.dealer import RESULTS, Counts, dealer_ways
from door.games.blackjack.tutor.payments import Payments, payments
from door.odds.hands import TAKEN, Hands

BUST = len(RESULTS) - 1


class UpCard:
    """What is unseen beside an up card, and how the dealer ends beside the cards of any hand."""

    def __init__(self, rules: BlackjackRules, up: int) -> None:
        self.rules = rules
        self.up = up
        self.unseen = [4.0 * rules.decks] * 9 + [16.0 * rules.decks]
        self.chance = self.unseen[up - 1] / sum(self.unseen)
        self.unseen[up - 1] -= 1
        self.cards = sum(self.unseen)
        self.looked = up == 10 or (up == 1 and rules.peek_under_ace)
        ways = dealer_ways(rules, up, self.looked)
        self.excluded = ways.excluded
        self._weigh = ways.weigh
        self._ends: dict[int, tuple[float, ...]] = {}

    def ends(self, key: int, out: Counts, size: int) -> tuple[float, ...]:
        """The chance of each of `RESULTS` but going over, these cards being out."""
        found = self._ends.get(key)
        if found is None:
            left = [all_ - gone for all_, gone in zip(self.unseen, out, strict=True)]
            found = self._ends[key] = self._weigh(*left, self.cards - size)
        return found


@dataclass(slots=True)
class Spread:
    """How hands end: by what they are paid as (`payments`), against each of `RESULTS`."""

    single: dict[int, list[float]] = field(default_factory=dict)
    doubled: dict[int, list[float]] = field(default_factory=dict)
    paid: dict[int, float] = field(default_factory=dict)  # the same against all
    busts: float = 0.0
    doubled_busts: float = 0.0

    def add(self, kind: int, ends: Sequence[float], orders: float, *, doubled: bool) -> None:
        kinds = self.doubled if doubled else self.single
        before = kinds.get(kind)
        if before is None:
            kinds[kind] = [orders * end for end in ends]
        else:
            kinds[kind] = [old + orders * end for old, end in zip(before, ends, strict=True)]


class Side:
    """All hands under one up card; with `pair`, those that begin with one card of a split pair,
    whose other card is out."""

    def __init__(self, hands: Hands, against: UpCard, pair: int | None = None) -> None:
        self.hands = hands
        self.against = against
        self.rules = against.rules
        self.pair = pair
        self.pays: Payments = payments(against.rules)
        every = len(hands.cards)
        self.places = [
            place for place in range(every) if pair is None or hands.counts[place][pair]
        ]
        self.stops = list(hands.stops)
        if pair == 0 and self.rules.split_aces == "one card":
            for place in self.places:
                if hands.cards[place].cards == 2:
                    self.stops[place] = hands.cards[place].total
        # The chance of the cards in one order, the other card of the pair before them; and that
        # nothing is found below the up card besides.
        self.chance = [0.0] * every
        self.clear = [0.0] * every
        self._weigh_hands()
        self.busts = [0.0] * every  # the chance that the next card is one too many
        self.ends: list[tuple[float, ...]] = [()] * every  # of the dealer; () where nobody asks
        self.stood = [0.0] * every
        for place in self.places:
            self._weigh(place)

    def _weigh_hands(self) -> None:
        hands, unseen, cards = self.hands, self.against.unseen, self.against.cards
        excluded, pair = self.against.excluded, self.pair
        chance = [0.0] * len(hands.cards)
        for place, (shorter, value, had) in enumerate(hands.grown):
            size = hands.cards[place].cards
            before = chance[shorter] if shorter >= 0 else 1.0
            chance[place] = before * (unseen[value] - had) / (cards - size + 1)
        for place in self.places:
            size, counts = hands.cards[place].cards, hands.counts[place]
            every = chance[place]
            if pair is not None:
                every *= (unseen[pair] - counts[pair]) / (cards - size)
                size += 1
            self.chance[place] = every
            if excluded is not None:
                left = unseen[excluded] - counts[excluded] - (pair == excluded)
                every *= 1 - left / (cards - size)
            self.clear[place] = every

    def _weigh(self, place: int) -> None:
        """Weigh the end of one hand, as far as somebody may ask for it."""
        hands, kind, clear = self.hands, self.stops[place], self.clear[place]
        if kind is None:
            self.busts[place] = clear - sum(map(self.clear.__getitem__, hands.kids[place]))
        payment = self.pays.single[hands.cards[place].total if kind is None else kind]
        if payment.fixed is not None:
            self.stood[place] = payment.fixed * clear
            if hands.cards[place].cards != 3:  # a doubled one may not be paid like that
                return
        if not clear:
            self.ends[place] = (0.0,) * len(RESULTS)
            return
        self.ends[place] = ends = self.joint(place)
        if payment.fixed is None:
            self.stood[place] = sum(map(mul, payment.against, ends))

    def joint(self, place: int) -> tuple[float, ...]:
        """The chance of a hand's cards and of each end of the dealer."""
        hands = self.hands
        key, out, size = hands.keys[place], hands.counts[place], hands.cards[place].cards
        if self.pair is not None:
            pair = self.pair
            key += TAKEN[pair]
            out = (*out[:pair], out[pair] + 1, *out[pair + 1 :])
            size += 1
        chance = self.chance[place]
        ends = [chance * end for end in self.against.ends(key, out, size)]
        return (*ends, self.clear[place] - sum(ends))

    # What a hand is worth.

    def best(self, may_hit: Sequence[bool]) -> tuple[list[float], list[bool]]:
        """What each hand is worth that is played as well as it can, and whether that is to hit."""
        worth, hits = list(self.stood), [False] * len(self.stood)
        kids, busts, stops = self.hands.kids, self.busts, self.stops
        for place in reversed(self.places):
            if stops[place] is None and may_hit[place]:
                hit = sum(map(worth.__getitem__, kids[place])) - busts[place]
                if hit > worth[place]:
                    worth[place], hits[place] = hit, True
        return worth, hits

    def worth(self, hits: Sequence[bool]) -> list[float]:
        """What each hand is worth that is played like this."""
        worth = list(self.stood)
        kids, busts, stops = self.hands.kids, self.busts, self.stops
        for place in reversed(self.places):
            if hits[place] and stops[place] is None:
                worth[place] = sum(map(worth.__getitem__, kids[place])) - busts[place]
        return worth

    def hit(self, place: int, worth: Sequence[float]) -> float:
        """What hitting is worth, what comes of it being worth so much."""
        return sum(map(worth.__getitem__, self.hands.kids[place])) - self.busts[place]

    def doubled(self, place: int) -> float:
        cards, against = self.hands.cards, self.pays.doubled
        return (
            sum(
                sum(map(mul, against[cards[kid].total].against, self.ends[kid]))
                for kid in self.hands.kids[place]
            )
            - 2 * self.busts[place]
        )

    # How often a hand comes.

    def orders(self, roots: Iterable[tuple[int, int]], hits: Sequence[bool]) -> list[int]:
        """In how many orders each hand comes that is played like this, from these on."""
        orders = [0] * len(self.stood)
        for place, times in roots:
            orders[place] += times
        kids, stops = self.hands.kids, self.stops
        for place in self.places:
            times = orders[place]
            if times and hits[place] and stops[place] is None:
                for kid in kids[place]:
                    orders[kid] += times
        return orders

    def spread(
        self, orders: Sequence[int], hits: Sequence[bool], doubles: Iterable[tuple[int, int]]
    ) -> Spread:
        """How hands end that come in so many orders, or are doubled in so many."""
        found, hands, stops = Spread(), self.hands, self.stops
        for place in self.places:
            times = orders[place]
            if not times:
                continue
            kind = stops[place]
            if kind is None and hits[place]:
                found.busts += times * self.busts[place]
                continue
            kind = hands.cards[place].total if kind is None else kind
            if self.pays.single[kind].fixed is not None:
                found.paid[kind] = found.paid.get(kind, 0.0) + times * self.clear[place]
            else:
                found.add(kind, self.ends[place], times, doubled=False)
        for place, times in doubles:
            found.doubled_busts += times * self.busts[place]
            for kid in hands.kids[place]:
                found.add(hands.cards[kid].total, self.ends[kid], times, doubled=True)
        return found
