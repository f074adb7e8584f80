"""Black Jack For Time as the house knows it: its section of sysop.toml, and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.black_jack_for_time.kind import BLACK_JACK_FOR_TIME_KIND, SAMPLES
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from timebank.language import N_


@dataclass(frozen=True)
class BlackJackForTimeSettings(StakeSettings):
    rules: BlackjackRules = BLACK_JACK_FOR_TIME_KIND.base


GAME = Game(
    name="black-jack-for-time",
    letter="B",
    code="BJFT",
    title="Black Jack For Time",
    about=N_("Beat the dealer, win minutes"),
    settings=BlackJackForTimeSettings,
    kind=BLACK_JACK_FOR_TIME_KIND,
    samples=SAMPLES,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
    has_tutor=True,
)
