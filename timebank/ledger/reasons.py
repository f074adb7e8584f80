"""Why a transfer was made, as facts: a code and its parameters.

The books store facts and no prose (`transfers.facts`, one JSON object, sealed by the chain). Code
that moves time passes an instance of a class from this module. Each class declares its code, the
kind of transfer, the accounts that it moves between, and its texts. `ledger/sentences.py` makes the
sentence when it is shown, so a name cannot be mistaken for a part of the sentence, and the sentence
can be in any language. The audit reads the same declarations.

A code belongs to one kind of transfer; only `BetRaised` takes the kind from its action. Codes and
fields are a format, listed in docs/formats.md: they keep their names and meanings forever.
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
    """Why an amount was moved. Subclasses are frozen, and equal if all their facts are equal.

    The placeholders of its texts are its facts, worded by `sentences.FACTS`, and `{amount}`.
    """

    __slots__ = ()

    # The names of its facts, in order.
    __match_args__: ClassVar[tuple[str, ...]] = ()
    CODE: ClassVar[str]
    KIND: ClassVar[str]
    # "source target" for each allowed pair of accounts; without any, the audit checks none.
    ROUTES: ClassVar[tuple[str, ...]]
    # The sentence for the transfer alone, and the one used instead if the last fact is empty.
    SENTENCE: ClassVar[str]
    SHORT_SENTENCE: ClassVar[str] = ""
    # What the sentence about an entry says of the reason. `{of_it}` says that the amount is
    # included in the amount named before it.
    ENTRY_SENTENCE: ClassVar[str] = ""
    # The day's grant pays for it first, before earnings do.
    GRANT_PAYS: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        return self.KIND


# The class of each code.
CODES: dict[str, type[Reason]] = {}
# All allowed pairs of accounts by kind of transfer, as in `Reason.ROUTES`.
ROUTES: defaultdict[str, set[str]] = defaultdict(set)

_Class = TypeVar("_Class", bound=type[Reason])


@dataclass_transform(frozen_default=True)
def _declare(code: str, kind: str = "", routes: str = "") -> Callable[[_Class], _Class]:
    """Make a frozen dataclass of a reason and register it; `routes` are separated by commas."""

    def make(plain: _Class) -> _Class:
        cls: Any = dataclass(frozen=True, slots=True)(plain)
        cls.CODE, cls.KIND, cls.ROUTES = code, kind, tuple(routes.split(", ") if routes else ())
        CODES[code] = cls
        ROUTES[kind].update(cls.ROUTES)
        return cls  # type: ignore[no-any-return]

    return make


class Cutoff(NamedTuple):
    """An event that cut time off: its name, and its local time as "03:00".

    If `host` is true, it is the end of a call on the board named `event`.
    """

    event: str
    at: str
    host: bool

    def encode(self) -> str:
        return _encode(self._asdict())

    @classmethod
    def decode(cls, text: str | None) -> Cutoff:
        """Read the text of `encode`; for None return "an event" without a time."""
        return cls("an event", "", False) if text is None else cls(**json.loads(text))


# Used time, days (ISO 8601), and events with the fields of `Cutoff`.


@_declare("used", "elapsed", "online elapsed")
class Used(Reason):
    SENTENCE = N_("Time used on node {node}")
    ENTRY_SENTENCE = N_("used {amount} on node {node}")

    node: int


@_declare("waited", "elapsed", "online elapsed")
class Waited(Reason):
    SENTENCE = N_("Time used on node {node} while {board} was putting you through")
    ENTRY_SENTENCE = N_("used {amount} on node {node} while {board} was putting you through")

    node: int
    board: str


@_declare("granted", "grant", "allotment online")
class Granted(Reason):
    SENTENCE = N_("{amount} for {day}")
    ENTRY_SENTENCE = N_("granted {amount} for {day}")

    day: str


@_declare("left", "forfeit", "online forfeit, held forfeit")
class LeftOfDay(Reason):
    SENTENCE = N_("Minutes of {day} that were not used")
    ENTRY_SENTENCE = N_("{amount} forfeited: minutes of {day} that were not used")

    day: str


@_declare("old-stake", "forfeit", "online forfeit")
class OldStake(Reason):
    """A returned stake that was part of an earlier day's unused minutes."""

    SENTENCE = N_("Bet from the minutes of an earlier day")
    ENTRY_SENTENCE = N_("{amount} forfeited: a bet from the minutes of an earlier day")


@_declare("released", "release", "held online")
class Released(Reason):
    SENTENCE = N_("{amount} back after {event}")
    ENTRY_SENTENCE = N_("{amount} back after {event}")

    event: str
    at: str
    host: bool


