"""Black Jack For Time as a `Kind`."""

from __future__ import annotations

from door.games.blackjack.kind import BlackJackKind
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME

BLACK_JACK_FOR_TIME_KIND = BlackJackKind(
    name="black-jack-for-time",
    base=BLACK_JACK_FOR_TIME,
)
