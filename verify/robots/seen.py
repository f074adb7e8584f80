"""Everything that a robot has been shown, in plain values, which must all be in the books.

Only the robot's own screen is recorded. So after a crash of the server every line of this is a
promise of the board. Amounts are in the smallest unit.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Settlement:
    """A hand that the screen announced as over."""

    game: str
    unit: str
    net: int  # won, or lost when negative
    number: int | None  # which of the caller's turns of the day it was, where the screen counts
    seal: str  # of its shoe, or its first digits; "" where none was on the screen
    balance: int | None  # the bankroll after it, where the screen says
    at: float  # seconds since 1970, a moment after it was shown
    seed: str = ""  # of its shoe, as far as it was on the screen


class Place(NamedTuple):
    """The caller's turn of the day for the cards on a table."""

    game: str
    number: int
    is_sure: bool  # while cards are on their way, the turn may not be counted yet


@dataclass(frozen=True)
class Purse:
    """The status line at a moment: seconds of time left, and in the time bank."""

    left: int
    bank: int
    at: float


@dataclass(frozen=True)
class Movement:
    """Something done at the bank's window: deposit, withdraw, borrow, repay or transfer."""

    kind: str
    amount: int
    to: str  # the receiver, "" for none
    at: float


@dataclass
class Seen:
    """Everything that one robot saw."""

    name: str
    is_registered: bool = False  # the board confirmed the name
    settlements: list[Settlement] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)
    purses: list[Purse] = field(default_factory=list)
    seals: set[str] = field(default_factory=set)
    seeds: dict[str, str] = field(default_factory=dict)  # by seal
    # Open on a table for one caller.
    cards: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    calls: int = 0
    lost: int = 0  # calls with the line lost before the goodbye
    taken_over: int = 0
    keys: int = 0
    waits: list[float] = field(default_factory=list)  # for the answer to a key, in seconds
    # The longest of each call, in seconds: from a key to anything that came, and from a key to
    # something to answer, where no other caller was waited for, with the question, the screen and
    # the instant at its end, by the monotonic clock.
    slowest: list[float] = field(default_factory=list)
    unanswered: list[tuple[float, str, str, float]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)  # texts that no caller should ever read
