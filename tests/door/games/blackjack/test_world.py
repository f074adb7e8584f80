"""The world's deal: the test vectors of docs/daily-deal.md, and its fixed rules."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from door.games.blackjack.duplicate import HANDS, cards_of
from door.games.blackjack.rules import rules_from_mapping, rules_to_mapping
from door.games.blackjack.world import RULES, fits_date, world_shoe
from timebank.wagers.rounds import encode

DOCUMENT = (Path(__file__).parents[4] / "docs/daily-deal.md").read_text("utf-8")
VECTORS = re.findall(r"^\| (2\d{3}-\d\d-\d\d) \| `(\w{64})` \| (\d+) \| (.+?) \|$", DOCUMENT, re.M)


@pytest.mark.parametrize(("day", "seed", "hand", "cards"), VECTORS)
def test_the_vectors_of_the_document_hold(day: str, seed: str, hand: str, cards: str) -> None:
    found, seal, rules = world_shoe(date.fromisoformat(day))
    assert (found.hex(), seal) == (seed, f"world/1/{day}")
    dealt = cards_of(rules_from_mapping(rules, RULES), found, int(hand))
    assert " ".join(dealt[:8]) == cards


def test_the_document_has_vectors_of_more_than_one_date_and_hand() -> None:
    assert len({day for day, *_ in VECTORS}) >= 3
    assert {"1", str(HANDS)} <= {hand for _, _, hand, _ in VECTORS}


def test_the_rules_are_those_of_the_document() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `?(.+?)`? \|$", DOCUMENT, re.M)
    listed = dict(rows)
    assert listed == {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in rules_to_mapping(RULES).items()
    }


def test_only_the_cards_and_rules_of_its_date_fit() -> None:
    day, next_day = date(2026, 11, 28), date(2026, 11, 29)
    seed, seal, rules = world_shoe(day)
    stored = encode(rules)
    assert fits_date(seed, seal, "2026-11-28", stored)
    assert not fits_date(world_shoe(next_day)[0], seal, "2026-11-28", stored)
    assert not fits_date(seed, seal, "2026-11-29", stored)
    assert not fits_date(seed, seal.replace("/1/", "/2/"), "2026-11-28", stored)
    assert not fits_date(seed, seal, "2026-11-28", encode({**rules, "decks": 2}))
