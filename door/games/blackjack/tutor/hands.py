"""One hand against one dealer, weighed for every card that may come: where the tutor's time goes.

For each card that may come it is asked again what would be best then, down to hands that take no
more cards, and these meet the dealer's chances out of exactly the cards that are left. Every card
that is drawn is missing for the next one.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from door.games.blackjack.course import BlackjackAction
from door.games.blackjack.tutor.dealer import ACE, RESULTS, TEN, dealer_ways
from door.games.blackjack.tutor.payments import NATURAL, Payment, payments
from door.games.blackjack.tutor.spot import Cards, Spot, counted, may_double, open_actions, stopped

_TAKEN = tuple(32**place for place in range(10))  # no hand takes 32 cards of a value

_DOUBT = 2.0
"""How far a card that is missing may shift the lead of hit over stay, in a shoe of one card; in one
of fifty it is a fiftieth of that. It is for each unit between losing a bet and the best payment.
Of all opening hands out of 1 to 8 decks none is weighed otherwise with more of it; with a half of
it the first one is, by 0.00003."""


class WeighedHand:
    """The hand of a spot.

    `unseen`, `cards` and `key` follow the card that is being tried: `_take` takes it out,
    `_put_back` puts it in again. What was worked out is remembered under `key`, which stands for
    the cards taken out in any order; all of it is forgotten with this object.
    """

    def __init__(self, spot: Spot, hand: Cards) -> None:
        """`hand` is what the spot's hand counts."""
        self.rules = spot.rules
        self.hand = hand
        self.pair = max(range(10), key=spot.hand.__getitem__)
        self.unseen = list(spot.unseen)
        self.cards = sum(spot.unseen)
        self.key = 0
        self.ways = dealer_ways(spot.rules, spot.up, spot.looked)
        self.pays = payments(spot.rules)
        self.all_cards = self.cards
        self.spread = self.pays.most + 1
        self.dealer: dict[int, list[float]] = {}
        self.played: dict[int, float] = {}
        self.leads: dict[Cards, float] = {}
        self.guessed_next = self._next(0)
        chances = self.ways.chances(self.unseen, self.cards)
        self.guessed_worth = [payment.expected(chances) for payment in self.pays.single]

    def value(self, action: BlackjackAction) -> float:
        """What an action gains for one that was bet at first; insurance is none of them."""
        self.played.clear()  # the same cards make another hand of a half
        match action:
            case BlackjackAction.DOUBLE:
                return self._doubled(self.hand)
            case BlackjackAction.SPLIT:
                return 2 * self._half()
            case BlackjackAction.HIT:
                return self._hit(self.hand)
            case _:
                return self._worth(self.hand.total)

    # What may be done with a hand.

    def _hit(self, hand: Cards) -> float:
        gain, over = 0.0, 1.0
        for place, chance in self._next(hand.hard):
            over -= chance
            self._take(place)
            gain += chance * self._drawn(hand.with_card(place))
            self._put_back(place)
        return gain - over

    def _drawn(self, hand: Cards) -> float:
        """A hand of three cards or more that has just got the last of them."""
        kind = stopped(self.rules, hand)
        if kind is not None:
            return self._worth(kind)
        best = self.played.get(self.key)
        if best is None:
            best = self.played[self.key] = self._asked(hand)
        return best

    def _asked(self, hand: Cards) -> float:
        """The better of hit and stay. One that leads by more than the cards taken out can have
        changed is not compared with the other."""
        lead = self._guessed_lead(hand)
        doubt = _DOUBT * self.spread * (self.all_cards - self.cards) / max(self.cards, 1)
        if lead > doubt:
            return self._hit(hand)
        stood = self._worth(hand.total)
        return stood if lead < -doubt else max(stood, self._hit(hand))

    def _doubled(self, hand: Cards) -> float:
        gain, over = 0.0, 1.0
        for place, chance in self._next(hand.hard):
            over -= chance
            self._take(place)
            gain += chance * self._expected(self.pays.doubled[hand.with_card(place).total])
            self._put_back(place)
        return gain - 2 * over

    def _half(self) -> float:
        """One card of the pair, its second card, and the best after it."""
        card = Cards(self.pair + 1, self.pair == ACE, 1)
        gain = 0.0
        for place, chance in self._next(card.hard):
            self._take(place)
            gain += chance * self._second(card.with_card(place))
            self._put_back(place)
        return gain

    def _second(self, hand: Cards) -> float:
        if hand.total == 21 and self.rules.split_21 == "natural":
            return self._worth(NATURAL)
        if self.pair == ACE and self.rules.split_aces == "one card":
            return self._worth(hand.total)
        kind = stopped(self.rules, hand)
        if kind is not None:
            return self._worth(kind)
        best = self._asked(hand)
        if may_double(self.rules, hand, from_split=True):
            best = max(best, self._doubled(hand))
        return best

    # What hands would be worth if no card that is drawn were missing for the next one: enough to
    # leave out what cannot be best.

    def _guessed_lead(self, hand: Cards) -> float:
        """How much better it seems to hit than to stay."""
        lead = self.leads.get(hand)
        if lead is None:
            gain, over = 0.0, 1.0
            for place, chance in self.guessed_next:
                if hand.hard + place < 21:
                    over -= chance
                    gain += chance * self._guessed(hand.with_card(place))
            lead = self.leads[hand] = gain - over - self.guessed_worth[hand.total]
        return lead

    def _guessed(self, hand: Cards) -> float:
        kind = stopped(self.rules, hand)
        if kind is not None:
            return self.guessed_worth[kind]
        return self.guessed_worth[hand.total] + max(0.0, self._guessed_lead(hand))

    # Pay and cards.

    def _worth(self, kind: int) -> float:
        """What a hand that takes no more cards gains."""
        return self._expected(self.pays.single[kind])

    def _expected(self, payment: Payment) -> float:
        if payment.fixed is not None:
            return payment.fixed
        chances = self.dealer.get(self.key)
        if chances is None:
            chances = self.dealer[self.key] = self.ways.chances(self.unseen, self.cards)
        return payment.expected(chances)

    def _next(self, hard: int) -> list[tuple[int, float]]:
        """Which cards may come that do not take a hand over 21, and how likely each is.

        After a look that excluded a value for the hole card, a card of that value is a little more
        likely to come next: it is not the one that lies face down.
        """
        if self.cards < 2:
            return []  # there is only the hole card
        unseen = self.unseen[: 21 - hard]
        excluded = self.ways.excluded
        if excluded is None:
            return [(place, copies / self.cards) for place, copies in enumerate(unseen) if copies]
        holes = self.cards - self.unseen[excluded]
        every = holes * (self.cards - 1)
        chances = [
            (place, copies * (holes - (place != excluded)) / every)
            for place, copies in enumerate(unseen)
        ]
        return [(place, chance) for place, chance in chances if chance]

    def _take(self, place: int) -> None:
        self.unseen[place] -= 1
        self.cards -= 1
        self.key += _TAKEN[place]

    def _put_back(self, place: int) -> None:
        self.unseen[place] += 1
        self.cards += 1
        self.key -= _TAKEN[place]


