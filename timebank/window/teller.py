"""What a caller does at the bank's own window: deposit, withdraw, send, borrow, repay.

Amounts are seconds, and whole minutes all of them (ValueError else). Each operation raises
`CallClosed`, and the `Refused` of the first of its rules that forbids it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import NamedTuple

from sqlalchemy import select

from timebank.callers import awards, callers, hearing
from timebank.callers.award_names import DEPOSIT
from timebank.callers.notices import Amount, Value, WrittenWords, add_notice
from timebank.callers.standings import richest
from timebank.errors import LimitReached, NotEnough, Refused
from timebank.language import N_, Phrase
from timebank.ledger import reasons, schema, transfers
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.entries.posting import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.reasons import Reason
from timebank.ledger.schema import instant
from timebank.ledger.sql import Prepared, Reader, by_name, columns_of, equal, value
from timebank.names.names import fold
from timebank.window.allowance import (
    Allowed,
    BankAccount,
    Bound,
    Window,
    account_of,
    refuse_beyond,
    strictest,
    while_owing,
    you_have,
)
from timebank.words import MINUTE, clean, span_phrase

LONGEST_MESSAGE = 60  # characters


class BankOperation:
    """What a caller may do at the window with an amount of their own minutes.

    `rules` yields the bounds in the order in which a caller hears of them; a window that is closed
    to the caller comes before them. `reason` says what is written, and between which accounts.
    `name` is what screens and settings call it, `award` the one that it earns.
    """

    def __init__(
        self,
        name: str,
        reason: type[Reason],
        award: str,
        rules: Callable[[Window], Iterator[Bound]],
    ) -> None:
        self.name, self.reason, self.award, self._rules = name, reason, award, rules
        OPERATIONS.append(self)

    def bounds(self, window: Window) -> Iterator[Bound]:
        yield from window.closed()
        yield from self._rules(window)

    def __call__(self, desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
        posting = enter(desk, call_id, ticked)
        refuse_beyond(seconds, self.bounds(Window(posting)))
        source, target = self.reason.WAYS[0].split()
        # Of the last minute of a loan no more is taken than is owed.
        amount = min(seconds, -posting.state.loan) if target == "loan" else seconds
        posting.move(source, target, amount, self.reason())
        receipt = posting.finish()
        if self.award:
            awards.earn(desk, posting.caller_id, self.award)
        return receipt


OPERATIONS: list[BankOperation] = []


def _operation(
    name: str, reason: type[Reason], award: str = ""
) -> Callable[[Callable[[Window], Iterator[Bound]]], BankOperation]:
    """Make an operation of the function that yields its bounds."""
    return partial(BankOperation, name, reason, award)


@_operation("deposit", reasons.Deposited, award=DEPOSIT)
def deposit(window: Window) -> Iterator[Bound]:
    yield window.a_day(
        window.limits.deposit,
        N_("You can deposit {most} a day; you have {amount} left today."),
        N_("Nobody can deposit minutes on this board."),
        "deposit",
    )
    online, keep = window.posting.state.online, window.limits.keep
    said = you_have(online)
    if keep:
        said = Phrase(
            "{keep} must stay on your clock, and you have {amount} left.",
            keep=span_phrase(keep),
            amount=span_phrase(online),
        )
    yield Bound(online - keep, said, NotEnough)
    yield from window.own_minutes(Phrase("you can't bank it"))
    text = N_("An account holds {most} at most; yours has room for {amount}.")
    yield window.room(window.posting.state.bank, text)


@_operation("withdraw", reasons.Withdrawn)
def withdraw(window: Window) -> Iterator[Bound]:
    yield window.in_the_bank()
    yield window.a_day(
        window.limits.withdrawal,
        N_("You can withdraw {most} a day; you have {amount} left today."),
        N_("Nobody can withdraw minutes on this board."),
        "withdraw",
    )
    yield from window.before_the_event(
        N_("You could use only {amount} of it before {event}."),
        N_("You could use none of it before {event}."),
    )


@_operation("transfer", reasons.Sent)
def sending(window: Window) -> Iterator[Bound]:
    """Bound what may be sent to a caller whose account has room for it; `transfer` sends it."""
    yield from window.unknown(N_("New callers can send minutes after {day}."))
    yield from while_owing(
        -window.posting.state.loan,
        N_("You owe {amount}: pay that back before you send any minutes."),
    )
    yield window.in_the_bank()
    yield window.a_day(
        window.limits.transfer,
        N_("You can send {most} a day; you have {amount} left today."),
        N_("Nobody can send minutes on this board."),
        "transfer",
    )


@_operation("borrow", reasons.Borrowed)
def borrow(window: Window) -> Iterator[Bound]:
    yield from window.unknown(N_("New callers can borrow minutes after {day}."))
    if window.limits.loan:
        yield from _earlier_loan(window)
    # What was sent today is not lent back: who gives the day's minutes away and borrows others
    # in their place would owe every night and send every day.
    text = N_("You can borrow {most} a day; you have {amount} left today.")
    if window.today.get("transfer"):
        text = N_(
            "You can borrow {most} a day, less what you send to others; you have {amount} left"
            " today."
        )
    never = N_("Nobody can borrow minutes on this board.")
    yield window.a_day(window.limits.loan, text, never, "loan", "transfer")
    yield from window.before_the_event(
        N_("You could use only {amount} before {event}."),
        N_("You could use none of it before {event}."),
    )


def _earlier_loan(window: Window) -> Iterator[Bound]:
    """Lend nothing while a loan of an earlier day is owed: debts would grow day by day.

    Payments go to the oldest loan first, so what is owed beyond what was lent today is older.
    """
    owed = -window.posting.state.loan - window.today.get("loan", 0)
    if owed > 0:
        text = N_("You owe {amount} from an earlier day. Repay that before you borrow more.")
        if window.posting.visit is not None:
            text = N_(
                "You owe {amount} from an earlier day. Repay that, from what you win or withdraw,"
                " before you borrow more."
            )
        yield Bound(0, Phrase(text, amount=span_phrase(owed)), LimitReached)


@_operation("repay", reasons.Repaid)
def repay(window: Window) -> Iterator[Bound]:
    owed, online = -window.posting.state.loan, window.posting.state.online
    # The last minute may be a part of one: loans are paid back to the second.
    whole = (owed + MINUTE - 1) // MINUTE * MINUTE
    owes = Phrase("You owe {amount}.", amount=span_phrase(owed))
    yield Bound(whole, owes if owed else Phrase("You owe nothing."), NotEnough)
    if online < owed:
        yield Bound(online, you_have(online), NotEnough)
    # Of a whole minute that is offered no more is taken than is owed.
    own = window.own_minutes(Phrase("you can't pay a loan with it"))
    yield from (bound for bound in own if bound.most < owed)


Allowance = Mapping[BankOperation, Allowed]


def allowance(desk: Desk, call_id: int, ticked: int = 0) -> Allowance:
    """Return what the caller may still move now; moves and writes nothing. Raises `CallClosed`.

    `ticked` are the seconds since the log-on; without them time used since the caller's last entry
    is not charged in it.
    """
    window = _window(desk, call_id, ticked)
    return {operation: strictest(operation.bounds(window)) for operation in OPERATIONS}


def allowance_to(desk: Desk, call_id: int, to_caller_id: int) -> Allowed:
    """Return what the caller may still send to somebody; moves and writes nothing, as `allowance`.

    Raises `UnknownCaller`, and `Refused` for the caller's own account.
    """
    window = _window(desk, call_id, 0)
    return strictest(_sending_to(window, account_of(desk, to_caller_id)))


def _window(desk: Desk, call_id: int, ticked: int) -> Window:
    posting = enter(desk, call_id, ticked)
    posting.apply(cutoff.clamp, desk.now, desk.settings)
    return Window(posting)


def _sending_to(window: Window, other: BankAccount) -> Iterator[Bound]:
    if other.caller_id == window.posting.caller_id:
        raise Refused(Phrase("These minutes are yours already."))
    yield from sending.bounds(window)
    yield from window.receipt(other)


def transfer(
    desk: Desk, call_id: int, ticked: int, to_caller_id: int, seconds: int, message: str
) -> Receipt:
    """Move minutes from the caller's account to another's, and leave that one a notice.

    Of the message, which may be empty, 60 characters are kept and no controls; nothing of one that
    the receiver would not be shown (`words_refusal`). Raises `UnknownCaller` too.
    """
    posting = enter(desk, call_id, ticked)
    window, other = Window(posting), account_of(desk, to_caller_id)
    refuse_beyond(seconds, _sending_to(window, other))
    is_shown = words_refusal(desk, posting.caller_id, to_caller_id) is None
    message = clean(message, LONGEST_MESSAGE) if is_shown else ""
    posting.hand_over(
        transfers.Account(other.account_id, "bank", "second"),
        seconds,
        reasons.Sent(posting.name, other.name, message),
    )
    told: dict[str, Value] = {"name": posting.name, "amount": Amount(seconds)}
    if message:
        words = WrittenWords(posting.caller_id, message, N_("{name} sent you {amount}."))
        add_notice(desk, to_caller_id, N_('{name} sent you {amount}: "{message}"'), words, **told)
    else:
        add_notice(desk, to_caller_id, N_("{name} sent you {amount}."), **told)
    return posting.finish()


def words_refusal(desk: Desk, caller_id: int, to_caller_id: int) -> Phrase | None:
    """Return why the receiver of minutes would not be shown the sender's words; None if they are.

    Raises `UnknownCaller`.
    """
    return hearing.refusal(callers.get(desk, caller_id), callers.get(desk, to_caller_id))


def deposit_before_leaving(desk: Desk, call_id: int, ticked: int) -> Receipt:
    """Deposit what the caller wants deposited when they go, so that they can be told of it.

    The end of the call does it as well, and finds nothing left to do. Raises `CallClosed`.
    """
    posting = enter(desk, call_id, max(ticked, LEAST_SECONDS))
    deposit_at_log_off(posting)
    return posting.finish()


def deposit_at_log_off(posting: Posting) -> None:
    """Put on the last entry of a call what the caller wants deposited: all that is allowed."""
    text = _PREFERENCES.one(posting.desk.connection, id=posting.caller_id)
    if '"auto_deposit"' in text and json.loads(text).get("auto_deposit") == 1:
        amount = strictest(deposit.bounds(Window(posting))).seconds
        posting.move("online", "bank", amount, reasons.Deposited(at_log_off=True))


_PREFERENCES: Reader[str] = value(
    lambda: select(schema.callers.c.preferences).where(equal(schema.callers.c.id))
)
_LISTED = Prepared(
    lambda: (
        select(*columns_of(schema.callers, "name fold created last_call"))
        .where(schema.callers.c.deleted.is_(None))
        .order_by(by_name(schema.callers.c.name))
    )
)


class Listed(NamedTuple):
    """What anybody may know of an account. `place` is that on the list of the richest, 0 for none:
    what the others have saved is nobody's business."""

    name: str
    since: datetime
    last_call: datetime | None
    place: int


def accounts(desk: Desk, pattern: str | None, places: int = 0) -> list[Listed]:
    """List the accounts whose names hold `pattern`; the list of the richest has so many places."""
    places_of = {each.name: place for place, each in enumerate(richest(desk, places), 1)}
    plain, key = (pattern or "").casefold(), fold(pattern or "")
    return [
        Listed(
            name,
            instant(created),
            None if last_call is None else instant(last_call),
            places_of.get(name, 0),
        )
        for name, folded, created, last_call in _LISTED(desk.connection)
        if plain in name.casefold() or key in folded
    ]
