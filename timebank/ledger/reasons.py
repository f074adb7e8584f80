"""What a transfer was made for, as facts: a code, and what else must be known to say it.

The books keep facts and no prose (`transfers.facts`, one JSON object, sealed by the chain). Whoever
moves time hands in one of the classes here. Each class declares all that the house must know of its
reason: the code, the kind of transfer, the accounts that it goes between, and its texts. From these
`ledger/sentences.py` makes a sentence whenever one is to be shown, so a name in it can never be
mistaken for a part of the sentence, and the sentence may be in any language. The audit reads from
them what may be in the books.

A code belongs to one kind of transfer, except that of `BetRaised`, which says its own. Codes and
fields are a format that docs/formats.md lists: what is in books once keeps its name and meaning.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform, get_type_hints

from timebank.language import N_


class Reason:
    """Why an amount was moved. Subclasses are frozen, and equal when all their facts are.

    The fields of its texts are its facts, as `sentences.FACTS` words them, and `{amount}`.
    """

    __slots__ = ()

    # The names of its facts, in order.
    __match_args__: ClassVar[tuple[str, ...]] = ()
    CODE: ClassVar[str]
    KIND: ClassVar[str]
    # "source target" for each pair of accounts that it may go between; none known, none checked.
    WAYS: ClassVar[tuple[str, ...]]
    # For the row alone. The second stands for it where the last fact is empty or not known.
    SENTENCE: ClassVar[str]
    WITHOUT: ClassVar[str] = ""
    # As a part of what an entry did. `{of_it}` says that the amount is a part of the one before.
    IN_ENTRY: ClassVar[str] = ""
    # The day's grant pays for it first, so it reduces no earnings.
    GRANT_PAYS: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        return self.KIND


# The class of each code.
CODES: dict[str, type[Reason]] = {}
# By kind of transfer, all accounts that it goes between, as `Reason.WAYS`.
WAYS: defaultdict[str, set[str]] = defaultdict(set)

_Class = TypeVar("_Class", bound=type[Reason])


@dataclass_transform(frozen_default=True)
def _reason(code: str, kind: str = "", ways: str = "") -> Callable[[_Class], _Class]:
    """Make a frozen dataclass of a reason, and enter it under its code."""

    def make(plain: _Class) -> _Class:
        made: Any = dataclass(frozen=True, slots=True)(plain)
        made.CODE, made.KIND, made.WAYS = code, kind, tuple(ways.split(", ") if ways else ())
        CODES[code] = made
        WAYS[kind].update(made.WAYS)
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


@_reason("used", "elapsed", "online elapsed")
class Used(Reason):
    SENTENCE = N_("Time used on node {node}")
    IN_ENTRY = N_("used {amount} on node {node}")

    node: int


@_reason("waited", "elapsed", "online elapsed")
class Waited(Reason):
    SENTENCE = N_("Time used on node {node} while {board} was putting you through")
    IN_ENTRY = N_("used {amount} on node {node} while {board} was putting you through")

    node: int
    board: str


@_reason("granted", "grant", "allotment online")
class Granted(Reason):
    SENTENCE = N_("{amount} for {day}")
    IN_ENTRY = N_("granted {amount} for {day}")

    day: str


@_reason("left", "forfeit", "online forfeit, held forfeit")
class LeftOfDay(Reason):
    SENTENCE = N_("Minutes of {day} that were not used")
    IN_ENTRY = N_("{amount} forfeited: minutes of {day} that were not used")

    day: str


@_reason("old-stake", "forfeit", "online forfeit")
class OldStake(Reason):
    """A stake that came back and was left of the minutes of an earlier day."""

    SENTENCE = N_("Stake from the minutes of an earlier day")
    IN_ENTRY = N_("{amount} forfeited: a stake from the minutes of an earlier day")


@_reason("released", "release", "held online")
class Released(Reason):
    SENTENCE = N_("{amount} back after {event}")
    IN_ENTRY = N_("{amount} back after {event}")

    event: str
    at: str
    host: bool


@_reason("held", "held", "online held")
class HeldBack(Reason):
    """Other time that reached past the next event: `cutoff.clamp` holds it until that is over."""

    SENTENCE = N_("{amount} available after {event}{another_day}")
    IN_ENTRY = N_("{amount}{of_it} held until after {event}{another_day}")

    event: str
    at: str
    host: bool
    # The event ends on another day than it was held on.
    another_day: bool


@_reason("mended", "mend", "adjustment online")
class Mended(Reason):
    """What a day that a wrong clock began had taken."""

    SENTENCE = N_("{amount} that a wrong clock had taken")


# What is put away: where the board keeps time, or nowhere. `banked` is None for what goes on from
# the bank to the caller's own board in the same entry.


@_reason("clamped", "clamp", "online bank, online forfeit")
class Clamped(Reason):
    """Winnings that reached past the next event: `cutoff.clamp` puts them away."""

    SENTENCE = N_("{amount} won past {event}{banked}")
    IN_ENTRY = N_("{amount}{of_it} {done} because of {event}")

    event: str
    at: str
    host: bool
    banked: bool | None = None


@_reason("earned", "carry", "online bank, held bank, online forfeit, held forfeit")
class Earned(Reason):
    SENTENCE = N_("Earned on {day}{banked}")
    IN_ENTRY = N_("{amount} earned on {day}{banked}")

    day: str
    banked: bool | None = None


@_reason("gained", "gain", "online bank, held bank, online forfeit, held forfeit")
class Gained(Reason):
    SENTENCE = N_("{total} gained on the visit from {board}{banked}")
    IN_ENTRY = N_("gained {amount} on the visit from {board}{done}")

    board: str
    # Seconds gained on the visit, of which this is a part.
    total: int
    banked: bool | None = None


@_reason("kept", "kept", "external bank, external forfeit")
class Kept(Reason):
    SENTENCE = N_("{amount} that could not be given back to {board}{banked}")
    IN_ENTRY = N_("kept {amount} that could not be given back to {board}")

    board: str
    banked: bool | None = None


# The other boards.


@_reason("brought", "brought", "external online")
class BroughtIn(Reason):
    SENTENCE = N_("{amount} brought from {board}")
    IN_ENTRY = N_("brought {amount} from {board}")

    board: str


@_reason("counted", "brought", "external online")
class Counted(Reason):
    SENTENCE = N_("{amount} more by the clock of {board}")
    IN_ENTRY = N_("{amount} more by the clock of {board}")

    board: str


@_reason("taken-home", "taken home", "online external, held external")
class TakenHome(Reason):
    SENTENCE = N_("{amount} taken home to {board}")
    IN_ENTRY = N_("took {amount} home to {board}")

    board: str


@_reason("given-back", "given back", "bank external")
class GivenBack(Reason):
    SENTENCE = N_("{amount} given back to {board}")
    IN_ENTRY = N_("gave {amount} back to {board}")

    board: str


@_reason("put-back", "put back", "online bank, held bank")
class PutBack(Reason):
    """What is a caller's own and goes back in the bank; `total` seconds, of which this is a part.

    `beyond` seconds of them are more than the `most` that an account holds, and stay all the same:
    it is frozen, or the board takes none. Both are 0 where there is room.
    """

    SENTENCE = N_("{total} of your own put back in the bank{beyond}")
    IN_ENTRY = N_("put {amount} of your own back in the bank{beyond}")

    board: str
    total: int
    beyond: int
    most: int
    frozen: bool


@_reason("passed-on", "external", "bank external")
class PassedOn(Reason):
    SENTENCE = N_("{amount} passed on through THEBANK.EXT")
    IN_ENTRY = N_("{amount} passed on through THEBANK.EXT")


@_reason("came-in", "import", "external bank")
class CameIn(Reason):
    SENTENCE = N_(
        "{amount} from {program} ({file}, line {line} of import {imported}, record {record})"
    )
    WITHOUT = N_("{amount} from {program} ({file}, line {line} of import {imported})")

    program: str
    file: str
    line: int
    imported: int
    record: int | None


@_reason("taken-out", "import", "bank external")
class TakenOut(Reason):
    SENTENCE = N_(
        "{amount} taken by {program} ({file}, line {line} of import {imported}, record {record})"
    )
    WITHOUT = N_("{amount} taken by {program} ({file}, line {line} of import {imported})")

    program: str
    file: str
    line: int
    imported: int
    record: int | None


# The window. What goes out of the time left is paid by the grant first.


@_reason("deposited", "deposit", "online bank")
class Deposited(Reason):
    SENTENCE = N_("{amount} deposited{at_log_off}")
    IN_ENTRY = N_("deposited {amount}{at_log_off}")
    GRANT_PAYS = True

    at_log_off: bool = False


@_reason("withdrawn", "withdraw", "bank online")
class Withdrawn(Reason):
    SENTENCE = N_("{amount} withdrawn")
    IN_ENTRY = N_("withdrew {amount}")


@_reason("sent", "transfer", "bank bank")
class Sent(Reason):
    SENTENCE = N_('{amount} sent by {giver} to {taker}: "{message}"')
    WITHOUT = N_("{amount} sent by {giver} to {taker}")

    giver: str
    taker: str
    message: str


@_reason("borrowed", "loan", "loan online")
class Borrowed(Reason):
    SENTENCE = N_("{amount} borrowed")
    IN_ENTRY = N_("borrowed {amount}")


@_reason("repaid", "repay", "online loan")
class Repaid(Reason):
    """What the caller paid of a loan by themselves."""

    SENTENCE = N_("{amount} of a loan repaid")
    IN_ENTRY = N_("repaid {amount} of the loan")
    GRANT_PAYS = True


@_reason("share", "loan share", "online loan")
class LoanShare(Reason):
    """What a loan takes of the minutes of a day, or of winnings where there is no day."""

    SENTENCE = N_("{amount} of the minutes for {day} paid back on the loan")
    WITHOUT = N_("{amount} of the winnings paid back on the loan")
    IN_ENTRY = N_("{amount}{of_it} paid back on the loan")

    day: str | None


@_reason("paid-from-bank", "loan paid", "bank loan")
class PaidFromBank(Reason):
    """What pays a loan of another board's caller out of the bank."""

    SENTENCE = N_("{amount} from your time bank paid back on the loan")
    IN_ENTRY = N_("paid back {amount} on the loan")


