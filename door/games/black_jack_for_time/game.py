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
from door.games.engine.game import Samples
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


# For robots and fuzzers.
_HAND = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}
SAMPLES = Samples(
    hands=(
        {**_HAND, "rules": {}, "actions": ["hit", "hit"]},
        {**_HAND, "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": ["stay"]},
        {**_HAND, "actions": ["double"]},
    ),
    habits={
        "<B>et": {"B": 80, "R": 1, "F": 3, "C": 1, "U": 1, "T": 2, "Q": 4},
        "<H>it": {"H": 40, "S": 45, "D": 12, "P": 10},
    },
)

GAME = Game(
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
