"""How the dealer may end, card by card: the chances of each result from the cards nobody has seen.

The dealer has no choice: what it may draw is a list that depends on the rules and up card alone;
what lies in the shoe only says how likely each way is. `Ways` is that list, worked out once and
weighed for every composition that a hand may leave. The chances are exact but for the rounding of
floats: every card that the dealer draws is missing for the next one.

Tutor and odds ask for them ten thousands of times, so the list becomes a function in Python's own
words, with nothing left in it to look up.

Only this file knows how the dealer plays; what the results pay is in `payments`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
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

_PLACES = range(10)

_TABLES_KEPT = 64  # two tables with ten up cards each; a few hundred kilobytes for the largest

_TERMS = 64  # of one sum: the compiler goes a step deeper for each

Counts = tuple[int, ...]
"""So many aces, twos, ... nines, and cards that count ten."""

Weigh = Callable[..., tuple[float, ...]]
"""Given ten counts of unseen cards and their sum, all floats: the probability of each of `RESULTS`
but going over, the hole card being none that the look has excluded."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Every way in which the dealer can end without going over, its cards in no order.

    Cards in no order are few (a thousand under a two, where the orders are tens of thousands), and
    all orders of the same cards are equally likely; so each way is weighed once, times the number
    of orders in which the dealer would really draw it.
    """

    weigh: Weigh
    excluded: int | None  # place of the value that the dealer's look has excluded for the hole card

    def chances(self, unseen: Sequence[int], cards: int) -> list[float]:
        """The probability of each of `RESULTS`, `unseen` holding `cards` cards, the hole card among
        them. Where they are too few for the dealer, the dealer counts as gone over."""
        chances = list(self.weigh(*map(float, unseen), float(cards)))
        if self.excluded is not None:
            holes = cards - unseen[self.excluded]
            if holes:
                scale = cards / holes
                chances = [chance * scale for chance in chances]
        chances.append(1.0 - sum(chances))
        return chances


@lru_cache(maxsize=_TABLES_KEPT)
def dealer_ways(rules: BlackjackRules, up: int, looked: bool) -> Ways:
    """The ways under an up card counting `up`; `looked`: the dealer looked and has no natural."""
    excluded = {1: TEN, 10: ACE}.get(up) if looked else None
    lines = "\n    ".join(_lines(_ends(rules, up, excluded)))
    names: dict[str, Weigh] = {}
    exec(f"def weigh({', '.join(_SEEN)}, cards):\n    {lines}", names)  # our own words
    return Ways(names["weigh"], excluded)


_SEEN = tuple(f"n{place}" for place in range(10))


def _lines(ends: dict[Counts, tuple[int, int]]) -> Iterator[str]:
    """The body of a function that weighs these ways.

    A way is the product of what is left of each of its cards in turn. Ways that begin alike share
    their beginning; the last card of a way that nothing grows from is multiplied where it is added.
    """
    names: dict[Counts, str] = {(0,) * 10: ""}
    shorter = {way: _without_last(way) for way in _with_beginnings(ends)}
    begun = set(shorter.values())
    factors: dict[tuple[int, int], str] = {}
    sums: dict[tuple[int, int], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for way, beginning in shorter.items():
        last = max(place for place in range(10) if way[place])
        gone = beginning[last]
        factor = _SEEN[last]
        if gone:
            factor = f"{_SEEN[last]}_{gone}"
            if (last, gone) not in factors:
                factors[last, gone] = factor
                yield f"{factor} = {_SEEN[last]} - {gone}"
        product = f"{names[beginning]} * {factor}" if names[beginning] else factor
        if way in begun:
            names[way] = f"w{len(names)}"
            yield f"{names[way]} = {product}"
            product = names[way]
        if way in ends:
            result, orders = ends[way]
            sums[sum(way), result][orders].append(product)
    yield from _added(sums)


def _added(sums: dict[tuple[int, int], dict[int, list[str]]]) -> Iterator[str]:
    """What is to be added up, by how many cards were drawn, result, and number of orders."""
    results = {result for _, result in sums}
    yield from (f"r{result} = 0.0" for result in sorted(results))
    yield "all = 1.0"
    for drawn in range(1, 1 + max((drawn for drawn, _ in sums), default=0)):
        # Of fewer cards than these there is no way, and nothing is divided by nothing.
        yield f"all *= cards - {drawn - 1} or 1.0"
        for result in sorted(results):
            parts = []
            for orders, products in sums.get((drawn, result), {}).items():
                for start in range(0, len(products), _TERMS):
                    added = " + ".join(products[start : start + _TERMS])
                    parts.append(f"{orders}.0 * ({added})")
            for start in range(0, len(parts), _TERMS):
                yield f"r{result} += ({' + '.join(parts[start : start + _TERMS])}) / all"
    told = (f"r{result}" if result in results else "0.0" for result in range(_BUST))
    yield f"return {', '.join(told)}"


def _ends(rules: BlackjackRules, up: int, excluded: int | None) -> dict[Counts, tuple[int, int]]:
    """The cards besides the up card that the dealer ends with: which result, in how many orders."""
    ends: dict[Counts, tuple[int, int]] = {}
    results: dict[tuple[int, bool, int], int | None] = {}
    drawing: dict[Counts, int] = {
        _with((0,) * 10, place): 1 for place in range(10) if place != excluded
    }
    drawn = 1
    while drawing:
        longer: dict[Counts, int] = defaultdict(int)
        for way, orders in drawing.items():
            hard = up + drawn + sum(map(mul, way, _PLACES))
            alike = hard, up == 1 or way[ACE] > 0, drawn
            if alike not in results:
                results[alike] = _result(rules, up, way)
            result = results[alike]
            if result is None:
                for place in range(min(10, 21 - hard)):
                    longer[_with(way, place)] += orders
            elif result != _BUST:
                ends[way] = (result, orders)
        drawing = longer
        drawn += 1
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


def _with(way: Counts, place: int) -> Counts:
    return (*way[:place], way[place] + 1, *way[place + 1 :])


def _without_last(way: Counts) -> Counts:
    last = 9
    while not way[last]:
        last -= 1
    return (*way[:last], way[last] - 1, *way[last + 1 :])


def _with_beginnings(ends: dict[Counts, tuple[int, int]]) -> list[Counts]:
    """These ways and all that become them, highest cards last; shorter ones first."""
    found: set[Counts] = set()
    for end in ends:
        way = end
        while any(way) and way not in found:
            found.add(way)
            way = _without_last(way)
    return sorted(found, key=lambda way: (sum(way), way))
