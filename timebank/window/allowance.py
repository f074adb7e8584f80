"""The rules of the bank's window: the amount that each allows now, and its sentence.

Each operation of `teller.py` has some of these rules. The same bounds announce an allowance and
refuse more than it, so the two never differ. The amounts moved today are summed from the transfers
of the caller's day.
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
from timebank.ledger.purse import WAITS
from timebank.ledger.schema import accounts, callers, days, instant, transfers
from timebank.words import MINUTE, day_words, span_phrase

NO_WINDOW = {
    "external": Phrase(
        "This board has its own bank. Whole minutes you win past an event go there by themselves."
    ),
    "none": Phrase("This board has no time bank. What you win past an event is lost."),
}


class Bound(NamedTuple):
    """The seconds that one rule allows, its sentence, and the error for more."""

    maximum: int
    sentence: Phrase
    refusal: type[Refused]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The seconds, in whole minutes, that may be moved now.

    `rule` is the sentence of the strictest rule. `why_not` is the same sentence if nothing may be
    moved, else empty.
    """

    seconds: int
    rule: Phrase

    @property
    def why_not(self) -> str:
        return "" if self.seconds else str(self.rule)


class BankAccount(NamedTuple):
    """A caller's account in the bank, for transfers to or from it."""

    caller_id: int
    name: str
    frozen: bool
    account_id: int
    balance: int
    # The caller's debt on a loan, in seconds.
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
    """Sum the transfers out of a caller's accounts since their day began, by kind."""
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
    """The window as one caller meets it; each method yields or returns bounds."""

    def __init__(self, posting: Posting) -> None:
        self.posting = posting
        self.settings = posting.desk.settings
        self.limits = self.settings.limits
        self.today: Mapping[str, int] = {}
        if not posting.day_begins:
            self.today = moved_since(posting.desk, posting.caller_id, posting.state.day)

    # The rules that bound an operation.

    def receiver_rules(self, other: BankAccount) -> Iterator[Bound]:
        if other.frozen or self.settings.is_barred(other.name):
            sentence = Phrase("{name}'s account takes nothing in right now.", name=other.name)
            yield Bound(0, sentence, WindowClosed)
        text = N_("An account holds {most} at most; {name}'s has room for {amount}.")
        yield self.room_rule(other.balance, text, name=other.name)

    def room_rule(self, balance: int, text: str, **names: str) -> Bound:
        most = self.limits.balance
        left = max(0, most - balance)
        sentence = Phrase(text, most=span_phrase(most), amount=amount_or_nothing(left), **names)
        return Bound(left, sentence, LimitReached)

    def closing_rules(self) -> Iterator[Bound]:
        desk, settings = self.posting.desk, self.settings
        sentence: Phrase | None = None
        if settings.mode != "built-in":
            sentence = NO_WINDOW[settings.mode]
        elif settings.is_barred(self.posting.name):
            sentence = Phrase("The sysop has closed the bank to you.")
        elif self.posting.state.is_frozen:
            sentence = Phrase("The sysop has frozen your account; ask them why.")
        elif not settings.is_open(desk.now):
            local = settings.schedule.local(desk.now)
            opening = partial(settings.hours.next_opening, local)
            sentence = Phrase(
                "The window is closed. It opens on {day_and_time}.", day_and_time=opening
            )
        if sentence is not None:
            yield Bound(0, sentence, WindowClosed)

    def daily_rule(self, limit: int, text: str, never: str, *kinds: str) -> Bound:
        """Limit a day's transfers of some kinds. `never` is the sentence for a limit of 0."""
        left = max(0, limit - sum(self.today.get(kind, 0) for kind in kinds))
        sentence = Phrase(never)
        if limit:
            sentence = Phrase(text, most=span_phrase(limit), amount=amount_or_nothing(left))
        return Bound(left, sentence, LimitReached)

    def guest_rules(self, cannot: Phrase) -> Iterator[Bound]:
        """Limit what a guest may save to their gain: the other minutes belong to their board."""
        visit = self.posting.visit
        if visit is not None:
            ahead = self.posting.savable()
            text = N_("You aren't up, and your time belongs to {board}: {cannot}.")
            if ahead:
                text = N_("You're up {amount}; the rest of your time is {board}'s: {cannot}.")
            sentence = Phrase(text, amount=span_phrase(ahead), board=visit.board, cannot=cannot)
            yield Bound(ahead, sentence, NotEnough)

    def balance_rule(self) -> Bound:
        balance = self.posting.state.bank
        sentence = Phrase("Your time bank is empty.")
        if balance:
            sentence = Phrase("Your time bank holds {amount}.", amount=span_phrase(balance))
        return Bound(balance, sentence, NotEnough)

    def event_rules(self, some: str, none: str) -> Iterator[Bound]:
        """Limit the time online to the time that can be used before the next event."""
        event = self.posting.state.event
        if event is not None:
            room = max(0, event.seconds - self.posting.state.online) // MINUTE * MINUTE
            text = some if room else none
            sentence = Phrase(
                text, amount=span_phrase(room), event=event_phrase(event, self.settings)
            )
            yield Bound(room, sentence, NoRoom)

    def newcomer_rules(self, text: str) -> Iterator[Bound]:
        if self.posting.state.waits:
            yield Bound(0, Phrase(WAITS), WindowClosed)
        created = _CREATED.one(self.posting.desk.connection, id=self.posting.caller_id)
        known = self.settings.known_on(instant(created))
        if self.settings.schedule.day_of(self.posting.desk.now) < known:
            first, last = known.isoformat(), (known - timedelta(days=1)).isoformat()
            days = Phrase.counted("{number} day", "{number} days", self.limits.known_days)
            words = {"first": partial(day_words, first), "day": partial(day_words, last)}
            yield Bound(0, Phrase(text, days=days, **words), LimitReached)


