"""What the decisions of a hand of black jack cost, by its cards: against the best ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, is_natural
from door.games.solver.blackjack import Against, full
from door.games.solver.hand_list import TAKEN, every_hand
from door.games.solver.hand_tree import HandTree, UpCard
from door.games.solver.odds import PlayedHand
from door.games.solver.tutor.dealer import Counts


class BlackjackCosts:
    """Of all hands under some rules; weighed up card by up card, as they are asked for."""

    def __init__(self, rules: BlackjackRules, shoe: Counts | None = None) -> None:
        """Prepare it for full decks, unless another shoe is given."""
        self.rules = rules
        self._shoe = shoe or full(rules.decks)
        self._hands = every_hand(rules, self._shoe)
        self._against: dict[int, _Worth] = {}

    def __call__(self, hand: PlayedHand, result: Mapping[str, Any]) -> float:
        dealer = list(map(Card, result["dealer"]))
        hands = [_values(cards) for cards in result["player"]]
        up = min(dealer[0].value, 10)
        if up not in self._against:
            self._against[up] = _Worth(Against(self._hands, UpCard(self.rules, self._shoe, up)))
        worth = self._against[up]
        doubled = _doubled(hand.words, hands)
        added = hand.staked - hand.bet * (len(hands) + len(doubled))
        first = hands[0][:2] if len(hands) == 1 else (hands[0][0], hands[1][0])
        cost = -self._insured(added / hand.bet, first)
        looked = up == 10 or (up == 1 and self.rules.peek_under_ace)
        if looked and is_natural(tuple(dealer[:2])):
            return cost
        if len(hands) == 1:
            return cost + worth.cost(worth.main, hands[0], bool(doubled))
        cost += worth.split_cost(first[0])
        half = worth.half(first[0])
        return cost + sum(
            worth.cost(half, cards, number in doubled) for number, cards in enumerate(hands)
        )

    def _insured(self, insurance: float, first: Sequence[int]) -> float:
        """What insurance was worth, so much of it for one that was bet."""
        if not insurance:
            return 0.0
        tens = self._shoe[9] - sum(value == 9 for value in first)
        natural = tens / (sum(self._shoe) - 1 - len(first))
        return insurance * (natural * (self.rules.insurance_pays + 1) - 1)


class _Worth:
    """What every hand is worth against an up card, with each decision."""

    def __init__(self, against: Against) -> None:
        self.against = against
        self.main = _Valuing(against, against.main)
        self._halves: dict[int, _Valuing] = {}

    def half(self, value: int) -> _Valuing:
        if value not in self._halves:
            half = self.against.half(value)
            half.weigh(half.places)
            self._halves[value] = _Valuing(self.against, half)
        return self._halves[value]

    def split(self, value: int) -> float:
        """What splitting is worth, in the measure of the whole hands."""
        half = self.half(value)
        return 2 * sum(half.best(place) for place in half.tree.seconds)

    def split_cost(self, value: int) -> float:
        place = self.against.hands.pair(value)
        return self._lost(self.main, place, self.split(value))

    def cost(self, valuing: _Valuing, cards: Sequence[int], doubled: bool) -> float:
        """What the decisions about one hand cost, its cards being in the order they came."""
        key = sum(TAKEN[value] for value in cards[:2])
        if valuing is self.main and sorted(cards[:2]) == [0, 9]:
            return 0.0  # a natural is never asked
        cost = 0.0
        hands = self.against.hands
        for number in range(2, len(cards) + 1):
            place = hands.place[key]
            if valuing.tree.stops[place] is not None:
                return cost
            if number == len(cards):
                return cost + self._lost(valuing, place, valuing.tree.stood[place])
            if doubled:
                return cost + self._lost(valuing, place, valuing.tree.doubled(place))
            cost += self._lost(valuing, place, valuing.hit(place))
            key += TAKEN[cards[number]]
            if key not in hands.place:
                return cost  # one card too many
        return cost

    def _lost(self, valuing: _Valuing, place: int, chosen: float) -> float:
        best = valuing.best(place)
        if valuing is self.main and place in self.against.pairs:
            best = max(best, self.split(self.against.pairs[place]))
        clear: float = valuing.tree.clear[place]
        return (best - chosen) / clear


class _Valuing:
    """All hands of a tree, each played as it is best."""

    def __init__(self, against: Against, tree: HandTree) -> None:
        self.against = against
        self.tree = tree
        self._worth, _ = tree.best(against.anything)
        self._is_split = tree.pair is not None

    def best(self, place: int) -> float:
        best = self._worth[place]
        two = self.against.hands.cards[place].cards == 2 and self.tree.stops[place] is None
        if two and self.against.may_double(place, from_split=self._is_split):
            best = max(best, self.tree.doubled(place))
        return best

    def hit(self, place: int) -> float:
        return self.tree.hit(place, self._worth)


def _values(cards: Sequence[str]) -> list[int]:
    """Cards as places of `Counts`: an ace is 0, a ten 9."""
    return [min(Card(card).value, 10) - 1 for card in cards]


def _doubled(words: Sequence[str], hands: Sequence[Sequence[int]]) -> set[int]:
    """Which hands (from 0) of a seat were doubled, by what was done there."""
    doubles = words.count("double")
    if doubles >= len(hands):
        return set(range(len(hands)))
    three = [number for number, cards in enumerate(hands) if len(cards) == 3]
    if not doubles or len(three) == 1:
        return set(three[:doubles])
    # Both hands of a split took a third card, one of them doubled: the first is played first.
    return {0 if words[words.index("split") + 1] == "double" else 1}
