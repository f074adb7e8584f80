"""What a caller may do at the bank's window just now, and which rule says so when they may not.

Each operation has its bounds: how much a rule allows, and the sentence that names the rule. The
same bounds tell beforehand what is still allowed and refuse what goes beyond, so that the two can
never differ. What was moved today is counted from the ledger's rows of the caller's day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select

from timebank.errors import LimitReached, NoRoom, NotEnough, Refused, UnknownCaller, WindowClosed
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting
from timebank.ledger.schema import accounts, callers, days, instant, transfers
from timebank.words import MINUTE, span

NO_WINDOW = {
    "external": (
        "This board's bank is beside these games: whole minutes that an event cuts off from your"
        " winnings go there by themselves, and nothing is moved here."
    ),
    "none": (
        "This board keeps no time bank: what an event cuts off from your winnings is forfeited."
    ),
}


class Bound(NamedTuple):
    most: int
    sentence: str
    refusal: type[Refused]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Whole minutes, in seconds, that may be moved now; `rule` is the sentence that allows no more.

    `why_not` is the same sentence when there are none, else empty.
    """

    seconds: int
    rule: str

    @property
    def why_not(self) -> str:
        return "" if self.seconds else self.rule


@dataclass(frozen=True, slots=True)
class Allowance:
    deposit: Allowed
    withdraw: Allowed
    # To somebody whose account has room for it.
    transfer: Allowed
    borrow: Allowed
    repay: Allowed
    # Neither mode nor hours nor the sysop close the window to them.
    open: bool
    frozen: bool
    # The caller has the sysop's powers, and so the item Sysop.
    powers: bool


class BankAccount(NamedTuple):
    """A caller's account in the bank, as others see it who move minutes there or from there."""

    caller_id: int
    name: str
    frozen: bool
    account_id: int
    balance: int
    # What the caller owes on a loan, in seconds.
    owed: int


def _account() -> sql.Query:
    who, bank, loan = callers.c, accounts.alias("bank"), accounts.alias("loan")
    known = {"caller_id": who.id, "account_id": bank.c.id, "balance": bank.c.balance}
    chosen = sql.fields_of(BankAccount, callers, **known, owed=-loan.c.balance)
    for each in (bank, loan):
        of_time = and_(each.c.kind == each.name, each.c.unit == "second")
        chosen = chosen.join(each, and_(each.c.caller_id == who.id, of_time))
    return chosen.where(sql.equal(who.id), who.deleted.is_(None))


_ACCOUNT = sql.read(BankAccount, _account)
_CALLER = sql.Prepared(
    lambda: select(
        *sql.columns_of(callers, "name created frozen"),
        and_(callers.c.powers == 1, callers.c.locked == 0),
    ).where(sql.equal(callers.c.id))
)


def _today() -> sql.Query:
    """Add up, by kind, what was moved out of the accounts of a caller since their day began."""
    row = transfers.c
    own: list[Any] = [bindparam(kind) for kind in ("online", "bank", "loan")]
    after = select(days.c.after).where(sql.equal(days.c.caller_id, days.c.day))
    return (
        select(row.kind, func.sum(row.amount).label("moved"))
        .where(row.source.in_(own), row.id > after.scalar_subquery(), row.call_id.is_not(None))
        .where(row.kind.in_(["deposit", "withdraw", "transfer", "loan"]))
        .group_by(row.kind)
    )


_TODAY = sql.Prepared(_today)


