"""The settings of sysop.toml that all games have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from door.games.engine.errors import RulesRefused
from door.games.engine.game import HOUSE_SETS, TEXT, Kind
from door.games.engine.rules import plain
from timebank.settings.forms import Number, OneOf, TrueOrFalse, setting
from timebank.settings.toml import TomlTable

MOST_COINS = 1440  # a day of the smallest coins
MOST_TURNS = 9999  # a day

S = TypeVar("S", bound="StakeSettings")


@dataclass(frozen=True)
class StakeSettings:
    """The stakes of a table for time; bets are in coins.

    `turns_per_day` is 0 for no limit. Callers may sit down while the game is `open`.
    """

    open: bool = setting(TrueOrFalse(), True)
    coin_minutes: int = setting(Number(1, MOST_COINS), 1)
    smallest_bet: int = setting(Number(1, MOST_COINS), 1)
    largest_bet: int = setting(Number(1, MOST_COINS), 10)
    turns_per_day: int = setting(Number(0, MOST_TURNS), 20)

    @property
    def for_time(self) -> bool:
        """Whether callers can bet time."""
        return True

    @property
    def for_play_money(self) -> bool:
        """Whether callers can bet play money, whatever turns and minutes are left."""
        return False

    @classmethod
    def among(cls, games: Mapping[str, StakeSettings]) -> Self:
        """Return the settings of this class from those of all games."""
        (settings,) = (each for each in games.values() if isinstance(each, cls))
        return settings


def read_stakes(table: TomlTable, kind: type[S], **others: object) -> S:
    """Read a game's section, except for the `others`; note problems in `table`."""
    stakes = table.fill(kind, **others)
    sound = table.is_sound("smallest_bet", "largest_bet")
    if sound and stakes.smallest_bet > stakes.largest_bet:
        reason = f"must not be more than largest_bet, which is {stakes.largest_bet}"
        table.refuse("smallest_bet", reason)
    return stakes


def read_rules(table: TomlTable, kind: Kind, own: Mapping[str, TomlTable]) -> Any:
    """Read the rules that a game plays by; note problems in its section `table`.

    They are a set of rules of the house or of the sysop's `own`, with the keys of the section
    changed.
    """
    name = table.read("rules", OneOf((*HOUSE_SETS, *own)), TEXT)
    base = read_keys(own[name], kind, kind.base) if name in own else kind.rules_of(name)
    return read_keys(table, kind, base)


def read_keys(table: TomlTable, kind: Kind, base: Any) -> Any:
    """Return `base` with the rules changed that a table has; note problems in `table`."""
    keys = kind.sysop_keys
    for key in keys:
        table.read(key, kind.checks[key], plain(getattr(base, key)))
    try:
        return kind.vary(table.part(keys), base) if table.is_sound(*keys) else base
    except RulesRefused as refusal:  # keys that do not go together
        for key, reason in refusal.problems:
            table.refuse(key, reason)
        return base
