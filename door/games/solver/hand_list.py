"""All hands of a caller at black jack, as cards in no order.

A hand is a place in `Hands`, and shorter hands come first. The list depends on a few of the rules
and on the shoe, but not on the up card.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from door.games.blackjack.rules import BlackjackRules
from door.games.solver.tutor.dealer import Branches, Counts, branch
from door.games.solver.tutor.payments import payments
from door.games.solver.tutor.spot import Cards, final_kind

CARD_KEYS = tuple(32**place for place in range(10))
"""The part of a card in the key of a hand, by its value. No hand has 32 cards of a value."""

Total = tuple[int, bool]
"""The count of a hand, and whether it is soft."""

_NONE = (Cards(0, False, 0), (0,) * 10)


@dataclass(slots=True)
class Hands:
    """The hands of one card or more, and the hands that one more card makes of each."""

    cards: list[Cards] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    final_kinds: list[int | None] = field(default_factory=list)  # or None
    children: list[tuple[int, ...]] = field(default_factory=list)  # one card longer, no bust
    place: dict[int, int] = field(default_factory=dict)  # by the key

    origins: list[tuple[int, int, int]] = field(default_factory=list)
    """The shorter hand (-1 for none), the value of the added card, and its copies in that hand."""

    contested: list[int] = field(default_factory=list)
    """The hands whose payment may depend on the dealer, once doubled too."""

    branches: Branches = field(default_factory=dict)
    """The contested hands by their cards. Their keys are their places."""

    @property
    def pairs(self) -> dict[int, int]:
        """The value of each pair, by its place."""
        places = ((self.place.get(2 * CARD_KEYS[value]), value) for value in range(10))
        return {place: value for place, value in places if place is not None}

    def pair(self, value: int) -> int:
        """Return the place of two cards of a value."""
        return self.place[2 * CARD_KEYS[value]]


def every_hand(rules: BlackjackRules, shoe: Counts) -> Hands:
    """Return all hands of a table from a shoe, beginning with single cards."""
    hands = Hands()
    for value in range(10):
        if shoe[value]:
            _add(hands, rules, -1, value)
    here = -1
    while (here := here + 1) < len(hands.cards):
        cards, key, counts = hands.cards[here], hands.keys[here], hands.counts[here]
        if hands.final_kinds[here] is not None:
            continue
        children = []
        for value in range(min(10, 21 - cards.hard)):
            if counts[value] == shoe[value]:
                continue
            child = hands.place.get(key + CARD_KEYS[value])
            if child is None:
                child = _add(hands, rules, here, value)
            children.append(child)
        hands.children[here] = tuple(children)
    pays = payments(rules).single
    for place, (cards, kind) in enumerate(zip(hands.cards, hands.final_kinds, strict=True)):
        if cards.cards <= 3 or pays[cards.total if kind is None else kind].fixed is None:
            hands.contested.append(place)
            branch(hands.branches, hands.counts[place], cards.cards, place)
    return hands


def _add(hands: Hands, rules: BlackjackRules, shorter: int, value: int) -> int:
    """Add a hand of `shorter` (-1 for none) and one card; return its place."""
    cards, counts = (hands.cards[shorter], hands.counts[shorter]) if shorter >= 0 else _NONE
    cards = cards.with_card(value)
    place = len(hands.cards)
    hands.origins.append((shorter, value, counts[value]))
    hands.cards.append(cards)
    hands.totals.append((cards.total, cards.soft))
    hands.counts.append((*counts[:value], counts[value] + 1, *counts[value + 1 :]))
    hands.keys.append(CARD_KEYS[value] + (hands.keys[shorter] if shorter >= 0 else 0))
    hands.final_kinds.append(final_kind(rules, cards))
    hands.children.append(())
    hands.place[hands.keys[-1]] = place
    return place
