"""UNIX bj as a `Kind`."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import UNIX_BJ
from door.games.engine.game import HOUSE_KEYS

UNIX_BJ_KIND = BlackJackKind(
    name="unix-bj",
    base=UNIX_BJ,
    house_keys={**HOUSE_KEYS, "stakes": str, "prompts": str},
    undealt=1,
    shoe_of_visit=True,
)
