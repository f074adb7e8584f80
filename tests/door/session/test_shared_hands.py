"""What daily deal and tournament share: the rules and the ranking."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from door.call.markup import plain
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.session.contest_page import ranked
from door.tables.black_jack_for_time.words import main_rules, sealed_rules
from timebank.wagers.contests import ContestResult

LONG = "Wolfeschlegelsteinhausen"


def test_the_rules_speak_of_no_minutes_and_of_no_key_that_only_a_table_has() -> None:
    rules = plain(sealed_rules(BLACK_JACK_FOR_TIME, is_worlds=False))
    assert "shuffled for every hand" in rules
    assert "sealed before anybody plays" in rules
    world = plain(sealed_rules(BLACK_JACK_FOR_TIME, is_worlds=True))
    assert "Nobody chose these cards: they follow from the name below." in world
    assert "sealed" not in world, "anybody can work out the cards of a date"
    for untrue in ("your time", "turns a day", "Type F", "C to cut"):
        assert untrue not in rules


@pytest.mark.parametrize(("columns", "name"), [(80, LONG), (40, LONG[:17])])
def test_a_long_name_is_cut_only_where_there_is_no_room(columns: int, name: str) -> None:
    placed = [ContestResult(1, LONG, 30, 17723, (), 1), ContestResult(2, "Bob", -10, 20000, (), 2)]
    for prizes in (None, {1: "15:00"}):
        rows = [plain(row) for row in ranked(placed, 1, 5, columns, prizes)]
        assert f" {name} " in rows[1]
        assert len({len(row) for row in rows}) == 1, rows
        assert len(rows[1]) <= columns - 2


def test_the_tour_tells_the_rules_of_its_own_board() -> None:
    told = "The dealer wins ties. 21 pays 2 to 1. Five cards"
    assert main_rules(BLACK_JACK_FOR_TIME).startswith(told)
    other = replace(BLACK_JACK_FOR_TIME, ties="push", twenty_one_pays=Fraction(5, 2))
    assert main_rules(other).startswith("Ties push. 21 pays 1.5 to 1. Five cards")
