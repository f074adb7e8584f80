"""One hand against one dealer, weighed for every card that may come: where the tutor's time goes.

For each card that may come it is asked again what would be best then, down to hands that take no
more cards, and these meet the dealer's chances out of exactly the cards that are left. Every card
that is drawn is missing for the next one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf
from operator import mul, sub
from types import MappingProxyType

from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.rules import LONGEST_HAND
from door.games.solver.tutor.dealer import ACE, RESULTS, TEN, Branches, branch, dealer_ways
from door.games.solver.tutor.payments import NATURAL, Payment, payments
from door.games.solver.tutor.spot import Cards, Spot, counted, may_double, open_actions, stopped

_TAKEN = tuple(32**place for place in range(10))  # no hand takes 32 cards of a value

_DOUBT = 2.0
"""How far a card that is missing may shift the lead of hit over stay, in a shoe of one card; in one
of fifty it is a fiftieth of that. It is for each unit between losing a bet and the best payment.
Of all opening hands out of 1 to 8 decks none is weighed otherwise with more of it; with a half of
it the first one is, by 0.00003."""


_Drawn = tuple[list[tuple[float, int]], float]
"""Cards that may come: how likely each is, and the key with it; and how likely one too many is."""

_Doubled = tuple[list[tuple[float, int, Payment]], float]
"""The same of a doubled hand, and how each is paid."""

_Second = tuple[float, int, _Doubled | None]
"""A card that completes a half: how likely it is, the key with it, and doubling if that is open."""


@dataclass(slots=True)
class _Hands:
    """Hands that can come, by their keys: what standing is paid, what hitting leads to, None where
    that is not asked; those before that they lead to."""

    found: list[tuple[int, Payment | None, _Drawn | None]] = field(default_factory=list)
    known: set[int] = field(default_factory=set)
    worth: dict[int, float] = field(default_factory=dict)


class WeighedHand:
    """The hand of a spot.

    First it is found out which hands can come of it, card by card, and which of them may be stood
    on; then how the dealer ends beside all of those at once; and last what each is worth, those of
    more cards first. `unseen`, `cards` and `key` follow the card that is being tried: `_take` takes
    it out, `_put_back` puts it in again. `key` stands for the cards taken out in any order.
    """

    def __init__(self, spot: Spot, hand: Cards) -> None:
        """`hand` is what the spot's hand counts."""
        self.rules = spot.rules
        self.hand = hand
        self.pair = max(range(10), key=spot.hand.__getitem__)
        self.all_unseen = spot.unseen
        self.unseen = list(spot.unseen)
        self.all_cards = self.cards = sum(spot.unseen)
        self.key = 0
        self.ways = dealer_ways(spot.rules, spot.up, spot.looked)
        self.pays = payments(spot.rules)
        self.spread = self.pays.most + 1
        self.meeting: Branches = {}
        self.looked: dict[int, float] = {}  # what the look makes of the ends beside these hands
        self.leads: dict[Cards, float] = {}
        self.guessed_next = self._next(0)
        chances = self.ways.chances(self.unseen, self.cards)
        self.guessed_worth = [payment.expected(chances) for payment in self.pays.single]

    def values(self, actions: Iterable[BlackjackAction]) -> dict[BlackjackAction, float]:
        """What each action gains for one that was bet at first; insurance is none of them."""
        drawn, halves = _Hands(), _Hands()  # the same cards make another hand of a half
        worth: dict[BlackjackAction, Callable[[], float]] = {}
        for action in actions:
            match action:
                case BlackjackAction.DOUBLE:
                    worth[action] = partial(self._doubled, self._double(self.hand))
                case BlackjackAction.SPLIT:
                    worth[action] = partial(self._split, self._half(halves), halves)
                case BlackjackAction.HIT:
                    worth[action] = partial(self._hit, self._draw(self.hand, drawn), drawn)
                case _:
                    payment = self._met(self.pays.single[self.hand.total])
                    worth[action] = partial(self._paid, payment, 0)
        orders = self.ways.orders(self.all_cards, LONGEST_HAND)
        self.ends = self.ways.ends(self.meeting, orders, list(map(float, self.all_unseen)))
        for hands in (drawn, halves):
            self._weigh(hands)
        return {action: found() for action, found in worth.items()}

    # Which hands can come.

    def _draw(self, hand: Cards, hands: _Hands) -> _Drawn:
        """The cards that may come to a hand, and what it becomes then."""
        drawn, over = [], 1.0
        for place, chance in self._next(hand.hard):
            over -= chance
            self._take(place)
            drawn.append((chance, self.key))
            if self.key not in hands.known:
                hands.known.add(self.key)
                after = hand.with_card(place)
                self._asked(after, stopped(self.rules, after), hands)
            self._put_back(place)
        return drawn, over

    def _asked(self, hand: Cards, kind: int | None, hands: _Hands) -> None:
        """Note that a hand may come, what follows it first: hit or stand, or how it is paid. One
        that leads by more than the cards taken out can have changed is not compared with the
        other."""
        if kind is not None:
            payment = self._met(self.pays.single[kind])
            hands.found.append((self.key, payment, None))
            return
        lead = self._guessed_lead(hand)
        doubt = _DOUBT * self.spread * (self.all_cards - self.cards) / max(self.cards, 1)
        stood = None if lead > doubt else self._met(self.pays.single[hand.total])
        hit = None if lead < -doubt else self._draw(hand, hands)
        hands.found.append((self.key, stood, hit))

    def _double(self, hand: Cards) -> _Doubled:
        doubled, over = [], 1.0
        for place, chance in self._next(hand.hard):
            over -= chance
            self._take(place)
            payment = self._met(self.pays.doubled[hand.with_card(place).total])
            doubled.append((chance, self.key, payment))
            self._put_back(place)
        return doubled, over

    def _half(self, hands: _Hands) -> list[_Second]:
        """One card of the pair, and its second card."""
        card = Cards(self.pair + 1, self.pair == ACE, 1)
        seconds: list[_Second] = []
        for place, chance in self._next(card.hard):
            self._take(place)
            hand = card.with_card(place)
            kind = self._second(hand)
            self._asked(hand, kind, hands)
            doubles = kind is None and may_double(self.rules, hand, from_split=True)
            seconds.append((chance, self.key, self._double(hand) if doubles else None))
            self._put_back(place)
        return seconds

    def _second(self, hand: Cards) -> int | None:
        """As what a half is paid that takes no third card."""
        if hand.total == 21 and self.rules.split_21 == "natural":
            return NATURAL
        if self.pair == ACE and self.rules.split_aces == "one card":
            return hand.total
        return stopped(self.rules, hand)

    def _met(self, payment: Payment) -> Payment:
        """Note that the hand meets the dealer's, if it is paid by that."""
        if payment.fixed is None and self.key not in self.looked:
            excluded = self.ways.excluded
            holes = self.cards if excluded is None else self.cards - self.unseen[excluded]
            self.looked[self.key] = self.cards / holes if holes else 1.0
            out = tuple(map(sub, self.all_unseen, self.unseen))
            branch(self.meeting, out, self.all_cards - self.cards, self.key)
        return payment

    # What they are worth.

    def _weigh(self, hands: _Hands) -> None:
        worth = hands.worth
        for key, stood, hit in hands.found:
            best = -inf if stood is None else self._paid(stood, key)
            if hit is not None:
                best = max(best, self._hit(hit, hands))
            worth[key] = best

    def _hit(self, drawn: _Drawn, hands: _Hands) -> float:
        cards, over = drawn
        worth = hands.worth
        return sum([chance * worth[key] for chance, key in cards]) - over

    def _doubled(self, doubled: _Doubled) -> float:
        cards, over = doubled
        return sum([chance * self._paid(payment, key) for chance, key, payment in cards]) - 2 * over

    def _split(self, seconds: list[_Second], hands: _Hands) -> float:
        gain = 0.0
        for chance, key, doubled in seconds:
            best = hands.worth[key]
            if doubled is not None:
                best = max(best, self._doubled(doubled))
            gain += chance * best
        return 2 * gain

    def _paid(self, payment: Payment, key: int) -> float:
        """What a hand gains that takes no more cards."""
        if payment.fixed is not None:
            return payment.fixed
        gained: float = sum(map(mul, payment.above_bust, self.ends[key]))
        return payment.against[-1] + self.looked[key] * gained

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

    # Cards.

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
    return MappingProxyType(hand.values(open_actions(spot)))


def weigh(spot: Spot) -> Mapping[BlackjackAction, float]:
    """Return the `values` in a form that can be pickled."""
    return dict(values(spot))


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
