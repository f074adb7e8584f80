"""The end of a visit of another board's caller: gains go to the host or the bank, the rest home.

A loan is paid first out of the caller's own time. The rest of the loan is paid out of the account.

This is part of the entry that closes the call: at log-off, when another call takes over, or when
the call is found dead. A hand that is settled while its caller is on no call is treated in the same
way, but its gain goes to the bank, never to the host.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from sqlalchemy import ColumnElement

from timebank.ledger import reasons, sql
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.schema import callers, given_back, stamp
from timebank.ledger.transfers import EXTERNAL, TransferRow
from timebank.ledger.visit import debt_of
from timebank.words import MINUTE

if TYPE_CHECKING:
    from timebank.ledger.entries.posting import Posting


# Payments to hosts: the rows of `given_back`.
#
# A row is written together with its transfer, and waits for a claim (guests/claims.py). If a visit
# ends whose host takes no gains, waiting payments are kept here.

# The files in which a host reads what its callers won, named as in sysop.toml.
WinningsFile = Literal["moduser", "door.sys", "exitinfo"]
WINNINGS_FILES: tuple[str, ...] = get_args(WinningsFile)
THEBANK_EXT = "thebank.ext"


class HostPayment(NamedTuple):
    """Minutes that a host gets or got; negative for a loss that its clock must show."""

    number: int
    caller_id: int
    caller: str
    board: str
    minutes: int
    way: str
    # "waiting", "writing", "written", "kept" (in the bank here), or "doubtful".
    state: str
    # Seconds since 1970.
    at: int
    # Why the payment is doubtful or kept.
    why: str | None


def select_payments(*where: ColumnElement[bool]) -> sql.Query:
    owner = {"caller": callers.c.name, "board": callers.c.board}
    return (
        sql.fields_of(HostPayment, given_back, **owner)
        .join(callers, callers.c.id == given_back.c.caller_id)
        .where(*where)
        .order_by(given_back.c.number)
    )


_WAITING = sql.read(
    HostPayment,
    lambda: select_payments(sql.equal(given_back.c.caller_id), given_back.c.state == "waiting"),
)


def waiting_payments(desk: Desk, caller_id: int) -> list[HostPayment]:
    return _WAITING.all(desk.connection, caller_id=caller_id)


def queue_payment(posting: Posting, index: int, minutes: int, way: str) -> None:
    """Write a waiting payment together with an entry, for the entry's movement number `index`."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    owing = DuePayment(visit.caller_id, minutes, visit.day, way)
    posting.after_write(partial(_write, posting.desk, index, owing))


class DuePayment(NamedTuple):
    """A payment that must be written: its minutes, negative for a loss, and its file (`way`)."""

    caller_id: int
    minutes: int
    day: str
    way: str

    def write(self, desk: Desk, transfer_id: int | None) -> None:
        now = stamp(desk.now)
        values = self._asdict()
        _INSERT(desk.connection, transfer_id=transfer_id, at=now, changed=now, **values)


_INSERT = sql.Prepared(
    lambda: sql.insert_into(
        given_back, f"transfer_id {' '.join(DuePayment._fields)} at changed", state="waiting"
    )
)


def _write(desk: Desk, index: int, owing: DuePayment, rows: tuple[TransferRow, ...]) -> None:
    owing.write(desk, rows[index].number)


def keep_waiting_payments(posting: Posting) -> None:
    """Add to an entry that all waiting payments of its caller stay here."""
    for row in waiting_payments(posting.desk, posting.caller_id):
        keep_payment(posting, row, "the visit after it could give nothing back")


def keep_payment(posting: Posting, row: HostPayment, why: str) -> None:
    """Add to an entry that a payment stays here: a gain in the bank, a loss as a debt.

    `why` is a clause for the sysop.
    """
    index = len(posting.movements)
    seconds = row.minutes * MINUTE
    if seconds > 0:
        reason, settings = reasons.Kept(row.board), posting.desk.settings
        posting.apply(cutoff.put_away, "external", seconds, reason, row.board, settings)
    posting.after_write(
        partial(_write_kept, posting.desk, row, index if seconds > 0 else None, why)
    )


_KEEP = sql.Prepared(
    lambda: sql.change(
        given_back, "kept_id why changed", sql.equal(given_back.c.number), state="kept"
    )
)


def _write_kept(
    desk: Desk, row: HostPayment, index: int | None, why: str, rows: tuple[TransferRow, ...]
) -> None:
    kept_id = None if index is None else rows[index].number
    now = stamp(desk.now)
    _KEEP(desk.connection, kept_id=kept_id, why=why, changed=now, number=row.number)


