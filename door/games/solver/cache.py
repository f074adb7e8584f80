"""The odds of the tables' rules and their strategy cards, worked out once in a process.

Those of a black jack table take a second or two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from door.games.engine.descriptor import Game
from door.games.registry import GAMES
from door.games.solver.odds import Odds
from door.games.solver.strategy_card import StrategyCard

RULES_KEPT = 64


def odds_of(game: Game, rules: Any) -> Odds:
    """Return the odds of a game under some rules."""
    return _worked_out(game.odds, game.name, rules)


def card_of(game: Game, rules: Any) -> StrategyCard:
    """Return the strategy card of a game under some rules."""
    return game.card(game.title, rules, odds_of(game, rules))


def card_at(table: str, rules: Any) -> StrategyCard:
    """Return the strategy card of a table by its name, which another process can be sent."""
    return card_of(GAMES[table], rules)


@lru_cache(maxsize=RULES_KEPT)
def _worked_out(odds: Callable[[str, Any], Odds], name: str, rules: Any) -> Odds:
    return odds(name, rules)
