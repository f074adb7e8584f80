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
from operator import mul, sub

from door.games.blackjack.rules import BlackjackRules
from door.games.blackjack.tutor.dealer import RESULTS, Counts, dealer_ways
from door.games.blackjack.tutor.payments import NATURAL, Payments, payments
from door.odds.hands import TAKEN, Hands

SAME = 1e-12  # gains of a unit closer than that differ by rounding only

_NOTHING = (0.0,) * len(RESULTS)


class UpCard:
    """What is unseen beside an up card, and how the dealer ends beside the cards of any hand."""

    def __init__(self, rules: BlackjackRules, shoe: Counts, up: int) -> None:
        self.rules = rules
        self.up = up
        self.unseen = list(map(float, shoe))
        self.chance = self.unseen[up - 1] / sum(self.unseen)
        self.unseen[up - 1] -= 1
        self.cards = sum(self.unseen)
        looked = up == 10 or (up == 1 and rules.peek_under_ace)
        ways = dealer_ways(rules, up, looked)
        self.excluded = ways.excluded
        self._weigh = ways.weigh
        self._ends: dict[int, tuple[float, ...]] = {}

    def ends(self, key: int, out: Counts, size: int) -> tuple[float, ...]:
        """The chance of each of `RESULTS` but going over, these cards being out."""
        found = self._ends.get(key)
        if found is None:
            left = map(sub, self.unseen, out)
            found = self._ends[key] = self._weigh(*left, self.cards - size)
        return found


@dataclass(slots=True)
class Distribution:
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


