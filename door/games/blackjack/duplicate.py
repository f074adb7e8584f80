"""Duplicate black jack: the same hands for everybody, whatever anybody does with the one before.

A try is a function of (rules, seed, decisions). Each hand has a shuffle of its own out of the one
seed, so that every caller meets the same cards in it.

>>> from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
>>> game = played(BLACK_JACK_FOR_TIME, bytes(32), ["stay", "stay"])
>>> len(game.over), game.is_over
(2, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BlackjackRules
from door.games.engine import shuffle
from door.games.engine.cards import Card

HANDS = 10  # of the daily deal
STAKE = 10  # whole coins of play money, of which every house's rules pay whole halves


def cut_of(number: int) -> str:
    """What is mixed into the shuffle of a hand, from 1: what `door verify --cut` takes."""
    return f"hand {number}"


def cards_of(rules: BlackjackRules, seed: bytes, number: int) -> tuple[Card, ...]:
    return shuffle.shuffle(seed, cut_of(number), rules.decks)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A try at one moment: hands that are over, and the one that is played, with its number."""

    over: tuple[BlackjackRound, ...]
    at: BlackjackRound | None
    # Each decision as it was met, and what was done.
    decisions: tuple[tuple[BlackjackRound, BlackjackAction], ...]
    # How many of them were about hands before the one that is played.
    earlier: int
    hands: int = HANDS

    @property
    def is_over(self) -> bool:
        return len(self.over) == self.hands

    @property
    def number(self) -> int:
        """Which hand is played, or was the last, from 1."""
        return min(len(self.over) + 1, self.hands)

    @property
    def score(self) -> int:
        """What the hands that are over have won; below zero for what they lost."""
        return sum(hand.totals.won - hand.totals.lost for hand in self.over)


def played(
    rules: BlackjackRules, seed: bytes, acts: Iterable[str], hands: int = HANDS
) -> Duplicate:
    """Deal a try of so many hands again, as far as its decisions go: to the next, or to its end.

    Hands that are over as they are dealt are passed. Raises ValueError for a word that is no
    action, `IllegalAction` for one that was not open, and ValueError for words past the end.
    """
    over: list[BlackjackRound] = []
    decisions: list[tuple[BlackjackRound, BlackjackAction]] = []
    words = iter(acts)
    for number in range(1, hands + 1):
        earlier = len(decisions)
        hand, _events = start(rules, cards_of(rules, seed, number), [STAKE])
        while not hand.over:
            word = next(words, None)
            if word is None:
                return Duplicate(tuple(over), hand, tuple(decisions), earlier, hands)
            action = BlackjackAction(word)
            decisions.append((hand, action))
            hand, _events = hand.apply(action)
        over.append(hand)
    if next(words, None) is not None:
        raise ValueError("decisions go on past the last hand")
    return Duplicate(tuple(over), None, tuple(decisions), len(decisions), hands)
