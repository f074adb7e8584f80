"""The odds and strategy cards of tables, computed once in a process.

Black jack takes a second or two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from door.games.engine.descriptor import Game
from door.games.registry import GAMES
from door.games.solver.odds import Odds
from door.games.solver.strategy_card import StrategyCard

MAX_CACHED = 64


def odds_of(game: Game, rules: Any) -> Odds:
    """Return the odds of a game under some rules."""
    return _computed(game.odds, game.name, rules)


def card_of(game: Game, rules: Any) -> StrategyCard:
    """Return the strategy card of a game under some rules."""
    return game.card(game.title, rules, odds_of(game, rules))


def card_at(table: str, rules: Any) -> StrategyCard:
    """Return the strategy card of a table by its name, for a call in another process."""
    return card_of(GAMES[table], rules)


@lru_cache(maxsize=MAX_CACHED)
def _computed(odds: Callable[[str, Any], Odds], name: str, rules: Any) -> Odds:
    return odds(name, rules)
