"""Vegas as the house knows it: [games.vegas] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.blackjack.rules import MOST_SEATS, BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from door.games.vegas.kind import SAMPLES, VEGAS_KIND
from timebank.language import N_
from timebank.settings.forms import Number, setting

LONGEST_WAIT = 600  # seconds at a table where others wait as well
MOST_TABLES = 50


@dataclass(frozen=True)
class VegasSettings(StakeSettings):
    """The tables where callers sit together; waits are in seconds."""

    tables: int = setting(Number(1, MOST_TABLES), 1)
    seats: int = setting(Number(1, MOST_SEATS), MOST_SEATS)
    bell_seconds: int = setting(Number(1, LONGEST_WAIT), 20)
    turn_seconds: int = setting(Number(1, LONGEST_WAIT), 30)
    resume_wait: int = setting(Number(1, LONGEST_WAIT), 60)
    rules: BlackjackRules = VEGAS_KIND.base


GAME = Game(
    name="vegas",
    letter="V",
    code="VEGAS",
    title="Vegas",
    about=N_("Sit down with other callers"),
    settings=VegasSettings,
    kind=VEGAS_KIND,
    samples=SAMPLES,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    has_tutor=True,
    is_shared=True,
)
