"""[games.unix-bj] of sysop.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from door.games.engine.settings import MOST_COINS, MOST_TURNS, HasGames, settings_of
from timebank.settings.toml import TomlTable


@dataclass(frozen=True)
class UnixBjSettings:
    """The teletype of UNIX bj; a coin and turns count where it is played for minutes."""

    open: bool
    stakes: Literal["play money", "minutes"]
    prompts: Literal["1975", "1971"]
    coin_minutes: int
    turns_per_day: int


def read(table: TomlTable) -> UnixBjSettings:
    return UnixBjSettings(
        open=table.flag("open", True),
        stakes=table.choice("stakes", "play money", ("play money", "minutes")),
        prompts=table.choice("prompts", "1975", ("1975", "1971")),
        coin_minutes=table.whole("coin_minutes", 1, 1, MOST_COINS),
        turns_per_day=table.whole("turns_per_day", 20, 0, MOST_TURNS),
    )


def of(config: HasGames) -> UnixBjSettings:
    return settings_of(config, "unix-bj", UnixBjSettings)
