"""The world's deal: the same cards for the same date on every board.

docs/daily-deal.md defines it to the byte, with test vectors. A change needs a new version there and
in `VERSION`, and the audit must know the old one too.

>>> world_seed(world_seal(date(2026, 11, 28))).hex()[:16]
'ff7c5830fcb85e18'
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import date

from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_to_mapping
from timebank.wagers.contests import WORLD
from timebank.wagers.deals import Shoe

VERSION = f"{WORLD}1/"
RULES = replace(BLACK_JACK_FOR_TIME, insurance_unit=1)


def world_seal(day: date) -> str:
    """Return the name of the world's deal of a date, which stands in place of a seal.

    >>> world_seal(date(2026, 11, 28))
    'world/1/2026-11-28'
    """
    return VERSION + day.isoformat()


def world_seed(seal: str) -> bytes:
    return hashlib.sha256(f"blackjack-for-time/{seal}".encode()).digest()


def world_shoe(day: date) -> Shoe:
    """Return seed, seal and rules of the world's deal of a date."""
    seal = world_seal(day)
    return world_seed(seal), seal, rules_to_mapping(RULES)


def fits_date(seed: bytes, seal: str, day: str, rules: str) -> bool:
    """Return whether a stored deal of the world has the cards and rules of its date."""
    is_named = seal == VERSION + day and seed == world_seed(seal)
    return is_named and json.loads(rules) == rules_to_mapping(RULES)
