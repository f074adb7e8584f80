"""The rules of baccarat as data: the points, the third cards, and the keys that a sysop may set.

docs/rules.md quotes the source of each rule.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal, get_args

from door.games.engine.cards import CARDS_IN_DECK, Card
from door.games.engine.rules import MOST_DECKS, Check, choice, whole

RESHUFFLE_AT = 8
"""A coup that leaves this many cards or fewer is the last of its shoe."""

NATURALS = frozenset({8, 9})
"""Points of two cards that end a coup."""

Option = Literal["draw", "stand", "toss"]


class Draw(Enum):
    MUST = "must draw"
    MUST_NOT = "must stand"
    MAY = "draws or stands as it likes"


PLAYER_TABLE: Mapping[int, Draw] = {
    **dict.fromkeys(range(5), Draw.MUST),
    5: Draw.MAY,
    6: Draw.MUST_NOT,
    7: Draw.MUST_NOT,
}
"""The player's third card, by the point of the first two cards without a natural."""

_BANK_DRAWS_AGAINST: Mapping[int, frozenset[int]] = {
    3: frozenset({0, 1, 2, 3, 4, 5, 6, 7}),
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({5, 6, 7}),
    6: frozenset({6, 7}),
}
_BANK_MAY_DRAW_AGAINST: Mapping[int, int] = {3: 9, 5: 4}


@dataclass(frozen=True, slots=True)
class BaccaratRules:
    """The rules of one table.

    The name of an option has the bank's point and the player's third card. "toss" leaves the option
    to chance: the table applies the action that a toss decides.
    """

    bank_option_3v9: Option = "draw"
    bank_option_5v4: Option = "draw"
    decks: int = 4

    def option(self, bank: int) -> Option:
        """Return the rule for the bank's option on a point of 3 or 5."""
        return self.bank_option_3v9 if bank == 3 else self.bank_option_5v4

    def shuffle_due(self, dealt: int) -> bool:
        """Return whether the shoe must be shuffled before the next coup, after `dealt` cards.

        >>> BACCARAT.shuffle_due(199), BACCARAT.shuffle_due(200)
        (False, True)
        """
        return self.decks * CARDS_IN_DECK - dealt <= RESHUFFLE_AT


BACCARAT = BaccaratRules()
"""Four decks; the bank draws whenever it has the option."""


def value_of(card: Card) -> int:
    """Return the value of a card: an ace 1, tens and faces 0, others their number.

    >>> from door.games.engine.cards import parse_cards
    >>> [value_of(card) for card in parse_cards("AS 9H TD KC")]
    [1, 9, 0, 0]
    """
    return card.value % 10


def point_of(cards: Iterable[Card]) -> int:
    """Return the point of a hand, 0 to 9: the last digit of the sum.

    >>> from door.games.engine.cards import parse_cards
    >>> point_of(parse_cards("6S 8D"))
    4
    """
    return sum(map(value_of, cards)) % 10


def bank_draw(bank: int, third: int | None) -> Draw:
    """Return whether a bank with the point `bank` (0 to 7) draws a third card.

    `third` is the value of the player's third card (0 to 9), or None without one.

    >>> bank_draw(3, 8), bank_draw(3, 9), bank_draw(6, None)
    (<Draw.MUST_NOT: 'must stand'>, <Draw.MAY: 'draws or stands as it likes'>, \
<Draw.MUST_NOT: 'must stand'>)
    """
    if bank <= 2:
        return Draw.MUST
    if bank == 7:
        return Draw.MUST_NOT
    if third is None:
        return Draw.MUST_NOT if bank == 6 else Draw.MUST
    if third in _BANK_DRAWS_AGAINST[bank]:
        return Draw.MUST
    return Draw.MAY if _BANK_MAY_DRAW_AGAINST.get(bank) == third else Draw.MUST_NOT


CHECKS: Mapping[str, Check] = {
    "bank_option_3v9": choice(*get_args(Option)),
    "bank_option_5v4": choice(*get_args(Option)),
    "decks": whole(1, MOST_DECKS),
}
"""The valid values of each key. This game has four decks; the journal states them, so that a replay
may use another shoe."""