class Window:
    def __init__(self, posting: Posting) -> None:
        self.posting = posting
        self.settings = posting.desk.settings
        self.limits = self.settings.limits
        found = _CALLER(posting.desk.connection, id=posting.caller_id).one()
        self.name, created, self.frozen, self._powers = found
        self._created = instant(created)
        self._today = {} if posting.day_begins else _moved_today(posting)

    def allowance(self) -> Allowance:
        return Allowance(
            deposit=strictest(self.deposit()),
            withdraw=strictest(self.withdrawal()),
            transfer=strictest(self.transfer()),
            borrow=strictest(self.loan()),
            repay=strictest(self.repayment()),
            open=not list(self._closed()),
            frozen=bool(self.frozen),
            powers=bool(self._powers),
        )

    # The bounds, in the order in which a caller hears of them.

    def deposit(self) -> Iterator[Bound]:
        yield from self._closed()
        yield self._a_day("deposit", self.limits.deposit, "deposit")
        online, keep = self.posting.balance["online"], self.limits.keep
        if keep:
            said = f"{span(keep)} must stay on your clock, and you have {span(online)} left."
        else:
            said = f"You have {span(online)} left."
        yield Bound(online - keep, said, NotEnough)
        yield from self._own_minutes("deposited")
        yield self.room(self.posting.balance["bank"], "yours")

    def withdrawal(self) -> Iterator[Bound]:
        yield from self._closed()
        yield self._in_the_bank()
        yield self._a_day("withdraw", self.limits.withdrawal, "withdraw")
        yield from self._before_the_event("of it ")

    def transfer(self) -> Iterator[Bound]:
        yield from self._closed()
        yield from self._unknown("send")
        yield from while_owing(-self.posting.balance["loan"], "You owe", "you send any minutes")
        yield self._in_the_bank()
        yield self._a_day("send", self.limits.transfer, "transfer")

    def transfer_to(self, other: BankAccount) -> Iterator[Bound]:
        """Bound what may be sent to somebody. Raises `Refused` for the caller's own account."""
        if other.caller_id == self.posting.caller_id:
            raise Refused("These minutes are yours already.")
        yield from self.transfer()
        yield from self.receipt(other)

    def loan(self) -> Iterator[Bound]:
        yield from self._closed()
        yield from self._unknown("borrow")
        if self.limits.loan:
            yield from self._earlier_loan()
        # What was sent today is not lent back: who gives the day's minutes away and borrows others
        # in their place would owe every night and send every day.
        sent = self._today.get("transfer", 0)
        less = ", less what you send to others" if sent else ""
        yield self._a_day("borrow", self.limits.loan, "loan", "transfer", less=less)
        yield from self._before_the_event("")

    def repayment(self) -> Iterator[Bound]:
        yield from self._closed()
        owed, online = -self.posting.balance["loan"], self.posting.balance["online"]
        # The last minute may be a part of one: loans are paid back to the second.
        whole = (owed + MINUTE - 1) // MINUTE * MINUTE
        yield Bound(whole, f"You owe {span(owed) if owed else 'nothing'}.", NotEnough)
        if online < owed:
            yield Bound(online, f"You have {span(online)} left.", NotEnough)
        # Of a whole minute that is offered no more is taken than is owed.
        yield from (bound for bound in self._own_minutes("paid back with") if bound.most < owed)

    def receipt(self, other: BankAccount) -> Iterator[Bound]:
        if other.frozen or self.settings.is_barred(other.name):
            yield Bound(0, f"{other.name}'s account takes nothing in just now.", WindowClosed)
        yield self.room(other.balance, f"that of {other.name}")

    def room(self, balance: int, whose: str) -> Bound:
        most = self.limits.balance
        left = max(0, most - balance)
        said = f"An account holds {span(most)} at most; {whose} has room for {_or_none(left)}."
        return Bound(left, said, LimitReached)

    def _closed(self) -> Iterator[Bound]:
        desk, settings = self.posting.desk, self.settings
        said = ""
        if settings.mode != "built-in":
            said = NO_WINDOW[settings.mode]
        elif settings.is_barred(self.name):
            said = "The sysop has closed the bank to you."
        elif self.frozen:
            said = "The sysop has frozen your account; ask him why."
        elif not settings.is_open(desk.now):
            local = settings.schedule.local(desk.now)
            said = f"The window is closed. It opens on {settings.hours.next_opening(local)}."
        if said:
            yield Bound(0, said, WindowClosed)

    def _a_day(self, verb: str, limit: int, *kinds: str, less: str = "") -> Bound:
        left = max(0, limit - sum(self._today.get(kind, 0) for kind in kinds))
        said = f"On this board nobody can {verb} minutes."
        if limit:
            are = "is" if left <= MINUTE else "are"
            said = f"You may {verb} {span(limit)} a day{less}; {_or_none(left)} of it {are} left."
        return Bound(left, said, LimitReached)

    def _own_minutes(self, what: str) -> Iterator[Bound]:
        """Bound what a caller of another board may save: its minutes are not theirs to keep."""
        visit = self.posting.visit
        if visit is not None:
            ahead = self.posting.ahead()
            said = f"You are {span(ahead) if ahead else 'not'} ahead, and the rest of your time"
            yield Bound(ahead, f"{said} is {visit.board}'s: it cannot be {what}.", NotEnough)

    def _in_the_bank(self) -> Bound:
        balance = self.posting.balance["bank"]
        return Bound(balance, f"Your bank account holds {span(balance)}.", NotEnough)

    def _before_the_event(self, of_it: str) -> Iterator[Bound]:
        limit = self.posting.limit
        if limit is not None:
            room = max(0, limit - self.posting.balance["online"]) // MINUTE * MINUTE
            most = f"Only {span(room)} {of_it}" if room else f"None {of_it or 'of it '}"
            said = f"{most}could be used before {self.posting.event}."
            yield Bound(room, said, NoRoom)

    def _earlier_loan(self) -> Iterator[Bound]:
        """Lend nothing while a loan of an earlier day is owed: debts would grow day by day.

        Payments go to the oldest loan first, so what is owed beyond what was lent today is older.
        """
        owed = -self.posting.balance["loan"] - self._today.get("loan", 0)
        if owed > 0:
            visit = self.posting.visit
            how = "" if visit is None else ", from what you win or withdraw,"
            said = f"You owe {span(owed)} from an earlier day."
            said += f" Repay that{how} before you borrow more."
            yield Bound(0, said, LimitReached)

    def _unknown(self, verb: str) -> Iterator[Bound]:
        schedule = self.settings.schedule
        known = schedule.day_of(self._created) + timedelta(days=self.limits.known_days)
        if schedule.day_of(self.posting.desk.now) < known:
            said = f"You may {verb} minutes from {known} on, when we have known you long enough."
            yield Bound(0, said, LimitReached)


