"""Red Dog as a `Kind`: one seat against the house."""

from __future__ import annotations

from door.games.engine.game import Act, Kind
from door.games.red_dog.round import RedDogAction, RedDogRound, start
from door.games.red_dog.rules import RED_DOG, rules_from_mapping


class RedDogKind(Kind):
    def absent(self, round_: RedDogRound) -> Act:
        """Stay: nothing more is staked for one who is not there."""
        return Act(RedDogAction.STAY)

    def laid(self, round_: RedDogRound, seat: int) -> dict[str, object]:
        return {"cards": list(round_.cards), "spread": round_.spread}

    def lies(self, round_: RedDogRound, settled: bool) -> str:
        return f"cards {' '.join(round_.cards)}"


RED_DOG_KIND = RedDogKind(
    name="red-dog", base=RED_DOG, vary=rules_from_mapping, start=start, actions=RedDogAction
)
