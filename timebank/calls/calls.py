"""Calls: opening, keeping, taking over and closing them. One a caller, over all servers.

A call is a row that its server renews every RENEW_SECONDS: that says how far it has come. Books in
a file have one server, which holds their lock (timebank/serving.py): as long as it does, every open
call lives, and the next one closes those that it has left. Of books on a server a call is dead that
was not renewed for LEASE_SECONDS by the clock there. Anybody may close a dead one. A live call is
charged to this moment, a dead one to its last renewal, for nobody knows whether the caller was
still served after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from sqlalchemy import ColumnElement, bindparam, func, select

from timebank import serving
from timebank.callers import awards, messages
from timebank.callers.messages import Message
from timebank.callers.notices import waiting
from timebank.errors import AlreadyOnline, CallClosed, CallerLocked, NodesTaken, UnknownCaller
from timebank.guests.departure import leave
from timebank.language import Phrase
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.entries import day
from timebank.ledger.entries.posting import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import callers, calls, instant, servers, stamp
from timebank.ledger.visit import GuestArrival
from timebank.window.teller import deposit_at_log_off

LEASE_SECONDS = 30
RENEW_SECONDS = 10
CUT_OFF = "lease ran out"  # why a call was closed that nobody renewed any more

# How the reason begins of a call that the sysop has ended, and of one that another call replaced.
ENDED, TAKEN_OVER = "ended by the sysop: ", "taken over "


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of the board: a call gets the lowest of `most` that no live call has.

    `wanted` comes first, where it is set and free: the node of a call that this one takes over.
    `beyond` gives one more than there are on a full board.
    """

    most: int
    wanted: int | None = None
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    call_id: int
    node: int
    receipt: Receipt
    notices: tuple[Phrase, ...]
    # The live call of the same caller that was ended for this one.
    ended_call: int | None = None
    # What a caller of another board has brought; None for our own.
    arrival: GuestArrival | None = None
    # What other callers have written to them.
    messages: tuple[Message, ...] = ()
    # On how many days in a row they have called, with this one.
    days_running: int = 0

    @property
    def taken_over(self) -> bool:
        return self.ended_call is not None

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
    # The name of the server that serves it; "" for a process that is none.
    server: str


class _Renewed(Protocol):
    @property
    def ago(self) -> int | None:
        """Seconds since the last renewal, by the clock of the server that the books are on; None
        for books in a file."""


def _lives(desk: Desk, lease: _Renewed) -> bool:
    if lease.ago is None:
        return not serving.is_free(desk.settings.lock)
    return lease.ago <= LEASE_SECONDS


class _Lease(NamedTuple):
    call_id: int
    node: int
    away: int
    opened: int
    renewed: int
    ticked_at_renewal: int
    ago: int | None
    caller_id: int
    name: str
    process: str
    address: str


class _OnNode(NamedTuple):
    call_id: int
    node: int
    ago: int | None


_OPEN = calls.c.closed.is_(None)
# One that came in a file was last seen long ago.
_AGO = sql.database_seconds() - func.coalesce(calls.c.seen, 0)


def _leases(*where: ColumnElement[bool]) -> sql.Query:
    return (
        sql.fields_of(_Lease, calls, call_id=calls.c.id, name=callers.c.name, ago=_AGO)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(_OPEN, *where)
        # In the order of the index of open calls: by number, all calls of years would be read.
        .order_by(calls.c.caller_id)
    )


_LEASES = sql.read(_Lease, _leases)
_LEASE = sql.read(_Lease, lambda: _leases(sql.equal(calls.c.caller_id)))
_LEASE_OF_CALL = sql.read(_Lease, lambda: _leases(sql.equal(calls.c.id)))
_ON_NODES = sql.read(
    _OnNode,
    lambda: sql.fields_of(_OnNode, calls, call_id=calls.c.id, ago=_AGO).where(
        _OPEN, calls.c.away == 0
    ),
)
_ELSEWHERE = sql.Prepared(
    lambda: (
        select(calls.c.id, callers.c.name, calls.c.away)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(_OPEN, calls.c.process != bindparam("process"))
        .order_by(calls.c.caller_id)
    )
)
_SERVERS = sql.Prepared(lambda: select(servers.c.process, servers.c.name))
_CALLER = sql.Prepared(
    lambda: select(*sql.columns_of(callers, "board locked")).where(
        sql.equal(callers.c.id), callers.c.deleted.is_(None)
    )
)
_BEGIN = sql.Prepared(
    lambda: sql.insert_into(
        calls,
        "caller_id node process address opened renewed away",
        seen=sql.database_seconds(),
        **dict.fromkeys(("ticked", "charged", "waived", "ticked_at_renewal"), 0),
    )
)
_LAST: sql.Reader[int] = sql.value(lambda: select(sql.highest(calls.c.id)))


def last_number(desk: Desk) -> int:
    """The highest number of a call; 0 without any."""
    return _LAST.one(desk.connection)


