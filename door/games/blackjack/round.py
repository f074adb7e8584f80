"""Black jack as a state machine: rules, a shoe and actions in; events and the next round out.

This file decides which actions are legal, `phases` what they do, and `blackjack_hand` how a hand
ends. `rules` has all the differences between tables. A round is a function of its rules, shoe and
actions alone. It has no purse, clock, screen or random numbers. The table itself leaves out actions
whose `amount` the caller cannot pay.

The phases of a round, with the legal actions::

    phase       legal                                  leads to
    INSURANCE   insurance, no-insurance                INSURANCE of the next seat; then the dealer
                                                       looks: OVER on a natural, else PLAY
    PLAY        double, split, hit, stay (those that   PLAY of the same hand, of the next hand, of
                the hand at turn may choose)           the next seat; then the dealer plays: OVER
    OVER        nothing

`start` deals and goes to the first decision. INSURANCE occurs only if the dealer shows an ace. A
round is immutable: `apply` returns a new one, or raises `IllegalAction`.

>>> from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
>>> from door.games.engine.cards import parse_cards
>>> shoe = parse_cards("3H JS TH 8D 8C")
>>> game, events = start(BLACK_JACK_FOR_TIME, shoe, [10])
>>> game.phase.value, [str(action) for action in game.legal()], game.dealer
('play', ['double', 'hit', 'stay'], ('JS', None))
>>> game, events = game.apply(BlackjackAction.HIT)
>>> events[-1].outcome.value, events[-1].returned, events[-1].won
('twenty-one', 10, 20)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from door.games.blackjack.blackjack_hand import Hand, Seat, Turn, insurance_amount
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.blackjack.phases import STEPS, BlackjackAction, BlackjackPhase, WorkingRound
from door.games.blackjack.rules import MOST_SEATS, BlackjackRules
from door.games.engine.cards import Card, Count, count
from door.games.engine.errors import IllegalAction
from door.games.engine.game import Totals, refuse_unless_open

__all__ = ["BlackjackAction", "BlackjackPhase", "BlackjackRound", "Hand", "Seat", "Turn", "start"]


@dataclass(frozen=True, slots=True)
class BlackjackRound:
    """The state of a round. Its repr, as in a log, hides the shoe and the hole card."""

    rules: BlackjackRules
    shoe: tuple[Card, ...] = field(repr=False)  # from the top; the first `cards_used` are dealt
    cards_used: int
    dealer_hand: tuple[Card, ...] = field(repr=False)  # including the hole card, for the journal
    revealed: bool  # whether the hole card is face up
    seats: tuple[Seat, ...]
    phase: BlackjackPhase
    turn: Turn | None  # None after the end

    @property
    def over(self) -> bool:
        return self.phase is BlackjackPhase.OVER

    @property
    def dealer(self) -> tuple[Card | None, ...]:
        """The dealer's cards as callers see them: None is the hole card, face down."""
        if self.revealed:
            return self.dealer_hand
        return (self.dealer_hand[0], None)

    @property
    def dealer_count(self) -> Count:
        return count(card for card in self.dealer if card is not None)

    @property
    def hand(self) -> Hand | None:
        return None if self.turn is None else self.seats[self.turn.seat].hands[self.turn.hand]

    @property
    def totals(self) -> Totals:
        return _totals(self.seats)

    @property
    def outcomes(self) -> tuple[BlackjackOutcome, ...]:
        return _outcomes(self.seats)

    def totals_of(self, seat: int) -> Totals:
        return _totals((self.seats[seat],))

    def outcomes_of(self, seat: int) -> tuple[BlackjackOutcome, ...]:
        return _outcomes((self.seats[seat],))

    def legal(self) -> tuple[BlackjackAction, ...]:
        if self.phase is BlackjackPhase.INSURANCE:
            return (BlackjackAction.INSURANCE, BlackjackAction.NO_INSURANCE)
        hand = self.hand
        if hand is None:
            return ()
        first_two = len(hand.cards) == 2
        actions = []
        if first_two and self._may_double(hand):
            actions.append(BlackjackAction.DOUBLE)
        if first_two and self._may_split(hand):
            actions.append(BlackjackAction.SPLIT)
        return (*actions, BlackjackAction.HIT, BlackjackAction.STAY)

    def _may_double(self, hand: Hand) -> bool:
        if hand.from_split and not self.rules.double_after_split:
            return False
        if self.rules.double == "always":
            return hand.count.total < 21
        return hand.count.total in (10, 11)  # a soft total of two cards is 12 or more

    def _may_split(self, hand: Hand) -> bool:
        first, second = hand.cards
        return self.rules.split == "once" and not hand.from_split and first.value == second.value

    def amount(self, action: BlackjackAction) -> int:
        """Return what a legal `action` adds to the stake. For insurance, the most it may add."""
        refuse_unless_open(action, self.legal(), "the hand is over")
        if self.turn is None or self.hand is None or action is BlackjackAction.NO_INSURANCE:
            return 0
        if action is BlackjackAction.INSURANCE:
            return insurance_amount(self.rules, self.seats[self.turn.seat].bet)
        return self.hand.stake if action in (BlackjackAction.DOUBLE, BlackjackAction.SPLIT) else 0

    def apply(
        self, action: BlackjackAction, amount: int | None = None
    ) -> tuple["BlackjackRound", tuple[Event, ...]]:
        """Return the round after `action` of the hand at turn, and the events.

        `amount` is for insurance up to half of the bet: 1 to `amount(action)`, or None for the
        most. Raises `IllegalAction` for another action or amount, and `ShoeTooShort` without enough
        cards.
        """
        added = self.added(action, amount)
        assert self.turn is not None  # because the action is legal
        working = WorkingRound(
            self.rules,
            self.shoe,
            self.cards_used,
            list(self.dealer_hand),
            self.revealed,
            list(self.seats),
            self.phase,
            self.turn,
        )
        if action is BlackjackAction.INSURANCE:
            working.insure(self.turn, added)
        else:
            STEPS[action](working, self.turn)
        working.advance()
        return _result(working)

    def added(self, action: BlackjackAction, amount: int | None) -> int:
        """Return what `action` adds to the stake; check the amount. Raises `IllegalAction`."""
        most = self.amount(action)
        if amount is None:
            return most
        if action is not BlackjackAction.INSURANCE or self.rules.insurance == "half":
            raise IllegalAction(f"{action} takes no amount here.")
        if not 1 <= amount <= most:
            raise IllegalAction(f"{action} is 1 to {most} here, not {amount}.")
        return amount


