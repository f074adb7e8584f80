"""The probability of each of the dealer's results, from the unseen cards.

The dealer has no decisions, so the possible hands of the dealer depend only on the rules and the up
card. `DealerHands` lists them once, and computes their probability for each composition of the
unseen cards. A drawn card is missing for the next one, so only the rounding of floats is inexact.

The tutor and the odds need these probabilities ten thousands of times. So the list is compiled into
a Python function, without any lookup. The function computes many of the caller's hands at once, and
shares the terms of those that begin with the same cards.

`payments` has what the results pay.
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
"""Places of the aces and the tens in `Counts`."""

RESULTS = (17, 18, 19, 20, 21, "charlie", "natural", "bust")
"""The dealer's results, in the order of all probabilities here."""

_CHARLIE, _NATURAL, _BUST = (RESULTS.index(word) for word in ("charlie", "natural", "bust"))

_CARDS = parse_cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS")

_PLACES = range(10)

_MAX_CACHED = 64  # up cards of tables; the largest takes a few hundred kilobytes

_TERMS = 64  # of one sum, because the compiler recurses once for each

_LEVELS = ((0, 1, 2, 3), (4, 5), (6, 7), (8, 9))
"""The levels of `Branches`, as places in `Counts`."""

Counts = tuple[int, ...]
"""The number of aces, twos, ... nines, and of cards that count ten."""

Branches = dict[Counts, Any]
"""The cards that are out of the shoe, in a tree with one level for each of `_LEVELS`.

Counts of the first level lead to a branch with the counts of the second, and so on. The last level
is a list of its counts, the number of all cards that are out, and a key."""

Ends = tuple[float, ...]
"""The joint probability of each of `RESULTS` but a bust and of a hole card that the look allows."""

_Sums = dict[tuple[int, int], dict[int, list[str]]]
"""The terms of sums, by the number of drawn cards, the result and the number of orders."""


def branch(branches: Branches, out: Counts, cards: int, key: int) -> None:
    """Add a hand's `cards` cards, which are out of the shoe, under a key."""
    after = branches.setdefault(out[:4], {}).setdefault(out[4:6], {})
    after.setdefault(out[6:8], []).append((out[8], out[9], cards, key))


@dataclass(frozen=True, slots=True)
class DealerHands:
    """All hands without a bust that the dealer can end with, as sets of cards.

    There are about a thousand sets under a two, and tens of thousands of orders. All orders of a
    set are equally likely. So each set is computed once, times the number of orders in which the
    dealer draws it.
    """

    compute: Callable[..., dict[int, Ends]]
    excluded: int | None  # place of the value that the look excludes as the hole card
    most: int  # the most cards that the dealer draws

    def ends(
        self, branches: Branches, orders: Sequence[Sequence[float]], unseen: Sequence[float]
    ) -> dict[int, Ends]:
        """Return `Ends` by the key of each of the caller's hands.

        The cards of a hand are taken from `unseen`, which includes the hole card. `orders` is the
        result of `self.orders` for the number of unseen cards.
        """
        return self.compute(branches, orders, *unseen)

    def orders(self, cards: float, longest: int) -> list[list[float]]:
        """Return the probability of one order of 1, 2, ... cards from the remaining cards.

        There is a list for `cards` cards, for one card less, and so on down to `longest` less.
        """
        lists = []
        for out in range(longest + 1):
            orders, every = [], 1.0
            for drawn in range(out, out + self.most):
                # The terms of a longer hand are 0, so any divisor other than 0 will do.
                every *= cards - drawn or 1.0
                orders.append(1.0 / every)
            lists.append(orders)
        return lists

    def chances(self, unseen: Sequence[int], cards: int) -> list[float]:
        """Return the probability of each of `RESULTS` from `cards` unseen cards.

        They include the hole card. If they are too few for the dealer, the dealer counts as bust.
        """
        ends = self.ends(_NONE_OUT, self.orders(cards, 0), list(map(float, unseen)))[0]
        return self.complete(ends, unseen, cards)

    def complete(self, ends: Ends, unseen: Sequence[int], cards: int) -> list[float]:
        """Return the probability of each of `RESULTS`, from `ends` for these unseen cards."""
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


