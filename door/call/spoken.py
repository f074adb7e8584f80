"""Lines that callers write to each other: cleaned, addressed and limited in number.

A line is shown on other people's terminals, so nothing in it may act on one: no controls, no
escape sequences, no invisible characters, no pipe codes, and no more marks on a letter than one
cell can hold. At a shared table, a line that begins with a slash and a name is a whisper.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ansi.width import character_width
from door.call.markup import literal
from door.errors import TalkRefused
from timebank.language import _
from timebank.names.names import fold

BLANKS = "\N{HANGUL CHOSEONG FILLER}\N{BRAILLE PATTERN BLANK}"  # invisible, but not spaces
LONGEST_LINE = 120  # characters of one line of talk
MAX_LINES = 4  # of one caller within WINDOW_SECONDS
WINDOW_SECONDS = 8.0


@dataclass(frozen=True)
class Whisper:
    """A line for one caller at a shared table."""

    to: str
    text: str


def clean(typed: str) -> str:
    """Return a line as others may see it; "" if nothing remains.

    >>> clean("  |12red\\x1b[2J   and  loud ")
    '│12red[2J and loud'
    """
    text = unicodedata.normalize("NFC", typed[: 4 * LONGEST_LINE])
    spaced = "".join(" " if letter.isspace() or letter in BLANKS else letter for letter in text)
    # Marks that NFC could not join with their letter have no cell and would pile up.
    flat = "".join(letter for letter in spaced if character_width(letter))
    return literal(" ".join(flat.split())[:LONGEST_LINE].rstrip())


def addressed(line: str, names: Sequence[str]) -> Whisper | str:
    """Return a cleaned line as it is, or as a whisper to one of `names` when it begins with "/".

    A name may be shortened to its beginning if that fits only one of them. Raises `TalkRefused` if
    no name or several fit, or if no words follow the name.

    >>> addressed("/ada your luck!", ["Ada Lovelace", "Bob"])
    Whisper(to='Ada Lovelace', text='your luck!')
    """
    if not line.startswith("/"):
        return line
    words = line[1:].split()
    for length in range(len(words), 0, -1):
        typed = " ".join(words[:length])
        matches = [name for name in names if fold(name) == fold(typed)]
        if length == 1 and not matches and fold(typed):
            matches = [name for name in names if fold(name).startswith(fold(typed))]
        if len(matches) > 1:
            raise TalkRefused(_("Who do you mean: {names}?").format(names=", ".join(matches)))
        if matches and length < len(words):
            return Whisper(matches[0], " ".join(words[length:]))
        if matches:
            raise TalkRefused(
                _("Nothing to tell {name}. Use: /name message").format(name=matches[0])
            )
    raise TalkRefused(_("No such player here. Use: /name message"))


class Pace:
    """Limits how often one caller may send lines to others."""

    __slots__ = ("_sent_at",)

    def __init__(self) -> None:
        self._sent_at: tuple[float, ...] = ()

    def allows(self, now: float) -> bool:
        """Count a line at the monotonic second `now`; return False if it is one too many."""
        if len(self._sent_at) == MAX_LINES and now - self._sent_at[0] < WINDOW_SECONDS:
            return False
        self._sent_at = (*self._sent_at, now)[-MAX_LINES:]
        return True
