"""The visit of another board's caller: brought time, own time, and the account at the end.

The guest's time belongs to the host board, whose clock keeps running during the visit. So the purse
has two parts: the host's minutes, which were brought, and the guest's own, which came from our bank
or were won. The host's minutes return home with the guest, because the host's clock still shows
them; they can never be saved here. A gain (winnings less losses) first pays the day's debt, and the
rest is the guest's own. At the end the guest's own time first pays a loan, because no grant will
ever pay it here. A loss takes the guest's own minutes first. Lost minutes of the host, whose clock
does not show the loss, are the day's *debt*, and reduce what the guest brings later that day. So
for every visit, to the second,

    time on the host's clock - debt + the guest's own time   changes by   result - elapsed

The stake on the table at the end is neither won nor lost. It is divided into the host's part and
the guest's own, reduces what the next visit brings, and counts as brought there.

These functions move nothing. Amounts are seconds. docs/door-mode.md has an example in figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import given_back, stamp, visits
from timebank.ledger.sql import (
    Prepared,
    Reader,
    change,
    equal,
    insert_into,
    total,
    value,
)
from timebank.words import MINUTE

# Movements between these two groups change a guest's own minutes (see `HostSession.after`).
PURSE = frozenset({"online", "held", "stake"})
SAVINGS = frozenset({"bank", "loan"})


class Parting(NamedTuple):
    """The account of a visit at its end."""

    # Winnings less losses, with the earlier winnings that were staked since.
    gained: int
    # The day's debt before, how much of it the gain paid, and how much was added.
    owed: int
    debt_paid: int
    debt_added: int
    # Time that the host's clock counted beyond the brought time, while own time was charged here.
    also_brought: int
    # The debt on a loan, and the caller's own time that paid it.
    loan: int
    loan_paid: int
    # The rest of the caller's own time: gained, returned to the bank. `taken_home` is the host's.
    gain: int
    put_back: int
    taken_home: int
    # Still on the table: the whole stake, the host's part, and the part from the caller's account.
    left_staked: int
    left_standing: int
    left_own: int


class HostSession(NamedTuple):
    """A visit as an unfinished entry leaves it. Amounts are seconds."""

    caller_id: int
    # None while a hand is settled for a caller who is not on a call.
    call_id: int | None
    board: str
    # On the table at the start: the whole stake, the host's part, and the part from the account.
    staked: int
    standing: int
    standing_own: int
    # 0 until the visit is written.
    id: int = 0
    # The day whose debts the visit adds to and pays.
    day: str = ""
    # The time left that the host's clock showed at the entry; None for a host without one.
    shown: int | None = None
    # `shown`, or the rest of the day's allowance.
    clock: int = 0
    # The host's next event, or the time by which the caller must be back; seconds since 1970.
    until: int | None = None
    way: str | None = None
    shows_losses: bool = False
    # The debt subtracted from the brought time.
    debt: int = 0
    brought: int = 0
    # Time from bank and loan, less time moved there.
    own: int = 0
    parting: Parting | None = None

    def after(self, source: str, target: str, amount: int) -> HostSession:
        """Return the visit after a movement between two kinds of accounts."""
        if self.parting is not None:
            return self
        if source in SAVINGS and target in PURSE:
            return self._replace(own=self.own + amount)
        if source in PURSE and target in SAVINGS:
            return self._replace(own=self.own - amount)
        return self

    def debt_day(self, today: str) -> str:
        """Return the day whose debts the visit adds to and pays if it ends on `today`.

        With a host's clock it is the day of the exit. Without one the brought time is a day's
        allowance, and it is the day of the entry. Days are in ISO form.
        """
        has_allowance = self.call_id is not None and self.shown is None
        return self.day if has_allowance else max(self.day, today)

    def net_result(self, purse: int, charged: int) -> int:
        """Return winnings less losses; `purse` is the time online, held and on the table."""
        own = self.standing_own + self.own
        return purse + charged - self.brought - self.standing - own

    def savable(self, purse: int, charged: int, debt: int) -> int:
        """Return how much of the purse is the guest's own and may be saved; at least 0."""
        total, paid = self._own(purse, charged, debt)
        return max(0, total - paid)

    def _own(self, purse: int, charged: int, debt: int) -> tuple[int, int]:
        """Return the guest's own time before the day's debt is paid, and the paid part of the debt.

        Time used beyond the host's minutes was the guest's own, because the host's clock stops at
        zero.
        """
        gained = self.net_result(purse, charged)
        beyond = max(0, charged - max(self.clock, self.brought + self.standing))
        total = self.standing_own + self.own + gained - beyond
        return total, max(0, min(gained, debt, total))

    def part(self, purse: int, staked: int, charged: int, debt: int, loan: int) -> Parting:
        """Return the account of the visit at its end, while `staked` stays on the table.

        `debt` is the lost host's minutes of the day, `loan` the debt to our bank. Time from the
        caller's account pays the loan first, then the gain.
        """
        gained = self.net_result(purse, charged)
        before, paid = self._own(purse, charged, debt)
        total = before - paid
        own = self.standing_own + self.own
        also = max(0, min(charged, self.clock) - self.brought - self.standing - paid)
        leaves = purse - staked + also
        out = min(max(0, total), leaves)
        gain = min(out, max(0, gained - paid))
        stays = min(max(0, total) - out, staked)
        loan_paid = min(loan, out)
        put_back = max(0, out - gain - loan_paid)
        return Parting(
            gained=gained,
            owed=debt,
            debt_paid=paid,
            debt_added=max(0, -total),
            also_brought=also,
            loan=loan,
            loan_paid=loan_paid,
            gain=out - loan_paid - put_back,
            put_back=put_back,
            taken_home=leaves - out,
            left_staked=staked,
            left_standing=staked - stays,
            left_own=min(stays, max(0, own)),
        )

    def write(self, desk: Desk, charged: int) -> None:
        values: dict[str, object] = dict.fromkeys(_END_COLUMNS)
        values |= {name: getattr(self, name) for name in _START_COLUMNS}
        values["shows_losses"] = int(self.shows_losses)
        if self.parting is not None:
            result = self.parting.gained - (self.staked - self.standing - self.standing_own)
            values |= {"closed": stamp(desk.now), "elapsed": charged, "result": result}
            values |= {name: getattr(self.parting, name) for name in Parting._fields[1:]}
        if self.id:
            _CHANGE.defer(desk.connection, **values, id=self.id)
        else:
            _BEGIN.defer(desk.connection, **values)