def loan_rules(owed: int, text: str, **names: str) -> Iterator[Bound]:
    """Allow no transfer to others while `owed` seconds of a loan are open.

    A caller who could send borrowed minutes away would never repay the loan.
    """
    if owed > 0:
        yield Bound(0, Phrase(text, amount=span_phrase(owed), **names), LimitReached)


def strictest(bounds: Iterable[Bound]) -> Allowed:
    bound = min(bounds, key=lambda each: each.maximum // MINUTE)
    return Allowed(max(0, bound.maximum // MINUTE * MINUTE), bound.sentence)


def refuse_beyond(seconds: int, bounds: Iterable[Bound]) -> None:
    """Raise the refusal of the first bound below `seconds`.

    Raises ValueError unless `seconds` are whole minutes above zero.
    """
    require_whole_minutes(seconds)
    for bound in bounds:
        if seconds > bound.maximum:
            raise bound.refusal(bound.sentence)


def require_whole_minutes(seconds: int) -> None:
    """Raise ValueError unless `seconds` are whole minutes above zero."""
    if seconds <= 0 or seconds % MINUTE:
        raise ValueError(f"not whole minutes: {seconds} seconds")


def account_of(desk: Desk, caller_id: int) -> BankAccount:
    account = _ACCOUNT.first(desk.connection, id=caller_id)
    if account is None:
        raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
    return account


def moved_since(desk: Desk, caller_id: int, day: str | None) -> dict[str, int]:
    """Return the seconds that count towards the limits of a caller's `day`, by kind of transfer."""
    rows = _TODAY(desk.connection, caller_id=caller_id, day=day)
    return {row.kind: row.moved for row in rows}


def you_have(seconds: int) -> Phrase:
    return Phrase("You have {amount} left.", amount=span_phrase(seconds))


def amount_or_nothing(seconds: int) -> Phrase:
    return span_phrase(seconds) if seconds else Phrase("nothing")
