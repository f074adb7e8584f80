"""What a transfer was made for, as facts: a code, and what else must be known to say it.

The books keep facts and no prose (`transfers.facts`, one JSON object, sealed by the chain). Whoever
moves time hands in one of the classes here. `ledger/sentences.py` makes a sentence of it whenever
one is to be shown, so a name in it can never be mistaken for a part of the sentence, and the
sentence may be in any language.

A code belongs to one kind of transfer, but for `BetRaised` and `Told`, which say theirs. Codes and
fields are a format that docs/formats.md lists: what is in books once keeps its name and meaning.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform, get_type_hints


class Reason:
    """Why an amount was moved. Subclasses are frozen, and equal when all their facts are."""

    __slots__ = ()

    CODE: ClassVar[str]
    KIND: ClassVar[str]

    @property
    def kind(self) -> str:
        return self.KIND


# The class of each code.
CODES: dict[str, type[Reason]] = {}

_Class = TypeVar("_Class", bound=type[Reason])


@dataclass_transform(frozen_default=True)
def _reason(code: str, kind: str = "") -> Callable[[_Class], _Class]:
    """Make a frozen dataclass of a reason, and enter it under its code."""

    def make(plain: _Class) -> _Class:
        made: Any = dataclass(frozen=True, slots=True)(plain)
        made.CODE, made.KIND = code, kind
        CODES[code] = made
        return made  # type: ignore[no-any-return]

    return make


class Cutoff(NamedTuple):
    """The event that time was moved for: its name and its local time, "03:00".

    With `host` it is the end of a call on another board, and `event` is the name of that board.
    """

    event: str
    at: str
    host: bool

    def encode(self) -> str:
        return _encode(self._asdict())

    @classmethod
    def decode(cls, text: str | None) -> Cutoff:
        """Read what `encode` wrote; without anything to read it is just an event."""
        return cls("an event", "", False) if text is None else cls(**json.loads(text))


# The clocks: time used, days (ISO 8601), and events by the fields of `Cutoff`.


@_reason("used", "elapsed")
class Used(Reason):
    node: int


@_reason("waited", "elapsed")
class Waited(Reason):
    node: int
    board: str


@_reason("granted", "grant")
class Granted(Reason):
    day: str


@_reason("left", "forfeit")
class LeftOfDay(Reason):
    day: str


@_reason("old-stake", "forfeit")
class OldStake(Reason):
    """A stake that came back and was left of the minutes of an earlier day."""


@_reason("released", "release")
class Released(Reason):
    event: str
    at: str
    host: bool


@_reason("held", "held")
class HeldBack(Reason):
    event: str
    at: str
    host: bool
    # The event ends on another day than it was held on.
    another_day: bool


@_reason("mended", "mend")
class Mended(Reason):
    """What a day that a wrong clock began had taken."""


# What is put away: where the board keeps time, or nowhere. `banked` is None for what goes on from
# the bank to the caller's own board in the same entry.


@_reason("clamped", "clamp")
class Clamped(Reason):
    event: str
    at: str
    host: bool
    banked: bool | None = None


@_reason("earned", "carry")
class Earned(Reason):
    day: str
    banked: bool | None = None


@_reason("gained", "gain")
class Gained(Reason):
    board: str
    # Seconds gained on the visit, of which this is a part.
    total: int
    banked: bool | None = None


@_reason("kept", "kept")
class Kept(Reason):
    board: str
    banked: bool | None = None


# The other boards.


@_reason("brought", "brought")
class BroughtIn(Reason):
    board: str


@_reason("counted", "brought")
class Counted(Reason):
    board: str


@_reason("taken-home", "taken home")
class TakenHome(Reason):
    board: str


@_reason("given-back", "given back")
class GivenBack(Reason):
    board: str


@_reason("put-back", "put back")
class PutBack(Reason):
    """What is a caller's own and goes back in the bank; `total` seconds, of which this is a part.

    `beyond` seconds of them are more than the `most` that an account holds, and stay all the same:
    it is frozen, or the board takes none. Both are 0 where there is room.
    """

    board: str
    total: int
    beyond: int
    most: int
    frozen: bool


@_reason("passed-on", "external")
class PassedOn(Reason):
    """Whole minutes that go out through THEBANK.EXT."""


@_reason("came-in", "import")
class CameIn(Reason):
    program: str
    file: str
    line: int
    imported: int
    record: int | None


@_reason("taken-out", "import")
class TakenOut(Reason):
    program: str
    file: str
    line: int
    imported: int
    record: int | None


# The window.


@_reason("deposited", "deposit")
class Deposited(Reason):
    at_log_off: bool = False


@_reason("withdrawn", "withdraw")
class Withdrawn(Reason):
    """A withdrawal."""


@_reason("sent", "transfer")
class Sent(Reason):
    giver: str
    taker: str
    message: str


@_reason("borrowed", "loan")
class Borrowed(Reason):
    """A loan."""


@_reason("repaid", "repay")
class Repaid(Reason):
    """What the caller paid of a loan by themselves."""


@_reason("share", "loan share")
class LoanShare(Reason):
    """What a loan takes of the minutes of a day, or of winnings where there is no day."""

    day: str | None


@_reason("paid-from-bank", "loan paid")
class PaidFromBank(Reason):
    """What pays a loan of another board's caller out of the bank."""


