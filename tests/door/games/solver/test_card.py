"""Strategy cards: the published ones for six decks, and the computed ones of the other tables."""

from __future__ import annotations

from functools import cache

import pytest

from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    VEGAS,
    BlackjackRules,
    rules_from_mapping,
)
from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.strategy_card import StrategyCard, card_lines

pytestmark = pytest.mark.long

# Six decks, the dealer stands on soft 17, doubling any two cards, also after a split; the columns
# are 2 to 9, ten and ace.
PUBLISHED = {
    "4-8": "H H H H H H H H H H",
    "9": "H D D D D H H H H H",
    "10": "D D D D D D D D H H",
    "11": "D D D D D D D D D H",
    "12": "H H S S S H H H H H",
    "13-16": "S S S S S H H H H H",
    "17-20": "S S S S S S S S S S",
    "soft 12": "H H H H D H H H H H",  # two aces of a split pair, which charts leave out
    "soft 13": "H H H D D H H H H H",
    "soft 14": "H H H D D H H H H H",
    "soft 15": "H H D D D H H H H H",
    "soft 16": "H H D D D H H H H H",
    "soft 17": "H D D D D H H H H H",
    "soft 18": "S Ds Ds Ds Ds S S H H H",
    "soft 19": "S S S S S S S S S S",
    "soft 20": "S S S S S S S S S S",
    "2 2": "P P P P P P H H H H",
    "3 3": "P P P P P P H H H H",
    "4 4": "H H H P P H H H H H",
    "5 5": "D D D D D D D D H H",
    "6 6": "P P P P P H H H H H",
    "7 7": "P P P P P P H H H H",
    "8 8": "P P P P P P P P P P",
    "9 9": "P P P P P S P P S S",
    "10 10": "S S S S S S S S S S",
    "A A": "P P P P P P P P P P",
}


@cache
def card_of(name: str, rules: object = None) -> StrategyCard:
    game = GAMES[name]
    rules = game.kind.base if rules is None else rules
    return game.card(game.title, rules, odds_of(game, rules))


def rows(card: StrategyCard) -> dict[str, str]:
    return {label: " ".join(cells) for section in card.sections for label, cells in section.rows}


def test_six_decks_as_they_are_published() -> None:
    assert rows(card_of("vegas")) == PUBLISHED


def test_a_card_without_splits_has_no_pairs_and_lists_its_omissions() -> None:
    card = card_of("black-jack-for-time")
    assert [section.heading for section in card.sections] == ["You have", "An ace as 11"]
    assert card.moves == ("H", "S", "D")
    assert "gains +0.119% of the bet" in card.notes[0]
    assert card.notes[1] == "Do not insure: it loses 5.882% of what is insured, on average."
    assert "how many cards" in card.notes[2]


def test_other_rules_make_another_card() -> None:
    insured = card_of("black-jack-for-time", changed(BLACK_JACK_FOR_TIME, insurance_pays=3))
    assert any(note.startswith("Insure: it gains 25.490%") for note in insured.notes)
    doubling = rows(card_of("vegas", changed(VEGAS, double="10-11")))
    assert doubling["4-9"] == "H H H H H H H H H H"
    assert doubling["11"] == PUBLISHED["11"]


def changed(base: BlackjackRules, **keys: object) -> BlackjackRules:
    return rules_from_mapping(keys, base)


def test_the_small_tables_have_theirs() -> None:
    baccarat = card_of("baccarat")
    assert baccarat.sections[0].columns == ("T5", "14", "23", "69", "78")
    assert set(baccarat.sections[0].rows[0][1]) == {"C"}
    red_dog = card_of("red-dog")
    assert red_dog.sections[0].columns == tuple(map(str, range(1, 12)))
    assert "".join(red_dog.sections[0].rows[0][1]) == "------RRRRR"


def test_a_text_card_has_every_move_under_its_card() -> None:
    lines = list(card_lines(card_of("vegas")))
    assert lines[0] == "Vegas: what to do, by totals"
    heads = next(line for line in lines if "You have" in line)
    nine = next(line for line in lines if line.startswith("  9  "))
    assert nine[heads.index("3")] == "D"
    assert nine[heads.index("7")] == "H"
    assert all(len(line) <= 79 for line in lines[: lines.index("  H  hit")])
