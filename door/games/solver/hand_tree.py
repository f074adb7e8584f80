"""A hand against one up card, weighed for every card that may come.

A hand is not valued for whoever holds it, but times the chance that its cards come in one order.
So what hitting is worth is the sum of what the hands are worth that it leads to, each way to play
needs only additions, and how often a hand comes is a whole number of orders.

Where the dealer looks under the up card, all chances are those of a deal in which the look finds
nothing; what it finds is counted apart, for nobody decides anything then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import mul

from door.games.blackjack.rules import LONGEST_HAND, BlackjackRules
from door.games.solver.hand_list import TAKEN, Hands
from door.games.solver.tutor.dealer import Branches, Counts, Ends, branch, dealer_hands
from door.games.solver.tutor.payments import NATURAL, Payment, Payments, payments

SAME = 1e-12  # gains of a unit closer than that differ by rounding only


class UpCard:
    """What is unseen beside an up card, and how the dealer may end."""

    def __init__(self, rules: BlackjackRules, shoe: Counts, up: int) -> None:
        self.rules = rules
        self.up = up
        self.unseen = list(map(float, shoe))
        self.chance = self.unseen[up - 1] / sum(self.unseen)
        self.unseen[up - 1] -= 1
        self.cards = sum(self.unseen)
        looked = up == 10 or (up == 1 and rules.peek_under_ace)
        self._dealer = dealer_hands(rules, up, looked)
        self._orders = self._dealer.orders(self.cards, LONGEST_HAND + 1)
        self.excluded = self._dealer.excluded

    def ends(self, branches: Branches) -> dict[int, Ends]:
        """How the dealer ends beside hands, by their keys."""
        return self._dealer.ends(branches, self._orders, self.unseen)


@dataclass(slots=True)
class Distribution:
    """How hands end: by what they are paid as (`payments`), against each of `RESULTS`."""

    single: dict[int, list[float]] = field(default_factory=dict)
    doubled: dict[int, list[float]] = field(default_factory=dict)
    paid: dict[int, float] = field(default_factory=dict)  # the same against all
    busts: float = 0.0
    doubled_busts: float = 0.0


_Met = list[tuple[int, int]]
"""Hands that are paid alike and meet the dealer's, each with the number of orders it comes in."""


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
        self.whole = whole
        self.pays: Payments = payments(against.rules)
        every = len(hands.cards)
        self.stops = list(hands.stops)
        self.busts = [0.0] * every  # the chance that the next card is one too many
        self.ends: list[Ends] = [()] * every  # of the dealer; () where nobody asks
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
        stops, clear, totals = self.stops, self.clear, self.hands.totals
        single, weighed = self.pays.single, self._weighed
        meeting = []
        for place in places:
            if weighed[place]:
                continue
            weighed[place] = True
            kind = stops[place]
            if kind is None:
                kids = self.hands.kids[place]
                self.busts[place] = clear[place] - sum([clear[kid] for kid in kids])
                kind = totals[place][0]
            payment = single[kind]
            if payment.fixed is None:
                meeting.append((place, payment))
                continue
            self.stood[place] = payment.fixed * clear[place]
            if self.hands.cards[place].cards == 3:  # a doubled hand may not be paid like that
                meeting.append((place, payment))
        if not meeting:
            return
        self._meet([place for place, _ in meeting])
        for place, payment in meeting:
            if payment.fixed is None:
                self.stood[place] = self._paid(payment, place)

    def _paid(self, payment: Payment, place: int) -> float:
        """What a hand is worth that is paid like this."""
        gained: float = sum(map(mul, payment.above_bust, self.ends[place]))
        return self.chance[place] * gained + self.clear[place] * payment.against[-1]

    def _meet(self, places: Sequence[int]) -> None:
        """Find out how the dealer ends beside these hands."""
        hands, pair, whole = self.hands, self.pair, self.whole
        if pair is None or whole is None:
            found = self.against.ends(hands.branches)
            self.ends = list(map(found.get, self.places, repeat(())))
            return
        branches: Branches = {}
        for place in places:
            # With the other card of the pair these may be a hand that was not split.
            other = hands.place.get(hands.keys[place] + TAKEN[pair], -1)
            if other >= 0 and whole.ends[other]:
                self.ends[place] = whole.ends[other]
                continue
            out = hands.counts[place]
            out = (*out[:pair], out[pair] + 1, *out[pair + 1 :])
            branch(branches, out, hands.cards[place].cards + 1, place)
        if branches:
            for place, ends in self.against.ends(branches).items():
                self.ends[place] = ends

    def joint(self, place: int) -> tuple[float, ...]:
        """The chance of a hand's cards and of each end of the dealer."""
        chance = self.chance[place]
        ends = [chance * end for end in self.ends[place]]
        return (*ends, self.clear[place] - sum(ends))

    # What a hand is worth.

    def best(
        self,
        may_hit: Sequence[bool],
        clue: Sequence[float] | None = None,
        doubt: float = 0.0,
        *,
        must_hit: Sequence[bool] | None = None,
    ) -> tuple[list[float], list[bool]]:
        """What each hand is worth that is played as well as it can, and whether that is to hit.

        With a `clue`, by how much hitting seems to be better than standing for a unit, that is not
        wrong by more than `doubt`, only those hands that begin with two cards of a split.
        """
        if clue is None:
            return self._best(self.places, may_hit, must_hit)
        # What is clear is not weighed against the other, and what follows it never comes.
        stops, kids = self.stops, self.hands.kids
        wanted = set(self.seconds)
        weighing = []
        surely = list(must_hit) if must_hit is not None else [False] * len(clue)
        hittable = list(may_hit)
        for place in self.places:
            if place not in wanted:
                continue
            stays = not may_hit[place] or (clue[place] < -doubt and not surely[place])
            if stops[place] is not None or stays:
                hittable[place] = False
                weighing.append(place)
                continue
            surely[place] = surely[place] or clue[place] > doubt
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
        kids, busts, stops, clear = self.hands.kids, self.busts, self.stops, self.clear
        for place in reversed(places):
            if stops[place] is None and may_hit[place]:
                hit = sum([worth[kid] for kid in kids[place]]) - busts[place]
                if hit > worth[place] + SAME * clear[place] or (
                    surely is not None and surely[place]
                ):
                    worth[place], hits[place] = hit, True
        return worth, hits

    @property
    def seconds(self) -> tuple[int, ...]:
        """The hands of a split, with their second card."""
        assert self.pair is not None
        return self.hands.kids[self.hands.place[TAKEN[self.pair]]]

    def bust(self, place: int) -> float:
        """The chance that the next card is one too many."""
        if not self._weighed[place]:
            kids = self.hands.kids[place]
            self.busts[place] = self.clear[place] - sum([self.clear[kid] for kid in kids])
        return self.busts[place]

    def played(self, hits: Sequence[bool]) -> list[float]:
        """What each hand of a split is worth that is played like this."""
        wanted = set(self.seconds)
        for place in self.places:
            if place in wanted and self.stops[place] is None and hits[place]:
                wanted.update(self.hands.kids[place])
        standing = []
        for place in wanted:
            if hits[place] and self.stops[place] is None:
                self.bust(place)
            else:
                standing.append(place)
        self.weigh(standing)
        return self.worth(hits)

    def worth(self, hits: Sequence[bool]) -> list[float]:
        """What each hand is worth that is played like this; of a split, those that were weighed."""
        worth = list(self.stood)
        kids, busts, stops = self.hands.kids, self.busts, self.stops
        for place in reversed(self.places):
            if hits[place] and stops[place] is None:
                worth[place] = sum([worth[kid] for kid in kids[place]]) - busts[place]
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
        return sum([worth[kid] for kid in self.hands.kids[place]]) - self.busts[place]

    def doubled(self, place: int) -> float:
        """What a hand of two cards is worth that is doubled."""
        kids = self.hands.kids[place]
        self.weigh((place, *kids))
        totals, against = self.hands.totals, self.pays.doubled
        paid = sum([self._paid(against[totals[kid][0]], kid) for kid in kids])
        return paid - 2 * self.busts[place]

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
        found, totals, stops = Distribution(), self.hands.totals, self.stops
        single: dict[int, _Met] = defaultdict(list)
        doubled: dict[int, _Met] = defaultdict(list)
        for place in self.places:
            times = orders[place]
            if not times:
                continue
            kind = stops[place]
            if kind is None:
                if hits[place]:
                    found.busts += times * self.busts[place]
                    continue
                kind = totals[place][0]
            single[kind].append((place, times))
        for place, times in doubles:
            found.doubled_busts += times * self.busts[place]
            for kid in self.hands.kids[place]:
                doubled[totals[kid][0]].append((kid, times))
        for kind, met in single.items():
            if self.pays.single[kind].fixed is None:
                found.single[kind] = self._met(met)
            else:
                found.paid[kind] = sum([times * self.clear[place] for place, times in met])
        found.doubled = {kind: self._met(met) for kind, met in doubled.items()}
        return found

    def _met(self, hands: _Met) -> list[float]:
        """The chance of each end of the dealer beside one of these."""
        chances = [times * self.chance[place] for place, times in hands]
        columns = zip(*[self.ends[place] for place, _ in hands], strict=True)
        against = [sum(map(mul, chances, column)) for column in columns]
        clear = sum([times * self.clear[place] for place, times in hands])
        return [*against, clear - sum(against)]