_LAST_CALL = sql.Prepared(lambda: sql.change(callers, "last_call", sql.equal(callers.c.id)))
_RENEW = sql.Prepared(
    lambda: sql.change(
        calls,
        "renewed",
        *(sql.equal(calls.c.id, calls.c.process), _OPEN),
        seen=sql.database_seconds(),
        ticked_at_renewal=sql.greatest(calls.c.ticked_at_renewal, bindparam("ticked")),
    )
)
_OF_PROCESS: sql.Reader[int] = sql.value(
    lambda: select(calls.c.id).where(sql.equal(calls.c.process), _OPEN)
)
_MEND = sql.Prepared(
    lambda: sql.change(calls, "renewed", _OPEN, calls.c.renewed > bindparam("renewed"))
)
_REASON: sql.Reader[str | None] = sql.value(
    lambda: select(calls.c.reason).where(sql.equal(calls.c.id))
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
    desk: Desk, caller_id: int, node: int | Nodes, process: str, address: str, take_over: bool
) -> Opened:
    """Open a call: the day's grant on the first of a day, and what waited for the caller.

    `node` is the number of one that is none of the board's, or says how one of those is found.
    `process` is any text that no other running process uses. A call of the same caller whose
    lease is dead is closed on the way; a live one raises `AlreadyOnline` unless `take_over`.
    Raises `CallerLocked`, `UnknownCaller` and `NodesTaken`.
    """
    begun = begin_call(desk, caller_id, node, process, address, take_over, of_board=False)
    receipt = touch(desk, begun.call_id, 0)
    running = awards.on_call(desk, caller_id)
    texts = waiting(desk, caller_id)
    return Opened(
        *(begun.call_id, begun.node, receipt, texts, begun.ended_call),
        messages=messages.waiting(desk, caller_id),
        days_running=running,
    )


class Begun(NamedTuple):
    """A call that is in the books, before its first entry."""

    call_id: int
    node: int
    # The live call of the same caller that was ended for this one.
    ended_call: int | None


