"""What the house knows of a game before anybody sits down at it.

Every game's folder has one `Game`, and door/games/registry.py lists the folders. Commands
read all of them, so a descriptor is light: the rest of the folder is imported when it is asked
for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from door.games.engine.game import Kind, Samples
from door.games.engine.settings import StakeSettings
from timebank.settings.toml import TomlTable

LONGEST_CODE = 16  # characters, of Synchronet's


@dataclass(frozen=True)
class Game:
    """`name` is what journals, ledgers and sysop.toml call it, `letter` its key in the main menu,
    `code` what other boards call it: at most `LONGEST_CODE` characters."""

    name: str
    letter: str
    code: str
    title: str
    read_settings: Callable[[TomlTable], StakeSettings]
    # What it is, for the main menu: a few words, marked for translation.
    about: str = ""
    # In the folder of its table, what begins a caller's visit: (board, caller) -> `floor.Table`.
    table_at: str = "table:sit_down"
    # What says in a few words what the caller should know before: async (board, caller) -> str.
    words_at: str = "table:menu_words"
    # What shows a hand of it again: (reel, hand) -> None, as `door.tables.reel` has them.
    film_at: str = "film:film"
    # What works out its odds: (name, rules) -> `door.games.solver.odds.Odds`.
    odds_at: str = ""
    # What tells what the decisions of its hands cost: (rules) -> `door.games.solver.odds.Costs`.
    costs_at: str = ""
    # What makes its strategy card: (title, rules, odds) -> `door.games.solver.card.StrategyCard`.
    card_at: str = ""
    # Of what makes each thing that its callers share, by a name: (board) -> `Shared`. Games that
    # name the same thing have it together.
    shares: Mapping[str, str] = field(default_factory=dict)
    # Whether callers sit at its tables together, and go by the settings of now.
    is_shared: bool = False

    @property
    def folder(self) -> str:
        return self.name.replace("-", "_")

    def find(self, where: str) -> Any:
        """Return what is called so, as "module:name", in the game's folder."""
        return find(f"door.games.{self.folder}.{where}")

    def find_at_the_table(self, where: str) -> Any:
        """Return what is called so, as "module:name", in the folder of the game's table."""
        return find(f"door.tables.{self.folder}.{where}")

    @cached_property
    def kind(self) -> Kind:
        """How its rounds are dealt, played again and told of."""
        found: Kind = self.find(f"kind:{self.folder.upper()}_KIND")
        return found

    @cached_property
    def samples(self) -> Samples:
        found: Samples = self.find("kind:SAMPLES")
        return found


def find(where: str) -> Any:
    """Return what is called so, as "module:name"; the module is imported."""
    return pkgutil.resolve_name(where)
