"""What callers say to each other: cleaned, addressed and paced.

A line is shown on other people's terminals, so nothing in it may act on one: no controls, no
escape sequences, no invisible characters, no pipe codes, and no more marks on a letter than one
cell can hold. At a table that several share, one that begins with a slash is whispered to the one
it names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ansi.width import character_width
from door.call.markup import literal
from door.errors import NotSaid
from timebank.language import _
from timebank.names.names import fold

BLANKS = "\N{HANGUL CHOSEONG FILLER}\N{BRAILLE PATTERN BLANK}"  # letters by name, nothing to see
LONGEST_LINE = 120  # characters of one line of talk
LINES_AT_ONCE = 4  # so many lines may be said within SPAN_SECONDS
SPAN_SECONDS = 8.0


@dataclass(frozen=True)
class Whisper:
    """A line for one pair of ears."""

    to: str
    text: str


def clean(typed: str) -> str:
    """Return a line as others may see it; "" when nothing of it is left.

    >>> clean("  |12red\\x1b[2J   and  loud ")
    '│12red[2J and loud'
    """
    text = unicodedata.normalize("NFC", typed[: 4 * LONGEST_LINE])
    spaced = "".join(" " if letter.isspace() or letter in BLANKS else letter for letter in text)
    # What has no cell of its own, as NFC could not put it on its letter, would pile up there.
    flat = "".join(letter for letter in spaced if character_width(letter))
    return literal(" ".join(flat.split())[:LONGEST_LINE].rstrip())


def addressed(line: str, names: Sequence[str]) -> Whisper | str:
    """Return a cleaned line as it is, or as a whisper to one of `names` when it begins with "/".

    A name may be shortened to its beginning, as long as it means only one of them. Raises
    `NotSaid` when nobody or more than one is meant, or when nothing is said to them.

    >>> addressed("/ada your luck!", ["Ada Lovelace", "Bob"])
    Whisper(to='Ada Lovelace', text='your luck!')
    """
    if not line.startswith("/"):
        return line
    words = line[1:].split()
    for length in range(len(words), 0, -1):
        typed = " ".join(words[:length])
        meant = [name for name in names if fold(name) == fold(typed)]
        if length == 1 and not meant and fold(typed):
            meant = [name for name in names if fold(name).startswith(fold(typed))]
        if len(meant) > 1:
            raise NotSaid(_("Who do you mean: {names}?").format(names=", ".join(meant)))
        if meant and length < len(words):
            return Whisper(meant[0], " ".join(words[length:]))
        if meant:
            raise NotSaid(_("Nothing to tell {name}. Use: /name message").format(name=meant[0]))
    raise NotSaid(_("No such player here. Use: /name message"))


class Pace:
    """How fast one caller may do what everybody is told of."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done: tuple[float, ...] = ()

    def allows(self, now: float) -> bool:
        """Count one more at the monotonic second `now`, unless it is one too many."""
        if len(self._done) == LINES_AT_ONCE and now - self._done[0] < SPAN_SECONDS:
            return False
        self._done = (*self._done, now)[-LINES_AT_ONCE:]
        return True