def end_visit(posting: Posting, day: str) -> None:
    """Add the end of a visit to its last entry; `day` is the day of the end, in ISO form."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    posting.set_visit(visit._replace(day=visit.debt_day(day)))
    _split_purse(posting)
    if visit.way not in WINNINGS_FILES:
        keep_waiting_payments(posting)
    _repay_from_bank(posting)


def leave_without_call(posting: Posting) -> None:
    """Empty the purse of a caller who is on no call, after a hand of theirs was settled."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    state = posting.state
    if not state.online + state.held and (state.stake or not visit.staked):
        return
    today = posting.desk.settings.schedule.day_of(posting.desk.now).isoformat()
    posting.set_visit(visit._replace(day=max(today, posting.state.day or ""), way=None))
    _split_purse(posting)
    _repay_from_bank(posting)


def _split_purse(posting: Posting) -> None:
    visit, state = posting.visit, posting.state
    assert visit is not None  # called for visits alone
    debt = debt_of(posting.desk, posting.caller_id, visit.day)
    parting = visit.part(state.purse, state.stake, state.charged, debt, -state.loan)
    posting.set_visit(visit._replace(parting=parting))
    also = parting.also_brought
    posting.move(EXTERNAL, "online", also, reasons.Counted(visit.board))
    for account, amount in _sources(posting, parting.loan_paid):
        posting.move(account, "loan", amount, reasons.PaidOfOwn(parting.loan_paid))
    _move_gain(posting, parting.gain)
    _put_back(posting, parting.put_back)
    for account, amount in _sources(posting, parting.taken_home):
        posting.move(account, EXTERNAL, amount, reasons.TakenHome(visit.board))


def _sources(posting: Posting, amount: int) -> list[tuple[str, int]]:
    first = min(amount, posting.state.online)
    return [("online", first), ("held", amount - first)]


def _repay_from_bank(posting: Posting) -> None:
    """Pay the rest of the loan out of the account, unless that is frozen.

    Otherwise a caller could deposit borrowed or won time and never pay the loan back.
    """
    if not posting.state.is_frozen:
        amount = min(-posting.state.loan, posting.state.bank)
        posting.move("bank", "loan", amount, reasons.PaidFromBank())


def _put_back(posting: Posting, amount: int) -> None:
    """Put withdrawn seconds back into the account, and give the host what exceeds its limit.

    If the host takes no gains, the account exceeds its limit, because the time is the caller's. The
    reason says so.
    """
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if amount == 0:
        return
    most = desk.settings.limits.balance
    beyond = min(amount, max(0, posting.state.bank + amount - most))
    frozen = posting.state.is_frozen
    can_give = _can_pay_host(visit.way, desk) and not frozen
    reason = reasons.PutBack(visit.board, amount, 0, 0, frozen)
    if beyond and not can_give:
        reason = reasons.PutBack(visit.board, amount, beyond, most, frozen)
    for account, part in _sources(posting, amount):
        posting.move(account, "bank", part, reason)
    if beyond and can_give:
        # The seconds of a broken minute stay in the bank and go with the next gain.
        _pay_host(posting, beyond)


def _can_pay_host(way: str | None, desk: Desk) -> bool:
    return way is not None and (way != THEBANK_EXT or desk.settings.thebank_ext is not None)


def _pay_host(posting: Posting, seconds: int) -> None:
    """Move the whole minutes of an amount in the bank to the host, through the visit's file."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    assert visit.way is not None  # `_can_pay_host`
    if visit.way == THEBANK_EXT:
        posting.apply(cutoff.pass_on, seconds, visit.board)
        return
    whole = seconds // MINUTE * MINUTE
    if whole:
        posting.move("bank", EXTERNAL, whole, reasons.GivenBack(visit.board))
        queue_payment(posting, len(posting.movements) - 1, whole // MINUTE, visit.way)


def _move_gain(posting: Posting, gain: int) -> None:
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if gain == 0:
        return
    reason = reasons.Gained(visit.board, gain)
    parts = _sources(posting, gain)
    if not _can_pay_host(visit.way, desk):
        for account, amount in parts:
            posting.apply(cutoff.put_away, account, amount, reason, visit.board, desk.settings)
        return
    # The seconds of a broken minute in the bank complete a minute of this gain.
    waiting = 0 if posting.state.is_frozen else posting.state.bank % MINUTE
    for account, amount in parts:
        posting.move(account, "bank", amount, reason)
    _pay_host(posting, waiting + gain)
