"""Vegas as a `Kind`, and what robots and fuzzers play it by."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import MOST_SEATS, VEGAS, checks_of
from door.games.engine.game import Samples

VEGAS_KIND = BlackJackKind(
    name="vegas",
    base=VEGAS,
    checks=checks_of(VEGAS),
    most_seats=MOST_SEATS,
    undealt=0,
    outcomes_listed=True,
)

_HABITS = {"B": 20, "A": 25, "H": 8, "S": 12, "D": 4, "P": 4, "K": 2, "R": 1, "C": 1, "T": 1}

SAMPLES = Samples(
    hands=(
        {
            "game": "vegas",
            "seats": [{"stake": 1}, {"stake": 0.5}],
            "shoe": "TS 9D KS 8C 8H 7D 5C 6S 2D 3D 4H",
            "actions": ["1:stay", "2:hit"],
        },
    ),
    habits={"Tal<k>": _HABITS},
    taste=2,
)
