"""[games.black-jack-for-time] of sysop.toml."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.engine.settings import HasGames, StakeSettings, read_rules, read_stakes, settings_of
from timebank.settings.toml import TomlTable


@dataclass(frozen=True)
class BlackJackForTimeSettings(StakeSettings):
    rules: BlackjackRules


def read(table: TomlTable) -> BlackJackForTimeSettings:
    base = BLACK_JACK_FOR_TIME
    return BlackJackForTimeSettings(
        **read_stakes(table), rules=read_rules(table, base.keys, base, rules_from_mapping)
    )


def of(config: HasGames) -> BlackJackForTimeSettings:
    return settings_of(config, "black-jack-for-time", BlackJackForTimeSettings)
