"""Duplicate black jack: every caller gets the same hands, whatever they decide.

A try is a function of rules, seed and decisions. Each hand has its own shuffle from the seed, so
its cards do not depend on the hands before.

>>> from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
>>> game = replay(BLACK_JACK_FOR_TIME, bytes(32), ["stay", "stay"])
>>> len(game.over), game.is_over
(2, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BlackjackRules
from door.games.engine import shuffle
from door.games.engine.cards import Card

HANDS = 10  # of the daily deal
STAKE = 10  # coins of play money: even, so that all rules pay whole coins


def cut_of(number: int) -> str:
    """Return the cut of a hand, from 1, as for `door verify --cut`."""
    return f"hand {number}"


def cards_of(rules: BlackjackRules, seed: bytes, number: int) -> tuple[Card, ...]:
    """Return the whole shoe of a hand, from 1."""
    return shuffle.shuffle(seed, cut_of(number), rules.decks)


class TryDecision(NamedTuple):
    """A decision in hand `number`, from 1: the round before it, and the move."""

    number: int
    at: BlackjackRound
    move: BlackjackAction


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The state of a try: its finished hands and the current one, None at the end."""

    over: tuple[BlackjackRound, ...]
    current: BlackjackRound | None
    decisions: tuple[TryDecision, ...]
    # The number of decisions in finished hands.
    earlier_decisions: int
    hands: int = HANDS

    @property
    def is_over(self) -> bool:
        return len(self.over) == self.hands

    @property
    def number(self) -> int:
        """The number of the current or last hand, from 1."""
        return min(len(self.over) + 1, self.hands)

    @property
    def score(self) -> int:
        """The winnings of the finished hands, below 0 for a loss."""
        return sum(hand.totals.won - hand.totals.lost for hand in self.over)


def replay(
    rules: BlackjackRules, seed: bytes, acts: Iterable[str], hands: int = HANDS
) -> Duplicate:
    """Deal a try of `hands` hands again, up to the decision after `acts` or to its end.

    Passes hands without a decision. Raises ValueError for a word that is no action or comes after
    the end, and `IllegalAction` for an action that was not legal.
    """
    game = _dealt(rules, seed, (), (), hands)
    for word in acts:
        game = decide(rules, seed, game, BlackjackAction(word))
    return game


def decide(
    rules: BlackjackRules, seed: bytes, game: Duplicate, action: BlackjackAction
) -> Duplicate:
    """Return a try of these rules and this seed after one more decision. Raises like `replay`."""
    if game.current is None:
        raise ValueError("decisions go on past the last hand")
    hand, _events = game.current.apply(action)
    decisions = (*game.decisions, TryDecision(game.number, game.current, action))
    if hand.over:
        return _dealt(rules, seed, (*game.over, hand), decisions, game.hands)
    return replace(game, current=hand, decisions=decisions)


def _dealt(
    rules: BlackjackRules,
    seed: bytes,
    over: tuple[BlackjackRound, ...],
    decisions: tuple[TryDecision, ...],
    hands: int,
) -> Duplicate:
    """Deal hands up to the next one with a decision."""
    while len(over) < hands:
        hand, _events = start(rules, cards_of(rules, seed, len(over) + 1), [STAKE])
        if not hand.over:
            return Duplicate(over, hand, decisions, len(decisions), hands)
        over = (*over, hand)
    return Duplicate(over, None, decisions, len(decisions), hands)
