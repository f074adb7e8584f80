"""What robots and fuzzers play at Vegas by."""

from door.games.engine.descriptor import Samples

SAMPLES = Samples(
    hands=(
        {
            "game": "vegas",
            "seats": [{"stake": 1}, {"stake": 0.5}],
            "shoe": "TS 9D KS 8C 8H 7D 5C 6S 2D 3D 4H",
            "actions": ["1:stay", "2:hit"],
        },
    ),
    habits={
        "<T>alk": {
            "B": 20,
            "R": 25,
            "H": 8,
            "S": 12,
            "D": 4,
            "P": 4,
            "T": 2,
            "L": 1,
            "C": 1,
            "K": 1,
        },
    },
    taste=2,
)
