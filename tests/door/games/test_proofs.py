"""The data for checking hands, for every game of the house and a sample one."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from door.games import proofs
from door.games.registry import GAMES
from tests.door import proved
from timebank.settings.forms import OneOf
from timebank.words import Unit


def lists_of_names() -> Iterator[list[str]]:
    """Yield all lists from which a link names an entry."""
    yield list(GAMES)
    yield list(get_args(Unit))
    for game in GAMES.values():
        moves = list(game.kind.actions)
        yield [*moves, *(f"{move}:" for move in moves)]
        yield list(game.kind.checks)
        yield from (
            list(check.words) if isinstance(check, OneOf) else ["true", "false"]
            for check in game.kind.checks.values()
        )


def test_no_two_names_of_a_list_have_the_same_number_in_a_link() -> None:
    """Of two equal numbers the newer entry needs another name."""
    for names in lists_of_names():
        assert len(set(map(proofs.number_of, names))) == len(names), names


async def test_a_game_that_was_just_added_has_proofs_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its folder and the registry need to know of it."""
    game = GAMES["baccarat"]
    newest = replace(game, kind=replace(game.kind, name="punto"))
    monkeypatch.setitem(GAMES, "punto", newest)  # type: ignore[arg-type]  # it is a dict
    monkeypatch.setattr(proved, "TABLES", {"punto": 1})
    played = await proved.proved_hands(tmp_path, 4)
    assert {each.proof["game"] for each in played} == {"punto"}
    assert all(each.proof["rules"].keys() == game.kind.checks.keys() for each in played)
    assert all(each.digits for each in played if "beacon" not in each.proof)


def test_the_examples_in_docstrings_hold() -> None:
    result = doctest.testmod(proofs)
    assert result.attempted > 0
    assert result.failed == 0