# Columns of `visits` that are fields of `HostSession`, and those written at the end.
_START_COLUMNS = (
    *("caller_id", "call_id", "day", "shown", "clock", "until", "way", "shows_losses", "debt"),
    *("staked", "standing", "standing_own", "brought", "own"),
)
_END_COLUMNS = ("closed", "elapsed", "result", *Parting._fields[1:])
_COLUMNS = " ".join((*_START_COLUMNS, *_END_COLUMNS))
_BEGIN = Prepared(lambda: insert_into(visits, _COLUMNS))
_CHANGE = Prepared(lambda: change(visits, _COLUMNS, equal(visits.c.id)))
_LAST = Prepared(
    lambda: select(visits).where(equal(visits.c.caller_id)).order_by(visits.c.id.desc()).limit(1)
)


def visit_of(
    desk: Desk, caller_id: int, call_id: int | None, board: str, staked: int
) -> HostSession:
    """Return the caller's open visit, or a new one with `staked` seconds on the table."""
    row = _LAST(desk.connection, caller_id=caller_id).first()
    if row is None:
        return HostSession(caller_id, call_id, board, staked, staked, 0)
    if row.closed is None:
        fields = {name: getattr(row, name) for name in (*_START_COLUMNS, "id")}
        fields["shows_losses"] = bool(row.shows_losses)
        return HostSession(board=board, **fields)
    return HostSession(caller_id, call_id, board, staked, row.left_standing, row.left_own)


def debt_column(caller_id: ColumnElement[int], day: ColumnElement[str]) -> ColumnElement[int]:
    """Select the host's minutes that a caller lost on a day and the host does not know, in seconds.

    The value is negative if the host was shown greater losses.
    """
    lost = select(total(visits.c.debt_added - visits.c.debt_paid)).where(
        visits.c.caller_id == caller_id, visits.c.day == day, visits.c.closed.is_not(None)
    )
    shown = select(total(given_back.c.minutes) * MINUTE).where(
        *(given_back.c.caller_id == caller_id, given_back.c.day == day),
        *(given_back.c.minutes < 0, given_back.c.state == "written"),
    )
    return lost.scalar_subquery() + shown.scalar_subquery()


_DEBT: Reader[int] = value(lambda: select(debt_column(bindparam("caller_id"), bindparam("day"))))
_USED: Reader[int] = value(
    lambda: select(total(visits.c.elapsed)).where(equal(visits.c.caller_id, visits.c.day))
)


def debt_of(desk: Desk, caller_id: int, day: str) -> int:
    """Return the debt of a caller to the host on a day, in seconds; see `debt_column`."""
    return max(0, _DEBT.one(desk.connection, caller_id=caller_id, day=day))


def used_on(desk: Desk, caller_id: int, day: str) -> int:
    return _USED.one(desk.connection, caller_id=caller_id, day=day)


@dataclass(frozen=True, slots=True)
class GuestArrival:
    """The time that a caller of another board brought, and why not more. Amounts are seconds."""

    board: str
    # The time left that the host's clock showed; None for a host without one.
    shown: int | None
    brought: int
    # Subtracted from it: the day's debt, and the host's minutes on the table.
    debt: int
    host_stake: int
    # The call ends after this much used time. None for a host without a clock.
    host_limit: int | None
    # Minutes that wait to be given back to the host.
    owed: int
    # The last call ended because its lease was not renewed.
    was_cut_off: bool
