"""The sysop's corrections: minutes added, taken out and moved, and accounts frozen.

Each needs a reason (`why`) and a name (`by`: a co-sysop's, or that of `words.at_command_line`).
Both are written into the transfer and the log, and the caller gets a notice. Corrections belong to
no call and count towards no limit. Amounts are seconds. Each raises `UnknownCaller`, and `Refused`
without a reason.
"""

from __future__ import annotations

from timebank.callers import sysop_log
from timebank.callers.notices import Amount, Why, add_notice
from timebank.errors import LimitReached, NotEnough, Refused, WindowClosed
from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers
from timebank.ledger.sql import Prepared, change, equal
from timebank.ledger.transfers import ADJUSTMENT, Movement, TransferRow, transfer
from timebank.ledger.transfers import Account as LedgerAccount
from timebank.window import allowance
from timebank.words import LONGEST_BY, clean, clock, is_at_command_line, span, span_phrase

LONGEST_REASON = 200  # characters


def adjust(
    desk: Desk, caller_id: int, seconds: int, why: str, by: str, *, at_window: bool = False
) -> tuple[TransferRow, ...]:
    """Add seconds to an account, or take them out if below zero.

    Works in every mode, also in a frozen account. `at_window` keeps to the rules of the window: it
    takes whole minutes, and raises `WindowClosed` if the account is frozen, and `LimitReached` if
    it has no room. Raises `NotEnough` if the account holds less, ValueError for 0 seconds.
    """
    if seconds == 0:
        raise ValueError("an adjustment of 0 seconds")
    reason: type[reasons.Adjustment] = reasons.SysopAdded if seconds > 0 else reasons.SysopTook
    if at_window:
        allowance.require_whole_minutes(abs(seconds))
        account = _open_account(desk, caller_id)
        reason = reasons.SysopWithdrew
        if seconds > 0:
            _find_room(desk, account, seconds)
            reason = reasons.SysopDeposited
    else:
        account = allowance.account_of(desk, caller_id)
    return _post(desk, account, seconds, reason(*_cleaned(by, why)))


def sysop_transfer(
    desk: Desk, from_caller_id: int, to_caller_id: int, seconds: int, why: str, by: str
) -> tuple[TransferRow, ...]:
    """Move whole minutes from one account to another.

    Raises `WindowClosed` if either is frozen, `LimitReached` if the giver owes a loan or the taker
    has no room, and `NotEnough`.
    """
    allowance.require_whole_minutes(seconds)
    giver, taker = _open_account(desk, from_caller_id), _open_account(desk, to_caller_id)
    if giver.caller_id == taker.caller_id:
        raise Refused(Phrase("{name} cannot send minutes to their own account.", name=giver.name))
    owes = N_(
        "{name} owes {amount}, to be paid back before minutes go to others (`timebank adjust` works"
        " anyway)."
    )
    allowance.refuse_beyond(seconds, allowance.loan_rules(giver.owed, owes, name=giver.name))
    _hold_enough(giver, seconds)
    _find_room(desk, taker, seconds)
    reason = reasons.SysopMoved(giver.name, taker.name, *_cleaned(by, why))
    rows = transfer(desk, [Movement(_bank(giver), _bank(taker), seconds, reason, None, None)])
    for account in (giver, taker):
        add_notice(desk, account.caller_id, "{why}.", why=Why(reason, Amount(seconds)))
        sysop_log.note(desk, reason.by, account.caller_id, rows[0].why)
    return rows


_FREEZE = Prepared(lambda: change(callers, "frozen", equal(callers.c.id)))


def freeze(desk: Desk, caller_id: int, why: str, by: str) -> str:
    """Stop all transfers into and out of an account except the sysop's.

    Earned time stays online or held until a day ends on which the account is open. A guest's gain
    that the host does not take still goes in, because a visit leaves no time behind.
    """
    return _set_frozen(desk, caller_id, True, why, by)


def unfreeze(desk: Desk, caller_id: int, why: str, by: str) -> str:
    return _set_frozen(desk, caller_id, False, why, by)


def _set_frozen(desk: Desk, caller_id: int, frozen: bool, why: str, by: str) -> str:
    account = allowance.account_of(desk, caller_id)
    by, why = _cleaned(by, why)
    if bool(account.frozen) == frozen:
        already = N_("{name}'s account is already frozen.")
        is_not = N_("{name}'s account is not frozen.")
        raise Refused(Phrase(already if frozen else is_not, name=account.name))
    _FREEZE(desk.connection, frozen=int(frozen), id=caller_id)
    done = "frozen" if frozen else "opened again"
    if is_at_command_line(by):
        opened, froze = (
            N_("The sysop opened your time bank again: {why}."),
            N_("The sysop froze your time bank: {why}."),
        )
    else:
        opened, froze = (
            N_("{by} opened your time bank again: {why}."),
            N_("{by} froze your time bank: {why}."),
        )
    add_notice(desk, caller_id, froze if frozen else opened, by=by, why=why)
    sysop_log.note(desk, by, caller_id, f"{account.name}'s account was {done}: {why}")
    return f"{account.name}'s account is {'frozen' if frozen else 'open again'}."


def _post(
    desk: Desk, account: allowance.BankAccount, seconds: int, reason: reasons.Adjustment
) -> tuple[TransferRow, ...]:
    source, target = ADJUSTMENT, _bank(account)
    if seconds < 0:
        _hold_enough(account, -seconds)
        source, target = target, source
    amount = abs(seconds)
    rows = transfer(desk, [Movement(source, target, amount, reason, None, None)])
    text = N_("In your time bank: {why}.")
    add_notice(desk, account.caller_id, text, why=Why(reason, Amount(amount)))
    done = reason.LOG_LINE.format(span(amount), account.name, reason.note)
    sysop_log.note(desk, reason.by, account.caller_id, done)
    return rows


def _cleaned(by: str, why: str) -> tuple[str, str]:
    return clean(by, LONGEST_BY), reason_given(why)


def reason_given(why: str) -> str:
    """Clean a reason for the books. Raises `Refused` without one."""
    why = clean(why, LONGEST_REASON).rstrip(".")
    if not why:
        raise Refused(Phrase("Please give a reason: it goes into the books."))
    return why


def _open_account(desk: Desk, caller_id: int) -> allowance.BankAccount:
    mode = desk.settings.mode
    if mode != "built-in":
        raise WindowClosed(
            Phrase(
                'In mode "{mode}" this board keeps no accounts; you can still adjust them.',
                mode=mode,
            )
        )
    account = allowance.account_of(desk, caller_id)
    if account.frozen:
        raise WindowClosed(
            Phrase("{name}'s account is frozen; adjust it, or unfreeze it.", name=account.name)
        )
    return account


def _hold_enough(account: allowance.BankAccount, seconds: int) -> None:
    if seconds > account.balance:
        raise NotEnough(
            Phrase(
                "{name}'s account holds only {amount}; {asked} were asked.",
                name=account.name,
                amount=clock(account.balance),
                asked=clock(seconds),
            )
        )


def _find_room(desk: Desk, account: allowance.BankAccount, seconds: int) -> None:
    most = desk.settings.limits.balance
    if account.balance + seconds > most:
        room = max(0, most - account.balance)
        raise LimitReached(
            Phrase(
                "An account holds {most} at most; {name}'s has room for {amount}.",
                most=span_phrase(most),
                name=account.name,
                amount=allowance.amount_or_nothing(room),
            )
        )


def _bank(account: allowance.BankAccount) -> LedgerAccount:
    return LedgerAccount(account.account_id, "bank", "second")
