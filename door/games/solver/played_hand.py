"""What exact odds would have given for a hand as it was played.

That is what perfect play gains on average for the opening bet, less what each decision of the
caller cost against the best one, by the cards of their own hand and the up card; insurance that was
bought counts what it was worth besides. Whatever a caller does by what they see, what they win is
on average just that: the rest is luck.
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
from door.games.solver.odds import Costs, PlayedHand

RULES_KEPT = 8


def expected(hand: PlayedHand) -> tuple[float, float] | None:
    """Return what odds would have given, in the unit of the bet, and the deviation of perfect play;
    None for a game whose odds are not known. LookupError, TypeError, ValueError or `RoundRefused`
    for what is no hand of that game."""
    valued = _valued(hand.game, hand.rules, hand.decks)
    if valued is None:
        return None
    cost = valued.cost(hand, json.loads(hand.result))
    return hand.bet * (valued.mean - cost), hand.bet * valued.sd


def for_the_bank(
    game: str, rules: str, decks: int, bet: int, staked: int, result: str, words: tuple[str, ...]
) -> tuple[float, float] | None:
    """Tell the time bank what is `expected` of a hand (entry point `timebank.odds`); None as well
    for what is no hand of its game."""
    try:
        return expected(PlayedHand(game, rules, decks, bet, staked, result, words))
    except (LookupError, TypeError, ValueError, RoundRefused):
        return None


@dataclass(frozen=True)
class _Valued:
    mean: float
    sd: float
    cost: Costs


@lru_cache(maxsize=RULES_KEPT)
def _valued(name: str, rules: str, decks: int) -> _Valued | None:
    game = GAMES.get(name)
    if game is None:
        return None
    table = _rules(game, json.loads(rules), decks)
    perfect = odds_of(game, table).strategies["perfect"]
    return _Valued(perfect.mean, perfect.sd, game.costs(table))


def _rules(game: Game, mapping: Mapping[str, object], decks: int) -> Any:
    table = game.kind.read_rules_of(mapping, decks or game.kind.decks(mapping))
    if isinstance(table, BlackjackRules):  # the value of a coin, which changes no odds
        table = replace(table, insurance_unit=game.kind.base.insurance_unit)
    return table
