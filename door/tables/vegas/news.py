"""What happens at the Vegas table, for everybody who sits at it: one small frozen class a thing.

Names are those of callers, amounts seconds. The events of a round come with it, so that whoever
tells them can say which seat is whose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackRound
from timebank.language import Phrase


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
    """Somebody cut the cards with these words; "" takes the cut back. None replaces words that
    the reader is not shown."""

    words: str | None


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
    speaker_id: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Whispered(OfSomebody):
    """Somebody said something to one."""

    to: str
    text: str


@dataclass(frozen=True)
class BellSet(News):
    """The bell rings in so many seconds, and the cards are dealt."""

    seconds: int


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


class TableLost(News):
    """Another server has stood the rounds of this table, which starts over."""