def while_owing(owed: int, owes: str, first: str) -> Iterator[Bound]:
    """Bound what may go from an account to another while `owed` seconds of a loan are open.

    Nothing may, however little is owed: who could send on a loan would never pay it.
    """
    if owed > 0:
        yield Bound(0, f"{owes} {span(owed)}: that must be paid back before {first}.", LimitReached)


def strictest(bounds: Iterable[Bound]) -> Allowed:
    found = min(bounds, key=lambda bound: bound.most // MINUTE)
    return Allowed(max(0, found.most // MINUTE * MINUTE), found.sentence)


def refuse_beyond(seconds: int, bounds: Iterable[Bound]) -> None:
    """Raise the first rule that does not allow so much; ValueError for no whole minutes."""
    whole_minutes(seconds)
    for bound in bounds:
        if seconds > bound.most:
            raise bound.refusal(bound.sentence)


def whole_minutes(seconds: int) -> None:
    """Raise ValueError for what is not a whole number of minutes above zero."""
    if seconds <= 0 or seconds % MINUTE:
        raise ValueError(f"not whole minutes: {seconds} seconds")


def account_of(desk: Desk, caller_id: int) -> BankAccount:
    account = _ACCOUNT.first(desk.connection, id=caller_id)
    if account is None:
        raise UnknownCaller(f"There is no caller number {caller_id}.")
    return account


def _moved_today(posting: Posting) -> dict[str, int]:
    own = {each.kind: each.id for each in (posting.online, posting.bank, posting.loan)}
    day = {"caller_id": posting.caller_id, "day": posting.day}
    return {row.kind: row.moved for row in _TODAY(posting.desk.connection, **own, **day)}


def _or_none(seconds: int) -> str:
    return span(seconds) if seconds else "nothing"
