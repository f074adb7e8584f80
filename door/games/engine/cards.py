"""Playing cards: their notation and their count.

A card is two letters, rank then suit, in the notation of the UNIX game bj: ``AS`` is the ace of
spades, ``TD`` the ten of diamonds.
"""

from collections.abc import Iterable
from typing import NamedTuple

from timebank.settings.quoting import shown

RANKS = "A23456789TJQK"
SUITS = "HSDC"

_VALUES = {rank: min(number, 10) for number, rank in enumerate(RANKS, start=1)}


class Card(str):
    """A string of rank and suit, which serves as JSON and as a key. `parse_card` makes one.

    >>> card = parse_card("TH")
    >>> card, card.rank, card.suit, card.value
    ('TH', 'T', 'H', 10)
    """

    __slots__ = ()

    @property
    def rank(self) -> str:
        return self[0]

    @property
    def suit(self) -> str:
        return self[1]

    @property
    def value(self) -> int:
        """Least count: 1 for an ace, 10 for ten and faces, the number for others."""
        return _VALUES[self[0]]

    @property
    def is_ace(self) -> bool:
        return self[0] == "A"


_NATURALS = frozenset(pair for ten in "TJQK" for pair in (f"A{ten}", f"{ten}A"))
_PACK = {rank + suit: Card(rank + suit) for suit in SUITS for rank in RANKS}
CARDS_IN_DECK = len(_PACK)


def parse_card(text: str) -> Card:
    """Return the card that two letters name; ValueError for anything else.

    >>> parse_card("10H")
    Traceback (most recent call last):
    ...
    ValueError: "10H" is not a card: one of A23456789TJQK and one of HSDC, such as TH.
    """
    card = _PACK.get(text)
    if card is None:
        raise ValueError(
            f"{shown(text)} is not a card: one of {RANKS} and one of {SUITS}, such as TH."
        )
    return card


def parse_cards(text: str) -> tuple[Card, ...]:
    """Return the cards of a text, separated by white space; ValueError for a wrong one.

    >>> parse_cards("3H JS TH")
    ('3H', 'JS', 'TH')
    """
    return tuple(parse_card(word) for word in text.split())


def deck(decks: int) -> tuple[Card, ...]:
    """Return decks in factory order: hearts, spades, diamonds, clubs, each from ace to king.

    Every shuffle starts from this order (docs/fairness.md).

    >>> deck(1)[:3], deck(1)[-1], len(deck(6))
    (('AH', '2H', '3H'), 'KC', 312)
    """
    return tuple(_PACK.values()) * decks


class Count(NamedTuple):
    """The best total of a hand, and whether an ace in it counts as eleven.

    >>> str(Count(17, True)), str(Count(17, False))
    ('soft 17', '17')
    """

    total: int
    soft: bool

    def __str__(self) -> str:
        return f"soft {self.total}" if self.soft else str(self.total)


def count(cards: Iterable[Card]) -> Count:
    """Return the count of a hand: one ace is eleven unless the total would exceed 21.

    >>> count(parse_cards("AS 6D")), count(parse_cards("AS 6D KC"))
    (Count(total=17, soft=True), Count(total=17, soft=False))
    >>> count(parse_cards("AS AD 9C"))
    Count(total=21, soft=True)
    """
    total = 0
    ace = False
    for card in cards:
        rank = card[0]
        total += _VALUES[rank]
        ace = ace or rank == "A"
    if ace and total <= 11:
        return Count(total + 10, True)
    return Count(total, False)


def is_natural(cards: tuple[Card, ...]) -> bool:
    """Return whether two cards make 21 (help file, The Play).

    >>> is_natural(parse_cards("AS KD")), is_natural(parse_cards("7S 7D 7C"))
    (True, False)
    """
    return len(cards) == 2 and cards[0][0] + cards[1][0] in _NATURALS
