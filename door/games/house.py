"""The games of the house, each under the name that journals, ledgers and sysop.toml know it by."""

from __future__ import annotations

from collections.abc import Mapping

from door.games.baccarat_kind import BACCARAT_KIND
from door.games.blackjack_kind import BLACK_JACK_FOR_TIME_KIND, UNIX_BJ_KIND, VEGAS_KIND
from door.games.kinds import Kind

_KINDS: tuple[Kind, ...] = (BLACK_JACK_FOR_TIME_KIND, BACCARAT_KIND, UNIX_BJ_KIND, VEGAS_KIND)

GAMES: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
