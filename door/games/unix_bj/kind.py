"""UNIX bj as a `Kind`, and what robots and fuzzers play it by."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import UNIX_BJ, checks_of
from door.games.engine.game import Samples

UNIX_BJ_KIND = BlackJackKind(
    name="unix-bj",
    base=UNIX_BJ,
    checks=checks_of(UNIX_BJ),
    undealt=1,
    shoe_of_visit=True,
)

SAMPLES = Samples(
    hands=(
        {
            "game": "unix-bj",
            "stake": 2,
            "shoe": "AS AD 8H 8C TD 9C 5S 6D 2C 3C",
            "actions": ["insurance:1", "split", "hit", "stay"],
        },
    ),
    habits={"<P>lay": {"P": 60, "M": 2, "F": 4, "Q": 15}},
)
