"""The rules of the bank's window: how much each allows a caller just now, and its sentence.

Each operation of `teller.py` is bounded by some of them. The same bounds tell beforehand what is
still allowed and refuse what goes beyond, so that the two can never differ. What was moved today is
counted from the ledger's rows of the caller's day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import and_, func, select

from timebank.errors import LimitReached, NoRoom, NotEnough, Refused, UnknownCaller, WindowClosed
from timebank.language import N_, Phrase
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.entries.cutoff import event_phrase
from timebank.ledger.entries.posting import Posting
from timebank.ledger.schema import accounts, callers, days, instant, transfers
from timebank.words import MINUTE, day_words, span_phrase

NO_WINDOW = {
    "external": Phrase(
        "This board has its own bank. Whole minutes you win past an event go there by themselves."
    ),
    "none": Phrase("This board has no time bank. What you win past an event is lost."),
}


class Bound(NamedTuple):
    most: int
    sentence: Phrase
    refusal: type[Refused]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Whole minutes, in seconds, that may be moved now; `rule` is the sentence that allows no more.

    `why_not` is the same sentence when there are none, else empty.
    """

    seconds: int
    rule: Phrase

    @property
    def why_not(self) -> str:
        return "" if self.seconds else str(self.rule)


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
_CREATED: sql.Reader[int] = sql.value(
    lambda: select(callers.c.created).where(sql.equal(callers.c.id))
)


def _today() -> sql.Query:
    """Add up, by kind, what was moved out of the accounts of a caller since their day began."""
    row, own = transfers.c, accounts.c
    theirs = select(own.id).where(
        sql.equal(own.caller_id), own.unit == "second", own.kind.in_(["online", "bank", "loan"])
    )
    after = select(days.c.after).where(sql.equal(days.c.caller_id, days.c.day))
    return (
        select(row.kind, func.sum(row.amount).label("moved"))
        .where(row.source.in_(theirs), row.id > after.scalar_subquery(), row.call_id.is_not(None))
        .group_by(row.kind)
    )


_TODAY = sql.Prepared(_today)


class Window:
    def __init__(self, posting: Posting) -> None:
        self.posting = posting
        self.settings = posting.desk.settings
        self.limits = self.settings.limits
        self.today: Mapping[str, int] = {}
        if not posting.day_begins:
            self.today = moved_on(posting.desk, posting.caller_id, posting.state.day)

    # The rules that bound an operation.

    def receipt(self, other: BankAccount) -> Iterator[Bound]:
        if other.frozen or self.settings.is_barred(other.name):
            said = Phrase("{name}'s account takes nothing in right now.", name=other.name)
            yield Bound(0, said, WindowClosed)
        text = N_("An account holds {most} at most; {name}'s has room for {amount}.")
        yield self.room(other.balance, text, name=other.name)

    def room(self, balance: int, text: str, **names: str) -> Bound:
        most = self.limits.balance
        left = max(0, most - balance)
        said = Phrase(text, most=span_phrase(most), amount=or_none(left), **names)
        return Bound(left, said, LimitReached)

    def closed(self) -> Iterator[Bound]:
        desk, settings = self.posting.desk, self.settings
        said: Phrase | None = None
        if settings.mode != "built-in":
            said = NO_WINDOW[settings.mode]
        elif settings.is_barred(self.posting.name):
            said = Phrase("The sysop has closed the bank to you.")
        elif self.posting.state.is_frozen:
            said = Phrase("The sysop has frozen your account; ask them why.")
        elif not settings.is_open(desk.now):
            local = settings.schedule.local(desk.now)
            opening = partial(settings.hours.next_opening, local)
            said = Phrase("The window is closed. It opens on {day_and_time}.", day_and_time=opening)
        if said is not None:
            yield Bound(0, said, WindowClosed)

    def a_day(self, limit: int, text: str, never: str, *kinds: str) -> Bound:
        """Bound what transfers of some kinds may move on a day; `never` is said of a limit of 0."""
        left = max(0, limit - sum(self.today.get(kind, 0) for kind in kinds))
        said = Phrase(never)
        if limit:
            said = Phrase(text, most=span_phrase(limit), amount=or_none(left))
        return Bound(left, said, LimitReached)

    def own_minutes(self, cannot: Phrase) -> Iterator[Bound]:
        """Bound what a caller of another board may save: its minutes are not theirs to keep."""
        visit = self.posting.visit
        if visit is not None:
            ahead = self.posting.ahead()
            text = N_("You aren't ahead, and your time belongs to {board}: {cannot}.")
            if ahead:
                text = N_("You are {amount} ahead; the rest of your time is {board}'s: {cannot}.")
            said = Phrase(text, amount=span_phrase(ahead), board=visit.board, cannot=cannot)
            yield Bound(ahead, said, NotEnough)

    def in_the_bank(self) -> Bound:
        balance = self.posting.state.bank
        said = Phrase("Your time bank is empty.")
        if balance:
            said = Phrase("Your time bank holds {amount}.", amount=span_phrase(balance))
        return Bound(balance, said, NotEnough)

    def before_the_event(self, some: str, none: str) -> Iterator[Bound]:
        """Bound what would be on line by what can be used before the next event."""
        event = self.posting.state.event
        if event is not None:
            room = max(0, event.seconds - self.posting.state.online) // MINUTE * MINUTE
            text = some if room else none
            said = Phrase(text, amount=span_phrase(room), event=event_phrase(event, self.settings))
            yield Bound(room, said, NoRoom)

    def unknown(self, text: str) -> Iterator[Bound]:
        created = _CREATED.one(self.posting.desk.connection, id=self.posting.caller_id)
        known = self.settings.known_on(instant(created))
        if self.settings.schedule.day_of(self.posting.desk.now) < known:
            last = (known - timedelta(days=1)).isoformat()
            yield Bound(0, Phrase(text, day=partial(day_words, last)), LimitReached)


def while_owing(owed: int, text: str, **names: str) -> Iterator[Bound]:
    """Bound what may go from an account to another while `owed` seconds of a loan are open.

    Nothing may, however little is owed: who could send on a loan would never pay it.
    """
    if owed > 0:
        yield Bound(0, Phrase(text, amount=span_phrase(owed), **names), LimitReached)


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
        raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
    return account


def moved_on(desk: Desk, caller_id: int, day: str | None) -> dict[str, int]:
    """Add up, by kind of transfer, what counts against the limits since a caller's `day` began."""
    rows = _TODAY(desk.connection, caller_id=caller_id, day=day)
    return {row.kind: row.moved for row in rows}


def you_have(seconds: int) -> Phrase:
    return Phrase("You have {amount} left.", amount=span_phrase(seconds))


def or_none(seconds: int) -> Phrase:
    return span_phrase(seconds) if seconds else Phrase("nothing")