@lru_cache(maxsize=_MAX_CACHED)
def dealer_hands(rules: BlackjackRules, up: int, looked: bool) -> DealerHands:
    """Return the dealer's hands with an up card that counts `up`, an ace 1.

    `looked` is whether the dealer has looked and has no natural.
    """
    excluded = {1: TEN, 10: ACE}.get(up) if looked else None
    ends = _ends(rules, up, excluded)
    most = max(map(sum, ends), default=0)
    names: dict[str, Callable[..., dict[int, Ends]]] = {}
    exec("\n".join(_source_lines(ends, most)), names)
    return DealerHands(names["compute"], excluded, most)


def _source_lines(ends: dict[Counts, tuple[int, int]], most: int) -> Iterator[str]:
    """Yield the lines of a function that computes these hands of the dealer.

    The term of a hand is the product of the remaining copies of each of its cards. Hands share the
    product of a common prefix. A term without cards beyond a level is computed once for all of the
    caller's hands that are equal up to this level.
    """
    yield f"def compute(b0, orders, {', '.join(f'u{place}' for place in _PLACES)}):"
    yield " ends = {}"
    names: dict[Counts, str] = {(0,) * 10: ""}
    sums: dict[tuple[int, int], str] = {}
    for level, (places, hands) in enumerate(zip(_LEVELS, _by_level(ends), strict=True)):
        taken = ", ".join(f"x{place}" for place in places)
        indent = " " * (level + 2)
        if places is _LEVELS[-1]:
            yield f"{indent[1:]}for {taken}, cards, key in b{level}:"
        else:
            yield f"{indent[1:]}for ({taken}), b{level + 1} in b{level}.items():"
        yield from (f"{indent}n{place} = u{place} - x{place}" for place in places)
        terms_by_sum: _Sums = defaultdict(lambda: defaultdict(list))
        yield from (indent + line for line in _product_lines(hands, names, ends, terms_by_sum))
        for (drawn, result), terms in sorted(terms_by_sum.items()):
            before = sums.get((drawn, result))
            name = sums[drawn, result] = f"s{drawn}_{result}_{level}"
            yield from (indent + line for line in _sum_lines(name, before, terms))
    yield indent + "".join(f"f{drawn}, " for drawn in range(1, most + 1)) + "= orders[cards]"
    totals = [
        " + ".join(f"f{drawn} * {name}" for (drawn, end), name in sums.items() if end == result)
        for result in range(_BUST)
    ]
    yield f"{indent}ends[key] = ({', '.join(total or '0.0' for total in totals)})"
    yield " return ends"


def _by_level(ends: dict[Counts, tuple[int, int]]) -> list[list[tuple[Counts, Counts, int, bool]]]:
    """Return all hands and their prefixes, by the level of the last card.

    Each is the hand, its prefix without the last card, the place of that card, and whether the hand
    itself is the prefix of another.
    """
    prefix_of = {hand: _without_last(hand) for hand in _with_prefixes(ends)}
    prefixes = set(prefix_of.values())
    level_of = {place: level for level, places in enumerate(_LEVELS) for place in places}
    levels: list[list[tuple[Counts, Counts, int, bool]]] = [[] for _ in _LEVELS]
    for hand, prefix in prefix_of.items():
        last = max(place for place in _PLACES if hand[place])
        levels[level_of[last]].append((hand, prefix, last, hand in prefixes))
    return levels


