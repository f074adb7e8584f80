"""The end of a visit of another board's caller: what is gained is given back, the rest goes home.

A loan is paid before anything else of the caller's own goes anywhere, and what the visit leaves of
it is paid out of the account.

It is part of the entry by which his call is closed, by himself, by a call that takes over, or by
whoever finds it dead. What a hand brings that is settled while he is on no call goes the same way,
but never to the host, which has nobody to give it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from timebank.hosts_given import HOST_WAYS, THEBANK_EXT, keep_what_waits, write_down
from timebank.hosts_visit import debt_of
from timebank.ledger import EXTERNAL, Account
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from timebank.database import Desk
    from timebank.posting import Posting


def leave(posting: Posting, day: str) -> None:
    """Put on the last entry of a visit that it is over; `day` is the one on which it ended."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    visit.day = visit.day_on(day)
    _part(posting)
    if visit.way not in HOST_WAYS:
        keep_what_waits(posting)
    _pay_out_of_account(posting)


def leave_without_call(posting: Posting) -> None:
    """Take out of the purse what came into it while its caller is on no call.

    Nothing is reckoned before the hand is over, or brings something back.
    """
    visit = posting.visit
    assert visit is not None  # called for visits alone
    balance = posting.balance
    comes_back = balance["online"] + balance["held"]
    if not comes_back and (balance["stake"] or not visit.staked):
        return
    today = posting.desk.settings.schedule.day_of(posting.desk.now).isoformat()
    visit.day = max(today, posting.day or "")
    visit.way = None
    _part(posting)
    _pay_out_of_account(posting)


def _part(posting: Posting) -> None:
    visit, balance = posting.visit, posting.balance
    assert visit is not None  # called for visits alone
    debt = debt_of(posting.desk, posting.caller_id, visit.day)
    loan = -balance["loan"]
    parting = visit.part(posting.purse, balance["stake"], posting.charged, debt, loan)
    visit.parting, visit.changed = parting, True
    also = parting.also_brought
    why = f"{span(also)} more counted by the clock of {visit.board}"
    posting.move(EXTERNAL, posting.online, also, "brought", why)
    why = f"{span(parting.loan_paid)} of your own paid back on the loan"
    for account, amount in _out_of(posting, parting.loan_paid):
        posting.move(account, posting.loan, amount, "loan paid", why)
    _gain(posting, parting.gain)
    _put_back(posting, parting.put_back)
    for account, amount in _out_of(posting, parting.taken_home):
        why = f"{span(amount)} taken home to {visit.board}"
        posting.move(account, EXTERNAL, amount, "taken home", why)


def _out_of(posting: Posting, amount: int) -> list[tuple[Account, int]]:
    """Take an amount out of what is on line, and the rest of it out of what is held."""
    first = min(amount, posting.balance["online"])
    return [(posting.online, first), (posting.held, amount - first)]


def _pay_out_of_account(posting: Posting) -> None:
    """Pay what is still owed on a loan out of the account, unless that is frozen.

    Else what was borrowed and deposited, or won and deposited, would be kept and never paid back.
    """
    if not _is_frozen(posting):
        amount = min(-posting.balance["loan"], posting.balance["bank"])
        posting.pay_loan_from_bank(amount)


def _put_back(posting: Posting, amount: int) -> None:
    """Put what came out of the account back, and give the host what the account has no room for.

    What the host cannot take stays in the account all the same, and the reason says so: it came
    from there, and is the caller's.
    """
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if amount == 0:
        return
    most = desk.settings.limits.balance
    beyond = min(amount, max(0, posting.balance["bank"] + amount - most))
    why = f"{span(amount)} of your own put back in the bank"
    can_give = _can_give(visit.way, desk) and not _is_frozen(posting)
    if beyond and not can_give:
        why += f", {span(beyond)} of it beyond the {span(most)} that an account holds"
        why += ": the account is frozen" if _is_frozen(posting) else f": {visit.board} takes none"
    for account, part in _out_of(posting, amount):
        posting.move(account, posting.bank, part, "put back", why)
    if beyond and can_give:
        # Seconds below a minute stay in the bank and go with the next gain.
        _give(posting, beyond)


def _is_frozen(posting: Posting) -> bool:
    return bool(
        posting.desk.connection.exec_driver_sql(
            "SELECT frozen FROM callers WHERE id = ?", (posting.caller_id,)
        ).scalar_one()
    )


def _can_give(way: str | None, desk: Desk) -> bool:
    """Say whether gains can go to the host, or through THEBANK.EXT to its bank."""
    return way is not None and (way != THEBANK_EXT or desk.settings.thebank_ext is not None)


def _give(posting: Posting, seconds: int) -> None:
    """Give the whole minutes of an amount in the bank to the host, the way of the visit."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    assert visit.way is not None  # `_can_give`
    if visit.way == THEBANK_EXT:
        posting.pass_on(seconds, visit.board)
        return
    whole = seconds // MINUTE * MINUTE
    if whole:
        why = f"{span(whole)} given back to {visit.board}"
        posting.move(posting.bank, EXTERNAL, whole, "given back", why)
        write_down(posting, len(posting.movements) - 1, whole // MINUTE, visit.way)


def _gain(posting: Posting, gain: int) -> None:
    """Give back what was gained, to the host when it can take it, else to where we keep time."""
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if gain == 0:
        return
    why = f"{span(gain)} gained on the visit from {visit.board}"
    parts = _out_of(posting, gain)
    if not _can_give(visit.way, desk):
        for account, amount in parts:
            posting.put_away(account, amount, "gain", why, visit.board)
        return
    # Seconds below a minute wait in the bank for the next that make it whole.
    waiting = 0 if _is_frozen(posting) else posting.balance["bank"] % MINUTE
    for account, amount in parts:
        posting.move(account, posting.bank, amount, "gain", why)
    _give(posting, waiting + gain)
