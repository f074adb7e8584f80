"""The descriptor of a game: what the house knows of it without a table.

The folder of each game has one `Game`, and door/games/registry.py lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from door.games.engine.game import Kind
from door.games.engine.settings import StakeSettings, read_rules, read_stakes
from door.games.solver.odds import Costs, Odds
from door.games.solver.strategy_card import StrategyCard
from timebank.settings.toml import TomlTable

LONGEST_CODE = 16  # characters, of Synchronet's


@dataclass(frozen=True)
class Game:
    """`letter` is the game's key in the main menu. `code` is its name at other boards, of at most
    `LONGEST_CODE` characters. `about` is a phrase for the main menu, marked for translation.

    `odds` computes the odds from name and rules, `costs` the costs of decisions from the rules, and
    `card` the strategy card from title, rules and odds.
    """

    letter: str
    code: str
    title: str
    about: str
    settings: type[StakeSettings]  # its section of sysop.toml
    kind: Kind
    odds: Callable[[str, Any], Odds]
    costs: Callable[[Any], Costs]
    card: Callable[[str, Any, Odds], StrategyCard]
    # Whether callers share its tables, which use the current settings.
    is_shared: bool = False

    def read_settings(self, table: TomlTable, own: Mapping[str, TomlTable]) -> StakeSettings:
        """Read the game's section, whose rules may be a set of the sysop's `own`; note problems in
        `table`."""
        return read_stakes(table, self.settings, rules=read_rules(table, self.kind, own))

    @property
    def name(self) -> str:
        """The name in journals, ledgers and sysop.toml."""
        return self.kind.name

    @property
    def folder(self) -> str:
        return self.name.replace("-", "_")
