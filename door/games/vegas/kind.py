"""Vegas as a `Kind`."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import MOST_SEATS, VEGAS
from door.games.engine.game import HOUSE_KEYS

VEGAS_KIND = BlackJackKind(
    name="vegas",
    base=VEGAS,
    most_seats=MOST_SEATS,
    house_keys={
        **HOUSE_KEYS,
        "seats": int,
        "bell_seconds": int,
        "turn_seconds": int,
        "resume_wait": int,
    },
    undealt=0,
    outcomes_listed=True,
)
