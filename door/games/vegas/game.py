"""Vegas: its kind, its settings in sysop.toml and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import (
    MOST_SEATS,
    VEGAS,
    VEGAS_IN_CASINOS,
    BlackjackRules,
    checks_of,
)
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from timebank.language import N_
from timebank.settings.forms import Number, setting

VEGAS_KIND = BlackJackKind(
    name="vegas",
    base=VEGAS,
    in_casinos=VEGAS_IN_CASINOS,
    checks=checks_of(VEGAS),
    most_seats=MOST_SEATS,
    undealt=0,
    outcomes_listed=True,
)


MAX_WAIT = 600  # seconds, because other callers at the table wait too
MAX_TABLES = 50


@dataclass(frozen=True)
class VegasSettings(StakeSettings):
    """The tables that callers share. Waits are in seconds."""

    tables: int = setting(Number(1, MAX_TABLES), 1)
    seats: int = setting(Number(1, MOST_SEATS), MOST_SEATS)
    bell_seconds: int = setting(Number(1, MAX_WAIT), 20)
    turn_seconds: int = setting(Number(1, MAX_WAIT), 30)
    resume_wait: int = setting(Number(1, MAX_WAIT), 60)
    rules: BlackjackRules = VEGAS_KIND.base


GAME = Game(
    letter="V",
    code="VEGAS",
    title="Vegas",
    about=N_("Sit down with other callers"),
    settings=VegasSettings,
    kind=VEGAS_KIND,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    is_shared=True,
)
