"""Black Jack For Time as a `Kind`."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine.game import BETS

BLACK_JACK_FOR_TIME_KIND = BlackJackKind(
    name="black-jack-for-time",
    base=BLACK_JACK_FOR_TIME,
    most_seats=1,
    house_keys={**BETS, "open": bool},
    undealt=None,
    shoe_of_visit=False,
    outcomes_listed=False,
)
