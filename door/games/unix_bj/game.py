"""UNIX bj as the house knows it: [games.unix-bj] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from door.games.unix_bj.kind import SAMPLES, UNIX_BJ_KIND
from timebank.language import N_
from timebank.settings.forms import OneOf, setting

BET = 2
"""Dollars on every hand."""


@dataclass(frozen=True)
class UnixBjSettings(StakeSettings):
    """The teletype of UNIX bj; a coin and turns count where it is played for minutes."""

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
    name="unix-bj",
    letter="U",
    code="UNIXBJ",
    title="UNIX bj",
    about=N_("The old UNIX game, line by line"),
    settings=UnixBjSettings,
    kind=UNIX_BJ_KIND,
    samples=SAMPLES,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    has_tutor=True,
)