@_declare("held", "held", "online held")
class HeldBack(Reason):
    """Time past the next event that is not `Clamped`; `cutoff.clamp` holds it until the end."""

    SENTENCE = N_("{amount} available after {event}{another_day}")
    ENTRY_SENTENCE = N_("{amount}{of_it} held until after {event}{another_day}")

    event: str
    at: str
    host: bool
    # The event ends on a later day than the time was held.
    another_day: bool


@_declare("mended", "mend", "adjustment online")
class Mended(Reason):
    """Time returned that was lost when a wrong clock began a day."""

    SENTENCE = N_("{amount} that a wrong clock had taken")


# Time put into the bank (`banked` is True) or forfeited (False). For None the same entry moves the
# time on from the bank to the caller's own board.


@_declare("clamped", "clamp", "online bank, online forfeit")
class Clamped(Reason):
    """Winnings past the next event; `cutoff.clamp` says which of them are held instead."""

    SENTENCE = N_("{amount} won past {event}{banked}")
    ENTRY_SENTENCE = N_("{amount}{of_it} {done} because of {event}")

    event: str
    at: str
    host: bool
    banked: bool | None = None


@_declare("earned", "carry", "online bank, held bank, online forfeit, held forfeit")
class Earned(Reason):
    SENTENCE = N_("Earned on {day}{banked}")
    ENTRY_SENTENCE = N_("{amount} earned on {day}{banked}")

    day: str
    banked: bool | None = None


@_declare("gained", "gain", "online bank, held bank, online forfeit, held forfeit")
class Gained(Reason):
    SENTENCE = N_("{total} gained on the visit from {board}{banked}")
    ENTRY_SENTENCE = N_("gained {amount} on the visit from {board}{done}")

    board: str
    # All seconds gained on the visit; the transfer may be a part.
    total: int
    banked: bool | None = None


@_declare("kept", "kept", "external bank, external forfeit")
class Kept(Reason):
    SENTENCE = N_("{amount} that could not be given back to {board}{banked}")
    ENTRY_SENTENCE = N_("kept {amount} that could not be given back to {board}")

    board: str
    banked: bool | None = None


# The other boards.


@_declare("brought", "brought", "external online")
class BroughtIn(Reason):
    SENTENCE = N_("{amount} brought from {board}")
    ENTRY_SENTENCE = N_("brought {amount} from {board}")

    board: str


@_declare("counted", "brought", "external online")
class Counted(Reason):
    SENTENCE = N_("{amount} more by the clock of {board}")
    ENTRY_SENTENCE = N_("{amount} more by the clock of {board}")

    board: str


@_declare("taken-home", "taken home", "online external, held external")
class TakenHome(Reason):
    SENTENCE = N_("{amount} taken home to {board}")
    ENTRY_SENTENCE = N_("took {amount} home to {board}")

    board: str


@_declare("given-back", "given back", "bank external")
class GivenBack(Reason):
    SENTENCE = N_("{amount} given back to {board}")
    ENTRY_SENTENCE = N_("gave {amount} back to {board}")

    board: str


@_declare("put-back", "put back", "online bank, held bank")
class PutBack(Reason):
    """A caller's own time that returns to the bank; `total` seconds, with this transfer as a part.

    `beyond` seconds exceed `most`, the limit of an account in seconds. They stay in the account,
    because it is frozen or the host takes none. Both are 0 within the limit.
    """

    SENTENCE = N_("{total} of your own put back in the bank{beyond}")
    ENTRY_SENTENCE = N_("put {amount} of your own back in the bank{beyond}")

    board: str
    total: int
    beyond: int
    most: int
    frozen: bool


@_declare("passed-on", "external", "bank external")
class PassedOn(Reason):
    SENTENCE = N_("{amount} passed on through THEBANK.EXT")
    ENTRY_SENTENCE = N_("{amount} passed on through THEBANK.EXT")


@_declare("came-in", "import", "external bank")
class CameIn(Reason):
    SENTENCE = N_(
        "{amount} from {program} ({file}, line {line} of import {imported}, record {record})"
    )
    SHORT_SENTENCE = N_("{amount} from {program} ({file}, line {line} of import {imported})")

    program: str
    file: str
    line: int
    imported: int
    record: int | None


@_declare("taken-out", "import", "bank external")
class TakenOut(Reason):
    SENTENCE = N_(
        "{amount} taken by {program} ({file}, line {line} of import {imported}, record {record})"
    )
    SHORT_SENTENCE = N_("{amount} taken by {program} ({file}, line {line} of import {imported})")

    program: str
    file: str
    line: int
    imported: int
    record: int | None


# The window. The grant pays first for time that leaves the time left.


@_declare("deposited", "deposit", "online bank")
class Deposited(Reason):
    SENTENCE = N_("{amount} deposited{at_log_off}")
    ENTRY_SENTENCE = N_("deposited {amount}{at_log_off}")
    GRANT_PAYS = True

    at_log_off: bool = False


