"""The figures in the documents match the program."""

from __future__ import annotations

import re
import tomllib

import pytest

from door.games.engine.descriptor import Game
from door.games.engine.game import TEXT
from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.odds import STRATEGIES, Odds
from tests import ROOT

BJFT = GAMES["black-jack-for-time"]


def rows(document: str, heading: str) -> dict[str, list[str]]:
    """Return the cells of the first table below a heading, by those of its first column."""
    text = (ROOT / "docs" / document).read_text("utf-8")
    below = text[re.search(rf"^#+ {heading}$|^# {heading}$", text, re.M).end() :]  # type: ignore[union-attr]
    table = re.search(r"(?:^\|.*\n)+", below, re.M)
    assert table is not None
    cells = [
        [cell.strip(" *") for cell in line.strip("|").split("|")]
        for line in table.group().splitlines()[2:]
    ]
    return {first: rest for first, *rest in cells}


def shown(odds: Odds, strategy: str) -> str:
    return f"{odds.strategies[strategy].mean * 100:+.3f} %"


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_table_of_edges_is_computed(game: Game) -> None:
    odds = odds_of(game, game.kind.base)
    assert rows("odds.md", "What a table is worth")[game.title] == [
        shown(odds, strategy) for strategy in STRATEGIES
    ]


def test_the_table_of_edges_by_setting_is_computed() -> None:
    for keys, gains in rows("guide/settings.md", "Setting an edge").items():
        settings = tomllib.loads("\n".join(re.findall(r"`(.+?)`", keys)))
        base = BJFT.kind.rules_of(settings.pop("rules", TEXT))
        odds = odds_of(BJFT, BJFT.kind.vary(settings, base))
        assert gains == [shown(odds, "perfect"), shown(odds, "totals")], keys
