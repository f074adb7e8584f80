"""The steps of a round of black jack from one decision to the next.

`STEPS` has the method for each action. `round` has checked before that the action is legal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from door.games.blackjack import events as happened
from door.games.blackjack.blackjack_hand import (
    Hand,
    Seat,
    Turn,
    counts_as_natural,
    insurance_amount,
    insurance_settled,
    is_complete,
    paid_at_once,
    settled,
    showdown,
)
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, count, is_natural
from door.games.engine.game import card_at


class BlackjackAction(StrEnum):
    """A caller's decisions, in the order of a table's menu."""

    INSURANCE = "insurance"
    NO_INSURANCE = "no-insurance"
    DOUBLE = "double"
    SPLIT = "split"
    HIT = "hit"
    STAY = "stay"


class BlackjackPhase(Enum):
    INSURANCE = "insurance"
    PLAY = "play"
    OVER = "over"


@dataclass(slots=True)
class WorkingRound:
    """The working copy of a round between two decisions.

    Only `start` and `apply` use it, so a step that raises changes no round.
    """

    rules: BlackjackRules
    shoe: tuple[Card, ...]
    used: int
    dealer: list[Card]
    revealed: bool
    seats: list[Seat]
    phase: BlackjackPhase
    turn: Turn | None
    events: list[Event] = field(default_factory=list)

    # Steps without a decision: the deal, the next turn, the dealer.

    def deal(self) -> None:
        """Deal two cards to each seat and to the dealer.

        Each seat gets one card, the dealer the up card, each seat another, the dealer the hole card
        (help file, The Deal). With "dealer first" the dealer gets two cards first (UNIX bj).
        """
        turns = [Turn(seat, 0) for seat in range(len(self.seats))]
        if self.rules.deal == "dealer first":
            self._deal_dealer()
            self._deal_dealer()
            for turn in turns:
                self._deal_to(turn)
                self._deal_to(turn)
        else:
            for _ in range(2):
                for turn in turns:
                    self._deal_to(turn)
                self._deal_dealer()
        for turn, hand in self._hands():
            if hand.is_natural:
                self.events.append(happened.BlackjackNatural(turn.seat, turn.hand))

    def advance(self) -> None:
        """Go on to the next decision, or to the end of the round."""
        if self.phase is BlackjackPhase.INSURANCE:
            seat = self._next_to_insure()
            if seat is not None:
                self.turn = Turn(seat, 0)
                amount = insurance_amount(self.rules, self.seats[seat].bet)
                self.events.append(happened.InsuranceOffered(seat, amount))
                return
            self.phase = BlackjackPhase.PLAY
            self._look()
        self.turn = self._next_to_play()
        if self.turn is None:
            self.phase = BlackjackPhase.OVER
            if self._waiting_hands() or self._open_insurance():
                self._finish()

    def _next_to_insure(self) -> int | None:
        """Return the next seat that is offered insurance; None if there is none.

        Under an ace, all seats with an amount above 0 are offered it in order.
        """
        if not self.dealer[0].is_ace:
            return None
        for number, seat in enumerate(self.seats):
            asked = self.rules.insurance_on_natural or not seat.hands[0].is_natural
            if seat.insurance is None and asked and insurance_amount(self.rules, seat.bet):
                return number
        return None

    def _next_to_play(self) -> Turn | None:
        """Return the next hand with a decision. A split hand first gets its second card."""
        for turn, hand in self._hands():
            if hand.in_play and len(hand.cards) == 1:
                self._hit(turn)
            if self._hand(turn).in_play:
                return turn
        return None

    def _look(self) -> None:
        """Let the dealer look under a ten or an ace; then stand or pay the naturals."""
        up = self.dealer[0]
        peeks = up.value == 10 or (up.is_ace and self.rules.peek_under_ace)
        natural = peeks and is_natural(tuple(self.dealer))
        if peeks:
            self.events.append(happened.Peeked(natural))
        if natural:
            for turn, hand in self._hands():
                self._put(turn, hand.as_stood())
            return
        if peeks:
            self._settle_insurance(natural)
        # Without a look under an ace, a natural waits, because the dealer may have one too.
        known = peeks or not up.is_ace
        for turn, hand in self._hands():
            if hand.is_natural:
                self._pay(turn, paid_at_once(self.rules, hand) if known else None)

    def _finish(self) -> None:
        """Turn up the hole card, draw for the dealer if a hand waits for that, and pay."""
        self.revealed = True
        self.events.append(happened.BlackjackRevealed(self.dealer[1]))
        natural = is_natural(tuple(self.dealer))
        if natural:
            self.events.append(happened.DealerNatural())
        self._settle_insurance(natural)
        if not natural:
            for turn, hand in self._waiting_hands():
                if paid_at_once(self.rules, hand) is BlackjackOutcome.NATURAL:
                    self._settle(turn, BlackjackOutcome.NATURAL)
            if any(self._hangs_on_dealer(hand) for _, hand in self._waiting_hands()):
                self._play_dealer()
        cards = tuple(self.dealer)
        for turn, hand in self._waiting_hands():
            self._settle(turn, showdown(self.rules, hand, cards))

    def _hangs_on_dealer(self, hand: Hand) -> bool:
        """Return whether the dealer's draw may decide a hand: a natural loses only to a Charlie."""
        return self.rules.charlie or not counts_as_natural(self.rules, hand)

    def _play_dealer(self) -> None:
        while self.rules.dealer_draws(self.dealer):
            card = self._draw()
            self.dealer.append(card)
            self.events.append(happened.DealerDealt(card))
        total = count(self.dealer).total
        if total > 21:
            self.events.append(happened.DealerBusted(total))
        elif self.rules.is_charlie(tuple(self.dealer)):
            self.events.append(happened.DealerCharlie(total))
        else:
            self.events.append(happened.DealerStood(total))

    # The caller's decisions, which `round` has checked.

    def insure(self, turn: Turn, amount: int) -> None:
        """Stake `amount` on insurance."""
        self.seats[turn.seat] = self.seats[turn.seat]._replace(insurance=amount)
        self.events.append(happened.InsuranceBought(turn.seat, amount))

    def _decline(self, turn: Turn) -> None:
        self.seats[turn.seat] = self.seats[turn.seat]._replace(insurance=0)
        self.events.append(happened.InsuranceDeclined(turn.seat))

    def _double(self, turn: Turn) -> None:
        hand = self._hand(turn)
        self._put(turn, replace(hand, stake=2 * hand.stake, doubled=True))
        self.events.append(happened.Doubled(turn.seat, turn.hand, hand.stake))
        self._hit(turn)

    def _split(self, turn: Turn) -> None:
        """Make two hands of two cards. By the rules, the second hand gets its card now or later."""
        hand = self._hand(turn)
        halves = (replace(hand, cards=(card,), from_split=True) for card in hand.cards)
        self._put(turn, *halves)
        self.events.append(happened.Split(turn.seat, turn.hand, hand.stake))
        if self.rules.split_cards == "both first":
            for each in (turn, Turn(turn.seat, turn.hand + 1)):
                self._hit(each)

    def _hit(self, turn: Turn) -> None:
        self._deal_to(turn)
        self._weigh(turn)

    def _weigh(self, turn: Turn) -> None:
        hand = self._hand(turn)
        total = hand.count.total
        complete = is_complete(self.rules, hand)
        if total > 21:
            self.events.append(happened.Busted(turn.seat, turn.hand, total))
            self._settle(turn, BlackjackOutcome.BUST)
        elif self.rules.is_charlie(hand.cards):
            self.events.append(happened.Charlie(turn.seat, turn.hand, total))
            self._pay(turn, paid_at_once(self.rules, hand))
        elif counts_as_natural(self.rules, hand):
            self.events.append(happened.BlackjackNatural(turn.seat, turn.hand))
            # Without a look under an ace, it waits like any natural.
            known = not self.dealer[0].is_ace or self.rules.peek_under_ace
            self._pay(turn, paid_at_once(self.rules, hand) if known else None)
        elif total == 21:
            self.events.append(happened.TwentyOne(turn.seat, turn.hand))
            paid = paid_at_once(self.rules, hand)
            full = complete or self.rules.is_full(hand.cards)
            if paid or full or not self.rules.hit_on_21:
                self._pay(turn, paid)
        elif complete:
            self._stand(turn)

    def _pay(self, turn: Turn, outcome: BlackjackOutcome | None) -> None:
        """Settle a hand with an outcome; without one it waits for the dealer."""
        if outcome is None:
            self._put(turn, self._hand(turn).as_stood())
        else:
            self._settle(turn, outcome)

    def _stand(self, turn: Turn) -> None:
        hand = self._hand(turn)
        self._put(turn, hand.as_stood())
        self.events.append(happened.BlackjackStood(turn.seat, turn.hand, hand.count.total))

    # Single cards, hands and settlements.

    def _draw(self) -> Card:
        card = card_at(self.shoe, self.used)
        self.used += 1
        return card

    def _deal_dealer(self) -> None:
        self.dealer.append(self._draw())
        self.events.append(happened.DealerDealt(self.dealer[0] if len(self.dealer) == 1 else None))

    def _deal_to(self, turn: Turn) -> None:
        card = self._draw()
        self._put(turn, self._hand(turn).with_card(card))
        self.events.append(happened.BlackjackDealt(turn.seat, turn.hand, card))

    def _hand(self, turn: Turn) -> Hand:
        return self.seats[turn.seat].hands[turn.hand]

    def _hands(self) -> list[tuple[Turn, Hand]]:
        return [
            (Turn(number, place), hand)
            for number, seat in enumerate(self.seats)
            for place, hand in enumerate(seat.hands)
        ]

    def _waiting_hands(self) -> list[tuple[Turn, Hand]]:
        return [(turn, hand) for turn, hand in self._hands() if hand.waiting]

    def _settle(self, turn: Turn, outcome: BlackjackOutcome) -> None:
        hand = self._hand(turn)
        event = settled(self.rules, turn, hand, outcome)
        self._put(turn, hand.with_settlement(event))
        self.events.append(event)

    def _open_insurance(self) -> list[tuple[int, int]]:
        """Return the seats with unsettled insurance, and its amounts."""
        return [
            (number, seat.insurance)
            for number, seat in enumerate(self.seats)
            if seat.insurance and seat.insurance_settled is None
        ]

    def _settle_insurance(self, natural: bool) -> None:
        for number, amount in self._open_insurance():
            event = insurance_settled(self.rules, number, amount, natural)
            self.seats[number] = self.seats[number]._replace(insurance_settled=event)
            self.events.append(event)

    def _put(self, turn: Turn, *hands: Hand) -> None:
        self.seats[turn.seat] = self.seats[turn.seat].with_hand(turn.hand, *hands)


STEPS: Mapping[BlackjackAction, Callable[[WorkingRound, Turn], None]] = {
    BlackjackAction.NO_INSURANCE: WorkingRound._decline,
    BlackjackAction.DOUBLE: WorkingRound._double,
    BlackjackAction.SPLIT: WorkingRound._split,
    BlackjackAction.HIT: WorkingRound._hit,
    BlackjackAction.STAY: WorkingRound._stand,
}
