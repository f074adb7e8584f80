"""All hands of a caller against one up card, with their worth.

The worth of a hand is its mean gain times the chance of its cards in one order. So the worth of a
hit is the sum of the worth of the following hands. Every strategy needs only additions, and a whole
number of orders says how often a hand occurs.

If the dealer looks under the up card, the chances are those of a deal without a natural. The
naturals are counted elsewhere, because there are no decisions then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import mul

from door.games.blackjack.rules import LONGEST_HAND, BlackjackRules
from door.games.solver.hand_list import CARD_KEYS, Hands
from door.games.solver.tutor.dealer import Branches, Counts, Ends, branch, dealer_hands
from door.games.solver.tutor.payments import NATURAL, Payment, Payments, payments

SAME = 1e-12  # a smaller difference between gains of a unit is rounding


class UpCard:
    """An up card, the unseen cards, and the dealer's hands."""

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
        """Return the chances of the dealer's results, by the keys of the caller's hands."""
        return self._dealer.ends(branches, self._orders, self.unseen)


@dataclass(slots=True)
class Distribution:
    """The chances of how hands end, by their kind (`payments`) and the place in `RESULTS`."""

    single: dict[int, list[float]] = field(default_factory=dict)
    doubled: dict[int, list[float]] = field(default_factory=dict)
    paid: dict[int, float] = field(default_factory=dict)  # for all results together
    busts: float = 0.0
    doubled_busts: float = 0.0


_Contested = list[tuple[int, int]]
"""Hands of one kind whose payment depends on the dealer, with the number of orders of each."""