@_reason("paid-of-own", "loan paid")
class PaidOfOwn(Reason):
    # Seconds that a caller of another board leaves with and owes, of which this is a part.
    total: int


# The sysop. `by` is who did it, `note` the reason they gave.


@_reason("sysop-added", "adjust")
class SysopAdded(Reason):
    by: str
    note: str


@_reason("sysop-took", "adjust")
class SysopTook(Reason):
    by: str
    note: str


@_reason("sysop-deposited", "adjust")
class SysopDeposited(Reason):
    by: str
    note: str


@_reason("sysop-withdrew", "adjust")
class SysopWithdrew(Reason):
    by: str
    note: str


@_reason("sysop-moved", "transfer")
class SysopMoved(Reason):
    giver: str
    taker: str
    by: str
    note: str


@_reason("deleted", "deletion")
class Deleted(Reason):
    name: str
    in_hand: bool


# The tables. `game` is its key; `outcome` is "" while a hand goes on.


@_reason("bet", "stake")
class BetPlaced(Reason):
    game: str


@_reason("raised")
class BetRaised(Reason):
    action: str
    game: str

    @property
    def kind(self) -> str:
        return self.action


@_reason("lost", "lost")
class Lost(Reason):
    game: str
    outcome: str


@_reason("returned", "returned")
class Returned(Reason):
    game: str
    outcome: str


@_reason("won", "won")
class Won(Reason):
    game: str
    outcome: str


@_reason("bankroll", "bankroll")
class Bankroll(Reason):
    """The first bankroll of play money."""


@_reason("renewed", "renewal")
class Renewed(Reason):
    lost_on: str


@_reason("refilled", "casino")
class Refilled(Reason):
    full: int


# Tournaments, each by the day on which it opened (ISO 8601).


@_reason("put-up", "put up")
class PutUp(Reason):
    """What the house puts in for prizes."""

    day: str


@_reason("taken-back", "put up")
class TakenBack(Reason):
    """The same back to the house, of a tournament that was called off."""

    day: str


@_reason("entered", "entry")
class Entered(Reason):
    day: str


@_reason("entry-back", "entry back")
class EntryBack(Reason):
    day: str


@_reason("prize", "prize")
class PrizeWon(Reason):
    day: str
    place: int


# What has no code of its own.


@_reason("told")
class Told(Reason):
    moved_as: str
    words: str

    @property
    def kind(self) -> str:
        return self.moved_as


@dataclass(frozen=True, slots=True)
class Unread(Reason):
    """Facts that nobody can read: of a newer program, or tampered with."""

    moved_as: str
    facts: str

    @property
    def kind(self) -> str:
        return self.moved_as


Adjustment = SysopAdded | SysopTook | SysopDeposited | SysopWithdrew
PutAway = Clamped | Earned | Gained | Kept

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_NAMES = {cls: tuple(field.name for field in fields(cls)) for cls in CODES.values()}  # type: ignore[arg-type]
_TYPES = {
    code: {name: get_type_hints(cls)[name] for name in _NAMES[cls]} for code, cls in CODES.items()
}


@lru_cache(maxsize=1024)
def encode(reason: Reason) -> str:
    """Write a reason as it is kept: a JSON object without spaces, its code first.

    >>> encode(Won("red-hearts", "five-card"))
    '{"code":"won","game":"red-hearts","outcome":"five-card"}'
    """
    return _encode({"code": reason.CODE, **known(reason)})


def known(reason: Reason) -> dict[str, Any]:
    return {name: getattr(reason, name) for name in _NAMES[type(reason)]}


def decode(kind: str, facts: str) -> Reason:
    """Read a reason back; what is not one of ours, field for field, is `Unread`.

    >>> decode("stake", '{"code":"bet","game":"red-hearts"}')
    BetPlaced(game='red-hearts')
    >>> decode("stake", '{"code":"bet"}')
    Unread(moved_as='stake', facts='{"code":"bet"}')
    """
    try:
        values = json.loads(facts)
        code = values.pop("code")
        wanted = _TYPES[code]
        if values.keys() == wanted.keys() and all(
            isinstance(values[name], is_a) for name, is_a in wanted.items()
        ):
            return CODES[code](**values)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        pass
    return Unread(kind, facts)
