"""The expected gain of a hand as it was played; the rest of its result is luck.

The expected gain is that of perfect play for the opening bet minus the cost of the caller's
decisions. A cost is against the best decision by the cards of the hand and the up card. Bought
insurance adds its mean gain. So for every strategy by these cards, the mean luck is zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.errors import RoundRefused
from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.odds import Costs
from timebank.reports.house import FinishedHand

MAX_CACHED = 8


def expected(hand: FinishedHand) -> tuple[float, float] | None:
    """Return the expected gain and the deviation of perfect play, in the unit of the bet.

    Returns None for an unknown game. Raises LookupError, TypeError, ValueError or `RoundRefused`
    for a hand that is not valid in its game.
    """
    valued = _valued(hand.game, hand.rules, hand.decks)
    if valued is None:
        return None
    cost = valued.cost(hand, json.loads(hand.result))
    return hand.bet * (valued.mean - cost), hand.bet * valued.sd


def for_the_bank(hand: FinishedHand) -> tuple[float, float] | None:
    """Return `expected` of a hand, or None if it is not valid: the entry point `timebank.odds`."""
    try:
        return expected(hand)
    except (LookupError, TypeError, ValueError, RoundRefused):
        return None


@dataclass(frozen=True)
class _Valued:
    mean: float
    sd: float
    cost: Costs


@lru_cache(maxsize=MAX_CACHED)
def _valued(name: str, rules: str, decks: int) -> _Valued | None:
    game = GAMES.get(name)
    if game is None:
        return None
    table = _rules(game, json.loads(rules), decks)
    perfect = odds_of(game, table).strategies["perfect"]
    return _Valued(perfect.mean, perfect.sd, game.costs(table))


def _rules(game: Game, mapping: Mapping[str, object], decks: int) -> Any:
    table = game.kind.read_rules_of(mapping, decks or game.kind.decks(mapping))
    if isinstance(table, BlackjackRules):  # the value of a coin does not change odds
        table = replace(table, insurance_unit=game.kind.base.insurance_unit)
    return table