def _product_lines(
    hands: list[tuple[Counts, Counts, int, bool]],
    names: dict[Counts, str],
    ends: dict[Counts, tuple[int, int]],
    terms_by_sum: _Sums,
) -> Iterator[str]:
    """Yield the lines that compute the products of prefixes, and name them in `names`.

    Adds the products of complete hands to `terms_by_sum`. Only the product of a prefix gets a
    variable.
    """
    factors: set[str] = set()
    for hand, prefix, last, is_prefix in hands:
        factor = f"n{last}"
        if prefix[last]:
            factor = f"n{last}_{prefix[last]}"
            if factor not in factors:
                factors.add(factor)
                yield f"{factor} = n{last} - {prefix[last]}.0"
        product = f"{names[prefix]} * {factor}" if names[prefix] else factor
        if is_prefix and "*" in product:
            name = f"w{len(names)}"
            yield f"{name} = {product}"
            product = name
        if is_prefix:
            names[hand] = product
        if hand in ends:
            result, orders = ends[hand]
            terms_by_sum[sum(hand), result][orders].append(product)


def _sum_lines(name: str, before: str | None, terms: dict[int, list[str]]) -> Iterator[str]:
    """Yield the lines that assign a sum of terms, and of `before` if given, to `name`."""
    parts = [before] if before else []
    for orders, products in terms.items():
        for start in range(0, len(products), _TERMS):
            term = " + ".join(products[start : start + _TERMS])
            parts.append(term if orders == 1 else f"{orders}.0 * ({term})")
    yield f"{name} = {' + '.join(parts[:_TERMS])}"
    for start in range(_TERMS, len(parts), _TERMS):
        yield f"{name} += {' + '.join(parts[start : start + _TERMS])}"


def _ends(rules: BlackjackRules, up: int, excluded: int | None) -> dict[Counts, tuple[int, int]]:
    """Return the result and the number of orders of the cards that may follow the up card."""
    ends: dict[Counts, tuple[int, int]] = {}
    results: dict[tuple[int, bool, int], int | None] = {}
    drawing: dict[Counts, int] = {
        _with((0,) * 10, place): 1 for place in range(10) if place != excluded
    }
    drawn = 1
    while drawing:
        longer: dict[Counts, int] = defaultdict(int)
        for hand, orders in drawing.items():
            hard = up + drawn + sum(map(mul, hand, _PLACES))
            count_key = hard, up == 1 or hand[ACE] > 0, drawn
            if count_key not in results:
                results[count_key] = _result(rules, up, hand)
            result = results[count_key]
            if result is None:
                for place in range(min(10, 21 - hard)):
                    longer[_with(hand, place)] += orders
            elif result != _BUST:
                ends[hand] = (result, orders)
        drawing = longer
        drawn += 1
    return ends


def _result(rules: BlackjackRules, up: int, hand: Counts) -> int | None:
    """Return the place in `RESULTS` for these cards and the up card; None if the dealer draws."""
    drawn = [_CARDS[place] for place in range(10) for _ in range(hand[place])]
    cards = (_CARDS[up - 1], *drawn)
    total = count(cards).total
    if total > 21:
        return _BUST
    if rules.dealer_draws(cards):
        return None
    if is_natural(cards):
        return _NATURAL
    return _CHARLIE if rules.is_charlie(cards) else RESULTS.index(total)


def _with(hand: Counts, place: int) -> Counts:
    return (*hand[:place], hand[place] + 1, *hand[place + 1 :])


def _without_last(hand: Counts) -> Counts:
    last = 9
    while not hand[last]:
        last -= 1
    return (*hand[:last], hand[last] - 1, *hand[last + 1 :])


def _with_prefixes(ends: dict[Counts, tuple[int, int]]) -> list[Counts]:
    """Return the hands and all their prefixes, with the highest cards last. Shorter hands first."""
    hands: set[Counts] = set()
    for end in ends:
        hand = end
        while any(hand) and hand not in hands:
            hands.add(hand)
            hand = _without_last(hand)
    return sorted(hands, key=lambda hand: (sum(hand), hand))
