"""The odds of baccarat: every point of six cards, by what they count.

The caller has one decision, on a 5. What is in sight then are the caller's own two cards, so a 5 of
ten and five is another one than a 5 of nine and six.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from door.games.baccarat.events import BaccaratOutcome
from door.games.baccarat.rules import (
    NATURALS,
    PLAYER_TABLE,
    BaccaratRules,
    Draw,
    bank_draw,
)
from door.games.engine.cards import Card
from door.games.solver.odds import RUNS_ON, Costs, Figures, Odds, PlayedHand, figures_of
from door.games.solver.odds_text import percent
from door.games.solver.strategy_card import Section, StrategyCard
from timebank.language import N_

Ways = tuple[int, int, int]
"""In how many ways the caller, the bank, and nobody has the coup: ordered deals of six cards, each
counted twice, because of tosses."""

Draws = Callable[[int, int], bool]
"""Whether the caller takes a card to a 5 of these two."""

_OUTCOMES = (BaccaratOutcome.PLAYER, BaccaratOutcome.BANK, BaccaratOutcome.STAND_OFF)
_NET = (1.0, -1.0, 0.0)
_BOTH = ("player", "bank")


def odds(game: str, rules: BaccaratRules) -> Odds:
    """By the cards in sight, by the point alone, always with a card as the bank draws on its 5, and
    never with one: nothing busts, and this is who takes no card that can be left."""
    coup = Coups(rules)
    drawn, stood = coup.figures(lambda *_: True), coup.figures(lambda *_: False)
    strategies = {
        "perfect": coup.figures(coup.is_better_drawn),
        "totals": drawn if drawn.mean >= stood.mean else stood,
        "dealer": drawn,
        "never-bust": stood,
    }
    return Odds(game, asdict(rules), strategies, notes=(RUNS_ON,))


def card(title: str, rules: BaccaratRules, odds: Odds) -> StrategyCard:
    coups = Coups(rules)
    pairs = [(first, (5 - first) % 10) for first in range(10) if first <= (5 - first) % 10]
    columns = tuple(f"{first or 'T'}{second}" for first, second in pairs)
    moves = tuple("C" if coups.is_better_drawn(*pair) else "N" for pair in pairs)
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
    """What it costs to take a card on 5, or none, instead of what is better."""
    coups = Coups(rules)

    def cost(_hand: PlayedHand, result: Mapping[str, Any]) -> float:
        player, bank = ([Card(card).value % 10 for card in result[who]] for who in _BOTH)
        point = sum(player[:2]) % 10
        asked = point not in NATURALS and sum(bank[:2]) % 10 not in NATURALS
        if not asked or PLAYER_TABLE[point] is not Draw.MAY:
            return 0.0
        return coups.cost(*sorted(player[:2]), takes=len(player) == 3)

    return cost


class Coups:
    """Coups from one shoe. Ways are whole numbers: nothing is rounded before the last division."""

    def __init__(self, rules: BaccaratRules) -> None:
        self.rules = rules
        self.left = [16 * rules.decks, *[4 * rules.decks] * 9]
        self.decided = lru_cache(maxsize=None)(self._decided)

    def figures(self, draws: Draws) -> Figures:
        ways = [0, 0, 0]
        for first, second, times in self._pairs():
            point = (first + second) % 10
            if point in NATURALS:
                taken = self.decided(first, second, None)
            else:
                table = PLAYER_TABLE[point]
                takes = draws(first, second) if table is Draw.MAY else table is Draw.MUST
                taken = self.decided(first, second, takes)
            ways = [all_ + times * each for all_, each in zip(ways, taken, strict=True)]
        total = sum(ways)
        chances = [way / total for way in ways]
        return figures_of(
            dict(zip(_NET, chances, strict=True)),
            {str(word): chance for word, chance in zip(_OUTCOMES, chances, strict=True)},
            1.0,
        )

    def is_better_drawn(self, first: int, second: int) -> bool:
        drawn, stood = (self.decided(first, second, takes) for takes in (True, False))
        return drawn[0] - drawn[1] > stood[0] - stood[1]

    def cost(self, first: int, second: int, *, takes: bool) -> float:
        """What it costs to take a card on these two, or none, instead of what is better; where the
        bank has no natural, so that it is asked."""
        drawn, stood = self.values(first, second)
        return max(drawn, stood) - (drawn if takes else stood)

    def values(self, first: int, second: int) -> tuple[float, float]:
        """What a unit gains with a card on these two, and with none, once the bank is known to have
        no natural. It takes a millisecond."""
        drawn, stood = (self.decided(first, second, each) for each in (True, False))
        asked = self._asked(first, second)
        lost = sum(drawn) - asked  # to a natural, with a card or without
        return (drawn[0] - drawn[1] + lost) / asked, (stood[0] - stood[1] + lost) / asked

    def _asked(self, first: int, second: int) -> int:
        """In how many ways (as `Ways` counts) the bank has no natural beside these two."""
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
        """Two cards that the caller may be dealt, in no order, and in how many orders they come."""
        for first in range(10):
            for second in range(first, 10):
                orders = self.left[first] * (self.left[second] - (first == second))
                if orders:
                    yield first, second, orders * (1 if first == second else 2)

    def _decided(self, first: int, second: int, takes: bool | None) -> Ways:
        """How a coup of the caller's two cards ends; `takes` is None where they are a natural."""
        left = list(self.left)
        left[first] -= 1
        left[second] -= 1
        mine = (first + second) % 10
        ways = [0, 0, 0]
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
                    _count(ways, mine, bank, 2 * times * cards * (cards - 1))
                elif takes:
                    for third in range(10):
                        more = times * left[third]
                        left[third] -= 1
                        self._serve(ways, left, (mine + third) % 10, bank, third, more)
                        left[third] += 1
                else:
                    self._serve(ways, left, mine, bank, None, times * (cards - 1))
                left[one] += 1
                left[other] += 1
        return ways[0], ways[1], ways[2]

    def _serve(
        self, ways: list[int], left: list[int], mine: int, bank: int, third: int | None, times: int
    ) -> None:
        """Let the bank draw or stand. `times` counts the ways so far, those of a sixth card that
        nobody takes included, but not which of `left` comes next."""
        draw = bank_draw(bank, third)
        drawn, stood = (2, 0) if draw is Draw.MUST else (0, 2)
        if draw is Draw.MAY:
            drawn, stood = _TOSSED[self.rules.option(bank)]
        if stood:
            _count(ways, mine, bank, stood * times * sum(left))
        if drawn:
            for card in range(10):
                _count(ways, mine, (bank + card) % 10, drawn * times * left[card])


# How a bank draws and stands that has the option: of two times, for a toss comes either way.
_TOSSED = {"draw": (2, 0), "stand": (0, 2), "toss": (1, 1)}


def _count(ways: list[int], mine: int, bank: int, times: int) -> None:
    ways[0 if mine > bank else 1 if mine < bank else 2] += times