def begin_call(
    desk: Desk,
    caller_id: int,
    node: int | Nodes,
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
    ended_call = None
    old = _LEASE.first(desk.connection, caller_id=caller_id)
    if old is not None and not take_over and _lives(desk, old):
        raise AlreadyOnline(old.node, instant(old.opened), old.call_id)
    number = node if isinstance(node, int) else _number(desk, node, old)
    if old is not None and _lives(desk, old):
        _close_live(desk, old, f"{TAKEN_OVER}from node {number}")
        ended_call = old.call_id
    elif old is not None:
        _close_dead(desk, old)
    away = int(isinstance(node, int))
    where = {"node": number, "away": away, "process": process, "address": address}
    begun = {"opened": now, "renewed": now}
    call_id = _BEGIN.number(desk.connection, caller_id=caller_id, **where, **begun)
    _LAST_CALL(desk.connection, last_call=now, id=caller_id)
    desk.nudge()
    return Begun(call_id, number, ended_call)


def _number(desk: Desk, nodes: Nodes, old: _Lease | None) -> int:
    """Find a node for a call that takes the place of `old`; raises `NodesTaken`.

    A dead call that still has it is closed. Its server may have been only slow, and would go on
    with it otherwise, on the same node as another.
    """
    on_nodes = _ON_NODES.all(desk.connection)
    dead = {each.node: each.call_id for each in on_nodes if not _lives(desk, each)}
    taken = {each.node for each in on_nodes} - dead.keys()
    wanted = nodes.wanted
    if old is not None and not old.away:
        wanted = old.node
        taken.discard(wanted)
        dead.pop(wanted, None)
    number = _lowest(nodes, taken) if wanted is None or wanted in taken else wanted
    if number in dead:
        _close_dead(desk, _LEASE_OF_CALL.one(desk.connection, id=dead[number]))
    return number


def _lowest(nodes: Nodes, taken: set[int]) -> int:
    free = next((number for number in range(1, nodes.most + 1) if number not in taken), None)
    if free is not None:
        return free
    if not nodes.beyond:
        raise NodesTaken(
            Phrase("All {number} nodes are busy. Please try again soon.", number=nodes.most)
        )
    return max(taken) + 1


def touch(desk: Desk, call_id: int, ticked: int) -> Receipt:
    """Post what the clocks brought about since the last entry; raises `CallClosed`."""
    return enter(desk, call_id, ticked).finish(0, "")


def renew(
    desk: Desk, process: str, served: Sequence[tuple[int, int]], strays: Collection[int] = ()
) -> tuple[dict[int, str], set[int]]:
    """Renew leases, given as (call, ticked); return the calls that are closed, as `closed_of`, and
    the open calls of the process that it does not serve.

    A call can be left open when its caller has gone while nothing could be written. `strays` are
    those of the renewal before: they are closed, and charged to their last renewal. A call that
    has only just begun is no stray at the next renewal.
    """
    if served:
        same = {"renewed": stamp(desk.now), "process": process}
        rows = ({"ticked": ticked, "id": call_id, **same} for call_id, ticked in served)
        _RENEW.each(desk.connection, rows)
    here = [call_id for call_id, _ in served]
    left = set(_OF_PROCESS.all(desk.connection, process=process)).difference(here)
    dead = [_LEASE_OF_CALL.one(desk.connection, id=call_id) for call_id in left & set(strays)]
    closed = _close_all(desk, dead)
    return closed_of(desk, process, here), left.difference(closed)


def closed_of(desk: Desk, process: str, served: Collection[int]) -> dict[int, str]:
    """Find which calls of a process are closed, each with the reason in the books."""
    still = set(_OF_PROCESS.all(desk.connection, process=process))
    return {call_id: why_ended(desk, call_id) for call_id in served if call_id not in still}


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
    receipt = posting.finish()
    _close(desk, call_id, reason, None)
    return receipt


def end_call(desk: Desk, call_id: int, why: str) -> bool:
    """Close a call of any server for the sysop; return whether it was open.

    It is charged to this moment, or to its last renewal if it is dead. Its server finds it closed
    at the next look, and tells the caller `why`.
    """
    lease = _LEASE_OF_CALL.first(desk.connection, id=call_id)
    if lease is None:
        return False
    reason = f"{ENDED}{why}"
    if _lives(desk, lease):
        _close_live(desk, lease, reason)
    else:
        _close_dead(desk, lease, reason)
    return True


def why_ended(desk: Desk, call_id: int) -> str:
    """Return the reason of a closed call, "" if the books do not have the call."""
    return _REASON.first(desk.connection, id=call_id) or ""


def open_calls(desk: Desk) -> list[OpenCall]:
    names = dict(tuple(row) for row in _SERVERS(desk.connection))
    return [
        OpenCall(
            *(call.call_id, call.caller_id, call.name, call.node, call.process, call.address),
            since=instant(call.opened),
            live=_lives(desk, call),
            server=names.get(call.process, ""),
        )
        for call in sorted(_LEASES.all(desk.connection), key=lambda call: call.node)
    ]


class Elsewhere(NamedTuple):
    """The open calls of other processes: whose each is, and how many are on nodes of the board."""

    names: dict[int, str]
    on_nodes: int


def elsewhere(desk: Desk, process: str) -> Elsewhere:
    """Find the open calls of other processes than this."""
    found = list(_ELSEWHERE(desk.connection, process=process))
    names = {call_id: name for call_id, name, _ in found}
    return Elsewhere(names, sum(not away for _, _, away in found))


def latest_addresses(desk: Desk, most: int) -> list[tuple[str, str]]:
    """List each (name, address) of our own callers in the last `most` calls, the latest last."""
    return [(name, address) for name, address in _ADDRESSES(desk.connection, most=most)]


def close_dead_calls(desk: Desk) -> list[int]:
    dead = [lease for lease in _LEASES.all(desk.connection) if not _lives(desk, lease)]
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


def _close_all(desk: Desk, leases: list[_Lease], reason: str = CUT_OFF) -> list[int]:
    in_order = sorted(leases, key=lambda lease: lease.call_id)
    for lease in in_order:
        _close_dead(desk, lease, reason)
    return [lease.call_id for lease in in_order]


def leave_no_call(desk: Desk, caller_id: int) -> bool:
    """Close the caller's call when its lease is dead; False when they are on a live one."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    if lease is None:
        return True
    if _lives(desk, lease):
        return False
    _close_dead(desk, lease)
    return True


def live_call(desk: Desk, caller_id: int) -> int | None:
    """Find the call that a caller is on; None when its lease is dead, or there is none."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    return lease.call_id if lease is not None and _lives(desk, lease) else None


def mend_leases(desk: Desk, now: int) -> None:
    """Bring back to now what was renewed in the future, by a wall clock that was stepped back."""
    _MEND(desk.connection, renewed=now)


def _leave(posting: Posting, at: datetime) -> None:
    if posting.visit is not None:
        leave(posting, posting.desk.settings.schedule.day_of(at).isoformat())


def _close_live(desk: Desk, lease: _Lease, reason: str) -> None:
    """Charge a call to this moment, as far as the lease vouches for it, and close it."""
    age = stamp(desk.now) - lease.renewed if lease.ago is None else lease.ago
    since = min(max(0, age), LEASE_SECONDS)
    posting = Posting.of_call(desk, lease.call_id)
    posting.apply(day.charge, max(lease.ticked_at_renewal + since, LEAST_SECONDS))
    _leave(posting, desk.now)
    posting.finish()
    _close(desk, lease.call_id, reason, None)


def _close_dead(desk: Desk, lease: _Lease, reason: str = CUT_OFF) -> None:
    posting = Posting.of_call(desk, lease.call_id)
    posting.apply(day.charge, max(lease.ticked_at_renewal, LEAST_SECONDS))
    # By a wall clock that was stepped back since, it may lie ahead.
    _leave(posting, min(instant(lease.renewed), desk.now))
    posting.finish()
    note = (
        f"The lease was last renewed {posting.state.ticked} seconds after log-on;"
        " the seconds after that were not charged."
    )
    _close(desk, lease.call_id, reason, note)


def _close(desk: Desk, call_id: int, reason: str, note: str | None) -> None:
    changed = _CLOSE(desk.connection, closed=stamp(desk.now), reason=reason, note=note, id=call_id)
    if not changed.rowcount:
        raise CallClosed(Phrase("This call has ended."))
    desk.nudge()
