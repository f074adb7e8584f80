"""How the dealer may end, card by card: the chances of each result from the cards nobody has seen.

The dealer has no choice: what it may draw is a list that depends on the rules and up card alone;
what lies in the shoe only says how likely each way is. `Ways` is that list, worked out once and
weighed for every composition that a hand may leave. The chances are exact but for the rounding of
floats: every card that the dealer draws is missing for the next one.

Only this file knows how the dealer plays; what the results pay is in `payments`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import count, is_natural, parse_cards

ACE, TEN = 0, 9
"""Places in `Counts`."""

RESULTS = (17, 18, 19, 20, 21, "charlie", "natural", "bust")
"""What the dealer can end with. `chances` answers in this order."""

_CHARLIE, _NATURAL, _BUST = (RESULTS.index(word) for word in ("charlie", "natural", "bust"))

_CARDS = parse_cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS")

_TABLES_KEPT = 64  # two tables with ten up cards each; a few hundred kilobytes for the largest

Counts = tuple[int, ...]
"""So many aces, twos, ... nines, and cards that count ten."""


@dataclass(frozen=True, slots=True)
class _Depth:
    """The ways after so many cards: how each grows out of one a card shorter, and how they end."""

    grown: tuple[tuple[int, int], ...]  # place of the shorter way; which of `Ways.copies` it adds
    ends: tuple[tuple[int, int, int, tuple[float, ...]], ...]  # result, from, to, orders of each


@dataclass(frozen=True, slots=True)
class Ways:
    """Every way in which the dealer can end without going over, its cards in no order.

    Cards in no order are few (a thousand under a two, where the orders are tens of thousands), and
    all orders of the same cards are equally likely; so each way is kept once, with the number of
    orders in which the dealer would really draw it.
    """

    copies: tuple[tuple[int, int], ...]  # place of a value, and how many of it are gone already
    depths: tuple[_Depth, ...]
    excluded: int | None  # place of the value that the dealer's look has excluded for the hole card

    def chances(self, unseen: Sequence[int], cards: int) -> list[float]:
        """The probability of each of `RESULTS`, `unseen` holding `cards` cards, the hole card among
        them. Where they are too few for the dealer, the dealer counts as gone over."""
        factors = [float(unseen[place] - gone) for place, gone in self.copies]
        scale = 1.0
        if self.excluded is not None:
            scale = cards / (cards - unseen[self.excluded])
        chances = [0.0] * len(RESULTS)
        ways = [1.0]
        for drawn, depth in enumerate(self.depths):
            if drawn == cards:
                break
            scale /= cards - drawn
            ways = [ways[shorter] * factors[copy] for shorter, copy in depth.grown]
            for result, start, stop, orders in depth.ends:
                chances[result] += scale * sum(map(mul, orders, ways[start:stop]))
        chances[_BUST] = 1.0 - sum(chances)
        return chances


@lru_cache(maxsize=_TABLES_KEPT)
def dealer_ways(rules: BlackjackRules, up: int, looked: bool) -> Ways:
    """The ways under an up card counting `up`; `looked`: the dealer looked and has no natural."""
    excluded = {1: TEN, 10: ACE}.get(up) if looked else None
    ends = _ends(rules, up, excluded)
    copies: dict[tuple[int, int], int] = {}
    depths = []
    places: dict[Counts, int] = {(0,) * 10: 0}
    for several in _with_what_they_grow_from(ends):
        several.sort(key=lambda way: ends[way][0] if way in ends else -1)
        grown = []
        for way in several:
            last = max(place for place in range(10) if way[place])
            shorter = _with(way, last, -1)
            copy = copies.setdefault((last, shorter[last]), len(copies))
            grown.append((places[shorter], copy))
        places = {way: place for place, way in enumerate(several)}
        depths.append(_Depth(tuple(grown), _spans(several, ends)))
    return Ways(tuple(copies), tuple(depths), excluded)


def _ends(rules: BlackjackRules, up: int, excluded: int | None) -> dict[Counts, tuple[int, int]]:
    """The cards besides the up card that the dealer ends with: which result, in how many orders."""
    ends: dict[Counts, tuple[int, int]] = {}
    drawing: dict[Counts, int] = {
        _with((0,) * 10, place, 1): 1 for place in range(10) if place != excluded
    }
    while drawing:
        longer: dict[Counts, int] = defaultdict(int)
        for way, orders in drawing.items():
            result = _result(rules, up, way)
            if result is None:
                for place in range(10):
                    longer[_with(way, place, 1)] += orders
            elif result != _BUST:
                ends[way] = (result, orders)
        drawing = longer
    return ends


def _result(rules: BlackjackRules, up: int, way: Counts) -> int | None:
    """What the dealer has with these cards and the up card; None: the dealer draws."""
    drawn = [_CARDS[place] for place in range(10) for _ in range(way[place])]
    cards = (_CARDS[up - 1], *drawn)
    total = count(cards).total
    if total > 21:
        return _BUST
    if rules.dealer_draws(cards):
        return None
    if is_natural(cards):
        return _NATURAL
    return _CHARLIE if rules.is_charlie(cards) else RESULTS.index(total)


def _with(way: Counts, place: int, more: int) -> Counts:
    return (*way[:place], way[place] + more, *way[place + 1 :])


def _with_what_they_grow_from(ends: dict[Counts, tuple[int, int]]) -> list[list[Counts]]:
    """These ways and all that become them, highest cards last, by how many cards they have."""
    found: set[Counts] = set()
    for end in ends:
        way = end
        while sum(way) and way not in found:
            found.add(way)
            way = _with(way, max(place for place in range(10) if way[place]), -1)
    by_length: list[list[Counts]] = [[] for _ in range(max(map(sum, found), default=0))]
    for way in sorted(found):
        by_length[sum(way) - 1].append(way)
    return by_length


def _spans(
    several: list[Counts], ends: dict[Counts, tuple[int, int]]
) -> tuple[tuple[int, int, int, tuple[float, ...]], ...]:
    """The ways that end, run by run of the same result; `several` is sorted by result."""
    results = [ends[way][0] if way in ends else -1 for way in several]
    spans = []
    for result in sorted(set(results) - {-1}):
        start = results.index(result)
        stop = start + results.count(result)
        spans.append(
            (result, start, stop, tuple(float(ends[way][1]) for way in several[start:stop]))
        )
    return tuple(spans)
