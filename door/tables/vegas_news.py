"""What happens at the Vegas table, for everybody who sits at it: one small frozen class a thing.

Names are those of callers, amounts seconds. The events of a round come with it, so that whoever
tells them can say which seat is whose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from door.games.blackjack import Round
from door.games.blackjack_events import Event


@dataclass(frozen=True)
class SatDown:
    """Somebody has a seat."""

    name: str


@dataclass(frozen=True)
class CameBack:
    """Somebody sits at the hand again that he had left."""

    name: str


@dataclass(frozen=True)
class GotUp:
    """Somebody is not at the table any more."""

    name: str


@dataclass(frozen=True)
class BetAnnounced:
    """Somebody says what he will bet in the next round, in coins."""

    name: str
    coins: int


@dataclass(frozen=True)
class IsReady:
    """Somebody waits for the cards."""

    name: str


@dataclass(frozen=True)
class BetRefused:
    """The bank did not take somebody's bet; the reason is a sentence for him alone."""

    name: str
    reason: str


@dataclass(frozen=True)
class BellSet:
    """The bell rings in so many seconds, and the cards are dealt."""

    seconds: int


@dataclass(frozen=True)
class BellRang:
    """Whoever has bet is dealt in, nobody else."""


@dataclass(frozen=True)
class ShoeSealed:
    """A new shoe is on the table; this is its seal."""

    seal: str


@dataclass(frozen=True)
class ShoeDone:
    """Nothing more is dealt from a shoe: this was its seed."""

    seed: str


@dataclass(frozen=True)
class CutMade:
    """Somebody cut the cards with these words; "" takes the cut back."""

    name: str
    words: str


@dataclass(frozen=True)
class StoodFor:
    """Somebody who is not there, or says nothing, is decided for."""

    name: str


@dataclass(frozen=True)
class TurnBegan:
    """Somebody has to decide, in so many seconds, because others wait for him."""

    name: str
    seconds: int


@dataclass(frozen=True)
class RoundDealt:
    """A round was dealt, to these seats in order; the deal is in the events."""

    names: tuple[str, ...]
    round: Round
    events: Sequence[Event]
    coin: int


@dataclass(frozen=True)
class RoundWentOn:
    """Something was decided, and this came of it."""

    names: tuple[str, ...]
    round: Round
    events: Sequence[Event]
    coin: int


@dataclass(frozen=True)
class RoundResumed:
    """A round that was left in the journal lies on the table again."""

    names: tuple[str, ...]
    round: Round
    coin: int
    seconds: int  # how long each seat is kept for its caller


@dataclass(frozen=True)
class Said:
    """Somebody said something to all."""

    name: str
    text: str


@dataclass(frozen=True)
class Whispered:
    """Somebody said something to one."""

    name: str
    to: str
    text: str


@dataclass(frozen=True)
class BooksBusy:
    """The books take their time: another program has them, or the disk hangs."""


@dataclass(frozen=True)
class BooksClosed:
    """The books cannot be written just now; it is tried again."""


@dataclass(frozen=True)
class BooksInDoubt:
    """The disk has failed, and nobody knows yet whether what was done last counts."""


@dataclass(frozen=True)
class ShoeInUse:
    """Another process deals a round from the shoe; nothing is dealt until that is over."""


News = (
    SatDown
    | CameBack
    | GotUp
    | BetAnnounced
    | IsReady
    | BetRefused
    | BellSet
    | BellRang
    | ShoeSealed
    | ShoeDone
    | CutMade
    | StoodFor
    | TurnBegan
    | RoundDealt
    | RoundWentOn
    | RoundResumed
    | Said
    | Whispered
    | BooksBusy
    | BooksClosed
    | BooksInDoubt
    | ShoeInUse
)
