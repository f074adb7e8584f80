"""Cards in sentences: every one has a name of its own, whole, in any language."""

from __future__ import annotations

import pytest

from door.games.engine.cards import deck, parse_card
from door.tables.card_names import listed_cards, named_card, the_card
from timebank.language import LANGUAGES, Viewer, speaking_to


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_card_has_a_name_of_its_own(language: str) -> None:
    with speaking_to(Viewer(language)):
        assert len({named_card(card) for card in deck(1)}) == 52
        assert len({the_card(card) for card in deck(1)}) == 52


@pytest.mark.parametrize(
    ("card", "named", "the"),
    [
        ("AS", "ace of spades", "the ace of spades"),
        ("TH", "10 of hearts", "the 10 of hearts"),
        ("7D", "7 of diamonds", "the 7 of diamonds"),
        ("QC", "queen of clubs", "the queen of clubs"),
    ],
)
def test_a_card_is_named_in_a_list_and_in_a_sentence(card: str, named: str, the: str) -> None:
    assert named_card(parse_card(card)) == named
    assert the_card(parse_card(card)) == the


def test_a_card_face_down_is_listed_without_its_name() -> None:
    assert listed_cards([parse_card("KH"), None]) == "king of hearts, face down"


def test_a_card_in_a_french_sentence_has_its_article() -> None:
    with speaking_to(Viewer("fr")):
        assert the_card(parse_card("AH")) == "l'as de cœur"
