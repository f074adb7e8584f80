"""The end of a visit of another board's caller: what is gained is given back, the rest goes home.

A loan is paid before anything else of the caller's own goes anywhere, and what the visit leaves of
it is paid out of the account.

It is part of the entry that closes the call: at log-off, when another call takes over, or when the
call is found dead. What a hand brings that is settled while its caller is on no call goes the same
way, but never to the host, which has nobody to give it to.
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


# The rows of `given_back`: what hosts are owed, as the end of a visit writes it down.
#
# A row is written together with the transfer that it tells of, and waits until somebody claims it
# (guests/claims.py). What waits when a visit ends that can give nothing back is kept here.

# As in sysop.toml: the files in which a host reads what its callers won.
WinningsFile = Literal["moduser", "door.sys", "exitinfo"]
WINNINGS_FILES: tuple[str, ...] = get_args(WinningsFile)
THEBANK_EXT = "thebank.ext"


class HostPayment(NamedTuple):
    """Minutes that a host was given, or is to be given; below zero for a loss to be shown."""

    number: int
    caller_id: int
    caller: str
    board: str
    minutes: int
    way: str
    # "waiting", "writing", "written", "kept" (here, in the bank), or "doubtful".
    state: str
    # Whole seconds since 1970.
    at: int
    # Why it is doubtful, or kept.
    why: str | None


def those(*where: ColumnElement[bool]) -> sql.Query:
    whose = {"caller": callers.c.name, "board": callers.c.board}
    return (
        sql.fields_of(HostPayment, given_back, **whose)
        .join(callers, callers.c.id == given_back.c.caller_id)
        .where(*where)
        .order_by(given_back.c.number)
    )


_OWED = sql.read(
    HostPayment,
    lambda: those(sql.equal(given_back.c.caller_id), given_back.c.state == "waiting"),
)


def owed(desk: Desk, caller_id: int) -> list[HostPayment]:
    return _OWED.all(desk.connection, caller_id=caller_id)


def write_down(posting: Posting, index: int, minutes: int, way: str) -> None:
    """Have a row written for the movement `index` of an entry: it waits to be given back."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    owing = Owing(visit.caller_id, minutes, visit.day, way)
    posting.afterwards(partial(_write, posting.desk, index, owing))


class Owing(NamedTuple):
    """What waits to be given back: minutes (below zero for a loss to be shown), and how."""

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
        given_back, f"transfer_id {' '.join(Owing._fields)} at changed", state="waiting"
    )
)


def _write(desk: Desk, index: int, owing: Owing, rows: tuple[TransferRow, ...]) -> None:
    owing.write(desk, rows[index].number)


def keep_what_waits(posting: Posting) -> None:
    """Put on an entry that what waits for its caller comes back to where we keep time."""
    for row in owed(posting.desk, posting.caller_id):
        keep(posting, row, "the visit after it could give nothing back")


def keep(posting: Posting, row: HostPayment, why: str) -> None:
    """Put on an entry that minutes come back which a host was not given.

    A loss that it does not show stays the debt that it is.
    """
    index = len(posting.movements)
    seconds = row.minutes * MINUTE
    if seconds > 0:
        kept, settings = reasons.Kept(row.board), posting.desk.settings
        posting.apply(cutoff.put_away, "external", seconds, kept, row.board, settings)
    posting.afterwards(partial(_kept, posting.desk, row, index if seconds > 0 else None, why))


_KEEP = sql.Prepared(
    lambda: sql.change(
        given_back, "kept_id why changed", sql.equal(given_back.c.number), state="kept"
    )
)


def _kept(
    desk: Desk, row: HostPayment, index: int | None, why: str, rows: tuple[TransferRow, ...]
) -> None:
    kept_id = None if index is None else rows[index].number
    now = stamp(desk.now)
    _KEEP(desk.connection, kept_id=kept_id, why=why, changed=now, number=row.number)


