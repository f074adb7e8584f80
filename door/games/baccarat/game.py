"""Baccarat as the house knows it: [games.baccarat] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from door.games.baccarat import odds
from door.games.baccarat.kind import BACCARAT_KIND, SAMPLES
from door.games.baccarat.rules import BaccaratRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from timebank.language import N_
from timebank.settings.forms import OneOf, setting

Language = Literal["caller", "english", "french"]


@dataclass(frozen=True)
class BaccaratSettings(StakeSettings):
    """The baccarat table; the stakes are those of the game for time."""

    # Spoken to a caller who has not chosen one.
    language: Language = setting(OneOf(get_args(Language)), "caller")
    rules: BaccaratRules = BACCARAT_KIND.base

    @property
    def for_play_money(self) -> bool:
        return True


GAME = Game(
    name="baccarat",
    letter="C",
    code="BACCARAT",
    title="Baccarat",
    about=N_("Bet minutes, or break the bank"),
    settings=BaccaratSettings,
    kind=BACCARAT_KIND,
    samples=SAMPLES,
    odds=odds.odds,
    costs=odds.costs,
    card=odds.card,
)
