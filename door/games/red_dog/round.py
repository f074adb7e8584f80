"""Red Dog as a state machine: rules, a shoe and actions in; events and the next round out.

Two cards lie open, and the caller bets that the third falls between them. A round is a function of
its rules, shoe and actions alone. It has no purse, clock, screen or random numbers.

The phases of a round, with the legal actions::

    phase    legal          leads to
    RAISE    raise, stay    the third card, then OVER
    OVER     nothing

`start` deals two cards. Neighbours are a push, and a pair draws its third card without a decision.
All other rounds begin in RAISE. A round is immutable: `apply` returns a new one, or raises
`IllegalAction`.

>>> from door.games.engine.cards import parse_cards
>>> from door.games.red_dog.rules import RED_DOG
>>> game, events = start(RED_DOG, parse_cards("5H 9S 7D"), 10)
>>> game.spread, [str(action) for action in game.legal()]
(3, ['raise', 'stay'])
>>> game, events = game.apply(RedDogAction.RAISE)
>>> events[-1]
RedDogSettled(outcome=<RedDogOutcome.WIN: 'win'>, lost=0, returned=20, won=40)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from door.games.engine.cards import Card
from door.games.engine.game import Totals, card_at, refuse_no_stake, refuse_unless_open
from door.games.red_dog import events as happened
from door.games.red_dog.events import Event, RedDogOutcome, RedDogSettled
from door.games.red_dog.rules import THREE_OF_A_KIND_PAYS, RedDogRules, pays, rank_of, spread_of


class RedDogAction(StrEnum):
    RAISE = "raise"
    STAY = "stay"


class RedDogPhase(Enum):
    RAISE = "raise"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class RedDogRound:
    """The state of a round. Its repr hides the shoe, so that no log shows it."""

    rules: RedDogRules
    shoe: tuple[Card, ...] = field(repr=False)  # from the top; the first `cards_used` are dealt
    bet: int
    raised: bool
    cards: tuple[Card, ...]  # in the order dealt
    phase: RedDogPhase
    settled: RedDogSettled | None

    @property
    def over(self) -> bool:
        return self.phase is RedDogPhase.OVER

    @property
    def cards_used(self) -> int:
        return len(self.cards)

    @property
    def stake(self) -> int:
        return 2 * self.bet if self.raised else self.bet

    @property
    def spread(self) -> int:
        """The number of ranks between the first two cards: 0 for neighbours, -1 for a pair."""
        return spread_of(*self.cards[:2])

    @property
    def outcome(self) -> RedDogOutcome | None:
        return None if self.settled is None else self.settled.outcome

    @property
    def totals(self) -> Totals:
        if self.settled is None:
            return Totals(self.stake, 0, 0, 0)
        return Totals(self.stake, self.settled.lost, self.settled.returned, self.settled.won)

    def legal(self) -> tuple[RedDogAction, ...]:
        return tuple(RedDogAction) if self.phase is RedDogPhase.RAISE else ()

    def amount(self, action: RedDogAction) -> int:
        """Return what `action` adds to the stake, in the unit of the bet."""
        return self.bet if action is RedDogAction.RAISE else 0

    def apply(self, action: RedDogAction) -> tuple[RedDogRound, tuple[Event, ...]]:
        """Return the round after `action`, and the events.

        Raises `IllegalAction` unless the action is in `legal()`, and `ShoeTooShort` without enough
        cards.
        """
        refuse_unless_open(action, self.legal(), "the round is over")
        raised = action is RedDogAction.RAISE
        after, drawn = replace(self, raised=raised)._with_third_card()
        return after, (happened.RedDogRaised(self.bet) if raised else happened.Stayed(), *drawn)

    def _with_third_card(self) -> tuple[RedDogRound, tuple[Event, ...]]:
        third = card_at(self.shoe, 2)
        drawn = replace(self, cards=(*self.cards, third))
        over, settled = drawn._settle(drawn._outcome())
        return over, (happened.RedDogDrew(third), settled)

    def _outcome(self) -> RedDogOutcome:
        first, second, third = map(rank_of, self.cards)
        if first == second:
            return RedDogOutcome.THREE_OF_A_KIND if third == first else RedDogOutcome.PUSH
        between = min(first, second) < third < max(first, second)
        return RedDogOutcome.WIN if between else RedDogOutcome.LOSE

    def _settle(self, outcome: RedDogOutcome) -> tuple[RedDogRound, RedDogSettled]:
        stake = self.stake
        if outcome is RedDogOutcome.LOSE:
            settled = RedDogSettled(outcome, lost=stake, returned=0, won=0)
        else:
            odds = {RedDogOutcome.THREE_OF_A_KIND: THREE_OF_A_KIND_PAYS, RedDogOutcome.PUSH: 0}
            won = stake * odds.get(outcome, pays(self.spread))
            settled = RedDogSettled(outcome, lost=0, returned=stake, won=won)
        return replace(self, phase=RedDogPhase.OVER, settled=settled), settled


def start(
    rules: RedDogRules, shoe: Sequence[Card], bet: int
) -> tuple[RedDogRound, tuple[Event, ...]]:
    """Deal from the top of `shoe` for a bet in the smallest unit; return the round and the events.

    Raises ValueError for a bet of 0 or less, and `ShoeTooShort` without enough cards.
    """
    refuse_no_stake(bet)
    cards = tuple(shoe)
    two = (card_at(cards, 0), card_at(cards, 1))
    dealt = RedDogRound(rules, cards, bet, False, two, RedDogPhase.RAISE, None)
    spread = dealt.spread
    events = (
        happened.RedDogDealt(two[0]),
        happened.RedDogDealt(two[1]),
        happened.Spread(spread, pays(spread) if spread > 0 else 0),
    )
    if spread < 0:
        after, drawn = dealt._with_third_card()
        return after, (*events, *drawn)
    if spread == 0:
        over, settled = dealt._settle(RedDogOutcome.PUSH)
        return over, (*events, settled)
    return dealt, events
