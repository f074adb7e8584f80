"""News of the Vegas table for its guests: a frozen class for each kind.

`name` is a caller's name, and amounts are seconds. News of a round has the names of its seats in
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackRound
from timebank.language import Phrase


@dataclass(frozen=True)
class News:
    """An event at the table."""


@dataclass(frozen=True)
class CallerNews(News):
    """News of one caller."""

    name: str


class SatDown(CallerNews):
    """A caller has a seat."""


class CameBack(CallerNews):
    """A caller is back at their open hand."""


class GotUp(CallerNews):
    """A caller has left the table."""


@dataclass(frozen=True)
class LineLost(CallerNews):
    """A caller's line broke in a round; their hand waits `seconds`."""

    seconds: int


class StoodFor(CallerNews):
    """The dealer decides for an absent or silent caller."""


@dataclass(frozen=True)
class BetAnnounced(CallerNews):
    """A caller bets `coins` in the next round."""

    coins: int


@dataclass(frozen=True)
class BetRefused(CallerNews):
    """A caller's bet was refused. Only that caller reads the reason."""

    reason: Phrase | Exception


@dataclass(frozen=True)
class TurnBegan(CallerNews):
    """A caller has `seconds` to decide, because other callers wait."""

    seconds: int


@dataclass(frozen=True)
class TableTalk(CallerNews):
    """A caller spoke to the whole table."""

    text: str
    speaker_id: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Whispered(CallerNews):
    """A caller whispered to one other."""

    to: str
    text: str


@dataclass(frozen=True)
class BellSet(News):
    """The bell rings in `seconds`, and the cards are dealt."""

    seconds: int


@dataclass(frozen=True)
class CutMade(News):
    """The callers with these names have cut the cards. Their phrases are behind `F` only."""

    names: tuple[str, ...]


class BellRang(News):
    """The time for bets is over."""


@dataclass(frozen=True)
class ShoeSealed(News):
    """A new shoe with this seal is on the table."""

    seal: str


@dataclass(frozen=True)
class ShoeDone(News):
    """A shoe is done; this was its seed."""

    seed: str


@dataclass(frozen=True)
class RoundNews(News):
    """Events of a round; `names` are its callers by seat."""

    names: tuple[str, ...]
    round: BlackjackRound
    events: Sequence[Event]
    coin: int


class RoundDealt(RoundNews):
    """A round was dealt; `events` has the deal."""


class RoundWentOn(RoundNews):
    """A decision was carried out."""


@dataclass(frozen=True)
class RoundResumed(News):
    """A round from the journal is on the table again."""

    names: tuple[str, ...]
    round: BlackjackRound
    coin: int
    seconds: int  # how long each seat waits for its caller


class BooksBusy(News):
    """The books are slow: another program has locked them, or the disk hangs."""


class BooksClosed(News):
    """The books cannot be written; the table tries again."""


class BooksInDoubt(News):
    """A COMMIT failed, and the books do not know yet whether the last action counts."""


class TableLost(News):
    """Another server has stood the rounds of this table, which starts over."""
