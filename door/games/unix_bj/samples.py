"""What robots and fuzzers play UNIX bj by."""

from door.games.engine.descriptor import Samples

SAMPLES = Samples(
    hands=(
        {
            "game": "unix-bj",
            "stake": 2,
            "shoe": "AS AD 8H 8C TD 9C 5S 6D 2C 3C",
            "actions": ["insurance:1", "split", "hit", "stay"],
        },
    ),
    habits={"<P>lay": {"P": 60, "M": 2, "Q": 15}},
)
