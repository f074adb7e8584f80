"""Calls: opening, keeping, taking over and closing them. One a caller, over all processes.

A call is a row with a lease. The process that serves it renews the lease every RENEW_SECONDS; one
that was not renewed for LEASE_SECONDS is dead, and anybody may close it. How much of a call is
charged depends on that: a live one to this moment, a dead one to its last renewal, for nobody
knows whether the caller was still served after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from timebank.callers.notices import waiting
from timebank.errors import AlreadyOnline, CallClosed, CallerLocked, UnknownCaller
from timebank.guests.departure import leave
from timebank.language import Phrase
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.entry import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import callers, calls, instant, stamp
from timebank.ledger.visit import GuestArrival, Parting
from timebank.window.teller import deposit_at_log_off

LEASE_SECONDS = 30
RENEW_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Opened:
    call_id: int
    receipt: Receipt
    notices: tuple[Phrase, ...]
    # A live call of the same caller was ended for this one.
    taken_over: bool
    # What a caller of another board has brought; None for our own.
    arrival: GuestArrival | None = None

    @property
    def host_limit(self) -> int | None:
        """Seconds since log-on after which the host wants its caller back; None for never."""
        return None if self.arrival is None else self.arrival.host_limit


@dataclass(frozen=True, slots=True)
class OpenCall:
    call_id: int
    caller_id: int
    name: str
    node: int
    process: str
    address: str
    since: datetime
    # The lease has not run out.
    live: bool


class _Lease(NamedTuple):
    call_id: int
    node: int
    opened: int
    renewed: int
    ticked_at_renewal: int
    boot: str | None
    awake: float | None
    caller_id: int
    name: str
    process: str
    address: str

    def age(self, desk: Desk) -> float:
        """Tell how many seconds ago it was renewed.

        By a count that all processes of the machine share, that nobody can set, and that stands
        still while none of them can renew. What is left of an earlier boot is judged by the clock.
        """
        here = desk.reading
        if here is not None and self.awake is not None and self.boot == here.boot:
            return here.awake - self.awake
        return stamp(desk.now) - self.renewed

    def live(self, desk: Desk) -> bool:
        return self.age(desk) <= LEASE_SECONDS


_OPEN = calls.c.closed.is_(None)


def _leases(*where: ColumnElement[bool]) -> sql.Query:
    return (
        sql.fields_of(_Lease, calls, call_id=calls.c.id, name=callers.c.name)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(_OPEN, *where)
        .order_by(calls.c.id)
    )


_LEASES = sql.read(_Lease, _leases)
_LEASE = sql.read(_Lease, lambda: _leases(sql.equal(calls.c.caller_id)))
_CALLER = sql.Prepared(
    lambda: select(*sql.columns_of(callers, "board locked")).where(
        sql.equal(callers.c.id), callers.c.deleted.is_(None)
    )
)
_BEGIN = sql.Prepared(
    lambda: sql.insert_into(
        calls,
        "caller_id node process address opened renewed boot awake",
        **dict.fromkeys(("ticked", "charged", "waived", "ticked_at_renewal"), 0),
    )
)
_LAST_CALL = sql.Prepared(lambda: sql.change(callers, "last_call", sql.equal(callers.c.id)))
_RENEW = sql.Prepared(
    lambda: sql.change(
        calls,
        "renewed boot awake",
        *(sql.equal(calls.c.id, calls.c.process), _OPEN),
        ticked_at_renewal=sql.greatest(calls.c.ticked_at_renewal, bindparam("ticked")),
    )
)
_OF_PROCESS: sql.Reader[int] = sql.value(
    lambda: select(calls.c.id).where(sql.equal(calls.c.process), _OPEN)
)
_MEND = sql.Prepared(
    lambda: sql.change(calls, "renewed", _OPEN, calls.c.renewed > bindparam("renewed"))
)
_CLOSE = sql.Prepared(lambda: sql.change(calls, "closed reason note", sql.equal(calls.c.id), _OPEN))


def _addresses() -> sql.Query:
    """Choose each caller and address once: one who calls daily is no hundred strangers."""
    latest = (
        select(calls.c.id, calls.c.caller_id, calls.c.address)
        .order_by(calls.c.id.desc())
        .limit(bindparam("most"))
        .subquery()
    )
    pair = (latest.c.caller_id, latest.c.address)
    each = select(*pair, func.max(latest.c.id).label("last")).group_by(*pair).subquery()
    return (
        select(callers.c.name, each.c.address)
        .select_from(each)
        .join(callers, callers.c.id == each.c.caller_id)
        .where(callers.c.deleted.is_(None), callers.c.board.is_(None))
        .order_by(each.c.last)
    )


_ADDRESSES = sql.Prepared(_addresses)


def open_call(
    desk: Desk, caller_id: int, node: int, process: str, address: str, take_over: bool
) -> Opened:
    """Open a call: the day's grant on the first of a day, and what waited for the caller.

    `process` is any text that no other running process uses. A call of the same caller whose
    lease is dead is closed on the way; a live one raises `AlreadyOnline` unless `take_over`.
    Raises `CallerLocked` and `UnknownCaller`.
    """
    begun = begin_call(desk, caller_id, node, process, address, take_over, of_board=False)
    receipt = touch(desk, begun.call_id, 0)
    return Opened(begun.call_id, receipt, waiting(desk, caller_id), begun.taken_over)


class Begun(NamedTuple):
    """A call that is in the books, before its first entry."""

    call_id: int
    # A live call of the same caller was ended for this one.
    taken_over: bool
    # What became of the visit that was ended for this one, if any was.
    parting: Parting | None


def begin_call(
    desk: Desk,
    caller_id: int,
    node: int,
    process: str,
    address: str,
    take_over: bool,
    *,
    of_board: bool,
) -> Begun:
    """Write down a call in the place of any that the caller still has; raises as `open_call`.

    ValueError for another board's caller unless `of_board`, and for one of our own with it.
    """
    caller = _CALLER(desk.connection, id=caller_id).first()
    if caller is None:
        raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
    if of_board and caller.board is None:
        raise ValueError("our own callers are granted their time: open_call")
    if caller.board is not None and not of_board:
        raise ValueError("callers of boards bring their time: open_host_call")
    if caller.locked:
        raise CallerLocked(Phrase("This name is locked. Ask the sysop."))
    now = stamp(desk.now)
    taken_over, parting = False, None
    old = _LEASE.first(desk.connection, caller_id=caller_id)
    if old is not None and old.live(desk):
        if not take_over:
            raise AlreadyOnline(old.node, instant(old.opened), old.call_id)
        parting = _close_live(desk, old, f"taken over from node {node}")
        taken_over = True
    elif old is not None:
        parting = _close_dead(desk, old)
    where = {"node": node, "process": process, "address": address}
    lease = {"opened": now, "renewed": now, **_awake(desk)}
    call_id = _BEGIN.number(desk.connection, caller_id=caller_id, **where, **lease)
    _LAST_CALL(desk.connection, last_call=now, id=caller_id)
    return Begun(call_id, taken_over, parting)


def touch(desk: Desk, call_id: int, ticked: int) -> Receipt:
    """Post what the clocks brought about since the last entry; raises `CallClosed`."""
    return enter(desk, call_id, ticked).finish(0, "")


def renew(desk: Desk, process: str, served: Sequence[tuple[int, int]]) -> list[int]:
    """Renew leases, given as (call, ticked); returns the calls that are no longer open."""
    now = stamp(desk.now)
    mend_leases(desk, now)
    if not served:
        return []
    same = {"renewed": now, "process": process, **_awake(desk)}
    rows = ({"ticked": ticked, "id": call_id, **same} for call_id, ticked in served)
    _RENEW.each(desk.connection, rows)
    still = set(_OF_PROCESS.all(desk.connection, process=process))
    return [call_id for call_id, _ in served if call_id not in still]


def close_call(desk: Desk, call_id: int, ticked: int, reason: str) -> Receipt:
    """Post the last of a call and close it; `reason` is for the sysop. Raises `CallClosed`.

    A call that ends at once is charged one second, if its caller has one: that second had started.
    What a caller wants deposited at log-off is deposited, within the limits. One
    of another board leaves with what is the host's.
    """
    posting = enter(desk, call_id, max(ticked, LEAST_SECONDS))
    if posting.visit is None:
        deposit_at_log_off(posting)
    else:
        _leave(posting, desk.now)
    receipt = posting.finish(0, "")
    _close(desk, call_id, reason, None)
    return receipt


def open_calls(desk: Desk) -> list[OpenCall]:
    return [
        OpenCall(
            *(call.call_id, call.caller_id, call.name, call.node, call.process, call.address),
            since=instant(call.opened),
            live=call.live(desk),
        )
        for call in sorted(_LEASES.all(desk.connection), key=lambda call: call.node)
    ]


def latest_addresses(desk: Desk, most: int) -> list[tuple[str, str]]:
    """List each (name, address) of our own callers in the last `most` calls, the latest last."""
    return [(name, address) for name, address in _ADDRESSES(desk.connection, most=most)]


def close_dead_calls(desk: Desk) -> list[int]:
    mend_leases(desk, stamp(desk.now))
    dead = [lease for lease in _LEASES.all(desk.connection) if not lease.live(desk)]
    return _close_all(desk, dead)


def close_orphaned_calls(desk: Desk, is_gone: Callable[[str], bool]) -> list[int]:
    """Close the calls of processes that are known to be gone, before their leases run out.

    `is_gone` is asked with what the process called itself in `open_call`.
    """
    orphans = [lease for lease in _LEASES.all(desk.connection) if is_gone(lease.process)]
    return _close_all(desk, orphans)


def close_all_calls(desk: Desk, reason: str) -> list[int]:
    """Close every call of books that were restored, charged to the last renewal of its lease."""
    return _close_all(desk, _LEASES.all(desk.connection), reason)


def _close_all(desk: Desk, leases: list[_Lease], reason: str = "lease ran out") -> list[int]:
    for lease in leases:
        _close_dead(desk, lease, reason)
    return [lease.call_id for lease in leases]


def leave_no_call(desk: Desk, caller_id: int) -> bool:
    """Close the caller's call when its lease is dead; False when they are on a live one."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    if lease is None:
        return True
    if lease.live(desk):
        return False
    _close_dead(desk, lease)
    return True


