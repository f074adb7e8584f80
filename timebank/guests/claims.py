"""Claims: the right to write a payment into a host's file, so that it is written exactly once.

The process that serves a caller claims all payments that wait for them, writes their sum into the
file, and marks the claim as written. A claim is doubtful after CLAIM_SECONDS without a mark: the
process may have died before or after it wrote. A doubtful claim is written again only if the sysop
says so, because paying twice would create minutes.

A host whose clock can be set lower shows losses too. The whole minutes of the day's debt join the
claim as a negative number. They leave the debt when they are written.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Integer, bindparam, func, select

from timebank.errors import NotDoubtful
from timebank.guests import departure
from timebank.language import Phrase
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.schema import given_back, stamp, visits
from timebank.ledger.sql import Prepared, Reader, change, columns_of, equal, read, total, value
from timebank.ledger.visit import debt_of
from timebank.words import MINUTE

# A claim is written at once. After this time its process is considered dead.
CLAIM_SECONDS = 30
WRITER_DIED = "the program died while writing it"


_ROW = given_back.c
_UNSETTLED = _ROW.state.in_(["writing", "doubtful"])
_UNDER_WAY = _ROW.state.in_(["waiting", "writing", "doubtful"])
_WAITING = (equal(_ROW.caller_id), _ROW.state == "waiting")
_IS_CLAIM = _ROW.claim == bindparam("token")

_VISIT = Prepared(
    lambda: select(*columns_of(visits, "caller_id day way shows_losses")).where(
        equal(visits.c.call_id)
    )
)
_MINUTES: Reader[int] = value(lambda: select(total(_ROW.minutes)).where(*_WAITING))
_CLAIM = Prepared(lambda: change(given_back, "state claim way changed", *_WAITING))
_SHOWN_MINUTES: Reader[int] = value(
    lambda: select(-total(_ROW.minutes)).where(
        equal(_ROW.caller_id, _ROW.day), _ROW.minutes < 0, _UNDER_WAY
    )
)
_DONE = Prepared(
    lambda: change(given_back, "changed", _IS_CLAIM, _UNSETTLED, state="written", why=None)
)
_IN_DOUBT = Prepared(
    lambda: change(given_back, "why changed", _IS_CLAIM, _ROW.state == "writing", state="doubtful")
)
_SETTLE = Prepared(lambda: change(given_back, "state why changed", equal(_ROW.number), claim=None))
_CLAIMED = read(departure.HostPayment, lambda: departure.select_payments(_IS_CLAIM, _UNSETTLED))
_OUTSTANDING = read(departure.HostPayment, lambda: departure.select_payments(_UNDER_WAY))
# The difference is absolute because the clock may have been set back since the claim.
_STALE: Reader[int] = value(
    lambda: select(_ROW.number).where(
        _ROW.state == "writing",
        func.abs(bindparam("now", type_=Integer) - _ROW.changed) > CLAIM_SECONDS,
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The sum of the payments that a process must write into the host's file."""

    token: str
    caller_id: int
    # "moduser", "door.sys" or "exitinfo".
    way: str
    # The change of the caller's time on the host, never 0. Negative for a loss.
    minutes: int


