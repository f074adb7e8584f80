"""Red Dog as the house knows it: [games.red-dog] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.red_dog import odds
from door.games.red_dog.kind import RED_DOG_KIND, SAMPLES
from door.games.red_dog.rules import RedDogRules
from timebank.language import N_


@dataclass(frozen=True)
class RedDogSettings(StakeSettings):
    rules: RedDogRules = RED_DOG_KIND.base


GAME = Game(
    name="red-dog",
    letter="R",
    code="REDDOG",
    title="Red Dog",
    about=N_("Bet that a card falls between"),
    settings=RedDogSettings,
    kind=RED_DOG_KIND,
    samples=SAMPLES,
    odds=odds.odds,
    costs=odds.costs,
    card=odds.card,
)
