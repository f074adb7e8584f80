"""The odds of Red Dog, over every pair of ranks and every third card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from door.games.engine.cards import CARDS_IN_DECK, RANKS, SUITS, Card
from door.games.red_dog.events import RedDogOutcome
from door.games.red_dog.rules import THREE_OF_A_KIND_PAYS, RedDogRules, pays, spread_of
from door.games.solver.odds import RUNS_ON, Costs, Figures, Odds, figures_of
from door.games.solver.odds_text import percent
from door.games.solver.strategy_card import Section, StrategyCard
from timebank.language import N_

if TYPE_CHECKING:
    from timebank.reports.house import FinishedHand

_CARDS = tuple(Card(rank + SUITS[0]) for rank in RANKS)


def odds(game: str, rules: RedDogRules) -> Odds:
    """Return the odds of raising whenever that gains (`perfect`, `totals`), and of never raising.

    Red Dog has no dealer and no bust, so `dealer` and `never-bust` both never raise.
    """
    raising, staying = _figures(rules, raises=True), _figures(rules, raises=False)
    strategies = {
        "perfect": raising,
        "totals": raising,
        "dealer": staying,
        "never-bust": staying,
    }
    notes = (RUNS_ON,) if rules.shuffle == "shoe" else ()
    return Odds(game, asdict(rules), strategies, notes=notes)


def card(title: str, rules: RedDogRules, odds: Odds) -> StrategyCard:
    low = Card("2" + SUITS[0])
    highs = {spread_of(low, high): high for high in _CARDS}
    spreads = sorted(spread for spread in highs if spread > 0)
    columns = tuple(map(str, spreads))
    moves = tuple("R" if _raising_gains(rules, low, highs[each]) > 0 else "-" for each in spreads)
    mean = odds.strategies["perfect"].mean
    note = (
        f"Played so, a caller gains {percent(mean)} of the bet on average. No other play is better."
    )
    section = Section(N_("Spread"), columns, (("", moves),))
    gains = {"played": mean, "careful": mean}
    return StrategyCard(f"{title}: what to do, by the spread", (section,), (note,), gains)


def costs(rules: RedDogRules) -> Costs:
    """Return a function for the cost of a raise, or of none, against the better choice."""

    def cost(hand: FinishedHand, result: Mapping[str, Any]) -> float:
        first, second = (Card(card) for card in result["cards"][:2])
        gain = _raising_gains(rules, first, second)
        return max(0.0, gain) - (gain if hand.staked > hand.bet else 0.0)

    return cost


def _raising_gains(rules: RedDogRules, first: Card, second: Card) -> float:
    """Return what a raise adds on average to a unit of the bet, below 0 for a loss.

    Returns 0 for neighbours and for a pair, on which there is no decision.
    """
    spread = spread_of(first, second)
    if spread <= 0:
        return 0.0
    cards = CARDS_IN_DECK * rules.decks - 2
    between = spread * len(SUITS) * rules.decks
    return (between * pays(spread) - (cards - between)) / cards


def _figures(rules: RedDogRules, *, raises: bool) -> Figures:
    net: dict[float, float] = defaultdict(float)
    outcomes: dict[str, float] = defaultdict(float)
    staked = 0.0
    copies = len(SUITS) * rules.decks
    cards = CARDS_IN_DECK * rules.decks

    def add(outcome: RedDogOutcome, gain: int, chance: float) -> None:
        net[gain] += chance
        outcomes[str(outcome)] += chance

    for first in _CARDS:
        for second in _CARDS:
            chance = copies * (copies - (first == second)) / (cards * (cards - 1))
            spread = spread_of(first, second)
            bet = 1
            if spread < 0:
                third = chance * (copies - 2) / (cards - 2)
                add(RedDogOutcome.THREE_OF_A_KIND, THREE_OF_A_KIND_PAYS, third)
                add(RedDogOutcome.PUSH, 0, chance - third)
            elif spread == 0:
                add(RedDogOutcome.PUSH, 0, chance)
            else:
                between, paid = spread * copies, pays(spread)
                if raises and _raising_gains(rules, first, second) > 0:
                    bet = 2
                win = chance * between / (cards - 2)
                add(RedDogOutcome.WIN, bet * paid, win)
                add(RedDogOutcome.LOSE, -bet, chance - win)
            staked += bet * chance
    return figures_of(net, outcomes, staked)
