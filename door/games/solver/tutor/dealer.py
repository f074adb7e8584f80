"""How the dealer may end, card by card: the chances of each result from the cards nobody has seen.

The dealer has no choice: what it may draw is a list that depends on the rules and up card alone;
what lies in the shoe only says how likely each way is. `Ways` is that list, worked out once and
weighed for every composition that a hand may leave. The chances are exact but for the rounding of
floats: every card that the dealer draws is missing for the next one.

Tutor and odds ask for them ten thousands of times, so the list becomes a function in Python's own
words, with nothing left in it to look up; and it weighs many hands at once, because what hands
that begin alike have in common is worked out once for all of them.

Only this file knows how the dealer plays; what the results pay is in `payments`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import Any

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

_LEVELS = ((0, 1, 2, 3), (4, 5), (6, 7), (8, 9))
"""Places in `Counts`, in the order in which hands branch."""

Counts = tuple[int, ...]
"""So many aces, twos, ... nines, and cards that count ten."""

Branches = dict[Counts, Any]
"""Cards that are out, those together that begin alike: by their counts in the first of `_LEVELS`
what has those in the second, and so on; in the last one a list of counts, how many cards are out in
all, and a key."""

Ends = tuple[float, ...]
"""The probability of each of `RESULTS` but going over, times that of a hole card which the dealer's
look has not excluded."""

_Sums = dict[tuple[int, int], dict[int, list[str]]]
"""What is to be added up, by how many cards were drawn, result, and number of orders."""


def branch(branches: Branches, out: Counts, cards: int, key: int) -> None:
    """Add cards that are out, `cards` in all, under a key."""
    after = branches.setdefault(out[:4], {}).setdefault(out[4:6], {})
    after.setdefault(out[6:8], []).append((out[8], out[9], cards, key))


@dataclass(frozen=True, slots=True)
class Ways:
    """Every way in which the dealer can end without going over, its cards in no order.

    Cards in no order are few (a thousand under a two, where the orders are tens of thousands), and
    all orders of the same cards are equally likely; so each way is weighed once, times the number
    of orders in which the dealer would really draw it.
    """

    weigh: Callable[..., dict[int, Ends]]
    excluded: int | None  # place of the value that the dealer's look has excluded for the hole card
    most: int  # cards that the dealer draws in any of them

    def ends(
        self, branches: Branches, orders: Sequence[Sequence[float]], unseen: Sequence[float]
    ) -> dict[int, Ends]:
        """How the dealer ends, by the key of each hand, when its cards are taken out of `unseen`,
        the hole card among these. `orders` are those of as many cards, and of longer hands."""
        return self.weigh(branches, orders, *unseen)

    def orders(self, cards: float, longest: int) -> list[list[float]]:
        """The probability of any order of one card, of two cards, ... out of so many, out of one
        less, and so on to as many less as the longest hand has."""
        found = []
        for out in range(longest + 1):
            orders, every = [], 1.0
            for drawn in range(out, out + self.most):
                # Of fewer cards than these there is no way, and nothing is divided by nothing.
                every *= cards - drawn or 1.0
                orders.append(1.0 / every)
            found.append(orders)
        return found

    def chances(self, unseen: Sequence[int], cards: int) -> list[float]:
        """The probability of each of `RESULTS`, `unseen` holding `cards` cards, the hole card among
        them. Where they are too few for the dealer, the dealer counts as gone over."""
        ends = self.ends(_NONE_OUT, self.orders(cards, 0), list(map(float, unseen)))[0]
        return self.told(ends, unseen, cards)

    def told(self, ends: Ends, unseen: Sequence[int], cards: int) -> list[float]:
        """The same, of the ends beside just these cards."""
        chances = list(ends)
        if self.excluded is not None:
            holes = cards - unseen[self.excluded]
            if holes:
                scale = cards / holes
                chances = [chance * scale for chance in chances]
        chances.append(1.0 - sum(chances))
        return chances


_NONE_OUT: Branches = {}
branch(_NONE_OUT, (0,) * 10, 0, 0)


@lru_cache(maxsize=_TABLES_KEPT)
def dealer_ways(rules: BlackjackRules, up: int, looked: bool) -> Ways:
    """The ways under an up card counting `up`; `looked`: the dealer looked and has no natural."""
    excluded = {1: TEN, 10: ACE}.get(up) if looked else None
    ends = _ends(rules, up, excluded)
    most = max(map(sum, ends), default=0)
    names: dict[str, Callable[..., dict[int, Ends]]] = {}
    exec("\n".join(_lines(ends, most)), names)  # our own words
    return Ways(names["weigh"], excluded, most)


def _lines(ends: dict[Counts, tuple[int, int]], most: int) -> Iterator[str]:
    """A function that weighs these ways.

    A way is the product of what is left of each of its cards in turn. Ways that begin alike share
    their beginning, and what has no card beyond a level is worked out once for all hands that are
    alike up to there.
    """
    yield f"def weigh(b0, orders, {', '.join(f'u{place}' for place in _PLACES)}):"
    yield " found = {}"
    names: dict[Counts, str] = {(0,) * 10: ""}
    sums: dict[tuple[int, int], str] = {}
    for level, (places, ways) in enumerate(zip(_LEVELS, _by_level(ends), strict=True)):
        taken = ", ".join(f"x{place}" for place in places)
        indent = " " * (level + 2)
        if places is _LEVELS[-1]:
            yield f"{indent[1:]}for {taken}, cards, key in b{level}:"
        else:
            yield f"{indent[1:]}for ({taken}), b{level + 1} in b{level}.items():"
        yield from (f"{indent}n{place} = u{place} - x{place}" for place in places)
        added: _Sums = defaultdict(lambda: defaultdict(list))
        yield from (indent + line for line in _products(ways, names, ends, added))
        for (drawn, result), terms in sorted(added.items()):
            before = sums.get((drawn, result))
            name = sums[drawn, result] = f"s{drawn}_{result}_{level}"
            yield from (indent + line for line in _added(name, before, terms))
    yield indent + "".join(f"f{drawn}, " for drawn in range(1, most + 1)) + "= orders[cards]"
    told = [
        " + ".join(f"f{drawn} * {name}" for (drawn, of), name in sums.items() if of == result)
        for result in range(_BUST)
    ]
    yield f"{indent}found[key] = ({', '.join(sum_ or '0.0' for sum_ in told)})"
    yield " return found"


def _by_level(ends: dict[Counts, tuple[int, int]]) -> list[list[tuple[Counts, Counts, int, bool]]]:
    """All ways and what they begin with: each with what it is without its last card, the place of
    that, and whether another way begins with it; by the level of the last card."""
    shorter = {way: _without_last(way) for way in _with_beginnings(ends)}
    begun = set(shorter.values())
    level_of = {place: level for level, places in enumerate(_LEVELS) for place in places}
    found: list[list[tuple[Counts, Counts, int, bool]]] = [[] for _ in _LEVELS]
    for way, beginning in shorter.items():
        last = max(place for place in _PLACES if way[place])
        found[level_of[last]].append((way, beginning, last, way in begun))
    return found


def _products(
    ways: list[tuple[Counts, Counts, int, bool]],
    names: dict[Counts, str],
    ends: dict[Counts, tuple[int, int]],
    added: _Sums,
) -> Iterator[str]:
    """Name the ways that others begin with, and gather in `added` those that end a hand. The last
    card of a way that nothing grows from is multiplied where it is added."""
    factors: set[str] = set()
    for way, beginning, last, grows in ways:
        factor = f"n{last}"
        if beginning[last]:
            factor = f"n{last}_{beginning[last]}"
            if factor not in factors:
                factors.add(factor)
                yield f"{factor} = n{last} - {beginning[last]}.0"
        product = f"{names[beginning]} * {factor}" if names[beginning] else factor
        if grows and "*" in product:
            name = f"w{len(names)}"
            yield f"{name} = {product}"
            product = name
        if grows:
            names[way] = product
        if way in ends:
            result, orders = ends[way]
            added[sum(way), result][orders].append(product)


def _added(name: str, before: str | None, terms: dict[int, list[str]]) -> Iterator[str]:
    """Name a sum, to which another may be added."""
    parts = [before] if before else []
    for orders, products in terms.items():
        for start in range(0, len(products), _TERMS):
            added = " + ".join(products[start : start + _TERMS])
            parts.append(added if orders == 1 else f"{orders}.0 * ({added})")
    yield f"{name} = {' + '.join(parts[:_TERMS])}"
    for start in range(_TERMS, len(parts), _TERMS):
        yield f"{name} += {' + '.join(parts[start : start + _TERMS])}"


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