class HandTree:
    """All hands against one up card.

    With `pair`, only the hands that begin with one card of a split pair of that value, without its
    other card. `whole` is the tree of the hands without a split.

    `chance` has the chance of each hand's cards in one order. `clear` has the chance that the
    dealer's look also finds no natural. `stand_worth` has the worth of standing, after `weigh`. A
    tree without a split is weighed at once.
    """

    def __init__(
        self, hands: Hands, up_card: UpCard, pair: int | None = None, whole: HandTree | None = None
    ) -> None:
        self.hands = hands
        self.up_card = up_card
        self.rules = up_card.rules
        self.pair = pair
        self.whole = whole
        self.pays: Payments = payments(up_card.rules)
        number = len(hands.cards)
        self.final_kinds = list(hands.final_kinds)
        self.busts = [0.0] * number  # the chance that the next card busts it
        self.ends: list[Ends] = [()] * number  # of the dealer; () if not needed
        self.stand_worth = [0.0] * number
        self._weighed = [False] * number
        if whole is None or pair is None:
            self.places: Sequence[int] = range(number)
            self.chance = self._chances()
            self.clear = self._clear(0.0)
            self.weigh(self.places)
            return
        self.places = [place for place in range(number) if hands.counts[place][pair]]
        self._init_split(whole.chance, pair)

    def _init_split(self, whole: Sequence[float], pair: int) -> None:
        hands, left, cards = self.hands, self.up_card.unseen[pair], self.up_card.cards
        if pair == 0 and self.rules.split_aces == "one card":
            for place in self.places:
                if hands.cards[place].cards == 2:
                    self.final_kinds[place] = hands.cards[place].total
        if self.rules.split_21 == "natural":
            for place in self.places:
                if hands.cards[place].cards == 2 and hands.cards[place].total == 21:
                    self.final_kinds[place] = NATURAL
        self.chance = [0.0] * len(whole)
        for place in self.places:
            out = left - hands.counts[place][pair]
            self.chance[place] = whole[place] and whole[place] * out / (
                cards - hands.cards[place].cards
            )
        self.clear = self._clear(1.0)

    def _chances(self) -> list[float]:
        hands, unseen, cards = self.hands, self.up_card.unseen, self.up_card.cards
        chances: list[float] = []
        for (shorter, value, copies), hand in zip(hands.origins, hands.cards, strict=True):
            before = chances[shorter] if shorter >= 0 else 1.0
            # An impossible hand stays at 0, without a division by 0 cards.
            chances.append(before and before * (unseen[value] - copies) / (cards - hand.cards + 1))
        return chances

    def _clear(self, out: float) -> list[float]:
        excluded = self.up_card.excluded
        if excluded is None:
            return self.chance
        clear = [0.0] * len(self.chance)
        cards = self.up_card.cards - out
        copies = self.up_card.unseen[excluded] - (self.pair == excluded)
        hands = self.hands
        for place in self.places:
            if not self.chance[place]:
                continue
            left = copies - hands.counts[place][excluded]
            clear[place] = self.chance[place] * (1 - left / (cards - hands.cards[place].cards))
        return clear

    def weigh(self, places: Iterable[int]) -> None:
        """Compute the worth of standing and of a bust for these hands, unless it is known."""
        final_kinds, clear, totals = self.final_kinds, self.clear, self.hands.totals
        single, weighed = self.pays.single, self._weighed
        contested = []
        for place in places:
            if weighed[place]:
                continue
            weighed[place] = True
            kind = final_kinds[place]
            if kind is None:
                children = self.hands.children[place]
                self.busts[place] = clear[place] - sum([clear[child] for child in children])
                kind = totals[place][0]
            payment = single[kind]
            if payment.fixed is None:
                contested.append((place, payment))
                continue
            self.stand_worth[place] = payment.fixed * clear[place]
            if self.hands.cards[place].cards == 3:  # doubled, it may be paid differently
                contested.append((place, payment))
        if not contested:
            return
        self._compute_ends([place for place, _ in contested])
        for place, payment in contested:
            if payment.fixed is None:
                self.stand_worth[place] = self._contested_worth(payment, place)

    def _contested_worth(self, payment: Payment, place: int) -> float:
        """Return the worth of a finished hand whose payment depends on the dealer."""
        gained: float = sum(map(mul, payment.above_bust, self.ends[place]))
        return self.chance[place] * gained + self.clear[place] * payment.against[-1]

    def _compute_ends(self, places: Sequence[int]) -> None:
        """Compute the chances of the dealer's results against these hands."""
        hands, pair, whole = self.hands, self.pair, self.whole
        if pair is None or whole is None:
            ends_by_place = self.up_card.ends(hands.branches)
            self.ends = list(map(ends_by_place.get, self.places, repeat(())))
            return
        branches: Branches = {}
        for place in places:
            # Both cards of the pair are out, like the cards of some hand without a split.
            other = hands.place.get(hands.keys[place] + CARD_KEYS[pair], -1)
            if other >= 0 and whole.ends[other]:
                self.ends[place] = whole.ends[other]
                continue
            out = hands.counts[place]
            out = (*out[:pair], out[pair] + 1, *out[pair + 1 :])
            branch(branches, out, hands.cards[place].cards + 1, place)
        if branches:
            for place, ends in self.up_card.ends(branches).items():
                self.ends[place] = ends

    def joint(self, place: int) -> tuple[float, ...]:
        """Return the joint chance of a hand's cards and of each of the dealer's results."""
        chance = self.chance[place]
        ends = [chance * end for end in self.ends[place]]
        return (*ends, self.clear[place] - sum(ends))

    # The worth of hands.

    def best(
        self,
        may_hit: Sequence[bool],
        clue: Sequence[float] | None = None,
        doubt: float = 0.0,
        *,
        must_hit: Sequence[bool] | None = None,
    ) -> tuple[list[float], list[bool]]:
        """Return the worth of each hand with the best play, and whether that is a hit.

        `clue` is the estimated lead of a hit over standing for a unit, and `doubt` its largest
        error. With a clue, only hands that begin with two cards of a split are computed.
        """
        if clue is None:
            return self._best(self.places, may_hit, must_hit)
        # An action that surely leads is the only one computed.
        final_kinds, children = self.final_kinds, self.hands.children
        wanted = set(self.seconds)
        weighing = []
        surely_hits = list(must_hit) if must_hit is not None else [False] * len(clue)
        hittable = list(may_hit)
        for place in self.places:
            if place not in wanted:
                continue
            stays = not may_hit[place] or (clue[place] < -doubt and not surely_hits[place])
            if final_kinds[place] is not None or stays:
                hittable[place] = False
                weighing.append(place)
                continue
            surely_hits[place] = surely_hits[place] or clue[place] > doubt
            if not surely_hits[place]:
                weighing.append(place)
            wanted.update(children[place])
        self.weigh(weighing)
        for place in wanted:
            if surely_hits[place]:
                self.bust(place)
        return self._best(sorted(wanted), hittable, surely_hits)

    def _best(
        self,
        places: Sequence[int],
        may_hit: Sequence[bool],
        surely_hits: Sequence[bool] | None = None,
    ) -> tuple[list[float], list[bool]]:
        worth, hits = list(self.stand_worth), [False] * len(self.stand_worth)
        children, busts, final_kinds, clear = (
            self.hands.children,
            self.busts,
            self.final_kinds,
            self.clear,
        )
        for place in reversed(places):
            if final_kinds[place] is None and may_hit[place]:
                hit = sum([worth[child] for child in children[place]]) - busts[place]
                if hit > worth[place] + SAME * clear[place] or (
                    surely_hits is not None and surely_hits[place]
                ):
                    worth[place], hits[place] = hit, True
        return worth, hits

    @property
    def seconds(self) -> tuple[int, ...]:
        """The split hands with their second card."""
        assert self.pair is not None
        return self.hands.children[self.hands.place[CARD_KEYS[self.pair]]]

    def bust(self, place: int) -> float:
        """Return the chance that the next card busts a hand."""
        if not self._weighed[place]:
            children = self.hands.children[place]
            self.busts[place] = self.clear[place] - sum([self.clear[child] for child in children])
        return self.busts[place]

    def played(self, hits: Sequence[bool]) -> list[float]:
        """Return the worth of each split hand with these hits; weigh the hands that it needs."""
        wanted = set(self.seconds)
        for place in self.places:
            if place in wanted and self.final_kinds[place] is None and hits[place]:
                wanted.update(self.hands.children[place])
        finished = []
        for place in wanted:
            if hits[place] and self.final_kinds[place] is None:
                self.bust(place)
            else:
                finished.append(place)
        self.weigh(finished)
        return self.worth(hits)

    def worth(self, hits: Sequence[bool]) -> list[float]:
        """Return the worth of each hand with these hits. The hands must be weighed."""
        worth = list(self.stand_worth)
        children, busts, final_kinds = self.hands.children, self.busts, self.final_kinds
        for place in reversed(self.places):
            if hits[place] and final_kinds[place] is None:
                worth[place] = sum([worth[child] for child in children[place]]) - busts[place]
        return worth

    def leads(self, worth: Sequence[float]) -> list[float]:
        """Return the lead of a hit over standing for a unit, given the worth of each hand."""
        leads = [0.0] * len(self.stand_worth)
        for place in self.places:
            clear = self.clear[place]
            if clear and self.final_kinds[place] is None:
                leads[place] = (self.hit(place, worth) - self.stand_worth[place]) / clear
        return leads

    def hit(self, place: int, worth: Sequence[float]) -> float:
        """Return the worth of a hit, given the worth of the following hands."""
        return sum([worth[child] for child in self.hands.children[place]]) - self.busts[place]

    def doubled(self, place: int) -> float:
        """Return the worth of doubling a hand of two cards."""
        children = self.hands.children[place]
        self.weigh((place, *children))
        totals, against = self.hands.totals, self.pays.doubled
        paid = sum([self._contested_worth(against[totals[child][0]], child) for child in children])
        return paid - 2 * self.busts[place]

    # How often hands occur.

    def orders(self, roots: Iterable[tuple[int, int]], hits: Sequence[bool]) -> list[int]:
        """Return the number of orders of each hand with these hits.

        `roots` are the first hands, each with its number of orders.
        """
        orders = [0] * len(self.stand_worth)
        for place, times in roots:
            orders[place] += times
        children, final_kinds = self.hands.children, self.final_kinds
        for place in self.places:
            times = orders[place]
            if times and hits[place] and final_kinds[place] is None:
                for child in children[place]:
                    orders[child] += times
        return orders

    def drawn(
        self, orders: Sequence[int], hits: Sequence[bool], doubles: Iterable[tuple[int, int]]
    ) -> float:
        """Return the mean cards of a split hand after its first, times the pair's chance."""
        clear = self.clear
        drawn = sum(clear[place] for place in self.seconds)
        for place in self.places:
            if orders[place] and hits[place] and self.final_kinds[place] is None:
                drawn += orders[place] * clear[place]
        return drawn + sum(times * clear[place] for place, times in doubles)

    def distribution(
        self, orders: Sequence[int], hits: Sequence[bool], doubles: Iterable[tuple[int, int]]
    ) -> Distribution:
        """Return how hands end, given the number of orders of each, and of each doubled hand."""
        ends, totals, final_kinds = Distribution(), self.hands.totals, self.final_kinds
        single: dict[int, _Contested] = defaultdict(list)
        doubled: dict[int, _Contested] = defaultdict(list)
        for place in self.places:
            times = orders[place]
            if not times:
                continue
            kind = final_kinds[place]
            if kind is None:
                if hits[place]:
                    ends.busts += times * self.busts[place]
                    continue
                kind = totals[place][0]
            single[kind].append((place, times))
        for place, times in doubles:
            ends.doubled_busts += times * self.busts[place]
            for child in self.hands.children[place]:
                doubled[totals[child][0]].append((child, times))
        for kind, hands in single.items():
            if self.pays.single[kind].fixed is None:
                ends.single[kind] = self._result_chances(hands)
            else:
                ends.paid[kind] = sum([times * self.clear[place] for place, times in hands])
        ends.doubled = {kind: self._result_chances(hands) for kind, hands in doubled.items()}
        return ends

    def _result_chances(self, hands: _Contested) -> list[float]:
        """Return the joint chance of one of these hands and of each of the dealer's results."""
        chances = [times * self.chance[place] for place, times in hands]
        columns = zip(*[self.ends[place] for place, _ in hands], strict=True)
        against = [sum(map(mul, chances, column)) for column in columns]
        clear = sum([times * self.clear[place] for place, times in hands])
        return [*against, clear - sum(against)]
