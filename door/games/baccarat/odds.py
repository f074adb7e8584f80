"""The odds of baccarat, over all deals of six cards by their values.

The caller has one decision, on a 5. The caller sees two cards then, so a 5 of ten and five differs
from a 5 of nine and six.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from door.games.baccarat.events import BaccaratOutcome
from door.games.baccarat.rules import (
    NATURALS,
    PLAYER_TABLE,
    BaccaratRules,
    Draw,
    bank_draw,
)
from door.games.engine.cards import Card
from door.games.solver.odds import RUNS_ON, Costs, Figures, Odds, figures_of
from door.games.solver.odds_text import percent
from door.games.solver.strategy_card import Section, StrategyCard
from timebank.language import N_

if TYPE_CHECKING:
    from timebank.reports.house import FinishedHand

Deals = tuple[int, int, int]
"""The number of deals that the caller wins, that the bank wins, and that are a stand-off.

A deal is six cards in order. Each counts twice, because a toss may go either way."""

Draws = Callable[[int, int], bool]
"""Whether the caller takes a card to a 5 of these two values."""

_OUTCOMES = (BaccaratOutcome.PLAYER, BaccaratOutcome.BANK, BaccaratOutcome.STAND_OFF)
_NET = (1.0, -1.0, 0.0)
_SIDES = ("player", "bank")


def odds(game: str, rules: BaccaratRules) -> Odds:
    """Return the odds of four ways to play a 5.

    `perfect` decides by the two cards, `totals` by the point alone. `dealer` always takes a card,
    as the bank does on its 5, and `never-bust` takes none.
    """
    coup = Coups(rules)
    drawn, stood = coup.figures(lambda *_: True), coup.figures(lambda *_: False)
    strategies = {
        "perfect": coup.figures(coup.gains_by_drawing),
        "totals": drawn if drawn.mean >= stood.mean else stood,
        "dealer": drawn,
        "never-bust": stood,
    }
    return Odds(game, asdict(rules), strategies, notes=(RUNS_ON,))


def card(title: str, rules: BaccaratRules, odds: Odds) -> StrategyCard:
    coups = Coups(rules)
    pairs = [(first, (5 - first) % 10) for first in range(10) if first <= (5 - first) % 10]
    columns = tuple(f"{first or 'T'}{second}" for first, second in pairs)
    moves = tuple("C" if coups.gains_by_drawing(*pair) else "N" for pair in pairs)
    best, drawn = odds.strategies["perfect"].mean, odds.strategies["dealer"].mean
    stood = odds.strategies["never-bust"].mean
    notes = (
        f"Played so, a caller gains {percent(best)} of the bet on average; with a card on every 5"
        f" {percent(drawn)}, with none {percent(stood)}. Nothing else is yours to decide.",
    )
    section = Section(N_("A five of"), columns, (("", moves),))
    gains = {"played": best, "careful": best}
    return StrategyCard(f"{title}: what to do on 5", (section,), notes, gains)


def costs(rules: BaccaratRules) -> Costs:
    """Return a function for the cost of a card on 5, or of none, against the better choice."""
    coups = Coups(rules)

    def cost(_hand: FinishedHand, result: Mapping[str, Any]) -> float:
        player, bank = ([Card(card).value % 10 for card in result[who]] for who in _SIDES)
        point = sum(player[:2]) % 10
        is_asked = point not in NATURALS and sum(bank[:2]) % 10 not in NATURALS
        if not is_asked or PLAYER_TABLE[point] is not Draw.MAY:
            return 0.0
        return coups.cost(*sorted(player[:2]), takes=len(player) == 3)

    return cost


class Coups:
    """The coups from a fresh shoe, counted in whole numbers up to the last division."""

    def __init__(self, rules: BaccaratRules) -> None:
        self.rules = rules
        self.left = [16 * rules.decks, *[4 * rules.decks] * 9]
        self.count_coups = lru_cache(maxsize=None)(self._count_coups)

    def figures(self, draws: Draws) -> Figures:
        deals = [0, 0, 0]
        for first, second, times in self._pairs():
            point = (first + second) % 10
            if point in NATURALS:
                taken = self.count_coups(first, second, None)
            else:
                table = PLAYER_TABLE[point]
                takes = draws(first, second) if table is Draw.MAY else table is Draw.MUST
                taken = self.count_coups(first, second, takes)
            deals = [all_ + times * each for all_, each in zip(deals, taken, strict=True)]
        total = sum(deals)
        chances = [count / total for count in deals]
        return figures_of(
            dict(zip(_NET, chances, strict=True)),
            {str(word): chance for word, chance in zip(_OUTCOMES, chances, strict=True)},
            1.0,
        )

    def gains_by_drawing(self, first: int, second: int) -> bool:
        drawn, stood = (self.count_coups(first, second, takes) for takes in (True, False))
        return drawn[0] - drawn[1] > stood[0] - stood[1]

    def cost(self, first: int, second: int, *, takes: bool) -> float:
        """Return the cost of a card on these two values, or of none, against the better choice.

        The bank has no natural, or there would be no decision.
        """
        drawn, stood = self.values(first, second)
        return max(drawn, stood) - (drawn if takes else stood)

    def values(self, first: int, second: int) -> tuple[float, float]:
        """Return the mean gain of a unit with a third card on these two values, and without.

        The bank has no natural. Takes a millisecond.
        """
        drawn, stood = (self.count_coups(first, second, each) for each in (True, False))
        asked = self._asked(first, second)
        lost = sum(drawn) - asked  # to a natural of the bank
        return (drawn[0] - drawn[1] + lost) / asked, (stood[0] - stood[1] + lost) / asked

    def _asked(self, first: int, second: int) -> int:
        """Return the number of `Deals` after these two values in which the bank has no natural."""
        left = list(self.left)
        left[first] -= 1
        left[second] -= 1
        cards = sum(left)
        pairs = sum(
            left[one] * (left[other] - (one == other))
            for one in range(10)
            for other in range(10)
            if (one + other) % 10 not in NATURALS
        )
        return 2 * pairs * (cards - 2) * (cards - 3)

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yield the caller's pairs of values in no order, with the number of deals of each."""
        for first in range(10):
            for second in range(first, 10):
                orders = self.left[first] * (self.left[second] - (first == second))
                if orders:
                    yield first, second, orders * (1 if first == second else 2)

    def _count_coups(self, first: int, second: int, takes: bool | None) -> Deals:
        """Count how coups with the caller's two values end. `takes` is None for a natural."""
        left = list(self.left)
        left[first] -= 1
        left[second] -= 1
        mine = (first + second) % 10
        deals = [0, 0, 0]
        for one in range(10):
            for other in range(one, 10):
                times = left[one] * (left[other] - (one == other)) * (1 if one == other else 2)
                if not times:
                    continue
                bank = (one + other) % 10
                left[one] -= 1
                left[other] -= 1
                cards = sum(left)
                if takes is None or bank in NATURALS:
                    _count(deals, mine, bank, 2 * times * cards * (cards - 1))
                elif takes:
                    for third in range(10):
                        more = times * left[third]
                        left[third] -= 1
                        self._serve(deals, left, (mine + third) % 10, bank, third, more)
                        left[third] += 1
                else:
                    self._serve(deals, left, mine, bank, None, times * (cards - 1))
                left[one] += 1
                left[other] += 1
        return deals[0], deals[1], deals[2]

    def _serve(
        self, deals: list[int], left: list[int], mine: int, bank: int, third: int | None, times: int
    ) -> None:
        """Let the bank draw or stand, and count how the coups end.

        `times` is the number of deals so far. It includes a sixth card that no side takes, but not
        the next card from `left`.
        """
        draw = bank_draw(bank, third)
        drawn, stood = (2, 0) if draw is Draw.MUST else (0, 2)
        if draw is Draw.MAY:
            drawn, stood = _OPTION_WEIGHTS[self.rules.option(bank)]
        if stood:
            _count(deals, mine, bank, stood * times * sum(left))
        if drawn:
            for card in range(10):
                _count(deals, mine, (bank + card) % 10, drawn * times * left[card])


# How often of two times a bank with the option draws, and how often it stands.
_OPTION_WEIGHTS = {"draw": (2, 0), "stand": (0, 2), "toss": (1, 1)}


def _count(deals: list[int], mine: int, bank: int, times: int) -> None:
    deals[0 if mine > bank else 1 if mine < bank else 2] += times
