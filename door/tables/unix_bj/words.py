"""The words of the house around the teletype of UNIX bj, and its manual page.

`teletype` has the program's own output, which is the same in every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from door.call.markup import wrap
from door.tables import words
from timebank.language import _
from timebank.words import money, span

if TYPE_CHECKING:
    from door.call.keyboard import Keyboard

MANUAL_TITLE = "BJ(VI)"
_MANUAL_COLUMNS = 72
_INDENT = "  "
_CENTS = 100


def dollars(amount: int) -> str:
    """Return whole dollars without a sign."""
    return money(abs(amount) * _CENTS, "usd-cent")


def net_words(amount: int) -> str:
    """Return the sentence on a net in whole dollars."""
    return words.net_words(amount, dollars(amount))


def net_so_far(amount: int) -> str:
    """Return the net in play money for the main menu."""
    if not amount:
        return _("play money, even so far")
    words = (
        _("play money, up {amount} so far") if amount > 0 else _("play money, down {amount} so far")
    )
    return words.format(amount=dollars(amount))


# The front page.


def introduction() -> str:
    return "|07" + _("The black jack of UNIX, as it was played on a teletype in 1971.")


def keys(keyboard: Keyboard) -> str:
    """Return the meaning of the keys, which the program does not explain."""
    words = keyboard.suited(
        _(
            "Type {y} and {enter} for yes, {enter} alone for no. {delete} or {interrupt} ends the "
            "game and answers no to the questions left in the hand. {rubout} erases."
        ),
        _(
            "Type {y}, or a question's own word such as {hit}, for yes, and {enter} alone for no. "
            "The word {quit} ends the game and answers no to the questions left in the hand."
        ),
    )
    named = {"y": "y", "hit": "hit", "quit": _("quit"), "enter": _("Enter"), "delete": "DEL"}
    named |= {"interrupt": "Ctrl-C", "rubout": "Ctrl-H"}
    return "|07" + words.format(**{name: _lit(text) for name, text in named.items()})


def terms(coin: int, turns: int, limit: int | None) -> Sequence[str]:
    """Return the stakes, where a dollar is a coin of `coin` seconds, and the hands of today."""
    words = _("The bet is {bet} on every hand. A dollar is a coin: {time} of your time.")
    bet, time = _lit("$2"), _lit(span(coin))
    lines = ["|07" + words.format(bet=bet, time=time)]
    if limit is not None:
        played = _("You have played {turns} of {limit} hands today.")
        lines.append("|07" + played.format(turns=_lit(str(turns)), limit=_lit(str(limit))))
    return lines


def terms_of_play_money() -> str:
    words = _("The bet is {bet} on every hand, in play money: the house keeps the tab.")
    return "|07" + words.format(bet=_lit("$2"))


def score(action: int, standing_: int) -> str:
    words = _("Your action is {amount}.").format(amount=_lit(dollars(action)))
    return f"|07{words} {net_words(standing_)}"


def _lit(text: str) -> str:
    return f"|15{text}|07"


# The manual page.


def manual(columns: int, keyboard: Keyboard) -> str:
    """Return the manual page for a screen of `columns`, with pipe codes."""
    width = min(_MANUAL_COLUMNS, columns) - len(_INDENT)
    sections = [
        f"|15{head}|07\n" + "\n\n".join(_indented(text, width) for text in paragraphs)
        for head, paragraphs in _sections(keyboard)
    ]
    return "\n\n".join(sections)


def _indented(text: str, width: int) -> str:
    return "\n".join(f"{_INDENT}{line}" for line in wrap(text, width))


def _sections(keyboard: Keyboard) -> Sequence[tuple[str, Sequence[str]]]:
    hit = f"Hit? {_('(the program of 1971 printed only ?)')}"
    return (
        (_("NAME"), (_("bj -- black jack, as Ken Thompson wrote it for UNIX in 1971"),)),
        (_("SYNOPSIS"), ("/usr/games/bj",)),
        (_("DESCRIPTION"), _description()),
        (
            _("QUESTIONS"),
            (
                _("Type y and Enter for yes, Enter alone for no."),
                f"Insurance?  Split pair?  Double down?\n{hit}",
            ),
        ),
        (
            _("KEYS"),
            (
                keyboard.suited(
                    _(
                        "Ctrl-H erases. DEL, Ctrl-C and telnet's Interrupt Process end the game; "
                        "the hand on the table is played out as if you answered no to all "
                        "questions left. Press DEL right after your last answer in a hand, and "
                        "the game ends before the next one."
                    ),
                    keys(keyboard),
                ),
            ),
        ),
        (
            _("OUTPUT"),
            (
                _(
                    "A card is its rank and its suit: AS, TD. The action is all you have ever "
                    "bet. Below it stands what you have won or lost. Both are printed at every "
                    "shuffle and when you leave."
                ),
            ),
        ),
        (
            _("FILES"),
            (
                _(
                    "A run of the game is dealt from one seed. Type F before you play to see its "
                    "seal, and after you leave to see the seed. From shuffle to shuffle a deck is "
                    "dealt down to its last card, which is never dealt."
                ),
            ),
        ),
        (
            _("BUGS"),
            (_("The page of 1972 warns of the random number generator. This one can be checked."),),
        ),
    )


def _description() -> Sequence[str]:
    return (
        _(
            "You play against the dealer, who has no choices: the dealer hits below 17 and "
            "stands on any 17. The bet is $2 on every hand. One deck serves hand after hand."
        ),
        _(
            "A blackjack, 21 in your first two cards, pays $3. A dealer's blackjack takes your "
            "bet, unless you have one too: then nobody pays."
        ),
        _(
            "When the dealer shows an ace, you can insure for $1. Insurance wins $2 if the "
            "dealer has blackjack, and loses if not."
        ),
        _(
            "You can split two cards of the same value into two hands of $2 each, once a hand; "
            "split aces get one card each. On ten or eleven in two cards you can double down: "
            "twice the bet, and exactly one more card."
        ),
        _("Over 21 is a bust and loses. Otherwise the higher total wins, and a tie is a push."),
    )
