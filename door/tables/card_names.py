"""The names of cards in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timebank.language import N_, _

if TYPE_CHECKING:
    from collections.abc import Iterable

    from door.games.engine.cards import Card

# Each rank in a list and in a sentence: languages differ in articles.
_RANKS = {
    "A": (N_("ace"), N_("the ace")),
    "2": ("2", N_("the 2")),
    "3": ("3", N_("the 3")),
    "4": ("4", N_("the 4")),
    "5": ("5", N_("the 5")),
    "6": ("6", N_("the 6")),
    "7": ("7", N_("the 7")),
    "8": ("8", N_("the 8")),
    "9": ("9", N_("the 9")),
    "T": ("10", N_("the 10")),
    "J": (N_("jack"), N_("the jack")),
    "Q": (N_("queen"), N_("the queen")),
    "K": (N_("king"), N_("the king")),
}
_SUITS = {"H": N_("hearts"), "S": N_("spades"), "D": N_("diamonds"), "C": N_("clubs")}


def named_card(card: Card) -> str:
    """Return the name of a card for a list.

    >>> from door.games.engine.cards import parse_card
    >>> named_card(parse_card("AS"))
    'ace of spades'
    """
    return _card_name(card, 0)


def the_card(card: Card) -> str:
    """Return the name of a card for a sentence, with its article.

    >>> from door.games.engine.cards import parse_card
    >>> the_card(parse_card("TS"))
    'the 10 of spades'
    """
    return _card_name(card, 1)


def listed_cards(cards: Iterable[Card | None]) -> str:
    """Return the names of cards; `None` is a card face down.

    >>> from door.games.engine.cards import parse_card
    >>> listed_cards([parse_card("KH"), None])
    'king of hearts, face down'
    """
    return ", ".join(_("face down") if card is None else named_card(card) for card in cards)


def _card_name(card: Card, form: int) -> str:
    # For translators: the name of a card, "ace of spades" or "the ace of spades".
    return _("{rank} of {suit}").format(rank=_(_RANKS[card.rank][form]), suit=_(_SUITS[card.suit]))
