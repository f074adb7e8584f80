"""UNIX bj: its kind, its settings in sysop.toml and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import UNIX_BJ, BlackjackRules, checks_of
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from timebank.language import N_
from timebank.settings.forms import OneOf, setting

UNIX_BJ_KIND = BlackJackKind(
    name="unix-bj",
    base=UNIX_BJ,
    checks=checks_of(UNIX_BJ),
    undealt=1,
    shoe_of_visit=True,
)


BET = 2
"""Dollars on each hand."""


@dataclass(frozen=True)
class UnixBjSettings(StakeSettings):
    """The teletype of UNIX bj. The coin and the turns apply only to a game for minutes."""

    smallest_bet: int = BET
    largest_bet: int = BET
    stakes: Literal["play money", "minutes"] = setting(
        OneOf(("play money", "minutes")), "play money"
    )
    prompts: Literal["1975", "1971"] = setting(OneOf(("1975", "1971")), "1975")
    rules: BlackjackRules = UNIX_BJ_KIND.base

    @property
    def for_time(self) -> bool:
        return self.stakes == "minutes"

    @property
    def for_play_money(self) -> bool:
        return not self.for_time


GAME = Game(
    letter="U",
    code="UNIXBJ",
    title="UNIX bj",
    about=N_("The old UNIX game, line by line"),
    settings=UnixBjSettings,
    kind=UNIX_BJ_KIND,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
)