# What each decision in black jack is worth, from what can be seen: the odds behind the tutor.
#
# Numbers are floats, and but for one thing wrong by rounding only. Three things look like
# approximations and are none. Seats that draw before the dealer do not matter: whoever takes the
# cards between, any card unseen is as likely to come next. For the same reason it does not matter
# which of two split hands is played first. And a look that found no natural is weighed into every
# card that may come, not only into the hole card.
#
# The one approximation: a split is worth twice what one of its hands is, each played by its own
# cards. Who heeds the cards of the other hand besides does a little better; docs/tutor.md says how
# little.

_SPOTS_KEPT = 512  # some hundred bytes each; one decision asks for one or two

_DEALER_NATURAL = RESULTS.index("natural")


@lru_cache(maxsize=_SPOTS_KEPT)
def values(spot: Spot) -> Mapping[BlackjackAction, float]:
    """The expected gain of each action that the rules allow, for one that was bet at first.

    After the action the book goes on to play best, with a purse that always suffices. Only the
    hand at turn counts, and insurance while it is the question; a split counts both of its hands.
    """
    if spot.insurance is not None:
        return MappingProxyType(_insurance_values(spot, spot.insurance))
    hand = WeighedHand(spot, counted(spot.hand))
    return MappingProxyType({action: hand.value(action) for action in open_actions(spot)})


def _insurance_values(spot: Spot, price: float) -> dict[BlackjackAction, float]:
    cards, tens = sum(spot.unseen), spot.unseen[TEN]
    # One division of whole numbers: the sign of what insurance gains is exact.
    gain = (tens * (spot.rules.insurance_pays + 1) - cards) / cards
    without = _uninsured(spot, tens / cards)
    return {
        BlackjackAction.INSURANCE: without + price * gain,
        BlackjackAction.NO_INSURANCE: without,
    }


def _uninsured(spot: Spot, natural: float) -> float:
    """What the hand is worth before the dealer looks under the ace, or turns up what is there."""
    pays = payments(spot.rules).single
    hand = counted(spot.hand)
    if hand.cards == 2 and hand.total == 21:
        ways = dealer_ways(spot.rules, spot.up, looked=False)
        return pays[NATURAL].expected(ways.chances(spot.unseen, sum(spot.unseen)))
    rest = replace(spot, looked=spot.rules.peek_under_ace, insurance=None)
    best = max(values(rest).values())
    if not rest.looked:
        return best
    return natural * pays[hand.total].against[_DEALER_NATURAL] + (1 - natural) * best
