"""The state of a caller that the rules of an entry see, and the ruling that a rule returns.

A rule is a function from a `CallerState` to a `Ruling`, which has the rule's movements and the
state after them. A rule neither reads nor writes the database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Concatenate, NamedTuple, ParamSpec

from timebank.language import Phrase
from timebank.ledger.own_limits import OwnLosses
from timebank.ledger.reasons import Reason
from timebank.ledger.schema import CALLER_ACCOUNTS
from timebank.settings.schedule import ClosedPeriod

P = ParamSpec("P")


class UpcomingEvent(NamedTuple):
    """The closed period that contains this moment, or the next one."""

    period: ClosedPeriod
    # Whole seconds until it begins, 0 inside it: the limit of `online`.
    seconds: int
    # The board that ends the call then; None for an event of this board.
    host: str | None = None


class Leg(NamedTuple):
    """A movement of seconds between two kinds of accounts."""

    source: str
    target: str
    amount: int
    reason: Reason
    # The source named in the record of THEBANK.EXT; None for no record.
    record: str | None = None


class CallerState(NamedTuple):
    """A caller's state as an unfinished entry leaves it. Amounts are seconds."""

    online: int = 0
    held: int = 0
    bank: int = 0
    stake: int = 0
    # Zero or less.
    loan: int = 0
    # Seconds of the call since log-on: `ticked` = `charged` + `waived`.
    ticked: int = 0
    charged: int = 0
    waived: int = 0
    node: int = 0
    # The caller's day in ISO form; None before the first one.
    day: str | None = None
    # The end of the event for which time is held, and the event as `Cutoff.encode` writes it.
    held_until: int | None = None
    held_behind: str | None = None
    # The part of `stake` that was an earlier day's minutes.
    old_stake: int = 0
    # Turns taken today by game, including an open one.
    turns: Mapping[str, int] = MappingProxyType({})
    event: UpcomingEvent | None = None
    # None for a caller without limits of their own.
    own: OwnLosses | None = None
    # The sysop has frozen the account in the bank.
    is_frozen: bool = False
    # The caller may not bet before the sysop has approved them.
    waits: bool = False
    # The caller belongs to another board, which owns the minutes.
    is_guest: bool = False
    # Seconds that this entry adds to `days.carried` (schema.days).
    carried: int = 0

    @property
    def purse(self) -> int:
        return self.online + self.held + self.stake

    @property
    def limit(self) -> int | None:
        """The limit of `online` in seconds; None without a coming event."""
        return None if self.event is None else self.event.seconds

    @property
    def usable(self) -> int:
        """Seconds that may be spent now: the time online before the next event."""
        return self.online if self.event is None else min(self.online, self.event.seconds)

    def after(self, source: str, target: str, amount: int) -> CallerState:
        """Return the state after a movement between two kinds of accounts."""
        values: list[Any] = list(self)  # takes a tenth of the time of `_replace`
        if source in _INDEX:
            values[_INDEX[source]] -= amount
        if target in _INDEX:
            values[_INDEX[target]] += amount
        return CallerState._make(values)


# The index of each account's balance in a state; other kinds of accounts are not the caller's.
_INDEX = {kind: CallerState._fields.index(kind) for kind in CALLER_ACCOUNTS}


class Ruling(NamedTuple):
    """The result of a rule: the state after it, its movements, and its sentences to the caller."""

    state: CallerState
    legs: tuple[Leg, ...] = ()
    remarks: tuple[Phrase, ...] = ()

    def then(
        self, rule: Callable[Concatenate[CallerState, P], Ruling], *args: P.args, **kwargs: P.kwargs
    ) -> Ruling:
        """Apply another rule to the state after this one."""
        state, legs, remarks = rule(self.state, *args, **kwargs)
        return Ruling(state, self.legs + legs, self.remarks + remarks)


def move(state: CallerState, *legs: Leg) -> Ruling:
    """Return the ruling that makes these movements; legs of zero are left out."""
    legs = tuple(leg for leg in legs if leg.amount)
    for source, target, amount, *_ in legs:
        state = state.after(source, target, amount)
    return Ruling(state, legs)
