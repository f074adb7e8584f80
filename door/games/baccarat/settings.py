"""[games.baccarat] of sysop.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from door.games.baccarat.rules import BACCARAT, SYSOP_KEYS, Rules, rules_from_mapping
from door.games.engine.settings import HasGames, Stakes, read_rules, read_stakes, settings_of
from timebank.settings.toml import Table

Language = Literal["english", "french"]


@dataclass(frozen=True)
class Baccarat(Stakes):
    """The baccarat table; the stakes are those of the game for time."""

    language: Language  # of a caller who has not chosen one
    rules: Rules


def read(table: Table) -> Baccarat:
    """Read the section; problems are noted in it."""
    return Baccarat(
        **read_stakes(table),
        language=table.choice("language", "english", get_args(Language)),
        rules=read_rules(table, SYSOP_KEYS, BACCARAT, rules_from_mapping),
    )


def of(config: HasGames) -> Baccarat:
    """Return this game's settings of a board."""
    return settings_of(config, "baccarat", Baccarat)
