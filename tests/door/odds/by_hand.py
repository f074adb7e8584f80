"""Black jack as docs/rules.md tells it, worked out card by card: nothing here is the program's.

Every order of the cards is gone through, the hole card first, for one caller who decides by what
they see. Hands are tuples of values in the order dealt, an ace as 1; a shoe says how many cards of
each value there are, always in one order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

Cards = tuple[int, ...]
Shoe = dict[int, int]
Worlds = dict[int, float]  # by hole card: how likely it is, with all that was dealt since


@dataclass(frozen=True)
class House:
    """Keys of docs/rules.md with the defaults of Black Jack For Time; all of them are plain."""

    ties: str = "dealer"
    peek_under_ace: bool = True
    hit_on_21: bool = False
    natural_paid: str = "at once"
    charlie_paid: str = "at once"
    twenty_one_paid: str = "after dealer"
    twenty_one_beats: str = "lower totals"
    five_card_21: str = "twenty-one"
    win_pays: float = 2
    natural_pays: float = 3
    twenty_one_pays: float = 3
    charlie_pays: float = 3
    doubled_21_pays: float = 2
    dealer_over: str = "pays"
    charlies: bool = True
    dealer: str = "stand 17"
    double: str = "always"


@dataclass
class Found:
    net: dict[float, float] = field(default_factory=lambda: defaultdict(float))
    outcomes: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def mean(self) -> float:
        return sum(gain * chance for gain, chance in self.net.items())

    @property
    def square(self) -> float:
        return sum(gain**2 * chance for gain, chance in self.net.items())


def count(cards: Cards) -> tuple[int, bool]:
    hard = sum(cards)
    return (hard + 10, True) if 1 in cards and hard <= 11 else (hard, False)


def drawn(shoe: Shoe) -> Iterator[tuple[int, float, Shoe]]:
    cards = sum(shoe.values())
    for card, copies in shoe.items():
        if copies:
            yield card, copies / cards, {**shoe, card: copies - 1}


def is_natural(cards: Cards) -> bool:
    return len(cards) == 2 and count(cards)[0] == 21


def is_charlie(house: House, cards: Cards) -> bool:
    total = count(cards)[0]
    return (
        house.charlies
        and len(cards) == 5
        and (total < 21 or (total == 21 and house.five_card_21 == "charlie"))
    )


@cache
def dealer_ends(
    house: House, cards: Cards, left: tuple[tuple[int, int], ...]
) -> dict[Cards, float]:
    total, soft = count(cards)
    at_17 = {
        "stand 17": False,
        "hit soft 17": soft,
        "hit 17 with an ace": 1 in cards,
        "hit 17": True,
    }
    draws = total < 17 or (total == 17 and at_17[house.dealer])
    if not draws or (house.charlies and len(cards) == 5):
        return {cards: 1.0}
    ends: dict[Cards, float] = defaultdict(float)
    for card, chance, after in drawn(dict(left)):
        for ended, likely in dealer_ends(house, (*cards, card), plain(after)).items():
            ends[(*cards[:2], *sorted(ended[2:]))] += chance * likely
    return ends


def plain(shoe: Shoe) -> tuple[tuple[int, int], ...]:
    return tuple(shoe.items())


def ending(house: House, cards: Cards, dealer: Cards, doubled: bool) -> tuple[str, float]:
    """The outcome of a hand that stood, and what comes back for one."""
    mine, banks = count(cards)[0], count(dealer)[0]
    if is_natural(dealer):
        return ("push", 1) if is_natural(cards) else ("dealer-natural", 0)
    if is_charlie(house, dealer):
        return "dealer-charlie", 0
    if is_natural(cards):
        return "natural", house.natural_pays
    if is_charlie(house, cards):
        return "charlie", house.charlie_pays
    if mine == 21 and (banks != 21 or house.twenty_one_beats == "all totals"):
        return "twenty-one", house.doubled_21_pays if doubled else house.twenty_one_pays
    if banks > 21:
        return ("push", 1) if house.dealer_over == "push" else ("win", house.win_pays)
    if mine > banks:
        return "win", house.win_pays
    if mine == banks and house.ties == "push":
        return "push", 1
    return "lose", 0


def at_once(house: House, cards: Cards, doubled: bool) -> tuple[str, float] | None:
    """How a hand ends that is paid before the dealer plays."""
    if is_charlie(house, cards) and house.charlie_paid == "at once":
        return "charlie", house.charlie_pays
    is_21 = count(cards)[0] == 21 and not is_charlie(house, cards) and not is_natural(cards)
    if is_21 and house.twenty_one_paid == "at once" and not doubled:
        return "twenty-one", house.twenty_one_pays
    return None


class Hand:
    """One hand against one up card: `best` or a given way to hit."""

    def __init__(
        self, house: House, shoe: Shoe, up: int, hits: Callable[[Cards], bool] | None
    ) -> None:
        self.house, self.shoe, self.up, self.hits = house, shoe, up, hits
        self.known: dict[Cards, tuple[float, Found]] = {}

    def left(self, cards: Cards, hole: int) -> Shoe:
        left = dict(self.shoe)
        for card in (*cards, hole, self.up):
            left[card] -= 1
        return left

    def stood(self, cards: Cards, worlds: Worlds, doubled: bool = False) -> Found:
        found, bet = Found(), 2 if doubled else 1
        paid = at_once(self.house, cards, doubled)
        for hole, chance in worlds.items():
            dealer = (self.up, hole)
            left = plain(self.left(cards, hole))
            ends = {dealer: 1.0} if paid else dealer_ends(self.house, dealer, left)
            for ended, after in ends.items():
                outcome, back = paid or ending(self.house, cards, ended, doubled)
                gain = bet * (back - 1) if back else -bet
                found.net[gain] += chance * after
                found.outcomes[outcome] += chance * after
        return found

    def next(self, cards: Cards, worlds: Worlds) -> dict[int, Worlds]:
        after: dict[int, Worlds] = defaultdict(dict)
        for hole, chance in worlds.items():
            for card, likely, _ in drawn(self.left(cards, hole)):
                after[card][hole] = chance * likely
        return after

    def drawn(self, cards: Cards, worlds: Worlds, doubled: bool) -> Found:
        found = Found()
        for card, after in self.next(cards, worlds).items():
            more = (*cards, card)
            if count(more)[0] > 21:
                chance = sum(after.values())
                found.net[-2 if doubled else -1] += chance
                found.outcomes["bust"] += chance
            else:
                each = self.stood(more, after, True) if doubled else self.asked(more, after)
                add(found, each, 1.0)
        return found

    def asked(self, cards: Cards, worlds: Worlds) -> Found:
        """What comes of a hand that may be asked. The same cards in another order are the same
        hand, only more or less likely."""
        key, chance = tuple(sorted(cards)), sum(worlds.values())
        if key not in self.known:
            self.known[key] = chance, self._asked(cards, worlds)
        before, known = self.known[key]
        found = Found()
        add(found, known, chance / before)
        return found

    def _asked(self, cards: Cards, worlds: Worlds) -> Found:
        total = count(cards)[0]
        full = self.house.charlies and len(cards) == 5
        if full or (total == 21 and not self.house.hit_on_21):
            return self.stood(cards, worlds)
        if self.hits is not None:
            hits = self.hits(cards)
            return self.drawn(cards, worlds, False) if hits else self.stood(cards, worlds)
        stood, hit = self.stood(cards, worlds), self.drawn(cards, worlds, False)
        return hit if hit.mean > stood.mean + 1e-12 else stood

    def first(self, cards: Cards, worlds: Worlds) -> Found:
        played = self.asked(cards, worlds)
        total, soft = count(cards)
        may = total < 21 if self.house.double == "always" else total in (10, 11) and not soft
        if self.hits is not None or not may:
            return played
        doubled = self.drawn(cards, worlds, True)
        return doubled if doubled.mean > played.mean + 1e-12 else played


def add(found: Found, more: Found, chance: float) -> None:
    for gain, likely in more.net.items():
        found.net[gain] += chance * likely
    for outcome, likely in more.outcomes.items():
        found.outcomes[outcome] += chance * likely


def worked_out(house: House, shoe: Shoe, hits: Callable[[Cards], bool] | None = None) -> Found:
    """What comes of a bet: played as well as can be, or with `hits` and no double. No splits."""
    found = Found()
    hands = {up: Hand(house, shoe, up, hits) for up in shoe}
    for first, chance1, shoe1 in drawn(shoe):
        for up, chance2, shoe2 in drawn(shoe1):
            for second, chance3, shoe3 in drawn(shoe2):
                cards = (first, second)
                worlds = {hole: chance for hole, chance, _ in drawn(shoe3)}
                add(found, _dealt(hands[up], cards, worlds), chance1 * chance2 * chance3)
    return found


def _dealt(hand: Hand, cards: Cards, worlds: Worlds) -> Found:
    house, found = hand.house, Found()
    looks = hand.up == 10 or (hand.up == 1 and house.peek_under_ace)
    if looks:
        natural = {hole: ch for hole, ch in worlds.items() if is_natural((hand.up, hole))}
        add(found, hand.stood(cards, natural) if natural else Found(), 1.0)
        worlds = {hole: ch for hole, ch in worlds.items() if hole not in natural}
    if not is_natural(cards):
        add(found, hand.first(cards, worlds) if worlds else Found(), 1.0)
        return found
    for hole, chance in worlds.items():
        dealer = (hand.up, hole)
        if is_natural(dealer) or house.natural_paid == "after dealer":
            add(found, hand.stood(cards, {hole: chance}), 1.0)
        else:
            found.net[house.natural_pays - 1] += chance
            found.outcomes["natural"] += chance
    return found
