"""Red Dog as a state machine: rules, a shoe and actions in; events and the next round out.

Two cards lie open, and the caller bets that the third falls between them. A round is a function of
(rules, shoe, actions) and of nothing else; it knows no purse, no clock, no screen and no chance.

The course of a round, and what is legal in each phase::

    phase    legal          leads to
    RAISE    raise, stay    the third card, then OVER
    OVER     nothing

`start` deals two cards. Neighbours are a push at once, a pair draws its third card by itself, and
both are over; all others are met in RAISE. A round is immutable: `apply` returns another one, or
raises `IllegalAction` and nothing has happened.

>>> from door.games.engine.cards import parse_cards
>>> game, events = start(RED_DOG, parse_cards("5H 9S 7D"), 10)
>>> game.spread, [str(action) for action in game.legal()]
(3, ['raise', 'stay'])
>>> game, events = game.apply(Action.RAISE)
>>> events[-1]
Settled(outcome=<Outcome.WIN: 'win'>, lost=0, returned=20, won=40)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from door.games.engine.cards import Card
from door.games.engine.game import IllegalAction, ShoeTooShort, Totals
from door.games.engine.quoting import either
from door.games.red_dog.events import Dealt, Drew, Event, Outcome, Raised, Settled, Spread, Stayed
from door.games.red_dog.rules import RED_DOG, THREE_OF_A_KIND_PAYS, Rules, pays, rank_of, spread_of

__all__ = ["RED_DOG", "Action", "Phase", "Round", "start"]


class Action(StrEnum):
    """What a caller may decide, in the order of the menu."""

    RAISE = "raise"
    STAY = "stay"


class Phase(Enum):
    """Where a round is."""

    RAISE = "raise"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Round:
    """A round at one moment. Its shoe does not show in its repr, nor in a log."""

    rules: Rules
    shoe: tuple[Card, ...] = field(repr=False)  # from the top; the first `cards_used` are dealt
    bet: int
    raised: bool
    cards: tuple[Card, ...]  # in the order dealt
    phase: Phase
    settled: Settled | None

    @property
    def over(self) -> bool:
        """Whether the stake is settled."""
        return self.phase is Phase.OVER

    @property
    def cards_used(self) -> int:
        """How many cards of the shoe are dealt."""
        return len(self.cards)

    @property
    def stake(self) -> int:
        """What stands on the table: the bet, and the raise."""
        return 2 * self.bet if self.raised else self.bet

    @property
    def spread(self) -> int:
        """How many ranks lie between the first two cards: 0 for neighbours, -1 for a pair."""
        return spread_of(*self.cards[:2])

    @property
    def outcome(self) -> Outcome | None:
        """How the round ended, None before."""
        return None if self.settled is None else self.settled.outcome

    @property
    def totals(self) -> Totals:
        """The money of the round so far."""
        if self.settled is None:
            return Totals(self.stake, 0, 0, 0)
        return Totals(self.stake, self.settled.lost, self.settled.returned, self.settled.won)

    def legal(self) -> tuple[Action, ...]:
        """What may be decided now, in menu order; nothing once the round is over."""
        return tuple(Action) if self.phase is Phase.RAISE else ()

    def amount(self, action: Action) -> int:
        """What `action` puts on the table besides, in the unit of the bet."""
        return self.bet if action is Action.RAISE else 0

    def apply(self, action: Action) -> tuple[Round, tuple[Event, ...]]:
        """The round after `action`, and what happened on the way there.

        Raises IllegalAction when the action is not in `legal()`, ShoeTooShort when a card is
        missing; this round stays as it was in either case.
        """
        legal = self.legal()
        if not legal:
            raise IllegalAction(f"{action} is not open: the round is over.")
        if action not in legal:
            raise IllegalAction(f"{action} is not open here: it is {either(legal)}.")
        raised = action is Action.RAISE
        after, drawn = replace(self, raised=raised)._with_third_card()
        return after, (Raised(self.bet) if raised else Stayed(), *drawn)

    def _with_third_card(self) -> tuple[Round, tuple[Event, ...]]:
        """Draw the third card, and settle by it."""
        third = _card(self.shoe, 2)
        drawn = replace(self, cards=(*self.cards, third))
        over, settled = drawn._settle(drawn._outcome())
        return over, (Drew(third), settled)

    def _outcome(self) -> Outcome:
        """Return what the third card makes of it."""
        first, second, third = map(rank_of, self.cards)
        if first == second:
            return Outcome.THREE_OF_A_KIND if third == first else Outcome.PUSH
        between = min(first, second) < third < max(first, second)
        return Outcome.WIN if between else Outcome.LOSE

    def _settle(self, outcome: Outcome) -> tuple[Round, Settled]:
        stake = self.stake
        if outcome is Outcome.LOSE:
            settled = Settled(outcome, lost=stake, returned=0, won=0)
        else:
            odds = {Outcome.THREE_OF_A_KIND: THREE_OF_A_KIND_PAYS, Outcome.PUSH: 0}
            won = stake * odds.get(outcome, pays(self.spread))
            settled = Settled(outcome, lost=0, returned=stake, won=won)
        return replace(self, phase=Phase.OVER, settled=settled), settled


def start(rules: Rules, shoe: Sequence[Card], bet: int) -> tuple[Round, tuple[Event, ...]]:
    """Deal from the top of `shoe` for a bet in the smallest unit.

    Raises ValueError for a bet that is not more than 0, ShoeTooShort when a card is missing.
    """
    if bet <= 0:
        raise ValueError(f"The stake must be more than 0, is {bet}.")
    cards = tuple(shoe)
    two = (_card(cards, 0), _card(cards, 1))
    dealt = Round(rules, cards, bet, False, two, Phase.RAISE, None)
    spread = dealt.spread
    events = (Dealt(two[0]), Dealt(two[1]), Spread(spread, pays(spread) if spread > 0 else 0))
    if spread < 0:
        after, drawn = dealt._with_third_card()
        return after, (*events, *drawn)
    if spread == 0:
        over, settled = dealt._settle(Outcome.PUSH)
        return over, (*events, settled)
    return dealt, events


def _card(shoe: tuple[Card, ...], number: int) -> Card:
    if number >= len(shoe):
        raise ShoeTooShort(f"The shoe is too short: its {len(shoe)} cards are not enough.")
    return shoe[number]