@_reason("paid-of-own", "loan paid", "online loan, held loan")
class PaidOfOwn(Reason):
    SENTENCE = N_("{total} of your own paid back on the loan")
    IN_ENTRY = N_("paid back {amount} on the loan")

    # Seconds that a caller of another board leaves with and owes, of which this is a part.
    total: int


# The sysop. `by` is who did it, `note` the reason they gave.


@dataclass(frozen=True, slots=True)
class Adjustment(Reason):
    """A correction of an account. `LOG_LINE` has the amount, the caller and the note."""

    LOG_LINE: ClassVar[str]

    by: str
    note: str


@_reason("sysop-added", "adjust", "adjustment bank")
class SysopAdded(Adjustment):
    SENTENCE = N_("{amount} added by {by}: {note}")
    LOG_LINE = "{} added to {}'s account: {}"


@_reason("sysop-took", "adjust", "bank adjustment")
class SysopTook(Adjustment):
    SENTENCE = N_("{amount} taken out by {by}: {note}")
    LOG_LINE = "{} taken out of {}'s account: {}"


@_reason("sysop-deposited", "adjust", "adjustment bank")
class SysopDeposited(Adjustment):
    SENTENCE = N_("{amount} deposited by {by}: {note}")
    LOG_LINE = "{} deposited for {}: {}"


