"""The names of awards and their conditions: twenty awards for a house with five games.

Each award has a word. The award for a hand won at a game is "won " and the game's key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from timebank.language import N_, _, ngettext
from timebank.words import title

# Awards that are not earned by a hand alone (awards.py).
BANK, DEPOSIT, WEEK, DEAL = "bank", "deposit", "week", "deal"
WON = "won "
# Others see this award only of callers who agreed to appear among the losers.
COMEBACK = "comeback"

_NAMES: Mapping[str, tuple[str, str]] = {
    "hand": (N_("First hand"), N_("Play a hand to its end.")),
    "natural": (N_("A blackjack"), N_("Win with a blackjack.")),
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
    """Return the name of an award in the reader's language.

    >>> name_of("streak"), name_of("won a-game"), name_of("unheard-of")
    ('Hot streak', 'A win at A Game', 'unheard-of')
    """
    if award.startswith(WON):
        return _("A win at {game}").format(game=_(title(award.removeprefix(WON))))
    return _(_NAMES[award][0]) if award in _NAMES else award


def award_words(awards: Sequence[str]) -> str:
    """Return that the reader has earned these awards, given by their words."""
    text = ngettext("Award: {names}!", "Awards: {names}!", len(awards))
    return text.format(names=", ".join(map(name_of, awards)))


def wish_of(award: str) -> str:
    """Return the condition of an award in the reader's language, "" for an unknown award."""
    if award.startswith(WON):
        return _("Win a hand there.")
    return _(_NAMES[award][1]) if award in _NAMES else ""
