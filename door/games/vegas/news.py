"""What happens at the Vegas table, for everybody who sits at it: one small frozen class a thing.

Names are those of callers, amounts seconds. The events of a round come with it, so that whoever
tells them can say which seat is whose.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ansi.width import character_width
from door.call.display import literal
from door.errors import NotSaid
from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackRound
from timebank.language import Phrase, _
from timebank.names.names import fold
from timebank.wagers.beacons import BeaconRound

# What callers say to each other at a table they share: cleaned, addressed and paced.
#
# A line is shown on other people's terminals, so nothing in it may act on one: no controls, no
# escape sequences, no invisible characters, no pipe codes, and no more marks on a letter than one
# cell can hold. A line that begins with a slash is whispered to the one it names.

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

    def __init__(self) -> None:
        self._done: deque[float] = deque(maxlen=LINES_AT_ONCE)

    def allows(self, now: float) -> bool:
        """Count one more at the monotonic second `now`, unless it is one too many."""
        if len(self._done) == LINES_AT_ONCE and now - self._done[0] < SPAN_SECONDS:
            return False
        self._done.append(now)
        return True


@dataclass(frozen=True)
class News:
    """Something that happened at the table."""


@dataclass(frozen=True)
class OfSomebody(News):
    """Something that a caller did, or that was done to them."""

    name: str


class SatDown(OfSomebody):
    """Somebody has a seat."""


class CameBack(OfSomebody):
    """Somebody sits at the hand again that they had left."""


class GotUp(OfSomebody):
    """Somebody is not at the table any more."""


@dataclass(frozen=True)
class LineLost(OfSomebody):
    """Somebody's line broke in a round; their hand waits so many seconds for them."""

    seconds: int


class StoodFor(OfSomebody):
    """Somebody who is not there, or says nothing, is decided for."""


@dataclass(frozen=True)
class BetAnnounced(OfSomebody):
    """Somebody bets so many coins in the next round, and is ready for the cards."""

    coins: int


@dataclass(frozen=True)
class BetRefused(OfSomebody):
    """Somebody's bet was not taken. The reason is for them alone, and becomes words for them."""

    reason: Phrase | Exception


@dataclass(frozen=True)
class CutMade(OfSomebody):
    """Somebody cut the cards with these words; "" takes the cut back."""

    words: str


@dataclass(frozen=True)
class CutCommitted(OfSomebody):
    """Somebody is committed to a cut of the fresh shoe, which nobody sees before the deal."""

    commitment: str


@dataclass(frozen=True)
class TurnBegan(OfSomebody):
    """Somebody has to decide, in so many seconds, because others wait for them."""

    seconds: int


@dataclass(frozen=True)
class Said(OfSomebody):
    """Somebody said something to all."""

    text: str


@dataclass(frozen=True)
class Whispered(OfSomebody):
    """Somebody said something to one."""

    to: str
    text: str


@dataclass(frozen=True)
class BellSet(News):
    """The bell rings in so many seconds, and the cards are dealt."""

    seconds: int


@dataclass(frozen=True)
class BeaconAwaited(News):
    """All bets are placed, and the cards wait for this round of a beacon."""

    beacon: BeaconRound


@dataclass(frozen=True)
class BeaconFailed(News):
    """The shoe is shuffled without the round of a beacon that it should have had."""

    beacon: BeaconRound


class BellRang(News):
    """Whoever has bet is dealt in, nobody else."""


@dataclass(frozen=True)
class ShoeSealed(News):
    """A new shoe is on the table; this is its seal."""

    seal: str


@dataclass(frozen=True)
class ShoeDone(News):
    """Nothing more is dealt from a shoe: this was its seed."""

    seed: str


class ShoeInUse(News):
    """Another process deals a round from the shoe; nothing is dealt until that is over."""


@dataclass(frozen=True)
class RoundNews(News):
    """What came of something in a round, for these seats in order."""

    names: tuple[str, ...]
    round: BlackjackRound
    events: Sequence[Event]
    coin: int


class RoundDealt(RoundNews):
    """A round was dealt; the deal is in the events."""


class RoundWentOn(RoundNews):
    """Something was decided."""


@dataclass(frozen=True)
class RoundResumed(News):
    """A round that was left in the journal lies on the table again."""

    names: tuple[str, ...]
    round: BlackjackRound
    coin: int
    seconds: int  # how long each seat is kept for its caller


class BooksBusy(News):
    """The books take their time: another program has them, or the disk hangs."""


class BooksClosed(News):
    """The books cannot be written right now; it is tried again."""


class BooksInDoubt(News):
    """A COMMIT has failed, and nobody knows yet whether what was done last counts."""