@_reason("sysop-withdrew", "adjust", "bank adjustment")
class SysopWithdrew(Adjustment):
    SENTENCE = N_("{amount} withdrawn by {by}: {note}")
    LOG_LINE = "{} withdrawn for {}: {}"


@_reason("sysop-moved", "transfer", "bank bank")
class SysopMoved(Reason):
    SENTENCE = N_("{amount} moved from {giver} to {taker} by {by}: {note}")

    giver: str
    taker: str
    by: str
    note: str


@_reason(
    "deleted",
    "deletion",
    "online forfeit, held forfeit, bank forfeit, stake forfeit, adjustment loan,"
    " bankroll mint, casino mint, stake mint, tab mint, mint tab",
)
class Deleted(Reason):
    SENTENCE = N_("{name} was deleted{in_hand}")

    name: str
    in_hand: bool


# The tables. `game` is its key; `outcome` is "" while a hand goes on.


@_reason("bet", "stake", "online stake, bankroll stake, tab stake")
class BetPlaced(Reason):
    SENTENCE = N_("Bet {amount} at {game}")
    IN_ENTRY = N_("bet {amount} at {game}")

    game: str


@_reason("raised")
class BetRaised(Reason):
    SENTENCE = N_("{action} for {amount} at {game}")
    IN_ENTRY = N_("{did} {amount} at {game}")

    action: str
    game: str

    @property
    def kind(self) -> str:
        return self.action


