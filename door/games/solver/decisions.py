"""The cost of the decisions of a hand of black jack against the best ones, by its cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, is_natural
from door.games.solver.blackjack import Matchup, full
from door.games.solver.hand_list import CARD_KEYS, every_hand
from door.games.solver.hand_tree import HandTree, UpCard
from door.games.solver.tutor.dealer import Counts

if TYPE_CHECKING:
    from timebank.reports.house import FinishedHand


class BlackjackCosts:
    """Computes the cost of hands under some rules. Each up card is computed once, on demand."""

    def __init__(self, rules: BlackjackRules, shoe: Counts | None = None) -> None:
        """`shoe` is by default full decks."""
        self.rules = rules
        self._shoe = shoe or full(rules.decks)
        self._hands = every_hand(rules, self._shoe)
        self._worth_by_up: dict[int, _Worth] = {}

    def __call__(self, hand: FinishedHand, result: Mapping[str, Any]) -> float:
        """Return the cost for a unit of the bet, as described at `Costs`."""
        dealer = list(map(Card, result["dealer"]))
        hands = [_values(cards) for cards in result["player"]]
        up = min(dealer[0].value, 10)
        if up not in self._worth_by_up:
            self._worth_by_up[up] = _Worth(Matchup(self._hands, UpCard(self.rules, self._shoe, up)))
        worth = self._worth_by_up[up]
        doubled = _doubled(hand.words, hands)
        insurance = hand.staked - hand.bet * (len(hands) + len(doubled))
        first = hands[0][:2] if len(hands) == 1 else (hands[0][0], hands[1][0])
        cost = -self._insurance_gain(insurance / hand.bet, first)
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

    def _insurance_gain(self, insurance: float, first: Sequence[int]) -> float:
        """Return the mean gain of `insurance` for one bet, given the first two cards."""
        if not insurance:
            return 0.0
        tens = self._shoe[9] - sum(value == 9 for value in first)
        natural = tens / (sum(self._shoe) - 1 - len(first))
        return insurance * (natural * (self.rules.insurance_pays + 1) - 1)


class _Worth:
    """The worth of every hand and decision against an up card."""

    def __init__(self, matchup: Matchup) -> None:
        self.matchup = matchup
        self.main = _ValuedTree(matchup, matchup.main)
        self._halves: dict[int, _ValuedTree] = {}

    def half(self, value: int) -> _ValuedTree:
        if value not in self._halves:
            half = self.matchup.half(value)
            half.weigh(half.places)
            self._halves[value] = _ValuedTree(self.matchup, half)
        return self._halves[value]

    def split(self, value: int) -> float:
        """Return the worth of a split, like that of hands without a split."""
        half = self.half(value)
        return 2 * sum(half.best(place) for place in half.tree.seconds)

    def split_cost(self, value: int) -> float:
        place = self.matchup.hands.pair(value)
        return self._cost_of(self.main, place, self.split(value))

    def cost(self, valued: _ValuedTree, cards: Sequence[int], doubled: bool) -> float:
        """Return the cost of the decisions about one hand, with its cards in order."""
        key = sum(CARD_KEYS[value] for value in cards[:2])
        if valued is self.main and sorted(cards[:2]) == [0, 9]:
            return 0.0  # a natural has no decision
        cost = 0.0
        hands = self.matchup.hands
        for number in range(2, len(cards) + 1):
            place = hands.place[key]
            if valued.tree.final_kinds[place] is not None:
                return cost
            if number == len(cards):
                return cost + self._cost_of(valued, place, valued.tree.stand_worth[place])
            if doubled:
                return cost + self._cost_of(valued, place, valued.tree.doubled(place))
            cost += self._cost_of(valued, place, valued.hit(place))
            key += CARD_KEYS[cards[number]]
            if key not in hands.place:
                return cost  # a bust
        return cost

    def _cost_of(self, valued: _ValuedTree, place: int, chosen: float) -> float:
        best = valued.best(place)
        if valued is self.main and place in self.matchup.pairs:
            best = max(best, self.split(self.matchup.pairs[place]))
        clear: float = valued.tree.clear[place]
        return (best - chosen) / clear


class _ValuedTree:
    """All hands of a tree with the best play."""

    def __init__(self, matchup: Matchup, tree: HandTree) -> None:
        self.matchup = matchup
        self.tree = tree
        self._worth, _ = tree.best(matchup.anything)
        self._is_split = tree.pair is not None

    def best(self, place: int) -> float:
        best = self._worth[place]
        two = self.matchup.hands.cards[place].cards == 2 and self.tree.final_kinds[place] is None
        if two and self.matchup.may_double(place, from_split=self._is_split):
            best = max(best, self.tree.doubled(place))
        return best

    def hit(self, place: int) -> float:
        return self.tree.hit(place, self._worth)


def _values(cards: Sequence[str]) -> list[int]:
    """Return cards as places in `Counts`: an ace is 0, a ten 9."""
    return [min(Card(card).value, 10) - 1 for card in cards]


def _doubled(words: Sequence[str], hands: Sequence[Sequence[int]]) -> set[int]:
    """Return which hands of a seat, from 0, were doubled, given its actions."""
    doubles = words.count("double")
    if doubles >= len(hands):
        return set(range(len(hands)))
    three = [number for number, cards in enumerate(hands) if len(cards) == 3]
    if not doubles or len(three) == 1:
        return set(three[:doubles])
    # Both hands of a split took a third card, one of them doubled: the first is played first.
    return {0 if words[words.index("split") + 1] == "double" else 1}
