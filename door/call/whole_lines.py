"""Lines that a MUD client sends whole: the words of a menu in place of its letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from itertools import takewhile

from ansi.keys import ENTER, Key
from door.call.markup import plain
from timebank.language import N_, _

LONGEST_WORDS = 80  # a longer line is only its letters

# Further words for labels: these in every language, and those of the caller's own language.
_FURTHER = {
    "Hit": N_("hit card"),
    "Stand": N_("stand stay stick call pass"),
    "Double": "double",
    "Split": "split",
    "Raise": N_("raise double"),
    "Insure": N_("insure insurance yes"),
    "No": "no",
    "Yes": "yes ok",
    "Bet": N_("bet wager deal"),
    "Again": N_("again rebet"),
    "Next": N_("next more"),
    "Previous": N_("previous back"),
    "Quit": N_("quit leave exit back menu goodbye bye"),
    "Goodbye": N_("goodbye bye quit exit leave logoff"),
    "Time bank": "bank",
    "Rules": "rules",
    "Deposit": N_("deposit save"),
    "Withdraw": "withdraw",
    "Transfer": N_("transfer send"),
    "Borrow": N_("borrow loan"),
    "History": N_("history statement"),
    "Talk": N_("talk say"),
    "Deal and duels": N_("deal daily duels tournament"),
    "Who is on": "who",
    "Messages": N_("messages mail letters"),
    "Statistics": N_("statistics stats"),
    "Your settings": "settings",
    "Black Jack For Time": "blackjack",
    "Play": N_("play deal"),
    "No card": N_("stand stay pass"),
}
_BET = "Bet"
_WITH_NUMBER = re.compile(r"(.*?)\s*(\d[\d.,]*)")


class WholeLine(Key):
    """A line of at most `LONGEST_WORDS` characters that arrived with its Enter."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return self.removeprefix(_MARK)

    @property
    def typed(self) -> Sequence[str]:
        """Return the keys that the line consists of."""
        return (*self.text, ENTER)


_MARK = "<line>"


def whole_lines(keys: Sequence[str]) -> list[str]:
    """Join the letters before each Enter to a `WholeLine`; keep all other keys.

    >>> whole_lines(["h", "i", ENTER, ENTER, "x"])
    ['<line>hi', '<enter>', 'x']
    """
    joined, text = list[str](), ""
    for key in keys:
        if key == ENTER and 0 < len(text) <= LONGEST_WORDS:
            joined.append(WholeLine(_MARK + text))
            text = ""
        elif len(key) == 1:
            text += key
        else:
            joined += (*text, key)
            text = ""
    return [*joined, *text]


def line_begun(keys: Sequence[str]) -> list[str]:
    """Return the letters after the last Enter, unless they are too many to be words."""
    letters = list(takewhile(lambda key: len(key) == 1, reversed(keys)))
    return letters[::-1] if len(letters) <= LONGEST_WORDS else []


def chosen(line: str, choices: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the letter of the choice that a line names, and the number that follows it.

    Return None if the line names none, or several. `choices` are letters with translated labels. A
    number alone is a bet, where one can be placed.

    >>> choices = {"B": "Bet", "T": "Time bank", "Q": "Quit"}
    >>> [chosen(line, choices) for line in ("bet 5", "5", "Bank", "ti", "goodbye", "b", "hit")]
    [('B', '5'), ('B', '5'), ('T', ''), ('T', ''), ('Q', ''), ('B', ''), None]
    """
    if letter := _named(line, choices):
        return letter, ""
    if parts := _WITH_NUMBER.fullmatch(line.strip()):
        letter = _named(parts[1] or _BET.casefold(), choices)
        if letter is not None:
            return letter, parts[2]
    return None


def is_for_next_question(line: str) -> bool:
    """Return whether a line at a pause has a word that means more than to go on."""
    onward = {"1": _("Yes"), "2": _("No"), "3": _("Next"), "4": _("Quit")}
    return sum(map(str.isalpha, line)) > 1 and chosen(line, onward) is None


def _named(line: str, choices: Mapping[str, str]) -> str | None:
    typed = _folded(line)
    if typed in ("?", "help", _folded(_("Help"))):
        return "?"
    if typed.upper() in choices:
        return typed.upper()
    labels = {letter: _folded(plain(label)) for letter, label in choices.items() if label}
    further = {
        _folded(_(label)): _folded(f"{words} {_(words)}").split()
        for label, words in _FURTHER.items()
    }
    answers = {"yes", "no", _folded(_("Yes")), _folded(_("No"))}
    words = {
        letter: (*_own(label, answers), *further.get(label, ())) for letter, label in labels.items()
    }
    if any(each.startswith(typed) for each in answers):  # for yes-or-no questions only
        heads = {key: {*each.split()[:1], *further.get(each, ())} for key, each in labels.items()}
        labels = {letter: label for letter, label in labels.items() if answers & heads[letter]}
    for matches in (
        [letter for letter, label in labels.items() if label == typed],
        [letter for letter in labels if typed in words[letter]],
        [letter for letter, label in labels.items() if typed and label.startswith(typed)],
        [letter for letter in labels if typed and any(w.startswith(typed) for w in words[letter])],
    ):
        if len(matches) == 1:
            return matches[0]
    return None


def _own(label: str, answers: Set[str]) -> list[str]:
    """Return the words that name a label: of "no card" only "no", as "card" means the opposite."""
    own = label.split()
    return own[:1] if answers & {*own[:1]} else own


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text).casefold()
    return " ".join("".join(each for each in letters if not unicodedata.combining(each)).split())