def live_call(desk: Desk, caller_id: int) -> int | None:
    """Find the call that a caller is on; None when its lease is dead, or there is none."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    return lease.call_id if lease is not None and lease.live(desk) else None


def _awake(desk: Desk) -> dict[str, object]:
    here = desk.reading
    return {"boot": here and here.boot, "awake": here and here.awake}


def mend_leases(desk: Desk, now: int) -> None:
    """Bring back to now what was renewed in the future, by a wall clock that was stepped back."""
    _MEND(desk.connection, renewed=now)


def _leave(posting: Posting, at: datetime) -> Parting | None:
    if posting.visit is None:
        return None
    leave(posting, posting.desk.settings.schedule.day_of(at).isoformat())
    return posting.visit.parting


def _close_live(desk: Desk, lease: _Lease, reason: str) -> Parting | None:
    """Charge a call to this moment, as far as the lease vouches for it, and close it."""
    since = min(max(0, int(lease.age(desk))), LEASE_SECONDS)
    posting = Posting.of_call(desk, lease.call_id)
    posting.charge_to(max(lease.ticked_at_renewal + since, LEAST_SECONDS))
    parting = _leave(posting, desk.now)
    posting.finish(0, "")
    _close(desk, lease.call_id, reason, None)
    return parting


def _close_dead(desk: Desk, lease: _Lease, reason: str = "lease ran out") -> Parting | None:
    posting = Posting.of_call(desk, lease.call_id)
    posting.charge_to(max(lease.ticked_at_renewal, LEAST_SECONDS))
    parting = _leave(posting, instant(lease.renewed))
    posting.finish(0, "")
    note = (
        f"The lease was last renewed {posting.ticked} seconds after log-on;"
        " the seconds after that were not charged."
    )
    _close(desk, lease.call_id, reason, note)
    return parting


def _close(desk: Desk, call_id: int, reason: str, note: str | None) -> None:
    changed = _CLOSE(desk.connection, closed=stamp(desk.now), reason=reason, note=note, id=call_id)
    if not changed.rowcount:
        raise CallClosed(Phrase("This call has ended."))
