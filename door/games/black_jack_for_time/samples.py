"""What robots and fuzzers play Black Jack For Time by."""

from door.games.engine.descriptor import Samples

_HAND = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}

SAMPLES = Samples(
    hands=(
        {**_HAND, "rules": {}, "actions": ["hit", "hit"]},
        {**_HAND, "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": ["stay"]},
        {**_HAND, "actions": ["double"]},
    ),
    habits={
        "lace Bet": {"P": 80, "R": 1, "C": 1, "U": 1, "T": 2, "Q": 4},
        "<H>it": {"H": 40, "S": 45, "D": 12, "P": 10},
    },
)
