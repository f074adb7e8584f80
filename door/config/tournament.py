"""`[tournament]` in sysop.toml, the board's part: how many hands it is played for.

When it is open, and what can be won, the time bank reads (timebank/settings/tournament.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timebank.settings.toml import TomlTable

MOST_HANDS = 50


@dataclass(frozen=True)
class TournamentSettings:
    hands: int = 10


def read_tournament(table: TomlTable) -> TournamentSettings:
    return TournamentSettings(table.whole("hands", TournamentSettings.hands, 1, MOST_HANDS))
