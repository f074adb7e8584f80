"""What a caller does at the bank's own window: deposit, withdraw, send, borrow, repay.

Amounts are seconds, and whole minutes all of them (ValueError else). Each of these raises
`CallClosed`, and the `Refused` of the first rule that forbids it, in the words of `window.Window`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select

from timebank.callers import awards, callers, hearing
from timebank.callers.award_names import DEPOSIT
from timebank.callers.notices import Amount, Value, WrittenWords, add_notice
from timebank.callers.standings import richest
from timebank.language import N_, Phrase
from timebank.ledger import reasons, schema, transfers
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.entries.posting import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import instant
from timebank.ledger.sql import Prepared, Reader, by_name, columns_of, equal, value
from timebank.names.names import fold
from timebank.window.allowance import (
    Allowance,
    Allowed,
    Window,
    account_of,
    refuse_beyond,
    strictest,
)
from timebank.words import clean

LONGEST_MESSAGE = 60  # characters


def allowance(desk: Desk, call_id: int, ticked: int = 0) -> Allowance:
    """Tell what the caller may still move now; moves and writes nothing. Raises `CallClosed`.

    `ticked` are the seconds since the log-on; without them time used since the caller's last entry
    is not charged in it.
    """
    posting = enter(desk, call_id, ticked)
    posting.apply(cutoff.clamp, desk.now, desk.settings)
    return Window(posting).allowance()


def allowance_to(desk: Desk, call_id: int, to_caller_id: int) -> Allowed:
    """Tell what the caller may still send to somebody; moves and writes nothing, as `allowance`.

    Raises `UnknownCaller`, and `Refused` for the caller's own account.
    """
    posting = enter(desk, call_id, 0)
    posting.apply(cutoff.clamp, desk.now, desk.settings)
    return strictest(Window(posting).transfer_to(account_of(desk, to_caller_id)))


def deposit(desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
    posting = enter(desk, call_id, ticked)
    refuse_beyond(seconds, Window(posting).deposit())
    posting.move("online", "bank", seconds, reasons.Deposited())
    receipt = posting.finish()
    awards.earn(desk, posting.caller_id, DEPOSIT)
    return receipt


def withdraw(desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
    posting = enter(desk, call_id, ticked)
    refuse_beyond(seconds, Window(posting).withdrawal())
    posting.move("bank", "online", seconds, reasons.Withdrawn())
    return posting.finish()


def transfer(
    desk: Desk, call_id: int, ticked: int, to_caller_id: int, seconds: int, message: str
) -> Receipt:
    """Move minutes from the caller's account to another's, and leave that one a notice.

    Of the message, which may be empty, 60 characters are kept and no controls; nothing of one that
    the receiver would not be shown (`words_refusal`). Raises `UnknownCaller` too.
    """
    posting = enter(desk, call_id, ticked)
    window, other = Window(posting), account_of(desk, to_caller_id)
    refuse_beyond(seconds, window.transfer_to(other))
    is_shown = words_refusal(desk, posting.caller_id, to_caller_id) is None
    message = clean(message, LONGEST_MESSAGE) if is_shown else ""
    posting.hand_over(
        transfers.Account(other.account_id, "bank", "second"),
        seconds,
        reasons.Sent(window.name, other.name, message),
    )
    told: dict[str, Value] = {"name": window.name, "amount": Amount(seconds)}
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


def borrow(desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
    posting = enter(desk, call_id, ticked)
    refuse_beyond(seconds, Window(posting).loan())
    posting.move("loan", "online", seconds, reasons.Borrowed())
    return posting.finish()


def repay(desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
    """Pay a loan back out of the time left; of the last minute no more than is owed."""
    posting = enter(desk, call_id, ticked)
    refuse_beyond(seconds, Window(posting).repayment())
    amount = min(seconds, -posting.state.loan)
    posting.move("online", "loan", amount, reasons.Repaid())
    return posting.finish()


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
        amount = Window(posting).allowance().deposit.seconds
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
