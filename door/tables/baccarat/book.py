"""The tutor at baccarat: the best action on a 5, by its two cards.

Each of the five pairs of cards takes a millisecond once, so no other process is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from door.games.baccarat.odds import Coups
from door.games.baccarat.round import BaccaratAction, BaccaratRound
from door.games.baccarat.rules import BaccaratRules, value_of
from door.games.solver.tutor.tutor import book_words, gain_words, whole_percent
from timebank.language import N_, _

_ADVISED = {
    BaccaratAction.CARD: N_("A CARD"),
    BaccaratAction.NO_CARD: N_("NO CARD"),
}
_DOING = {
    BaccaratAction.CARD: N_("with a card {gain}"),
    BaccaratAction.NO_CARD: N_("without a card {gain}"),
}
_VERDICT = {
    BaccaratAction.CARD: N_(
        "In the long run the card costs about {cost}% of the bet. Book: {move}."
    ),
    BaccaratAction.NO_CARD: N_(
        "In the long run taking no card costs about {cost}% of the bet. Book: {move}."
    ),
}
_OTHER = {
    BaccaratAction.CARD: BaccaratAction.NO_CARD,
    BaccaratAction.NO_CARD: BaccaratAction.CARD,
}


@dataclass(frozen=True)
class BaccaratAdvice:
    card: float  # gain of a bet that takes a card
    no_card: float

    @property
    def best(self) -> BaccaratAction:
        return BaccaratAction.CARD if self.card >= self.no_card else BaccaratAction.NO_CARD

    @property
    def sentence(self) -> str:
        """
        >>> BaccaratAdvice(0.02, -0.03).sentence
        'Book: A CARD (+2% of your bet on average; without a card -3%)'
        """
        other = _OTHER[self.best]
        doing = _(_DOING[other]).format(gain=gain_words(self._gain(other)))
        return book_words(_(_ADVISED[self.best]), self._gain(self.best), doing)

    def verdict(self, chosen: BaccaratAction) -> str:
        """Return the cost of a worse move, "" where it is less than one percent.

        >>> BaccaratAdvice(0.02, -0.03).verdict(BaccaratAction.NO_CARD)
        'In the long run taking no card costs about 5% of the bet. Book: A CARD.'
        """
        cost = whole_percent(self._gain(self.best)) - whole_percent(self._gain(chosen))
        return _(_VERDICT[chosen]).format(cost=cost, move=_(_ADVISED[self.best])) if cost else ""

    def _gain(self, action: BaccaratAction) -> float:
        return self.card if action is BaccaratAction.CARD else self.no_card


def advice(round_: BaccaratRound) -> BaccaratAdvice:
    """Return the advice for a player who has to decide on a 5."""
    first, second = sorted(map(value_of, round_.player))
    return BaccaratAdvice(*_values(round_.rules, first, second))


@lru_cache(maxsize=64)
def _values(rules: BaccaratRules, first: int, second: int) -> tuple[float, float]:
    return Coups(rules).values(first, second)
