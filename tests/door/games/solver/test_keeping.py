"""Odds are worked out once, and kept for the same rules and the same program alone."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from door.games.red_dog.game import GAME as RED_DOG_GAME
from door.games.red_dog.rules import RED_DOG
from door.games.solver import cache
from door.games.solver.odds import Odds

GAME = RED_DOG_GAME


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """What was worked out, the cache being in a folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[object] = []

    def counted(name: str, rules: object) -> Odds:
        asked.append(rules)
        return RED_DOG_GAME.odds(name, rules)

    monkeypatch.setattr(sys.modules[__name__], "GAME", replace(RED_DOG_GAME, odds=counted))
    return asked


def kept(folder: Path) -> list[Path]:
    return list((folder / cache.FOLDER).iterdir())


def test_the_second_time_nothing_is_worked_out(worked_out: list[object], tmp_path: Path) -> None:
    first = cache.odds_of(GAME, RED_DOG)
    assert cache.odds_of(GAME, RED_DOG) == first
    assert worked_out == [RED_DOG]
    assert len(kept(tmp_path)) == 1


def test_other_rules_and_another_program_have_odds_of_their_own(
    worked_out: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.odds_of(GAME, RED_DOG)
    cache.odds_of(GAME, replace(RED_DOG, decks=2))
    monkeypatch.setattr(cache, "_program", lambda: "another")
    cache.odds_of(GAME, RED_DOG)
    assert len(worked_out) == len(kept(tmp_path)) == 3


@pytest.mark.parametrize("damage", [b"", b"\xff\n", b"seal\n{}", b"[]"])
def test_what_is_damaged_is_thrown_away(
    worked_out: list[object], tmp_path: Path, damage: bytes
) -> None:
    first = cache.odds_of(GAME, RED_DOG)
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert cache.odds_of(GAME, RED_DOG) == first
    assert len(worked_out) == 2
    assert file.read_bytes() == whole


def test_a_digit_that_was_changed_is_noticed(worked_out: list[object], tmp_path: Path) -> None:
    first = cache.odds_of(GAME, RED_DOG)
    (file,) = kept(tmp_path)
    file.write_text(file.read_text().replace('"mean": -0.03', '"mean": 0.03'))
    assert cache.odds_of(GAME, RED_DOG) == first
    assert len(worked_out) == 2


def test_where_nothing_can_be_written_nothing_is_kept(
    worked_out: list[object], tmp_path: Path
) -> None:
    (tmp_path / cache.FOLDER).write_text("a file where the folder would be")
    cache.odds_of(GAME, RED_DOG)
    cache.odds_of(GAME, RED_DOG)
    assert len(worked_out) == 2