@_declare("withdrawn", "withdraw", "bank online")
class Withdrawn(Reason):
    SENTENCE = N_("{amount} withdrawn")
    ENTRY_SENTENCE = N_("withdrew {amount}")


@_declare("sent", "transfer", "bank bank")
class Sent(Reason):
    SENTENCE = N_('{amount} sent by {giver} to {taker}: "{message}"')
    SHORT_SENTENCE = N_("{amount} sent by {giver} to {taker}")

    giver: str
    taker: str
    message: str


@_declare("borrowed", "loan", "loan online")
class Borrowed(Reason):
    SENTENCE = N_("{amount} borrowed")
    ENTRY_SENTENCE = N_("borrowed {amount}")


@_declare("repaid", "repay", "online loan")
class Repaid(Reason):
    """A caller's own payment on a loan."""

    SENTENCE = N_("{amount} of a loan repaid")
    ENTRY_SENTENCE = N_("repaid {amount} of the loan")
    GRANT_PAYS = True


@_declare("share", "loan share", "online loan")
class LoanShare(Reason):
    """The loan's share of the minutes of `day`, or of winnings if `day` is None."""

    SENTENCE = N_("{amount} of the minutes for {day} paid back on the loan")
    SHORT_SENTENCE = N_("{amount} of the winnings paid back on the loan")
    ENTRY_SENTENCE = N_("{amount}{of_it} paid back on the loan")

    day: str | None


@_declare("paid-from-bank", "loan paid", "bank loan")
class PaidFromBank(Reason):
    """A payment from the bank on the loan of another board's caller."""

    SENTENCE = N_("{amount} from your time bank paid back on the loan")
    ENTRY_SENTENCE = N_("paid back {amount} on the loan")


@_declare("paid-of-own", "loan paid", "online loan, held loan")
class PaidOfOwn(Reason):
    SENTENCE = N_("{total} of your own paid back on the loan")
    ENTRY_SENTENCE = N_("paid back {amount} on the loan")

    # All seconds that a leaving caller of another board pays; the transfer may be a part.
    total: int


# The sysop. `by` is the sysop's name, `note` their reason.


@dataclass(frozen=True, slots=True)
class Adjustment(Reason):
    """A correction of an account. `LOG_LINE` takes the amount, the caller's name and the note."""

    LOG_LINE: ClassVar[str]

    by: str
    note: str


@_declare("sysop-added", "adjust", "adjustment bank")
class SysopAdded(Adjustment):
    SENTENCE = N_("{amount} added by {by}: {note}")
    LOG_LINE = "{} added to {}'s account: {}"


@_declare("sysop-took", "adjust", "bank adjustment")
class SysopTook(Adjustment):
    SENTENCE = N_("{amount} taken out by {by}: {note}")
    LOG_LINE = "{} taken out of {}'s account: {}"


@_declare("sysop-deposited", "adjust", "adjustment bank")
class SysopDeposited(Adjustment):
    SENTENCE = N_("{amount} deposited by {by}: {note}")
    LOG_LINE = "{} deposited for {}: {}"


@_declare("sysop-withdrew", "adjust", "bank adjustment")
class SysopWithdrew(Adjustment):
    SENTENCE = N_("{amount} withdrawn by {by}: {note}")
    LOG_LINE = "{} withdrawn for {}: {}"


@_declare("sysop-moved", "transfer", "bank bank")
class SysopMoved(Reason):
    SENTENCE = N_("{amount} moved from {giver} to {taker} by {by}: {note}")

    giver: str
    taker: str
    by: str
    note: str


@_declare(
    "deleted",
    "deletion",
    "online forfeit, held forfeit, bank forfeit, stake forfeit, adjustment loan,"
    " bankroll mint, casino mint, stake mint, tab mint, mint tab",
)
class Deleted(Reason):
    SENTENCE = N_("{name} was deleted{in_hand}")

    name: str
    in_hand: bool


# The tables. `game` is the game's key; `outcome` is "" while the hand continues.


@_declare("bet", "stake", "online stake, bankroll stake, tab stake")
class BetPlaced(Reason):
    SENTENCE = N_("Bet {amount} at {game}")
    ENTRY_SENTENCE = N_("bet {amount} at {game}")

    game: str


@_declare("raised")
class BetRaised(Reason):
    SENTENCE = N_("{action} for {amount} at {game}")
    ENTRY_SENTENCE = N_("{did} {amount} at {game}")

    action: str
    game: str

    @property
    def kind(self) -> str:
        return self.action


@_declare("lost", "lost", "stake house, stake casino")
class Lost(Reason):
    SENTENCE = N_("Lost at {game}{outcome}")
    ENTRY_SENTENCE = N_("lost {amount} at {game}")

    game: str
    outcome: str