def take_claim(desk: Desk, call_id: int) -> Claim | None:
    """Claim the payments that wait for the caller of a visit; None if there is nothing to write.

    Only the process that served the call may do it, when the call is closed, in the same
    transaction or the next. It must report the outcome with `mark_written`, `mark_not_written` or
    `mark_doubtful`.
    """
    row = _VISIT(desk.connection, call_id=call_id).first()
    if row is None or row.way not in departure.WINNINGS_FILES:
        return None
    token, now = secrets.token_hex(8), stamp(desk.now)
    if row.shows_losses:
        lost = debt_of(desk, row.caller_id, row.day) - _shown_seconds(desk, row.caller_id, row.day)
        if lost >= MINUTE:
            departure.DuePayment(row.caller_id, -(lost // MINUTE), row.day, row.way).write(
                desk, None
            )
    minutes = _MINUTES.one(desk.connection, caller_id=row.caller_id)
    # A loss as large as the gain leaves nothing to write.
    state = "writing" if minutes else "written"
    mine = {"state": state, "claim": token, "way": row.way, "changed": now}
    _CLAIM(desk.connection, **mine, caller_id=row.caller_id)
    return Claim(token, row.caller_id, row.way, minutes) if minutes else None


def remaining_debt(desk: Desk, call_id: int) -> int:
    """Return how many seconds the caller of a closed visit still owes the host today.

    Losses on their way to the host's clock are not counted. 0 for a visit of an earlier day.
    """
    row = _VISIT(desk.connection, call_id=call_id).first()
    today = desk.settings.schedule.day_of(desk.now).isoformat()
    if row is None or row.day != today:
        return 0
    owed = debt_of(desk, row.caller_id, row.day)
    return max(0, owed - _shown_seconds(desk, row.caller_id, row.day))


def _shown_seconds(desk: Desk, caller_id: int, day: str) -> int:
    """Return how many seconds of a debt are on their way to the host's clock, or may be there."""
    return _SHOWN_MINUTES.one(desk.connection, caller_id=caller_id, day=day) * MINUTE


def mark_written(desk: Desk, claimed: Claim) -> bool:
    """Note that a claim was written where the host finds it.

    Return False if the claim became doubtful and the sysop has settled it meanwhile.
    """
    written = _DONE(desk.connection, changed=stamp(desk.now), token=claimed.token)
    return bool(written.rowcount)


def mark_not_written(desk: Desk, claimed: Claim, why: str) -> bool:
    """Note that a claim will not be written: its gains stay here, and its losses stay debts.

    `why` is a sentence for the sysop. Return False as `mark_written` does.
    """
    rows = _CLAIMED.all(desk.connection, token=claimed.token)
    posting = Posting.of_caller(desk, claimed.caller_id, departure.leave_without_call)
    for row in rows:
        departure.keep_payment(posting, row, why)
    posting.write()
    return bool(rows)


def mark_doubtful(desk: Desk, claimed: Claim, why: str) -> None:
    """Note that a claim may have been written or not; `why` is a sentence for the sysop."""
    _IN_DOUBT(desk.connection, why=why, changed=stamp(desk.now), token=claimed.token)


def outstanding_payments(desk: Desk) -> list[departure.HostPayment]:
    """Return the payments that have not certainly reached their hosts, oldest first."""
    stale = set(_STALE.all(desk.connection, now=stamp(desk.now)))
    return [
        row._replace(state="doubtful", why=WRITER_DIED) if row.number in stale else row
        for row in _OUTSTANDING.all(desk.connection)
    ]


def retry_payment(desk: Desk, number: int) -> None:
    """Let a doubtful payment wait again, because the sysop found that it never arrived.

    A loss stays a debt. Raises `NotDoubtful`.
    """
    row = _doubtful(desk, number)
    if row.minutes < 0:
        _settle(desk, number, "kept", "it never arrived, says the sysop")
    else:
        _settle(desk, number, "waiting", None)


def confirm_payment(desk: Desk, number: int) -> None:
    """Mark a doubtful payment as written, because the sysop found that it arrived.

    Raises `NotDoubtful`.
    """
    _doubtful(desk, number)
    _settle(desk, number, "written", None)


def _doubtful(desk: Desk, number: int) -> departure.HostPayment:
    for row in outstanding_payments(desk):
        if row.number == number and row.state == "doubtful":
            return row
    raise NotDoubtful(Phrase("Number {number} is not in doubt.", number=number))


def _settle(desk: Desk, number: int, state: str, why: str | None) -> None:
    _SETTLE(desk.connection, state=state, why=why, changed=stamp(desk.now), number=number)
