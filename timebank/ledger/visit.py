"""What a caller of another board brings, what of it is the host's, and what becomes of it.

The guest's time belongs to the host, whose clock runs on meanwhile. So the purse has two layers:
the host's minutes, which were brought, and the guest's own, which came out of our bank or were won.
The host's minutes go home with the guest, because its clock still shows them; they can never be
saved here. A gain (what was won less what was lost) first pays the day's debt; the rest is the
guest's own. What is the guest's own at the end pays a loan first: no day brings minutes here that
could pay it later. A loss comes out of their own minutes first. What is lost of the host's, whose
clock does not show it, is the day's *debt*, and is taken off what they bring later that day. So,
for every visit and to the second,

    what the host shows - debt + what is the guest's own   changes by   result - elapsed

What stands on the table when the guest leaves is neither won nor lost. It is parted into the host's
and the guest's own, is taken off what they bring to the next visit, and counts as brought there.

Nothing here moves anything; amounts are seconds. docs/door-mode.md has an example in figures.
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

# The two sides between which minutes change their owner (see `HostSession.after`).
PURSE = frozenset({"online", "held", "stake"})
SAVINGS = frozenset({"bank", "loan"})


class Parting(NamedTuple):
    """What becomes of everything at the end of a visit."""

    # What was won less what was lost, with what was won earlier and stood on the table since.
    gained: int
    # The debt of the day before it.
    owed: int
    debt_paid: int
    debt_added: int
    # What the host's clock counted of time that was not brought, while their own was charged here.
    also_brought: int
    # What was owed on a loan, and what of the caller's own paid it.
    loan: int
    loan_paid: int
    # The rest of the caller's own: what was gained, and what had come out of the account.
    gain: int
    put_back: int
    taken_home: int
    # On the table still: all of it, the host's part, and what came out of their account.
    left_staked: int
    left_standing: int
    left_own: int


class HostSession(NamedTuple):
    """A visit as an entry in the making leaves it so far."""

    caller_id: int
    # None while a hand is settled for one who is on no call.
    call_id: int | None
    board: str
    # On the table when it began: all of it, the host's part, and what came out of their account.
    staked: int
    standing: int
    standing_own: int
    # 0 until it is in the books.
    id: int = 0
    # Whose debts it is charged and pays.
    day: str = ""
    # The time left that the host's clock showed at the entry; None for a host without one.
    shown: int | None = None
    # That, or what was left of the day's allowance.
    clock: int = 0
    # Whole seconds since 1970: the host's next event, or when it must have them back.
    until: int | None = None
    way: str | None = None
    shows_losses: bool = False
    # The debt that was taken off.
    debt: int = 0
    brought: int = 0
    # What came out of bank and loan, less what went there.
    own: int = 0
    parting: Parting | None = None

    def after(self, source: str, target: str, amount: int) -> HostSession:
        """Return the visit after a movement, by the kinds of its accounts."""
        if self.parting is not None:
            return self
        if source in SAVINGS and target in PURSE:
            return self._replace(own=self.own + amount)
        if source in PURSE and target in SAVINGS:
            return self._replace(own=self.own - amount)
        return self

    def debt_day(self, today: str) -> str:
        """Tell whose debts it is charged and pays when it ends on `today`.

        A debt that the host's clock goes on showing is of the day of the exit. Without such a clock
        what is brought is a day's allowance, and its debts are of the day of the entry.
        """
        is_of_allowance = self.call_id is not None and self.shown is None
        return self.day if is_of_allowance else max(self.day, today)

    def net_result(self, purse: int, charged: int) -> int:
        """Tell what was won less what was lost; `purse` is all on line, held and on the table."""
        own = self.standing_own + self.own
        return purse + charged - self.brought - self.standing - own

    def savable(self, purse: int, charged: int, debt: int) -> int:
        """Tell how much of the purse is their own and may be saved; 0 for nothing."""
        total, paid = self._own(purse, charged, debt)
        return max(0, total - paid)

    def _own(self, purse: int, charged: int, debt: int) -> tuple[int, int]:
        """Tell what is their own before the day's debt is paid, and what they pay of it.

        What was used beyond the host's minutes came out of their own: its clock cannot show
        less than nothing.
        """
        gained = self.net_result(purse, charged)
        beyond = max(0, charged - max(self.clock, self.brought + self.standing))
        total = self.standing_own + self.own + gained - beyond
        return total, max(0, min(gained, debt, total))

    def part(self, purse: int, staked: int, charged: int, debt: int, loan: int) -> Parting:
        """Reckon what becomes of the purse, of which `staked` stays on the table.

        `debt` is what the caller has lost of the host's minutes today, `loan` what is owed to our
        bank. The loan is paid out of what came from the account before a gain pays any of it.
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
        values: dict[str, object] = dict.fromkeys(_CLOSING)
        values |= {name: getattr(self, name) for name in _BEGUN}
        values["shows_losses"] = int(self.shows_losses)
        if self.parting is not None:
            result = self.parting.gained - (self.staked - self.standing - self.standing_own)
            values |= {"closed": stamp(desk.now), "elapsed": charged, "result": result}
            values |= {name: getattr(self.parting, name) for name in Parting._fields[1:]}
        if self.id:
            _CHANGE.defer(desk.connection, **values, id=self.id)
        else:
            _BEGIN.defer(desk.connection, **values)


