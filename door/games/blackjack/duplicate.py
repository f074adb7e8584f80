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
from dataclasses import dataclass, replace

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
    game = _dealt(rules, seed, (), (), hands)
    for word in acts:
        game = gone_on(rules, seed, game, BlackjackAction(word))
    return game


def gone_on(
    rules: BlackjackRules, seed: bytes, game: Duplicate, action: BlackjackAction
) -> Duplicate:
    """Go on with a try of these rules and this seed by one decision: none before it is replayed.
    Raises as `played`."""
    if game.at is None:
        raise ValueError("decisions go on past the last hand")
    hand, _events = game.at.apply(action)
    decisions = (*game.decisions, (game.at, action))
    if hand.over:
        return _dealt(rules, seed, (*game.over, hand), decisions, game.hands)
    return replace(game, at=hand, decisions=decisions)


def _dealt(
    rules: BlackjackRules,
    seed: bytes,
    over: tuple[BlackjackRound, ...],
    decisions: tuple[tuple[BlackjackRound, BlackjackAction], ...],
    hands: int,
) -> Duplicate:
    """Deal the next hand in which there is something to decide."""
    while len(over) < hands:
        hand, _events = start(rules, cards_of(rules, seed, len(over) + 1), [STAKE])
        if not hand.over:
            return Duplicate(over, hand, decisions, len(decisions), hands)
        over = (*over, hand)
    return Duplicate(over, None, decisions, len(decisions), hands)