def start(
    rules: BlackjackRules, shoe: Sequence[Card], stakes: Sequence[int]
) -> tuple[BlackjackRound, tuple[Event, ...]]:
    """Deal from the top of `shoe`, a seat for each stake in the smallest unit.

    Returns the round and the events. Raises ValueError if these rules cannot pay a stake in whole
    units, and `ShoeTooShort` without enough cards.
    """
    if not 1 <= len(stakes) <= MOST_SEATS:
        raise ValueError(f"A round has 1 to {MOST_SEATS} seats, not {len(stakes)}.")
    for stake in stakes:
        if refusal := rules.refused_stake(stake):
            raise ValueError(refusal)
    seats = [
        Seat(stake, None, None, (Hand((), stake, False, False, False, None),)) for stake in stakes
    ]
    working = WorkingRound(rules, tuple(shoe), 0, [], False, seats, BlackjackPhase.INSURANCE, None)
    working.deal()
    working.advance()
    return _result(working)


def _totals(seats: Sequence[Seat]) -> Totals:
    staked = lost = returned = won = 0
    for seat in seats:
        staked += seat.staked
        for each in (seat.insurance_settled, *[hand.settled for hand in seat.hands]):
            if each is not None:
                lost, returned, won = lost + each.lost, returned + each.returned, won + each.won
    return Totals(staked, lost, returned, won)


def _outcomes(seats: Sequence[Seat]) -> tuple[BlackjackOutcome, ...]:
    return tuple(hand.settled.outcome for seat in seats for hand in seat.hands if hand.settled)


def _result(working: WorkingRound) -> tuple[BlackjackRound, tuple[Event, ...]]:
    game = BlackjackRound(
        working.rules,
        working.shoe,
        working.used,
        tuple(working.dealer),
        working.revealed,
        tuple(working.seats),
        working.phase,
        working.turn,
    )
    return game, tuple(working.events)
