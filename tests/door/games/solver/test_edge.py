"""What `door check` says of a table: who gains there, and which settings would end it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from door.games.blackjack.rules import BlackjackRules
from door.games.engine.descriptor import Game
from door.games.engine.rules import choice
from door.games.registry import GAMES
from door.games.solver.edge import _less_generous as less_generous
from door.games.solver.edge import edge
from door.games.solver.odds import Figures, Odds
from tests.door.shell import Shell

BJFT = GAMES["black-jack-for-time"]


@dataclass(frozen=True)
class RulesOfTies:
    ties: str = "push"


def told(**keys: object) -> str:
    return edge(BJFT, BJFT.kind.vary(keys, BJFT.kind.base))


def test_a_gain_comes_with_the_tutor_and_with_a_key_that_would_end_it() -> None:
    assert told() == (
        "Black Jack For Time: a careful caller gains 0.970% of every stake, and the tutor makes any"
        " caller careful; `charlie_pays = 2` would make it -1.189%. See docs/odds.md."
    )


def test_what_the_house_keeps_is_told_without_a_key() -> None:
    assert told(charlie_pays=2) == (
        "Black Jack For Time: the house keeps 1.189% of what a careful caller stakes."
    )


def worth(monkeypatch: pytest.MonkeyPatch, mean: Callable[[BlackjackRules], float]) -> None:
    """Let each rule set be worth this to a careful caller, so that none is worked out."""

    def odds_of(_game: Game, rules: BlackjackRules) -> Odds:
        return Odds("", {}, {"perfect": Figures(mean(rules), 1.0, {}, {}, 1.0)})

    monkeypatch.setattr("door.games.solver.edge.odds_of", odds_of)


def test_where_no_key_is_enough_the_fewest_are_told_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mean(rules: BlackjackRules) -> float:
        kept = 0.03 * (rules.ties == "dealer") + 0.03 * (rules.charlie_pays == 2)
        return 0.08 - kept - 0.03 * (rules.natural_pays < 3)

    worth(monkeypatch, mean)
    assert told(ties="push") == (
        "Black Jack For Time: a careful caller gains 8.000% of every stake, and the tutor makes any"
        ' caller careful; `ties = "dealer"`, `charlie_pays = 2`, `natural_pays = 2.5` would make it'
        " -1.000%. See docs/odds.md."
    )


def test_a_key_that_is_meaner_already_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    worth(monkeypatch, lambda rules: 0.01 - 0.02 * (rules.natural_pays < 2))
    assert "would make it" not in told(natural_pays=2)
    worth(monkeypatch, lambda rules: 0.01 - 0.02 * (rules.charlie_pays != 1))
    assert "`charlie_pays" not in told(charlie_pays=1)


def test_where_nothing_ends_it_the_gain_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    worth(monkeypatch, lambda _: 0.5)
    assert told() == (
        "Black Jack For Time: a careful caller gains 50.000% of every stake, and the tutor makes"
        " any caller careful. See docs/odds.md."
    )


def test_a_table_without_a_tutor_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    baccarat = GAMES["baccarat"]
    assert edge(baccarat, baccarat.kind.base) == (
        "Baccarat: the house keeps 1.242% of what a careful caller stakes."
    )
    worth(monkeypatch, lambda _: 0.01)
    assert edge(baccarat, baccarat.kind.base) == (
        "Baccarat: a careful caller gains 1.000% of every stake. See docs/odds.md."
    )


def test_the_check_has_a_line_for_each_open_table(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    closed = "".join(f"[games.{name}]\nopen = false\n" for name in ("vegas", "unix-bj"))
    config.write_text(f"{closed}[games.black-jack-for-time]\ncharlie_pays = 2\n")
    output = Shell(config)("check").output.splitlines()
    lines = [line for line in output if "careful caller" in line]
    assert [line.partition(":")[0] for line in lines] == [
        game.title for name, game in GAMES.items() if name not in ("vegas", "unix-bj")
    ]
    assert lines[0] == told(charlie_pays=2)


def test_a_game_whose_keys_have_other_values_is_told_of_none_that_it_does_not_know() -> None:
    kind = replace(GAMES["red-dog"].kind, checks={"ties": choice("push", "house")})
    game = replace(GAMES["red-dog"], kind=kind)
    assert list(less_generous(game, RulesOfTies())) == []