@_reason("lost", "lost", "stake house, stake casino")
class Lost(Reason):
    SENTENCE = N_("Lost at {game}{outcome}")
    IN_ENTRY = N_("lost {amount} at {game}")

    game: str
    outcome: str


@_reason("returned", "returned", "stake online, stake bankroll, stake tab")
class Returned(Reason):
    SENTENCE = N_("Stake returned at {game}{outcome}")
    IN_ENTRY = N_("stake of {amount} returned at {game}")

    game: str
    outcome: str


@_reason(
    "won",
    "won",
    "house online, house bankroll, house tab, casino online, casino bankroll, casino tab",
)
class Won(Reason):
    SENTENCE = N_("Won at {game}{outcome}")
    IN_ENTRY = N_("won {amount} at {game}")

    game: str
    outcome: str


@_reason("bankroll", "bankroll", "mint bankroll")
class Bankroll(Reason):
    SENTENCE = N_("Bankroll of {amount} for a new player")
    IN_ENTRY = N_("bankroll of {amount} for a new player")


@_reason("renewed", "renewal", "mint bankroll")
class Renewed(Reason):
    SENTENCE = N_("New bankroll of {amount}; the last one was lost on {lost_on}")
    IN_ENTRY = N_("new bankroll of {amount}; the last one was lost on {lost_on}")

    lost_on: str


@_reason("refilled", "casino", "mint casino, casino mint")
class Refilled(Reason):
    SENTENCE = N_("The bank is back at {full}")
    IN_ENTRY = N_("the bank is back at {full}")

    full: int


# Tournaments, each by the day on which it opened (ISO 8601).


@_reason("put-up", "put up", "house prizes")
class PutUp(Reason):
    """What the house puts in for prizes."""

    SENTENCE = N_("{amount} put up for the tournament of {day}")

    day: str


@_reason("taken-back", "put up", "prizes house")
class TakenBack(Reason):
    """The same back to the house, of a tournament that was called off."""

    SENTENCE = N_("{amount} back to the house: the tournament of {day} was called off")

    day: str


@_reason("entered", "entry", "online prizes")
class Entered(Reason):
    SENTENCE = N_("{amount} paid to enter the tournament of {day}")
    IN_ENTRY = N_("paid {amount} to enter the tournament of {day}")
    GRANT_PAYS = True

    day: str


@_reason("entry-back", "entry back", "prizes bank")
class EntryBack(Reason):
    SENTENCE = N_("{amount} of your entry back: the tournament of {day} was called off")

    day: str


@_reason("prize", "prize", "prizes bank")
class PrizeWon(Reason):
    SENTENCE = N_("{amount} won in the tournament of {day}, place {place}")
    IN_ENTRY = N_("won {amount} in the tournament of {day}, place {place}")

    day: str
    place: int


@dataclass(frozen=True, slots=True)
class Unread(Reason):
    """Facts that nobody can read: of a newer program, or tampered with."""

    moved_as: str
    facts: str

    @property
    def kind(self) -> str:
        return self.moved_as


PutAway = Clamped | Earned | Gained | Kept

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TYPES = {
    code: {name: get_type_hints(cls)[name] for name in cls.__match_args__}
    for code, cls in CODES.items()
}
GRANT_PAYS = frozenset(each.KIND for each in CODES.values() if each.GRANT_PAYS)


@lru_cache(maxsize=1024)
def encode(reason: Reason) -> str:
    """Write a reason as it is kept: a JSON object without spaces, its code first.

    >>> encode(Won("red-hearts", "five-card"))
    '{"code":"won","game":"red-hearts","outcome":"five-card"}'
    """
    return _encode({"code": reason.CODE, **known(reason)})


def known(reason: Reason) -> dict[str, Any]:
    return {name: getattr(reason, name) for name in reason.__match_args__}


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
