"""What robots and fuzzers play Red Dog by."""

from door.games.engine.descriptor import Samples

_HAND = {"game": "red-dog", "stake": 10}

SAMPLES = Samples(
    hands=(
        {**_HAND, "shoe": "5H 9S 7D", "actions": ["raise"]},
        {**_HAND, "shoe": "2H AS AD", "rules": {"decks": 6}, "actions": ["stay"]},
        {**_HAND, "shoe": "7H 7S 7D", "actions": []},
        {**_HAND, "stake": 0.5, "shoe": "KH AS", "actions": []},
    ),
    habits={"<R>aise": {"R": 30, "S": 40}},
)
