"""The keys of rules listed outside their game's folder, compared with it."""

from __future__ import annotations

import json
import re

import pytest

from door.games import proofs
from door.games.engine.descriptor import Game
from door.games.engine.rules import Halves
from door.games.registry import GAMES
from tests import ROOT
from timebank.settings.forms import Number, OneOf

RULES = (ROOT / "docs" / "rules.md").read_text("utf-8")


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_rules_page_lists_every_key_with_default_and_values(
    game: Game,
) -> None:
    section = RULES.partition(f"\n## {game.title}\n")[2].partition("\n## ")[0]
    table = section.partition("\n### All keys")[2]
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+?) \|$", table, re.M)
    usual = proofs.whole_rules(game.kind, game.kind.base)
    assert [(key, default) for key, default, _ in rows] == [
        (key, json.dumps(usual[key])) for key in game.kind.sysop_keys
    ]
    for key, default, others in rows:
        check, values = game.kind.checks[key], set(re.findall(r"`(.+?)`", others))
        match check:
            case Number() | Halves():
                assert f"to `{check.most}`" in others
            case OneOf(words):
                assert {default, *values} == set(map(json.dumps, words))
            case _:
                assert {default, *values} == {"true", "false"}


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_usual_rules_are_rules_that_may_be(game: Game) -> None:
    usual = proofs.whole_rules(game.kind, game.kind.base)
    assert game.kind.vary(usual, game.kind.base) == game.kind.base


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_rules_page_lists_what_casinos_play_otherwise(game: Game) -> None:
    table = RULES.partition("\n## Sets of rules\n")[2].partition("\n## ")[0]
    (row,) = re.findall(rf"^\| {game.title} \| .+ \| (.+) \|$", table, re.M)
    listed = dict(re.findall(r"`(\w+) = (.+?)`", row))
    assert listed == {key: json.dumps(value) for key, value in game.kind.in_casinos.items()}
    assert game.kind.rules_of("1991") == game.kind.base
    casino = proofs.whole_rules(game.kind, game.kind.rules_of("casino"))
    usual = proofs.whole_rules(game.kind, game.kind.base)
    assert casino == {**usual, **game.kind.in_casinos}