# Columns of a visit, as they are called here.
_BEGUN = (
    *("caller_id", "call_id", "day", "shown", "clock", "until", "way", "shows_losses", "debt"),
    *("staked", "standing", "standing_own", "brought", "own"),
)
_CLOSING = ("closed", "elapsed", "result", *Parting._fields[1:])
_COLUMNS = " ".join((*_BEGUN, *_CLOSING))
_BEGIN = Prepared(lambda: insert_into(visits, _COLUMNS))
_CHANGE = Prepared(lambda: change(visits, _COLUMNS, equal(visits.c.id)))
_LAST = Prepared(
    lambda: select(visits).where(equal(visits.c.caller_id)).order_by(visits.c.id.desc()).limit(1)
)


def visit_of(
    desk: Desk, caller_id: int, call_id: int | None, board: str, staked: int
) -> HostSession:
    """Give the visit that a call is, or begin the next one; `staked` is on the table now."""
    row = _LAST(desk.connection, caller_id=caller_id).first()
    if row is None:
        return HostSession(caller_id, call_id, board, staked, staked, 0)
    if row.closed is None:
        open_one = {name: getattr(row, name) for name in (*_BEGUN, "id")}
        open_one["shows_losses"] = bool(row.shows_losses)
        return HostSession(board=board, **open_one)
    return HostSession(caller_id, call_id, board, staked, row.left_standing, row.left_own)


def debt_column(caller_id: ColumnElement[int], day: ColumnElement[str]) -> ColumnElement[int]:
    """Give what a caller has lost of their host's minutes on a day, as a column of a query.

    Below zero where the host was shown more.
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
    """Tell what a caller has lost of the host's minutes on a day, as far as nothing shows it."""
    return max(0, _DEBT.one(desk.connection, caller_id=caller_id, day=day))


def used_on(desk: Desk, caller_id: int, day: str) -> int:
    return _USED.one(desk.connection, caller_id=caller_id, day=day)


@dataclass(frozen=True, slots=True)
class GuestArrival:
    """What a caller of another board has brought, and why not more. Amounts are seconds."""

    board: str
    # The time left that the host's clock showed; None for a host without one.
    shown: int | None
    brought: int
    # Taken off it: the debt of the day, and the host's minutes that stand on the table.
    debt: int
    standing: int
    # The host's time left; the call is to end when so much has ticked. None without a clock.
    host_limit: int | None
    # What waits to be given back to the host, in minutes.
    owed: int
    # The last call ended because nobody renewed its lease any more.
    was_cut_off: bool