def leave(posting: Posting, day: str) -> None:
    """Put on the last entry of a visit that it is over; `day` is the one on which it ended."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    posting.go_on_with(visit._replace(day=visit.day_on(day)))
    _part(posting)
    if visit.way not in WINNINGS_FILES:
        keep_what_waits(posting)
    _pay_out_of_account(posting)


def leave_without_call(posting: Posting) -> None:
    """Take out of the purse what a hand that is over has brought a caller who is on no call."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    state = posting.state
    if not state.online + state.held and (state.stake or not visit.staked):
        return
    today = posting.desk.settings.schedule.day_of(posting.desk.now).isoformat()
    posting.go_on_with(visit._replace(day=max(today, posting.state.day or ""), way=None))
    _part(posting)
    _pay_out_of_account(posting)


def _part(posting: Posting) -> None:
    visit, state = posting.visit, posting.state
    assert visit is not None  # called for visits alone
    debt = debt_of(posting.desk, posting.caller_id, visit.day)
    parting = visit.part(state.purse, state.stake, state.charged, debt, -state.loan)
    posting.go_on_with(visit._replace(parting=parting))
    also = parting.also_brought
    posting.move(EXTERNAL, "online", also, reasons.Counted(visit.board))
    for account, amount in _out_of(posting, parting.loan_paid):
        posting.move(account, "loan", amount, reasons.PaidOfOwn(parting.loan_paid))
    _gain(posting, parting.gain)
    _put_back(posting, parting.put_back)
    for account, amount in _out_of(posting, parting.taken_home):
        posting.move(account, EXTERNAL, amount, reasons.TakenHome(visit.board))


def _out_of(posting: Posting, amount: int) -> list[tuple[str, int]]:
    first = min(amount, posting.state.online)
    return [("online", first), ("held", amount - first)]


def _pay_out_of_account(posting: Posting) -> None:
    """Pay what is still owed on a loan out of the account, unless that is frozen.

    Else what was borrowed and deposited, or won and deposited, would be kept and never paid back.
    """
    if not posting.state.is_frozen:
        amount = min(-posting.state.loan, posting.state.bank)
        posting.move("bank", "loan", amount, reasons.PaidFromBank())


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
    beyond = min(amount, max(0, posting.state.bank + amount - most))
    frozen = posting.state.is_frozen
    can_give = _can_give(visit.way, desk) and not frozen
    reason = reasons.PutBack(visit.board, amount, 0, 0, frozen)
    if beyond and not can_give:
        reason = reasons.PutBack(visit.board, amount, beyond, most, frozen)
    for account, part in _out_of(posting, amount):
        posting.move(account, "bank", part, reason)
    if beyond and can_give:
        # Seconds below a minute stay in the bank and go with the next gain.
        _give(posting, beyond)


def _can_give(way: str | None, desk: Desk) -> bool:
    return way is not None and (way != THEBANK_EXT or desk.settings.thebank_ext is not None)


def _give(posting: Posting, seconds: int) -> None:
    """Give the whole minutes of an amount in the bank to the host, the way of the visit."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    assert visit.way is not None  # `_can_give`
    if visit.way == THEBANK_EXT:
        posting.apply(cutoff.pass_on, seconds, visit.board)
        return
    whole = seconds // MINUTE * MINUTE
    if whole:
        posting.move("bank", EXTERNAL, whole, reasons.GivenBack(visit.board))
        write_down(posting, len(posting.movements) - 1, whole // MINUTE, visit.way)


def _gain(posting: Posting, gain: int) -> None:
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if gain == 0:
        return
    reason = reasons.Gained(visit.board, gain)
    parts = _out_of(posting, gain)
    if not _can_give(visit.way, desk):
        for account, amount in parts:
            posting.apply(cutoff.put_away, account, amount, reason, visit.board, desk.settings)
        return
    # Seconds below a minute wait in the bank for the next that make it whole.
    waiting = 0 if posting.state.is_frozen else posting.state.bank % MINUTE
    for account, amount in parts:
        posting.move(account, "bank", amount, reason)
    _give(posting, waiting + gain)
