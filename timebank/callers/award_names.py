"""What awards are called, and what each wants: twenty where the house has five games.

An award is known by a word, or by "won " and the name of a game for a hand won at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from timebank.language import N_, _
from timebank.words import title

# Those that no hand earns by itself (awards.py).
BANK, DEPOSIT, WEEK, DEAL = "bank", "deposit", "week", "deal"
WON = "won "
# Shown to others of those alone who wish to be named also where they have lost.
COMEBACK = "comeback"

_NAMES: Mapping[str, tuple[str, str]] = {
    "hand": (N_("First hand"), N_("Play a hand to its end.")),
    "natural": (N_("A natural"), N_("Be dealt a natural.")),
    "charlie": (N_("Charlie"), N_("Hold five cards without going bust.")),
    "split": (N_("Both sides"), N_("Split a pair, and win both hands.")),
    "half": (N_("Half an hour"), N_("Win 30 minutes or more with one hand.")),
    "fourfold": (N_("Fourfold"), N_("Win four times your bet with one hand.")),
    "streak": (N_("Hot streak"), N_("Win five hands in a row at one game.")),
    COMEBACK: (N_("Comeback"), N_("Win after five losses in a row at one game.")),
    "company": (N_("Full table"), N_("Play a hand with three others at your table.")),
    "hundred": (N_("Regular"), N_("Play a hundred hands.")),
    "thousand": (N_("Old hand"), N_("Play a thousand hands.")),
    BANK: (N_("Bank breaker"), N_("Win all that the bank has.")),
    DEPOSIT: (N_("Saver"), N_("Put minutes into the time bank.")),
    WEEK: (N_("All week"), N_("Call on seven days in a row.")),
    DEAL: (N_("By the book"), N_("Play a daily deal without one mistake.")),
}


def all_awards(games: Iterable[str]) -> list[str]:
    """List the words of all awards of a house with these games."""
    first, *others = _NAMES
    return [first, *(f"{WON}{game}" for game in games), *others]


def name_of(award: str) -> str:
    """Say what an award is called, in the reader's language.

    >>> name_of("streak"), name_of("won a-game"), name_of("unheard-of")
    ('Hot streak', 'A win at A Game', 'unheard-of')
    """
    if award.startswith(WON):
        return _("A win at {game}").format(game=title(award.removeprefix(WON)))
    return _(_NAMES[award][0]) if award in _NAMES else award


def wish_of(award: str) -> str:
    """Say what an award wants, in the reader's language; "" for one that is none of ours."""
    if award.startswith(WON):
        return _("Win a hand there.")
    return _(_NAMES[award][1]) if award in _NAMES else ""
