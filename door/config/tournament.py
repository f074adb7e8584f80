"""`[tournament]` in sysop.toml, the board's part: how many hands it is played for.

When it is open, and what can be won, the time bank reads (timebank/settings/tournament.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from timebank.settings.forms import Number, setting


@dataclass(frozen=True)
class TournamentSettings:
    hands: int = setting(Number(1, 50), 10)