@_declare("returned", "returned", "stake online, stake bankroll, stake tab")
class Returned(Reason):
    SENTENCE = N_("Bet returned at {game}{outcome}")
    ENTRY_SENTENCE = N_("bet of {amount} returned at {game}")

    game: str
    outcome: str


@_declare(
    "won",
    "won",
    "house online, house bankroll, house tab, casino online, casino bankroll, casino tab",
)
class Won(Reason):
    SENTENCE = N_("Won at {game}{outcome}")
    ENTRY_SENTENCE = N_("won {amount} at {game}")

    game: str
    outcome: str


@_declare("bankroll", "bankroll", "mint bankroll")
class Bankroll(Reason):
    SENTENCE = N_("Bankroll of {amount} for a new player")
    ENTRY_SENTENCE = N_("bankroll of {amount} for a new player")


@_declare("renewed", "renewal", "mint bankroll")
class Renewed(Reason):
    SENTENCE = N_("New bankroll of {amount}; the last one was lost on {lost_on}")
    ENTRY_SENTENCE = N_("new bankroll of {amount}; the last one was lost on {lost_on}")

    lost_on: str


@_declare("refilled", "casino", "mint casino, casino mint")
class Refilled(Reason):
    SENTENCE = N_("The bank is back at {full}")
    ENTRY_SENTENCE = N_("the bank is back at {full}")

    full: int


# Tournaments, named by their first day (ISO 8601).


@_declare("put-up", "put up", "house prizes")
class PutUp(Reason):
    """The house's money for prizes."""

    SENTENCE = N_("{amount} put up for the tournament of {day}")

    day: str


@_declare("taken-back", "put up", "prizes house")
class TakenBack(Reason):
    """The house's prize money returned from a tournament that was called off."""

    SENTENCE = N_("{amount} back to the house: the tournament of {day} was called off")

    day: str


@_declare("entered", "entry", "online prizes")
class Entered(Reason):
    SENTENCE = N_("{amount} paid to enter the tournament of {day}")
    ENTRY_SENTENCE = N_("paid {amount} to enter the tournament of {day}")
    GRANT_PAYS = True

    day: str


@_declare("entry-back", "entry back", "prizes bank")
class EntryBack(Reason):
    SENTENCE = N_("{amount} of your entry back: the tournament of {day} was called off")

    day: str


@_declare("prize", "prize", "prizes bank")
class PrizeWon(Reason):
    SENTENCE = N_("{amount} won in the tournament of {day}, place {place}")
    ENTRY_SENTENCE = N_("won {amount} in the tournament of {day}, place {place}")

    day: str
    place: int


# Duels, by the names of both callers.


@_declare("staked", "duel stake", "bank duels")
class Staked(Reason):
    SENTENCE = N_("{amount} staked in the duel of {challenger} and {rival}")
    ENTRY_SENTENCE = N_("staked {amount} in the duel of {challenger} and {rival}")

    challenger: str
    rival: str


@_declare("stake-back", "stake back", "duels bank")
class StakeBack(Reason):
    SENTENCE = N_("{amount} back from the duel of {challenger} and {rival}")

    challenger: str
    rival: str


@_declare("duel-won", "duel won", "duels bank")
class DuelWon(Reason):
    """Both stakes, paid to the winner."""

    SENTENCE = N_("{amount} from the duel of {challenger} and {rival}: both stakes")

    challenger: str
    rival: str


@dataclass(frozen=True, slots=True)
class Unread(Reason):
    """Facts that this program cannot read: written by a newer one, or changed by hand."""

    stored_kind: str
    facts: str

    @property
    def kind(self) -> str:
        return self.stored_kind


PutAwayReason = Clamped | Earned | Gained | Kept

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TYPES = {
    code: {name: get_type_hints(cls)[name] for name in cls.__match_args__}
    for code, cls in CODES.items()
}
GRANT_PAYS = frozenset(each.KIND for each in CODES.values() if each.GRANT_PAYS)


@lru_cache(maxsize=1024)
def encode(reason: Reason) -> str:
    """Return the stored form of a reason: a JSON object without spaces, its code first.

    >>> encode(Won("red-hearts", "five-card"))
    '{"code":"won","game":"red-hearts","outcome":"five-card"}'
    """
    return _encode({"code": reason.CODE, **facts_of(reason)})


def facts_of(reason: Reason) -> dict[str, Any]:
    return {name: getattr(reason, name) for name in reason.__match_args__}


def decode(kind: str, facts: str) -> Reason:
    """Read a stored reason; return `Unread` unless code, fields and types match a class.

    >>> decode("stake", '{"code":"bet","game":"red-hearts"}')
    BetPlaced(game='red-hearts')
    >>> decode("stake", '{"code":"bet"}')
    Unread(stored_kind='stake', facts='{"code":"bet"}')
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