class HandTree:
    """All hands under one up card; with `pair`, those that begin with one card of a split pair,
    whose other card is out, beside `whole`, which has the hands that were not split.

    What a hand is worth that takes no more cards is known of those that were weighed: of all at
    first, of those of a split when they are asked for.
    """

    def __init__(
        self, hands: Hands, against: UpCard, pair: int | None = None, whole: HandTree | None = None
    ) -> None:
        self.hands = hands
        self.against = against
        self.rules = against.rules
        self.pair = pair
        self.pays: Payments = payments(against.rules)
        every = len(hands.cards)
        self.stops = list(hands.stops)
        self.busts = [0.0] * every  # the chance that the next card is one too many
        self.ends: list[tuple[float, ...]] = [()] * every  # of the dealer; () where nobody asks
        self.stood = [0.0] * every
        self._weighed = [False] * every
        # The chance of the cards in one order, the other card of the pair before them; and that
        # nothing is found below the up card besides.
        if whole is None or pair is None:
            self.places: Sequence[int] = range(every)
            self.chance = self._chances()
            self.clear = self._clear(0.0)
            self.weigh(self.places)
            return
        self.places = [place for place in range(every) if hands.counts[place][pair]]
        self._split(whole.chance, pair)

    def _split(self, whole: Sequence[float], pair: int) -> None:
        hands, left, cards = self.hands, self.against.unseen[pair], self.against.cards
        if pair == 0 and self.rules.split_aces == "one card":
            for place in self.places:
                if hands.cards[place].cards == 2:
                    self.stops[place] = hands.cards[place].total
        if self.rules.split_21 == "natural":
            for place in self.places:
                if hands.cards[place].cards == 2 and hands.cards[place].total == 21:
                    self.stops[place] = NATURAL
        self.chance = [0.0] * len(whole)
        for place in self.places:
            out = left - hands.counts[place][pair]
            self.chance[place] = whole[place] and whole[place] * out / (
                cards - hands.cards[place].cards
            )
        self.clear = self._clear(1.0)

    def _chances(self) -> list[float]:
        hands, unseen, cards = self.hands, self.against.unseen, self.against.cards
        chances: list[float] = []
        for (shorter, value, had), counted in zip(hands.grown, hands.cards, strict=True):
            before = chances[shorter] if shorter >= 0 else 1.0
            # Of a shoe that is out of cards no more come, and nothing is divided by them.
            chances.append(before and before * (unseen[value] - had) / (cards - counted.cards + 1))
        return chances

    def _clear(self, out: float) -> list[float]:
        excluded = self.against.excluded
        if excluded is None:
            return self.chance
        clear = [0.0] * len(self.chance)
        cards = self.against.cards - out
        copies = self.against.unseen[excluded] - (self.pair == excluded)
        hands = self.hands
        for place in self.places:
            if not self.chance[place]:
                continue
            left = copies - hands.counts[place][excluded]
            clear[place] = self.chance[place] * (1 - left / (cards - hands.cards[place].cards))
        return clear

    def weigh(self, places: Iterable[int]) -> None:
        """Find out what these hands are worth that take no more cards."""
        for place in places:
            if not self._weighed[place]:
                self._weighed[place] = True
                self._weigh(place)

    def _weigh(self, place: int) -> None:
        kind, clear, cards = self.stops[place], self.clear[place], self.hands.cards[place]
        if kind is None:
            kids = self.hands.kids[place]
            self.busts[place] = clear - sum(map(self.clear.__getitem__, kids))
        payment = self.pays.single[cards.total if kind is None else kind]
        if payment.fixed is not None:
            self.stood[place] = payment.fixed * clear
            if cards.cards != 3:  # a doubled hand may not be paid like that
                return
        self.ends[place] = ends = self.joint(place)
        if payment.fixed is None:
            self.stood[place] = sum(map(mul, payment.against, ends))

    def joint(self, place: int) -> tuple[float, ...]:
        """The chance of a hand's cards and of each end of the dealer."""
        chance = self.chance[place]
        if not chance:
            return _NOTHING
        hands, pair = self.hands, self.pair
        key, out, size = hands.keys[place], hands.counts[place], hands.cards[place].cards
        if pair is not None:
            key += TAKEN[pair]
            out = (*out[:pair], out[pair] + 1, *out[pair + 1 :])
            size += 1
        ends = [chance * end for end in self.against.ends(key, out, size)]
        return (*ends, self.clear[place] - sum(ends))

    # What a hand is worth.

    def best(
        self, may_hit: Sequence[bool], clue: Sequence[float] | None = None, doubt: float = 0.0
    ) -> tuple[list[float], list[bool]]:
        """What each hand is worth that is played as well as it can, and whether that is to hit.

        With a `clue`, by how much hitting seems to be better than standing for a unit, that is not
        wrong by more than `doubt`, only those hands that begin with two cards of a split.
        """
        if clue is None:
            return self._best(self.places, may_hit)
        # What is clear is not weighed against the other, and what follows it never comes.
        stops, kids = self.stops, self.hands.kids
        wanted = set(self.seconds)
        weighing = []
        surely = [False] * len(clue)
        hittable = list(may_hit)
        for place in self.places:
            if place not in wanted:
                continue
            if stops[place] is not None or not may_hit[place] or clue[place] < -doubt:
                hittable[place] = False
                weighing.append(place)
                continue
            surely[place] = clue[place] > doubt
            if not surely[place]:
                weighing.append(place)
            wanted.update(kids[place])
        self.weigh(weighing)
        for place in wanted:
            if surely[place]:
                self.bust(place)
        return self._best(sorted(wanted), hittable, surely)

    def _best(
        self, places: Sequence[int], may_hit: Sequence[bool], surely: Sequence[bool] | None = None
    ) -> tuple[list[float], list[bool]]:
        worth, hits = list(self.stood), [False] * len(self.stood)
        kids, busts, stops = self.hands.kids, self.busts, self.stops
        for place in reversed(places):
            if stops[place] is None and may_hit[place]:
                hit = sum(map(worth.__getitem__, kids[place])) - busts[place]
                if hit > worth[place] + SAME * self.clear[place] or (
                    surely is not None and surely[place]
                ):
                    worth[place], hits[place] = hit, True
        return worth, hits

    @property
    def seconds(self) -> tuple[int, ...]:
        """The hands of a split, with their second card."""
        assert self.pair is not None
        return self.hands.kids[self.pair]

    def bust(self, place: int) -> float:
        """The chance that the next card is one too many."""
        if not self._weighed[place]:
            kids = self.hands.kids[place]
            self.busts[place] = self.clear[place] - sum(map(self.clear.__getitem__, kids))
        return self.busts[place]

    def played(self, hits: Sequence[bool]) -> list[float]:
        """What each hand of a split is worth that is played like this."""
        wanted = set(self.seconds)
        for place in self.places:
            if place in wanted and self.stops[place] is None and hits[place]:
                wanted.update(self.hands.kids[place])
        for place in wanted:
            if hits[place] and self.stops[place] is None:
                self.bust(place)
            else:
                self.weigh((place,))
        return self.worth(hits)

    def worth(self, hits: Sequence[bool]) -> list[float]:
        """What each hand is worth that is played like this; of a split, those that were weighed."""
        worth = list(self.stood)
        kids, busts, stops = self.hands.kids, self.busts, self.stops
        for place in reversed(self.places):
            if hits[place] and stops[place] is None:
                worth[place] = sum(map(worth.__getitem__, kids[place])) - busts[place]
        return worth

    def leads(self, worth: Sequence[float]) -> list[float]:
        """How much hitting leads, for a unit, what comes of it being worth so much."""
        leads = [0.0] * len(self.stood)
        for place in self.places:
            clear = self.clear[place]
            if clear and self.stops[place] is None:
                leads[place] = (self.hit(place, worth) - self.stood[place]) / clear
        return leads

    def hit(self, place: int, worth: Sequence[float]) -> float:
        """What hitting is worth, what comes of it being worth so much."""
        return sum(map(worth.__getitem__, self.hands.kids[place])) - self.busts[place]

    def doubled(self, place: int) -> float:
        """What a hand of two cards is worth that is doubled."""
        self.weigh((place, *self.hands.kids[place]))
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

    def drawn(
        self, orders: Sequence[int], hits: Sequence[bool], doubles: Iterable[tuple[int, int]]
    ) -> float:
        """How many cards one hand of a split draws, its second among them, times the chance of the
        pair."""
        clear = self.clear
        drawn = sum(clear[place] for place in self.seconds)
        for place in self.places:
            if orders[place] and hits[place] and self.stops[place] is None:
                drawn += orders[place] * clear[place]
        return drawn + sum(times * clear[place] for place, times in doubles)

    def spread(
        self, orders: Sequence[int], hits: Sequence[bool], doubles: Iterable[tuple[int, int]]
    ) -> Distribution:
        """How hands end that come in so many orders, or are doubled in so many."""
        found, hands, stops = Distribution(), self.hands, self.stops
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
