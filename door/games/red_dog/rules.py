"""The rules of Red Dog as data: the ranks, the payments, and the keys that a sysop may set.

docs/rules.md gives the source of each rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from door.games.engine.cards import CARDS_IN_DECK, Card
from door.games.engine.rules import MOST_DECKS, Check, choice, whole

MOST_CARDS = 3
"""The most cards of a round."""

THREE_OF_A_KIND_PAYS = 11
WIDEST_PAYS = 1
SPREAD_PAYS: Mapping[int, int] = {1: 5, 2: 4, 3: 2}
"""Winnings for each one bet, by the spread. Wider spreads pay `WIDEST_PAYS`."""

BEST_ODDS = max(THREE_OF_A_KIND_PAYS, *(2 * pays for pays in SPREAD_PAYS.values()))
"""The most that one coin of the opening bet can win. A raise doubles it, but there is no raise on a
pair."""

_ORDER = {rank: number for number, rank in enumerate("23456789TJQKA", start=2)}


@dataclass(frozen=True, slots=True)
class RedDogRules:
    """The rules of one table."""

    decks: int = 1
    # Before each hand, or when the shoe has passed `penetration`, in percent.
    shuffle: Literal["hand", "shoe"] = "hand"
    penetration: int = 75

    def shuffle_due(self, dealt: int) -> bool:
        """Return whether the shoe must be shuffled before the next hand, after `dealt` cards.

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
    """Return the rank of a card: 2 to 10, jack 11, queen 12, king 13. An ace is always 14."""
    return _ORDER[card.rank]


def spread_of(first: Card, second: Card) -> int:
    """Return the number of ranks between two cards: 0 for neighbours, -1 for a pair.

    >>> from door.games.engine.cards import parse_cards
    >>> [spread_of(*parse_cards(cards)) for cards in ("5H 9S", "KH AS", "AH 2S", "7H 7S")]
    [3, 0, 11, -1]
    """
    return abs(rank_of(first) - rank_of(second)) - 1


def pays(spread: int) -> int:
    """Return what a third card in a spread of 1 or more pays for each one bet.

    >>> [pays(spread) for spread in (1, 2, 3, 4, 11)]
    [5, 4, 2, 1, 1]
    """
    return SPREAD_PAYS.get(spread, WIDEST_PAYS)


CHECKS: Mapping[str, Check] = {
    "decks": whole(1, MOST_DECKS),
    "shuffle": choice("hand", "shoe"),
    "penetration": whole(1, 100),
}
"""The valid values of each key."""
