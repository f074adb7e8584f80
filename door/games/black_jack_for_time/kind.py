"""Black Jack For Time as a `Kind`, and what robots and fuzzers play it by."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, checks_of
from door.games.engine.game import Samples

BLACK_JACK_FOR_TIME_KIND = BlackJackKind(
    name="black-jack-for-time", base=BLACK_JACK_FOR_TIME, checks=checks_of(BLACK_JACK_FOR_TIME)
)

_HAND = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}

SAMPLES = Samples(
    hands=(
        {**_HAND, "rules": {}, "actions": ["hit", "hit"]},
        {**_HAND, "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": ["stay"]},
        {**_HAND, "actions": ["double"]},
    ),
    habits={
        "<B>et": {"B": 80, "R": 1, "F": 3, "C": 1, "U": 1, "T": 2, "Q": 4},
        "<H>it": {"H": 40, "S": 45, "D": 12, "P": 10},
    },
)
