"""The rules of Red Dog, as data: the order of the cards, what a spread pays, what a house may set.

docs/rules.md says where each rule comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from door.games.engine.cards import CARDS_IN_DECK, Card
from door.games.engine.rules import MOST_DECKS, Check, choice, whole

MOST_CARDS = 3
"""No round takes more."""

THREE_OF_A_KIND_PAYS = 11
WIDEST_PAYS = 1
SPREAD_PAYS: Mapping[int, int] = {1: 5, 2: 4, 3: 2}
"""So many for each one that was bet, besides the bet; wider spreads pay `WIDEST_PAYS`."""

BEST_ODDS = max(THREE_OF_A_KIND_PAYS, *(2 * pays for pays in SPREAD_PAYS.values()))
"""The most that one coin of the opening bet can win: a raise doubles it, but never before a pair's
third card."""

_ORDER = {rank: number for number, rank in enumerate("23456789TJQKA", start=2)}


@dataclass(frozen=True, slots=True)
class RedDogRules:
    """One house's rules: how many decks, and when they are shuffled."""

    decks: int = 1
    shuffle: Literal["hand", "shoe"] = "hand"  # for every hand, or a shoe that runs on
    penetration: int = 75  # percent of a shoe that runs on, after which it is shuffled

    def shuffle_due(self, dealt: int) -> bool:
        """Whether a shoe of which `dealt` cards are gone must be shuffled before the next hand.

        >>> RED_DOG.shuffle_due(0), RED_DOG.shuffle_due(2)
        (False, True)
        """
        if self.shuffle == "hand":
            return dealt > 0
        cards = self.decks * CARDS_IN_DECK
        return dealt * 100 >= cards * self.penetration or cards - dealt < MOST_CARDS


RED_DOG = RedDogRules()
"""One deck, shuffled for every hand."""


def rank_of(card: Card) -> int:
    """Where a card stands: 2 to 10, then jack 11, queen 12, king 13; an ace is high only, 14."""
    return _ORDER[card.rank]


def spread_of(first: Card, second: Card) -> int:
    """How many ranks lie between two cards: 0 for neighbours, -1 for a pair.

    >>> from door.games.engine.cards import parse_cards
    >>> [spread_of(*parse_cards(cards)) for cards in ("5H 9S", "KH AS", "AH 2S", "7H 7S")]
    [3, 0, 11, -1]
    """
    return abs(rank_of(first) - rank_of(second)) - 1


def pays(spread: int) -> int:
    """What a third card between pays for each one bet, when `spread` (1 or more) ranks lie there.

    >>> [pays(spread) for spread in (1, 2, 3, 4, 11)]
    [5, 4, 2, 1, 1]
    """
    return SPREAD_PAYS.get(spread, WIDEST_PAYS)


CHECKS: Mapping[str, Check] = {
    "decks": whole(1, MOST_DECKS),
    "shuffle": choice("hand", "shoe"),
    "penetration": whole(1, 100),
}
"""What each key of the rules must hold."""
