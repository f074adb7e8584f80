"""[games.red-dog] of sysop.toml."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.engine.settings import HasGames, Stakes, read_rules, read_stakes, settings_of
from door.games.red_dog.rules import RED_DOG, SYSOP_KEYS, Rules, rules_from_mapping
from timebank.settings.toml import Table


@dataclass(frozen=True)
class RedDog(Stakes):
    """The Red Dog table, with the house's variations."""

    rules: Rules


def read(table: Table) -> RedDog:
    """Read the section; problems are noted in it."""
    rules = read_rules(table, SYSOP_KEYS, RED_DOG, rules_from_mapping)
    return RedDog(**read_stakes(table), rules=rules)


def of(config: HasGames) -> RedDog:
    """Return this game's settings of a board."""
    return settings_of(config, "red-dog", RedDog)
