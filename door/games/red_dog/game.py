"""Red Dog: its kind, its settings in sysop.toml and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.engine.descriptor import Game
from door.games.engine.game import Act, Kind
from door.games.engine.settings import StakeSettings
from door.games.red_dog import odds
from door.games.red_dog.round import RedDogAction, RedDogRound, start
from door.games.red_dog.rules import CHECKS, RED_DOG, RedDogRules
from timebank.language import N_


class RedDogKind(Kind):
    def absent(self, round_: RedDogRound) -> Act:
        """Stay, because nothing more is staked for an absent caller."""
        return Act(RedDogAction.STAY)

    def laid(self, round_: RedDogRound, seat: int) -> dict[str, object]:
        return {"cards": list(round_.cards), "spread": round_.spread}

    def lies(self, round_: RedDogRound, settled: bool) -> str:
        return f"cards {' '.join(round_.cards)}"


RED_DOG_KIND = RedDogKind(
    name="red-dog",
    base=RED_DOG,
    in_casinos={"decks": 6, "shuffle": "shoe"},
    checks=CHECKS,
    start=start,
    actions=RedDogAction,
)


@dataclass(frozen=True)
class RedDogSettings(StakeSettings):
    rules: RedDogRules = RED_DOG_KIND.base


GAME = Game(
    letter="R",
    code="REDDOG",
    title="Red Dog",
    about=N_("Bet that a card falls between"),
    settings=RedDogSettings,
    kind=RED_DOG_KIND,
    odds=odds.odds,
    costs=odds.costs,
    card=odds.card,
)
