"""A caller's operations at the bank's window: deposit, withdraw, send, borrow, repay.

Amounts are seconds in whole minutes (ValueError otherwise). Each operation raises `CallClosed`, and
the `Refused` of the first rule that forbids the amount.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import NamedTuple

from sqlalchemy import select

from timebank.callers import awards, callers, hearing
from timebank.callers.award_names import DEPOSIT
from timebank.callers.notices import Amount, Value, WrittenWords, add_notice
from timebank.errors import LimitReached, NotEnough, Refused
from timebank.language import N_, Phrase
from timebank.ledger import reasons, schema, transfers
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.entries.posting import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.reasons import Reason
from timebank.ledger.sql import Reader, equal, value
from timebank.window.allowance import (
    Allowed,
    BankAccount,
    Bound,
    Window,
    account_of,
    loan_rules,
    refuse_beyond,
    strictest,
    you_have,
)
from timebank.words import MINUTE, clean, span_phrase

LONGEST_MESSAGE = 60  # characters
# The kinds of transfer that others get, or can win.
TO_OTHERS = (reasons.Sent.KIND, reasons.Staked.KIND)
AUTO_DEPOSIT = "auto_deposit"  # preference: leftover minutes are banked when a call ends


class BankOperation:
    """An operation of the window, which moves an amount between two of a caller's accounts.

    The one named "transfer" only has rules; the function `transfer` moves the minutes.

    `name` is its name on screens and in settings. `reason` is the reason of its transfer, and names
    the two accounts. `award` is the award that it earns. `rules` yields its bounds in the order in
    which refusals are shown; a closed window is refused first.
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
        yield from window.closing_rules()
        yield from self._rules(window)

    def __call__(self, desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
        posting = enter(desk, call_id, ticked)
        refuse_beyond(seconds, self.bounds(Window(posting)))
        source, target = self.reason.ROUTES[0].split()
        # The last payment of a loan takes only the seconds that are still owed.
        amount = min(seconds, -posting.state.loan) if target == "loan" else seconds
        posting.move(source, target, amount, self.reason())
        if self.award:
            posting.awards += awards.earn(desk, posting.caller_id, self.award)
        return posting.finish()


OPERATIONS: list[BankOperation] = []


def _operation(
    name: str, reason: type[Reason], award: str = ""
) -> Callable[[Callable[[Window], Iterator[Bound]]], BankOperation]:
    """Decorate a function that yields bounds, and make it an operation."""
    return partial(BankOperation, name, reason, award)


@_operation("deposit", reasons.Deposited, award=DEPOSIT)
def deposit(window: Window) -> Iterator[Bound]:
    yield window.daily_rule(
        window.limits.deposit,
        N_("You can deposit {most} a day; you have {amount} left today."),
        N_("Nobody can deposit minutes on this board."),
        "deposit",
    )
    online, keep = window.posting.state.online, window.limits.keep
    sentence = you_have(online)
    if keep:
        sentence = Phrase(
            "{keep} must stay on your clock, and you have {amount} left.",
            keep=span_phrase(keep),
            amount=span_phrase(online),
        )
    yield Bound(online - keep, sentence, NotEnough)
    yield from window.guest_rules(Phrase("you can't bank it"))
    text = N_("An account holds {most} at most; yours has room for {amount}.")
    yield window.room_rule(window.posting.state.bank, text)


@_operation("withdraw", reasons.Withdrawn)
def withdraw(window: Window) -> Iterator[Bound]:
    yield window.balance_rule()
    yield window.daily_rule(
        window.limits.withdrawal,
        N_("You can withdraw {most} a day; you have {amount} left today."),
        N_("Nobody can withdraw minutes on this board."),
        "withdraw",
    )
    yield from window.event_rules(
        N_("You could use only {amount} of it before {event}."),
        N_("You could use none of it before {event}."),
    )


@_operation("transfer", reasons.Sent)
def sender_rules(window: Window) -> Iterator[Bound]:
    """Yield the bounds of a sender, who may not know the receiver yet.

    `gift_bounds` adds those of the receiver. `transfer` moves the minutes; this is never called.
    """
    yield from window.newcomer_rules(N_("New callers can send minutes after {day}."))
    yield from loan_rules(
        -window.posting.state.loan,
        N_("You owe {amount}: pay that back before you send any minutes."),
    )
    yield window.balance_rule()
    yield window.daily_rule(
        window.limits.transfer,
        N_("You can send {most} a day; you have {amount} left today."),
        N_("Nobody can send minutes on this board."),
        *TO_OTHERS,
    )


@_operation("borrow", reasons.Borrowed)
def borrow(window: Window) -> Iterator[Bound]:
    yield from window.newcomer_rules(N_("New callers can borrow minutes after {day}."))
    if window.limits.loan:
        yield from _earlier_loan(window)
    # Minutes sent today reduce the loan. Otherwise a caller could give the day's minutes away every
    # day and borrow others for themselves.
    text = N_("You can borrow {most} a day; you have {amount} left today.")
    if any(window.today.get(kind) for kind in TO_OTHERS):
        text = N_(
            "You can borrow {most} a day, less what you send to others; you have {amount} left"
            " today."
        )
    never = N_("Nobody can borrow minutes on this board.")
    yield window.daily_rule(window.limits.loan, text, never, "loan", *TO_OTHERS)
    yield from window.event_rules(
        N_("You could use only {amount} before {event}."),
        N_("You could use none of it before {event}."),
    )


def _earlier_loan(window: Window) -> Iterator[Bound]:
    """Allow no loan while one of an earlier day is owed, because debts would grow day by day.

    Payments go to the oldest loan first, so any debt beyond today's loans is older.
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
    # A loan is repaid to the second, so its last payment may be less than a minute.
    whole = (owed + MINUTE - 1) // MINUTE * MINUTE
    owes = Phrase("You owe {amount}.", amount=span_phrase(owed))
    yield Bound(whole, owes if owed else Phrase("You owe nothing."), NotEnough)
    if online < owed:
        yield Bound(online, you_have(online), NotEnough)
    # The payment takes only the debt, so bounds above the debt are met by any offer.
    own = window.guest_rules(Phrase("you can't pay a loan with it"))
    yield from (bound for bound in own if bound.maximum < owed)


Allowance = Mapping[BankOperation, Allowed]


def allowance(desk: Desk, call_id: int, ticked: int = 0) -> Allowance:
    """Return what the caller may still move now, by operation. Writes nothing.

    `ticked` are the seconds since the log-on. With 0, the time used since the caller's last entry
    is not subtracted. Raises `CallClosed`.
    """
    window = window_of(desk, call_id, ticked)
    return {operation: strictest(operation.bounds(window)) for operation in OPERATIONS}


def allowance_to(desk: Desk, call_id: int, to_caller_id: int) -> Allowed:
    """Return what the caller may still send to another caller. Writes nothing.

    Raises `CallClosed`, `UnknownCaller`, and `Refused` for the caller's own account.
    """
    window = window_of(desk, call_id, 0)
    return strictest(gift_bounds(window, account_of(desk, to_caller_id)))


def window_of(desk: Desk, call_id: int, ticked: int) -> Window:
    """Return the window of a call, after the next event's cutoff. Raises `CallClosed`."""
    posting = enter(desk, call_id, ticked)
    posting.apply(cutoff.clamp, desk.now, desk.settings)
    return Window(posting)


def gift_bounds(window: Window, other: BankAccount) -> Iterator[Bound]:
    """Yield the bounds of a gift to another caller, or of a stake that they can win."""
    if other.caller_id == window.posting.caller_id:
        raise Refused(Phrase("These minutes are yours already."))
    yield from sender_rules.bounds(window)
    yield from window.receiver_rules(other)


def transfer(
    desk: Desk, call_id: int, ticked: int, to_caller_id: int, seconds: int, message: str
) -> Receipt:
    """Move minutes from the caller's account to another's, and leave the receiver a notice.

    The message may be empty. It is cut to 60 characters without controls, and dropped if the
    receiver does not see the sender's words (`words_refusal`). Also raises `UnknownCaller`.
    """
    posting = enter(desk, call_id, ticked)
    window, other = Window(posting), account_of(desk, to_caller_id)
    refuse_beyond(seconds, gift_bounds(window, other))
    is_shown = words_refusal(desk, posting.caller_id, to_caller_id) is None
    message = clean(message, LONGEST_MESSAGE) if is_shown else ""
    posting.hand_over(
        transfers.Account(other.account_id, "bank", "second"),
        seconds,
        reasons.Sent(posting.name, other.name, message),
    )
    values: dict[str, Value] = {"name": posting.name, "amount": Amount(seconds)}
    if message:
        words = WrittenWords(posting.caller_id, message, N_("{name} sent you {amount}."))
        add_notice(desk, to_caller_id, N_('{name} sent you {amount}: "{message}"'), words, **values)
    else:
        add_notice(desk, to_caller_id, N_("{name} sent you {amount}."), **values)
    return posting.finish()


def words_refusal(desk: Desk, caller_id: int, to_caller_id: int) -> Phrase | None:
    """Return why a receiver does not see the sender's message, or None. Raises `UnknownCaller`."""
    return hearing.refusal(callers.get(desk, caller_id), callers.get(desk, to_caller_id))


class Leftover(NamedTuple):
    """What a caller who leaves now may deposit, and what becomes of the seconds left as `day` ends.

    `expiring` and `saved` (in the bank by itself) are without a deposit, `unbanked` and
    `saved_after` after all that may be deposited.
    """

    allowed: Allowed
    expiring: int
    saved: int
    unbanked: int
    saved_after: int
    day: date


class AgreedDeposit(NamedTuple):
    """A deposit of at most so many seconds, to which a caller who leaves agreed on a day."""

    seconds: int
    day: date


def leftover(desk: Desk, call_id: int, ticked: int) -> Leftover:
    """Return what becomes of the time of one of our own callers who leaves now. Writes nothing.

    Raises `CallClosed`.
    """
    window = window_of(desk, call_id, max(ticked, LEAST_SECONDS))
    posting = window.posting
    on = date.fromisoformat(posting.state.day or "")
    allowed, before = strictest(deposit.bounds(window)), posting.day_end()
    posting.move("online", "bank", allowed.seconds, reasons.Deposited(at_log_off=True))
    return Leftover(allowed, *before, *posting.day_end(), on)


def deposit_before_leaving(
    desk: Desk, call_id: int, ticked: int, agreed: AgreedDeposit | None = None
) -> Receipt:
    """Make the deposit of `deposit_at_log_off` before the call ends, so that the goodbye shows it.

    Without this, the end of the call makes the deposit. Raises `CallClosed`.
    """
    posting = enter(desk, call_id, max(ticked, LEAST_SECONDS))
    deposit_at_log_off(posting, agreed)
    return posting.finish()


def deposit_at_log_off(posting: Posting, agreed: AgreedDeposit | None = None) -> None:
    """Add a deposit to the last entry of a call, as much as is allowed.

    It is automatic if the caller wants that, else the one that they `agreed` to, on its day only.
    """
    wanted = _wanted_deposit(posting, agreed)
    if wanted:
        amount = min(wanted, strictest(deposit.bounds(Window(posting))).seconds)
        posting.move("online", "bank", amount, reasons.Deposited(at_log_off=True))


def _wanted_deposit(posting: Posting, agreed: AgreedDeposit | None) -> int:
    text = _PREFERENCES.one(posting.desk.connection, id=posting.caller_id)
    if f'"{AUTO_DEPOSIT}"' in text and json.loads(text).get(AUTO_DEPOSIT) == 1:
        return posting.state.online
    if agreed is None or posting.state.day != agreed.day.isoformat():
        return 0
    return agreed.seconds


_PREFERENCES: Reader[str] = value(
    lambda: select(schema.callers.c.preferences).where(equal(schema.callers.c.id))
)
