"""Black Jack For Time: its kind, its settings in sysop.toml and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    BLACK_JACK_IN_CASINOS,
    BlackjackRules,
    checks_of,
)
from door.games.engine.descriptor import Game
from door.games.engine.settings import StakeSettings
from door.games.solver.blackjack import odds
from door.games.solver.blackjack_card import card
from door.games.solver.decisions import BlackjackCosts
from timebank.language import N_

BLACK_JACK_FOR_TIME_KIND = BlackJackKind(
    name="black-jack-for-time",
    base=BLACK_JACK_FOR_TIME,
    in_casinos=BLACK_JACK_IN_CASINOS,
    checks=checks_of(BLACK_JACK_FOR_TIME),
)


@dataclass(frozen=True)
class BlackJackForTimeSettings(StakeSettings):
    rules: BlackjackRules = BLACK_JACK_FOR_TIME_KIND.base


GAME = Game(
    letter="B",
    code="BJFT",
    title="Black Jack For Time",
    about=N_("Beat the dealer, win minutes"),
    settings=BlackJackForTimeSettings,
    kind=BLACK_JACK_FOR_TIME_KIND,
    odds=odds,
    costs=BlackjackCosts,
    card=card,
)
