"""Cards, their notation and their count, and the examples in the docstrings of the games."""

import copy
import doctest
import importlib
import json
import pickle

import pytest

from door.games.engine.cards import (
    CARDS_IN_DECK,
    Card,
    count,
    deck,
    is_natural,
    parse_card,
    parse_cards,
)


@pytest.mark.parametrize(
    "module",
    [
        "door.games.engine.cards",
        "door.games.engine.shuffle",
        "door.games.blackjack.round",
        "door.games.blackjack.rules",
        "door.games.engine.replay",
        "door.games.engine.rules",
        "door.games.json_replay",
        "door.games.registry",
    ],
)
def test_the_examples_in_docstrings_hold(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_a_deck_has_52_different_cards() -> None:
    assert len(set(deck(1))) == len(deck(1)) == CARDS_IN_DECK == 52


def test_a_deck_begins_with_hearts_from_ace_to_king() -> None:
    assert " ".join(deck(1)[:14]) == "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AS"


@pytest.mark.parametrize("text", ["", "A", "1H", "10H", "ah", "AX", "AHH", "HA", " AH", "\x1bH"])
def test_an_invalid_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card") as refused:
        parse_card(text)
    assert str(refused.value).isprintable()


def test_a_long_text_that_is_no_card_is_named_short() -> None:
    with pytest.raises(ValueError, match="is not a card") as refused:
        parse_cards("AH " + "x" * 10_000)
    assert len(str(refused.value)) < 120


def test_a_card_is_its_own_json_and_survives_copies() -> None:
    card = parse_card("TD")
    assert json.dumps(card) == '"TD"'
    for other in (copy.deepcopy(card), pickle.loads(pickle.dumps(card))):
        assert other == card
        assert isinstance(other, Card)


@pytest.mark.parametrize(
    ("cards", "total", "soft"),
    [
        ("2H 3S", 5, False),
        ("TH JS", 20, False),
        ("QH KS 5D", 25, False),
        ("AH AS", 12, True),
        ("AH 9S", 20, True),
        ("AH 9S AD", 21, True),
        ("AH 9S 2D", 12, False),
        ("AH AS AD AC", 14, True),
        ("AH 5S TD", 16, False),
        ("AH TD", 21, True),
        ("TD AH TS", 21, False),
    ],
)
def test_an_ace_is_eleven_as_long_as_that_does_not_go_over(
    cards: str, total: int, soft: bool
) -> None:
    assert count(parse_cards(cards)) == (total, soft)


def test_a_natural_is_21_in_two_cards() -> None:
    assert is_natural(parse_cards("AH TD"))
    assert not is_natural(parse_cards("TH TD"))
    assert not is_natural(parse_cards("7H 7D 7S"))
