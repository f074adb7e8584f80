"""UNIX bj as the house knows it: [games.unix-bj] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import MOST_COINS, MOST_TURNS, StakeSettings, read_rules
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from door.games.unix_bj.kind import SAMPLES, UNIX_BJ_KIND
from timebank.language import N_
from timebank.settings.toml import TomlTable

BET = 2
"""Dollars on every hand."""


@dataclass(frozen=True)
class UnixBjSettings(StakeSettings):
    """The teletype of UNIX bj; a coin and turns count where it is played for minutes."""

    stakes: Literal["play money", "minutes"]
    prompts: Literal["1975", "1971"]
    rules: BlackjackRules

    @property
    def for_time(self) -> bool:
        return self.stakes == "minutes"

    @property
    def for_play_money(self) -> bool:
        return not self.for_time


def read(table: TomlTable) -> UnixBjSettings:
    return UnixBjSettings(
        open=table.flag("open", True),
        coin_minutes=table.whole("coin_minutes", 1, 1, MOST_COINS),
        smallest_bet=BET,
        largest_bet=BET,
        turns_per_day=table.whole("turns_per_day", 20, 0, MOST_TURNS),
        stakes=table.choice("stakes", "play money", ("play money", "minutes")),
        prompts=table.choice("prompts", "1975", ("1975", "1971")),
        rules=read_rules(table, UNIX_BJ_KIND),
    )


GAME = Game(
    name="unix-bj",
    letter="U",
    code="UNIXBJ",
    title="UNIX bj",
    about=N_("The old UNIX game, line by line"),
    read_settings=read,
    kind=UNIX_BJ_KIND,
    samples=SAMPLES,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    has_tutor=True,
)
