"""Who writes into a host's file what its caller won, exactly once, and what if it dies over that.

The process that serves a caller claims all that waits for them, writes it into the file as one
number, and says that it is done. A claim that was not heard of for CLAIM_SECONDS is doubtful: the
process may have died before it wrote, or after. It is never written again unless the sysop says so,
because minutes given twice are minutes made up.

A host whose clock can be set shows losses too: the whole minutes of the day's debt go with the
claim, below zero, and are off the debt when they are written.
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

# A claim is written at once; after this long nobody is taken for alive who has made it.
CLAIM_SECONDS = 30
DIED = "the program died while writing it"


_ROW = given_back.c
_UNSETTLED = _ROW.state.in_(["writing", "doubtful"])
_UNDER_WAY = _ROW.state.in_(["waiting", "writing", "doubtful"])
_WAITING = (equal(_ROW.caller_id), _ROW.state == "waiting")
_OF_CLAIM = _ROW.claim == bindparam("token")

_VISIT = Prepared(
    lambda: select(*columns_of(visits, "caller_id day way shows_losses")).where(
        equal(visits.c.call_id)
    )
)
_MINUTES: Reader[int] = value(lambda: select(total(_ROW.minutes)).where(*_WAITING))
_CLAIM = Prepared(lambda: change(given_back, "state claim way changed", *_WAITING))
_BEING_SHOWN: Reader[int] = value(
    lambda: select(-total(_ROW.minutes)).where(
        equal(_ROW.caller_id, _ROW.day), _ROW.minutes < 0, _UNDER_WAY
    )
)
_DONE = Prepared(
    lambda: change(given_back, "changed", _OF_CLAIM, _UNSETTLED, state="written", why=None)
)
_IN_DOUBT = Prepared(
    lambda: change(given_back, "why changed", _OF_CLAIM, _ROW.state == "writing", state="doubtful")
)
_SETTLE = Prepared(lambda: change(given_back, "state why changed", equal(_ROW.number), claim=None))
_CLAIMED = read(departure.HostPayment, lambda: departure.those(_OF_CLAIM, _UNSETTLED))
_OUTSTANDING = read(departure.HostPayment, lambda: departure.those(_UNDER_WAY))
# Claimed so long ago that whoever did is dead; the clock may have been stepped back since.
_STALE: Reader[int] = value(
    lambda: select(_ROW.number).where(
        _ROW.state == "writing",
        func.abs(bindparam("now", type_=Integer) - _ROW.changed) > CLAIM_SECONDS,
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be written into the host's file now, as one number of minutes, not zero."""

    token: str
    caller_id: int
    # "moduser", "door.sys" or "exitinfo".
    way: str
    # To be added to what the host has; below zero for a loss that its clock shall show.
    minutes: int


def claim(desk: Desk, call_id: int) -> Claim | None:
    """Take on to write what the caller of a visit is owed, the way of that visit.

    None when there is nothing to write, or no way to write it. To be asked for when the call is
    closed, in the same transaction or the next, by one process alone. It must tell what came of it:
    `done`, `not_done` or `in_doubt`.
    """
    row = _VISIT(desk.connection, call_id=call_id).first()
    if row is None or row.way not in departure.WINNINGS_FILES:
        return None
    token, now = secrets.token_hex(8), stamp(desk.now)
    if row.shows_losses:
        lost = debt_of(desk, row.caller_id, row.day) - _being_shown(desk, row.caller_id, row.day)
        if lost >= MINUTE:
            departure.Owing(row.caller_id, -(lost // MINUTE), row.day, row.way).write(desk, None)
    minutes = _MINUTES.one(desk.connection, caller_id=row.caller_id)
    # As much lost as won need not be written: the host has it right as it is.
    state = "writing" if minutes else "written"
    mine = {"state": state, "claim": token, "way": row.way, "changed": now}
    _CLAIM(desk.connection, **mine, caller_id=row.caller_id)
    return Claim(token, row.caller_id, row.way, minutes) if minutes else None


def debt_after(desk: Desk, call_id: int) -> int:
    """Tell how many seconds a caller whose visit is closed still owes the host today.

    What is on its way to the host's clock is not counted. 0 for a visit of a day that is over.
    """
    row = _VISIT(desk.connection, call_id=call_id).first()
    today = desk.settings.schedule.day_of(desk.now).isoformat()
    if row is None or row.day != today:
        return 0
    owed = debt_of(desk, row.caller_id, row.day)
    return max(0, owed - _being_shown(desk, row.caller_id, row.day))


def _being_shown(desk: Desk, caller_id: int, day: str) -> int:
    """Tell how much of a debt is on its way to the host's clock, or may be there."""
    return _BEING_SHOWN.one(desk.connection, caller_id=caller_id, day=day) * MINUTE


def done(desk: Desk, claimed: Claim) -> bool:
    """Note that a claim was written, and is where the host finds it.

    False when it came so late that the sysop has settled the doubt about it meanwhile.
    """
    written = _DONE(desk.connection, changed=stamp(desk.now), token=claimed.token)
    return bool(written.rowcount)


def not_done(desk: Desk, claimed: Claim, why: str) -> bool:
    """Note that a claim was not and will not be written: gains are kept here, losses stay debts.

    `why` is a sentence for the sysop. False as with `done`.
    """
    rows = _CLAIMED.all(desk.connection, token=claimed.token)
    posting = Posting.of_caller(desk, claimed.caller_id, departure.leave_without_call)
    for row in rows:
        departure.keep(posting, row, why)
    posting.write()
    return bool(rows)


def in_doubt(desk: Desk, claimed: Claim, why: str) -> None:
    """Note that nobody can tell whether a claim was written; `why` is a sentence for the sysop."""
    _IN_DOUBT(desk.connection, why=why, changed=stamp(desk.now), token=claimed.token)


def outstanding(desk: Desk) -> list[departure.HostPayment]:
    """List everything that is not with its host, or not for certain, oldest first."""
    stale = set(_STALE.all(desk.connection, now=stamp(desk.now)))
    return [
        row._replace(state="doubtful", why=DIED) if row.number in stale else row
        for row in _OUTSTANDING.all(desk.connection)
    ]


def give_again(desk: Desk, number: int) -> None:
    """Let doubtful minutes wait again, because the sysop found that they never arrived.

    A loss stays a debt. Raises `NotDoubtful`.
    """
    row = _doubtful(desk, number)
    if row.minutes < 0:
        _settle(desk, number, "kept", "it never arrived, says the sysop")
    else:
        _settle(desk, number, "waiting", None)


def regard_as_given(desk: Desk, number: int) -> None:
    """Let doubtful minutes rest, because the sysop found that they did arrive (`NotDoubtful`)."""
    _doubtful(desk, number)
    _settle(desk, number, "written", None)


def _doubtful(desk: Desk, number: int) -> departure.HostPayment:
    for row in outstanding(desk):
        if row.number == number and row.state == "doubtful":
            return row
    raise NotDoubtful(Phrase("There is no question about number {number}.", number=number))


def _settle(desk: Desk, number: int, state: str, why: str | None) -> None:
    _SETTLE(desk.connection, state=state, why=why, changed=stamp(desk.now), number=number)
