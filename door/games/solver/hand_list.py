"""Every hand that a caller may hold at black jack, by its cards in no order.

A hand is a place in `Hands`; hands of fewer cards come first. Which hands there are depends on few
of the rules, on the cards of the shoe, and not on the up card.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from door.games.blackjack.rules import BlackjackRules
from door.games.solver.tutor.dealer import Branches, Counts, branch
from door.games.solver.tutor.payments import payments
from door.games.solver.tutor.spot import Cards, final_kind

TAKEN = tuple(32**place for place in range(10))
"""What a card of each value adds to a key: no hand has 32 of one."""

Total = tuple[int, bool]
"""What a hand counts, and whether it is soft."""

_NONE = (Cards(0, False, 0), (0,) * 10)


@dataclass(slots=True)
class Hands:
    """Hands of one card and more, and what each may become by another card."""

    cards: list[Cards] = field(default_factory=list)  # what it counts
    counts: list[Counts] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    stops: list[int | None] = field(default_factory=list)  # as what it is paid, not being asked
    kids: list[tuple[int, ...]] = field(default_factory=list)  # by a card that is no bust
    place: dict[int, int] = field(default_factory=dict)  # of a key

    grown: list[tuple[int, int, int]] = field(default_factory=list)
    """Out of which shorter hand (-1: of none), by which value, of which it had how many."""

    meeting: list[int] = field(default_factory=list)
    """Those that may meet the dealer's: not paid alike against all, naturals, or what doubles."""

    branches: Branches = field(default_factory=dict)
    """The same by their cards, under their places."""

    @property
    def pairs(self) -> dict[int, int]:
        """The value of each pair, by its place."""
        found = ((self.place.get(2 * TAKEN[value]), value) for value in range(10))
        return {place: value for place, value in found if place is not None}

    def pair(self, value: int) -> int:
        """The place of two cards of a value."""
        return self.place[2 * TAKEN[value]]


def every_hand(rules: BlackjackRules, shoe: Counts) -> Hands:
    """Every hand of a table that a shoe can give, from each single card on."""
    hands = Hands()
    for value in range(10):
        if shoe[value]:
            _add(hands, rules, -1, value)
    here = -1
    while (here := here + 1) < len(hands.cards):
        cards, key, had = hands.cards[here], hands.keys[here], hands.counts[here]
        if hands.stops[here] is not None:
            continue
        kids = []
        for value in range(min(10, 21 - cards.hard)):
            if had[value] == shoe[value]:
                continue
            kid = hands.place.get(key + TAKEN[value])
            if kid is None:
                kid = _add(hands, rules, here, value)
            kids.append(kid)
        hands.kids[here] = tuple(kids)
    pays = payments(rules).single
    for place, (cards, stop) in enumerate(zip(hands.cards, hands.stops, strict=True)):
        if cards.cards <= 3 or pays[cards.total if stop is None else stop].fixed is None:
            hands.meeting.append(place)
            branch(hands.branches, hands.counts[place], cards.cards, place)
    return hands


def _add(hands: Hands, rules: BlackjackRules, shorter: int, value: int) -> int:
    """Add a hand that grows out of another, or of none (-1); return its place."""
    cards, counts = (hands.cards[shorter], hands.counts[shorter]) if shorter >= 0 else _NONE
    cards = cards.with_card(value)
    place = len(hands.cards)
    hands.grown.append((shorter, value, counts[value]))
    hands.cards.append(cards)
    hands.totals.append((cards.total, cards.soft))
    hands.counts.append((*counts[:value], counts[value] + 1, *counts[value + 1 :]))
    hands.keys.append(TAKEN[value] + (hands.keys[shorter] if shorter >= 0 else 0))
    hands.stops.append(final_kind(rules, cards))
    hands.kids.append(())
    hands.place[hands.keys[-1]] = place
    return place
