"""Red Dog as a `Kind`: one seat against the house; and what robots and fuzzers play it by."""

from __future__ import annotations

from door.games.engine.game import Act, Kind, Samples
from door.games.red_dog.round import RedDogAction, RedDogRound, start
from door.games.red_dog.rules import CHECKS, RED_DOG


class RedDogKind(Kind):
    def absent(self, round_: RedDogRound) -> Act:
        """Stay: nothing more is staked for one who is not there."""
        return Act(RedDogAction.STAY)

    def laid(self, round_: RedDogRound, seat: int) -> dict[str, object]:
        return {"cards": list(round_.cards), "spread": round_.spread}

    def lies(self, round_: RedDogRound, settled: bool) -> str:
        return f"cards {' '.join(round_.cards)}"


RED_DOG_KIND = RedDogKind(
    name="red-dog", base=RED_DOG, checks=CHECKS, start=start, actions=RedDogAction
)

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
