"""What robots and fuzzers play baccarat by."""

from door.games.engine.descriptor import Samples

SAMPLES = Samples(
    hands=({"game": "baccarat", "stake": 100, "shoe": "2H 3S 3D 2C 9D 8H", "actions": ["card"]},),
    habits={
        "lace bet": {"P": 70, "M": 4, "L": 3, "S": 2, "C": 1, "R": 1, "T": 2, "Q": 4},
        "<P>onter": {"P": 70, "M": 4, "L": 5, "S": 2, "C": 1, "R": 1, "T": 2, "Q": 4},
    },
)
