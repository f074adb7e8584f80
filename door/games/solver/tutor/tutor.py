"""The tutor: what the book says before a move, and after a wrong one what it would have been.

There is no chart in it. Every number is worked out for the hand at turn, from this table's rules
and from the cards that its caller can see: their own, the other seats', the dealer's up card, and
what the dealer's look has told. It reads neither the hole card nor an undealt one. What it cannot
see it takes for full decks less those cards: like a book, it does not count earlier rounds.

It is pure, and slow for a screen: a few milliseconds as a rule, a tenth of a second for a pair of
aces out of six decks. So a table takes it in three steps: `decision` and `advised` are quick, and
what lies between them, `hands.values`, is done in another process
(`door.tables.tutor.tutor_process`).

>>> from door.games.blackjack.round import start
>>> from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
>>> from door.games.engine.cards import parse_cards
>>> game, _events = start(BLACK_JACK_FOR_TIME, parse_cards("5H TS 6D 8D"), [10])
>>> told = advice(game, game.legal())
>>> told.best, round(told.values[BlackjackAction.STAY], 2)
(<BlackjackAction.HIT: 'hit'>, -0.55)
>>> judge(told, BlackjackAction.HIT) is None
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
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.spot import Spot
from timebank.language import N_, _

# What the tutor says, in plain words without colours; the numbers are `hands`'.
#
# Gains are for each coin that was bet, in whole percent of the bet; what is less than that is not
# worth a word. What a decision costs is the difference of the gains as they are shown, so that
# whoever adds up finds the same.

_ADVISED = {
    BlackjackAction.INSURANCE: N_("INSURE"),
    BlackjackAction.NO_INSURANCE: N_("NO INSURANCE"),
    BlackjackAction.DOUBLE: N_("DOUBLE"),
    BlackjackAction.SPLIT: N_("SPLIT"),
    BlackjackAction.HIT: N_("HIT"),
    BlackjackAction.STAY: N_("STAND"),
}
_DOING = {
    BlackjackAction.INSURANCE: N_("insuring {gain}"),
    BlackjackAction.NO_INSURANCE: N_("going without {gain}"),
    BlackjackAction.DOUBLE: N_("doubling {gain}"),
    BlackjackAction.SPLIT: N_("splitting {gain}"),
    BlackjackAction.HIT: N_("hitting {gain}"),
    BlackjackAction.STAY: N_("standing {gain}"),
}
_SAID = {
    BlackjackAction.INSURANCE: N_(
        "The book insures; going without costs about {cost}% of your bet."
    ),
    BlackjackAction.NO_INSURANCE: N_("The book never insures: it costs about {cost}% of your bet."),
    BlackjackAction.DOUBLE: N_("The book says double; that play costs about {cost}% of your bet."),
    BlackjackAction.SPLIT: N_("The book says split; that play costs about {cost}% of your bet."),
    BlackjackAction.HIT: N_("The book says hit; that play costs about {cost}% of your bet."),
    BlackjackAction.STAY: N_("The book says stand; that play costs about {cost}% of your bet."),
}


@dataclass(frozen=True, slots=True)
class Advice:
    best: BlackjackAction
    values: Mapping[BlackjackAction, float]  # of each open action: its gain for one bet at first

    @property
    def sentence(self) -> str:
        """What the book says to a caller before their move, and what the next best would be.

        >>> act = BlackjackAction
        >>> Advice(act.HIT, {act.HIT: -0.16, act.STAY: -0.47}).sentence
        'Book: HIT (loses 16%; standing loses 47%)'
        >>> Advice(act.DOUBLE, {act.DOUBLE: 0.3, act.HIT: 0}).sentence
        'Book: DOUBLE (wins 30%; hitting breaks even)'
        """
        gain, move = gain_words(self.values[self.best]), _(_ADVISED[self.best])
        others = {action: value for action, value in self.values.items() if action is not self.best}
        if not others:
            return _("Book: {move} ({gain})").format(move=move, gain=gain)
        second = max(others, key=others.__getitem__)
        doing = _(_DOING[second]).format(gain=gain_words(others[second]))
        return book_words(move, gain, doing)


def judge(advice: Advice, chosen: BlackjackAction) -> str | None:
    """What the book would have done, for a caller who chose otherwise; None when that gains nothing
    that whole percents show. KeyError for an action that the advice was not about.

    >>> act = BlackjackAction
    >>> judge(Advice(act.STAY, {act.HIT: -0.14, act.STAY: -0.07}), act.HIT)
    'The book says stand; that play costs about 7% of your bet.'
    >>> judge(Advice(act.STAY, {act.HIT: -0.2451, act.STAY: -0.2049}), act.HIT)
    'The book says stand; that play costs about 5% of your bet.'
    """
    cost = whole_percent(advice.values[advice.best]) - whole_percent(advice.values[chosen])
    return _(_SAID[advice.best]).format(cost=cost) if cost else None


def whole_percent(gain: float) -> int:
    """A gain as it is shown."""
    return int(f"{gain * 100:.0f}")


def book_words(move: str, gain: str, other: str) -> str:
    """Say what the book does, what that gains, and what something else would."""
    return _("Book: {move} ({gain}; {other})").format(move=move, gain=gain, other=other)


def gain_words(gain: float) -> str:
    """Say what a bet gains on average."""
    percent = whole_percent(gain)
    if not percent:
        return _("breaks even")
    if percent > 0:
        return _("wins {percent}%").format(percent=percent)
    return _("loses {percent}%").format(percent=-percent)


FEWEST_UNSEEN = 24
"""Of fewer cards than these no hand is weighed, so that it cannot run out of them: the hand at
turn takes 19 more at most."""

_SAME = 1e-9  # gains closer than that differ by rounding only

_RANKS_COUNTING = Counter(Card(rank + SUITS[0]).value for rank in RANKS)


@dataclass(frozen=True, slots=True)
class Decision:
    spot: Spot
    open: tuple[BlackjackAction, ...]  # in the order of `BlackjackRound.legal`


def advice(round: BlackjackRound, affordable: Collection[BlackjackAction]) -> Advice:
    """What the book says to the hand at turn, of the legal actions that are in `affordable`;
    ValueError when there is nothing to decide. What comes after the action is weighed as if the
    purse sufficed for all that the rules allow. Of actions equally good the best is the one that
    stakes least and takes the fewest cards."""
    asked = decision(round, affordable)
    return advised(asked, values(asked.spot))


def decision(round: BlackjackRound, affordable: Collection[BlackjackAction]) -> Decision:
    """What the hand at turn has to decide, of the legal actions that are in `affordable`.
    ValueError when there is nothing."""
    legal = tuple(action for action in round.legal() if action in affordable)
    if not legal:
        raise ValueError("Nothing is to be decided here, so the book says nothing.")
    return Decision(spot_of(round), legal)


def advised(asked: Decision, weighed: Mapping[BlackjackAction, float]) -> Advice:
    """What the book makes of a decision whose spot was weighed by `hands.values`."""
    best = asked.open[-1]
    for action in reversed(asked.open):
        if weighed[action] > weighed[best] + _SAME:
            best = action
    return Advice(best, MappingProxyType({action: weighed[action] for action in asked.open}))


def spot_of(round: BlackjackRound) -> Spot:
    """What bears on the decision at turn; nobody's eyes see more. Somebody must be at turn."""
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
    """The decks less what lies open. Where so much lies open that the shoe was shuffled anew in
    this round, all of it may come again, and only hand and up card are known to be out."""
    others = [card for seat in round.seats for each in seat.hands for card in each.cards]
    unseen = _decks_without(round.rules.decks, (up, *others))
    if sum(unseen) < FEWEST_UNSEEN:
        return _decks_without(round.rules.decks, (up, *hand))
    return unseen


def _decks_without(decks: int, cards: tuple[Card, ...]) -> Counts:
    copies = decks * CARDS_IN_DECK // len(RANKS)
    seen = _counts(cards)
    return tuple(
        max(0, copies * _RANKS_COUNTING[value] - seen[value - 1]) for value in range(1, 11)
    )


def _counts(cards: tuple[Card, ...]) -> Counts:
    found = Counter(card.value for card in cards)
    return tuple(found[value] for value in range(1, 11))
