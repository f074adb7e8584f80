"""What the rules of an entry know of its caller, and what a rule returns.

A rule is a function from a `CallerState` to a `Ruling`: the movements that it demands, and the
state after them. It reads no database and writes nothing.
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
    """The closed period that contains this moment, else the next one."""

    period: ClosedPeriod
    # Whole seconds until it begins, 0 inside it: the most that `online` may hold.
    seconds: int
    # The board that ends the call then; None for an event of this board.
    host: str | None = None


class Leg(NamedTuple):
    """A movement of seconds between accounts that are named by their kind."""

    source: str
    target: str
    amount: int
    reason: Reason
    # The source that the record in THEBANK.EXT names; None for a movement without a record.
    record: str | None = None


class CallerState(NamedTuple):
    """A caller as an entry leaves them so far. Amounts are seconds."""

    online: int = 0
    held: int = 0
    bank: int = 0
    stake: int = 0
    # Zero or less.
    loan: int = 0
    # Of the call: seconds since log-on that are accounted for, and how.
    ticked: int = 0
    charged: int = 0
    waived: int = 0
    node: int = 0
    # The caller's day, as in the ISO; None before their first one.
    day: str | None = None
    # The end of the event that `held` waits for, and its name.
    held_until: int | None = None
    held_behind: str | None = None
    # The part of `stake` that is left of an earlier day's minutes.
    old_stake: int = 0
    # Turns of each game today, with the open one.
    turns: Mapping[str, int] = MappingProxyType({})
    event: UpcomingEvent | None = None
    # None for a caller without limits of their own.
    own: OwnLosses | None = None
    # The sysop has frozen the caller's account in the bank.
    is_frozen: bool = False
    # The caller is another board's, whose minutes these are.
    is_guest: bool = False
    # What this entry adds to what counts as earned from the beginning of the day (schema.days).
    carried: int = 0

    @property
    def purse(self) -> int:
        return self.online + self.held + self.stake

    @property
    def limit(self) -> int | None:
        """The most that `online` may hold now; None where no event is ever to come."""
        return None if self.event is None else self.event.seconds

    @property
    def usable(self) -> int:
        """Seconds that may be spent now: those on line that no event cuts off."""
        return self.online if self.event is None else min(self.online, self.event.seconds)

    def after(self, source: str, target: str, amount: int) -> CallerState:
        """Return the state after a movement, by the kinds of its accounts."""
        values: list[Any] = list(self)  # a tenth of the time of `_replace`
        if source in _INDEX:
            values[_INDEX[source]] -= amount
        if target in _INDEX:
            values[_INDEX[target]] += amount
        return CallerState._make(values)


# Of the balance of an account in a state; other kinds are not the caller's.
_INDEX = {kind: CallerState._fields.index(kind) for kind in CALLER_ACCOUNTS}


class Ruling(NamedTuple):
    """What a rule demands: the state after it, its movements, and its sentences to the caller."""

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
    """Move what is not zero."""
    legs = tuple(leg for leg in legs if leg.amount)
    for source, target, amount, *_ in legs:
        state = state.after(source, target, amount)
    return Ruling(state, legs)
