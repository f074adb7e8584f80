"""What the house knows of a game before anybody sits down at it.

The folder of each game has one `Game`, and door/games/registry.py lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from door.games.engine.game import Kind, Samples
from door.games.engine.settings import StakeSettings, read_rules, read_stakes
from door.games.solver.odds import Costs, Odds
from door.games.solver.strategy_card import StrategyCard
from timebank.settings.toml import TomlTable

LONGEST_CODE = 16  # characters, of Synchronet's


@dataclass(frozen=True)
class Game:
    """`letter` is the game's key in the main menu, `code` what other boards call it: at most
    `LONGEST_CODE` characters. `about` are a few words for the main menu, marked for translation.

    `odds` works out its odds from its name and rules, `costs` what decisions at its rules cost,
    `card` its strategy card from title, rules and odds.
    """

    letter: str
    code: str
    title: str
    about: str
    settings: type[StakeSettings]  # its section of sysop.toml
    kind: Kind
    samples: Samples
    odds: Callable[[str, Any], Odds]
    costs: Callable[[Any], Costs]
    card: Callable[[str, Any, Odds], StrategyCard]
    has_tutor: bool = False
    # Whether callers sit at its tables together, and go by the settings of now.
    is_shared: bool = False

    def read_settings(self, table: TomlTable) -> StakeSettings:
        """Read its section; problems are noted in `table`."""
        return read_stakes(table, self.settings, rules=read_rules(table, self.kind))

    @property
    def name(self) -> str:
        """What journals, ledgers and sysop.toml call the game."""
        return self.kind.name

    @property
    def folder(self) -> str:
        return self.name.replace("-", "_")
