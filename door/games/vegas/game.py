"""Vegas as the house knows it: [games.vegas] of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.blackjack.rules import MOST_SEATS, BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings, read_rules, read_stakes
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from door.games.vegas.kind import SAMPLES, VEGAS_KIND
from timebank.language import N_
from timebank.settings.toml import TomlTable

LONGEST_WAIT = 600  # seconds at a table where others wait as well
MOST_TABLES = 50


@dataclass(frozen=True)
class VegasSettings(StakeSettings):
    """The tables where callers sit together; waits are in seconds."""

    tables: int
    seats: int
    bell_seconds: int
    turn_seconds: int
    resume_wait: int
    rules: BlackjackRules


def read(table: TomlTable) -> VegasSettings:
    return VegasSettings(
        **read_stakes(table),
        tables=table.whole("tables", 1, 1, MOST_TABLES),
        seats=table.whole("seats", MOST_SEATS, 1, MOST_SEATS),
        bell_seconds=table.whole("bell_seconds", 20, 1, LONGEST_WAIT),
        turn_seconds=table.whole("turn_seconds", 30, 1, LONGEST_WAIT),
        resume_wait=table.whole("resume_wait", 60, 1, LONGEST_WAIT),
        rules=read_rules(table, VEGAS_KIND),
    )


GAME = Game(
    name="vegas",
    letter="V",
    code="VEGAS",
    title="Vegas",
    about=N_("Sit down with other callers"),
    read_settings=read,
    kind=VEGAS_KIND,
    samples=SAMPLES,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    has_tutor=True,
    is_shared=True,
)
