"""The tutor: the best action before a move, and its advantage after another one.

It uses no chart. It computes every number for the hand at turn, from the rules of the table and the
cards in sight: the caller's, the other seats', the dealer's up card, and the result of the dealer's
look. It never uses the hole card or an undealt card. It takes the unseen cards to be full decks
without those in sight, because like a book it does not count earlier rounds.

A computation takes a few milliseconds, and a tenth of a second for a pair of aces from six decks.
So a table works in three steps. `decision` and `advised` are quick, and `hand_value.values` between
them runs in another process (`door.tables.tutor.tutor_process`).

>>> from door.games.blackjack.round import start
>>> from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
>>> from door.games.engine.cards import parse_cards
>>> from door.games.solver.tutor.hand_value import values
>>> game, _events = start(BLACK_JACK_FOR_TIME, parse_cards("5H TS 6D 8D"), [10])
>>> asked = decision(game, game.legal())
>>> advised_hit = advised(asked, values(asked.spot))
>>> advised_hit.best, round(advised_hit.values[BlackjackAction.STAY], 2)
(<BlackjackAction.HIT: 'hit'>, -0.55)
>>> judge(advised_hit, BlackjackAction.HIT) is None
True
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from door.games.blackjack.phases import BlackjackPhase
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.engine.cards import CARDS_IN_DECK, RANKS, SUITS, Card
from door.games.solver.tutor.dealer import Counts
from door.games.solver.tutor.spot import Spot
from timebank.language import N_, _

# The tutor's sentences, without colours.
#
# Gains are in whole percent of the bet, and smaller ones are not shown. The cost of a decision is
# the difference of the shown gains, so that it adds up on the screen.

_BEST_MOVES = {
    BlackjackAction.INSURANCE: N_("INSURE"),
    BlackjackAction.NO_INSURANCE: N_("NO INSURANCE"),
    BlackjackAction.DOUBLE: N_("DOUBLE"),
    BlackjackAction.SPLIT: N_("SPLIT"),
    BlackjackAction.HIT: N_("HIT"),
    BlackjackAction.STAY: N_("STAND"),
}
_ALTERNATIVES = {
    BlackjackAction.INSURANCE: N_("insuring {gain}"),
    BlackjackAction.NO_INSURANCE: N_("going without {gain}"),
    BlackjackAction.DOUBLE: N_("doubling {gain}"),
    BlackjackAction.SPLIT: N_("splitting {gain}"),
    BlackjackAction.HIT: N_("hitting {gain}"),
    BlackjackAction.STAY: N_("standing {gain}"),
}
_CORRECTIONS = {
    BlackjackAction.INSURANCE: N_(
        "In the long run insuring costs about {cost}% of the bet. Book: {move}."
    ),
    BlackjackAction.NO_INSURANCE: N_(
        "In the long run going without costs about {cost}% of the bet. Book: {move}."
    ),
    BlackjackAction.DOUBLE: N_(
        "In the long run doubling costs about {cost}% of the bet. Book: {move}."
    ),
    BlackjackAction.SPLIT: N_(
        "In the long run splitting costs about {cost}% of the bet. Book: {move}."
    ),
    BlackjackAction.HIT: N_(
        "In the long run hitting costs about {cost}% of the bet. Book: {move}."
    ),
    BlackjackAction.STAY: N_(
        "In the long run standing costs about {cost}% of the bet. Book: {move}."
    ),
}


@dataclass(frozen=True, slots=True)
class Advice:
    best: BlackjackAction
    values: Mapping[BlackjackAction, float]  # the gain of each legal action, for one bet at first

    @property
    def sentence(self) -> str:
        """The best action and the second best, for a caller before their move."""
        return self.words()

    def words(self, *, is_next: bool = False) -> str:
        """Return the sentence; `is_next` sets it off from words about the move before.

        >>> act = BlackjackAction
        >>> Advice(act.HIT, {act.HIT: -0.16, act.STAY: -0.47}).sentence
        'Book: HIT (-16% of your bet on average; standing -47%)'
        >>> Advice(act.HIT, {act.HIT: -0.16, act.STAY: -0.47}).words(is_next=True)
        'Now the book says: HIT (-16% of your bet on average; standing -47%)'
        """
        others = {action: value for action, value in self.values.items() if action is not self.best}
        doing = ""
        if others:
            second = max(others, key=others.__getitem__)
            doing = _(_ALTERNATIVES[second]).format(gain=gain_words(others[second]))
        best = _(_BEST_MOVES[self.best])
        return book_words(best, self.values[self.best], doing, is_next=is_next)


def judge(advice: Advice, chosen: BlackjackAction) -> str | None:
    """Return the cost of the chosen action in words; None if it is less than a whole percent.

    Raises KeyError for an action that is not in the advice.

    >>> act = BlackjackAction
    >>> judge(Advice(act.STAY, {act.HIT: -0.14, act.STAY: -0.07}), act.HIT)
    'In the long run hitting costs about 7% of the bet. Book: STAND.'
    >>> judge(Advice(act.STAY, {act.HIT: -0.2451, act.STAY: -0.2049}), act.HIT)
    'In the long run hitting costs about 5% of the bet. Book: STAND.'
    """
    cost = whole_percent(advice.values[advice.best]) - whole_percent(advice.values[chosen])
    if not cost:
        return None
    return _(_CORRECTIONS[chosen]).format(cost=cost, move=_(_BEST_MOVES[advice.best]))


def whole_percent(gain: float) -> int:
    """Return a gain in whole percent, as on the screen."""
    return int(f"{gain * 100:.0f}")


def book_words(move: str, gain: float, other: str, *, is_next: bool = False) -> str:
    """Return the best move with its gain, and the words for the second best, or "" for none."""
    if not other:
        words = _("Book: {move} ({gain} of your bet on average)")
        return words.format(move=move, gain=gain_words(gain))
    words = _("Book: {move} ({gain} of your bet on average; {other})")
    if is_next:
        words = _("Now the book says: {move} ({gain} of your bet on average; {other})")
    return words.format(move=move, gain=gain_words(gain), other=other)


def gain_words(gain: float) -> str:
    """Return the mean gain of a bet in percent, with its sign.

    >>> gain_words(0.503), gain_words(-0.14), gain_words(0.001)
    ('+50%', '-14%', '0%')
    """
    percent = whole_percent(gain)
    return _("{number}%").format(number=f"{percent:+}" if percent else "0")


FEWEST_UNSEEN = 24
"""The fewest unseen cards to compute with, because the hand at turn may take 19 more."""

_SAME = 1e-9  # gains closer than that differ by rounding only

_RANKS_COUNTING = Counter(Card(rank + SUITS[0]).value for rank in RANKS)


@dataclass(frozen=True, slots=True)
class Decision:
    spot: Spot
    open: tuple[BlackjackAction, ...]  # in the order of `BlackjackRound.legal`


def decision(round: BlackjackRound, affordable: Collection[BlackjackAction]) -> Decision:
    """Return the decision of the hand at turn between the legal actions in `affordable`.

    The later actions ignore the purse. Raises ValueError without such an action.
    """
    legal = tuple(action for action in round.legal() if action in affordable)
    if not legal:
        raise ValueError("Nothing is to be decided here, so the book says nothing.")
    return Decision(spot_of(round), legal)


def advised(question: Decision, gains: Mapping[BlackjackAction, float]) -> Advice:
    """Return the advice about a decision, given the `hand_value.values` of its spot.

    Of equal actions, the best is the one with the lowest stake and the fewest cards.
    """
    best = question.open[-1]
    for action in reversed(question.open):
        if gains[action] > gains[best] + _SAME:
            best = action
    return Advice(best, MappingProxyType({action: gains[action] for action in question.open}))


def spot_of(round: BlackjackRound) -> Spot:
    """Return the spot of the hand at turn, from the cards in sight. A hand must be at turn."""
    assert round.turn is not None
    assert round.hand is not None
    rules = round.rules
    seat = round.seats[round.turn.seat]
    up = round.dealer_hand[0]
    insuring = round.phase is BlackjackPhase.INSURANCE
    peeks = up.value == 10 or (up.is_ace and rules.peek_under_ace)
    return Spot(
        rules=rules,
        unseen=_unseen(round, up, round.hand.cards),
        up=up.value,
        looked=peeks and not insuring,
        hand=_counts(round.hand.cards),
        from_split=round.hand.from_split,
        insurance=round.amount(BlackjackAction.INSURANCE) / seat.bet if insuring else None,
    )


def _unseen(round: BlackjackRound, up: Card, hand: tuple[Card, ...]) -> Counts:
    """Return the decks without the cards in sight.

    With too few unseen cards, the shoe was shuffled in this round and any card in sight may come
    again. Then only the hand and the up card are missing.
    """
    others = [card for seat in round.seats for each in seat.hands for card in each.cards]
    unseen = _decks_without(round.rules.decks, (up, *others))
    if sum(unseen) < FEWEST_UNSEEN:
        return _decks_without(round.rules.decks, (up, *hand))
    return unseen


def _decks_without(decks: int, cards: tuple[Card, ...]) -> Counts:
    copies = decks * CARDS_IN_DECK // len(RANKS)
    counts = _counts(cards)
    return tuple(
        max(0, copies * _RANKS_COUNTING[value] - counts[value - 1]) for value in range(1, 11)
    )


def _counts(cards: tuple[Card, ...]) -> Counts:
    copies = Counter(card.value for card in cards)
    return tuple(copies[value] for value in range(1, 11))
