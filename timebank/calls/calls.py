"""Calls: how they are opened, renewed, taken over and closed. A caller has one open call at most.

The server of a call renews its row every RENEW_SECONDS and notes how many seconds have ticked. A
call is live as long as its lease lasts. Books in a file have one server, which holds their lock
(timebank/serving.py): every open call is live while a process holds it, and the next server closes
the calls that are left. In books on a database server a call is dead LEASE_SECONDS after its last
renewal, by the clock of that server. Any process may close a dead call.

A live call is charged up to now. A dead one is charged up to its last renewal, because the caller
may not have been served after that.
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
from timebank.guests.departure import end_visit
from timebank.language import Phrase
from timebank.ledger import sql
from timebank.ledger.database import Desk
from timebank.ledger.entries import day
from timebank.ledger.entries.posting import LEAST_SECONDS, Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import callers, calls, instant, servers, stamp
from timebank.ledger.visit import GuestArrival
from timebank.window.teller import AgreedDeposit, deposit_at_log_off

LEASE_SECONDS = 30
RENEW_SECONDS = 10
# Reasons for which calls are closed, or their beginnings.
CUT_OFF = "lease ran out"
ENDED_PREFIX, LOCKED_PREFIX = "ended by the sysop: ", "locked out by the sysop: "
TAKEN_OVER_PREFIX = "taken over "


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of the board, numbered 1 to `most`. A call gets the lowest free one.

    It gets `wanted` instead if that is free. With `beyond`, a call on a full board gets the next
    higher number instead of a refusal.
    """

    most: int
    wanted: int | None = None
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class OpenedCall:
    """A call that was just opened, with what waited for its caller."""

    call_id: int
    node: int
    receipt: Receipt
    notices: tuple[Phrase, ...]
    # The live call of the same caller that this one took over.
    ended_call: int | None = None
    # None for our own callers.
    arrival: GuestArrival | None = None
    messages: tuple[Message, ...] = ()
    # The number of consecutive days with a call, this day included.
    days_running: int = 0

    @property
    def taken_over(self) -> bool:
        return self.ended_call is not None

    @property
    def host_limit(self) -> int | None:
        """Seconds from log-on until the host wants its caller back; None for never."""
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
    live: bool
    # The name of the server that serves the call; "" for a process that is no server.
    server: str


class _Renewed(Protocol):
    @property
    def ago(self) -> int | None:
        """Seconds since the last renewal, by the database's clock; None for books in a file."""


def _is_live(desk: Desk, lease: _Renewed) -> bool:
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
# The column is NULL for calls in books that were moved from a file: they are dead.
_AGO = sql.database_seconds() - func.coalesce(calls.c.seen, 0)


def _leases(*where: ColumnElement[bool]) -> sql.Query:
    return (
        sql.fields_of(_Lease, calls, call_id=calls.c.id, name=callers.c.name, ago=_AGO)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(_OPEN, *where)
        # The order of the index of open calls. The order of ids would read all calls of years.
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
    """Return the highest number of a call; 0 if there is none."""
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
    """Select each pair of caller and address once, however often the caller called from there."""
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
) -> OpenedCall:
    """Open a call of one of our own callers. The first call of a day brings the day's grant.

    `node` is one of the board's `Nodes`, or the number of a node outside of them. `process` is any
    text that no other running process uses. A dead call of the same caller is closed.

    Raises `AlreadyOnline` for a live call of the same caller unless `take_over`; `CallerLocked`,
    `UnknownCaller` and `NodesTaken`.
    """
    begun = begin_call(desk, caller_id, node, process, address, take_over, of_board=False)
    receipt = touch(desk, begun.call_id, 0)
    running = awards.on_call(desk, caller_id)
    texts = waiting(desk, caller_id)
    return OpenedCall(
        *(begun.call_id, begun.node, receipt, texts, begun.ended_call),
        messages=messages.waiting(desk, caller_id),
        days_running=running,
    )


class BegunCall(NamedTuple):
    """A call whose row is written, before its first entry."""

    call_id: int
    node: int
    # The live call of the same caller that this one took over.
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
) -> BegunCall:
    """Write the row of a call, and close any open call of the caller; raises as `open_call`.

    Raises ValueError unless `of_board` says whether the caller is another board's.
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
    if old is not None and not take_over and _is_live(desk, old):
        raise AlreadyOnline(old.node, instant(old.opened), old.call_id)
    number = node if isinstance(node, int) else _choose_node(desk, node, old)
    if old is not None and _is_live(desk, old):
        _take_over(desk, old, f"{TAKEN_OVER_PREFIX}from node {number}")
        ended_call = old.call_id
    elif old is not None:
        _close_dead(desk, old, goes_on=True)
    away = int(isinstance(node, int))
    where = {"node": number, "away": away, "process": process, "address": address}
    begun = {"opened": now, "renewed": now}
    call_id = _BEGIN.insert(desk.connection, caller_id=caller_id, **where, **begun)
    _LAST_CALL(desk.connection, last_call=now, id=caller_id)
    desk.nudge()
    return BegunCall(call_id, number, ended_call)


def _choose_node(desk: Desk, nodes: Nodes, old: _Lease | None) -> int:
    """Choose a node for a call that replaces `old`; raises `NodesTaken`.

    A dead call on that node is closed. Otherwise a server that was only slow could renew it, and
    two callers would be on one node.
    """
    on_nodes = _ON_NODES.all(desk.connection)
    dead = {each.node: each.call_id for each in on_nodes if not _is_live(desk, each)}
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
        raise NodesTaken(Phrase("Every node is busy. Please try again soon."))
    return max(taken) + 1


def touch(desk: Desk, call_id: int, ticked: int) -> Receipt:
    """Post the time used since the last entry, and new days and events; raises `CallClosed`.

    `ticked` is the number of seconds since log-on.
    """
    return enter(desk, call_id, ticked).finish(0, "")


def renew(
    desk: Desk, process: str, served: Sequence[tuple[int, int]], strays: Collection[int] = ()
) -> tuple[dict[int, str], set[int]]:
    """Renew the leases of the calls that a process serves, given as (call, seconds ticked).

    Return the closed ones as `closed_calls`, and the open calls of the process that it does not
    serve. A call is left open like that if its caller hung up while the books could not be written.
    Pass them as `strays` to the next renewal. It closes those that are still not served, charged up
    to their last renewal. A call that just began is served by then.
    """
    if served:
        same = {"renewed": stamp(desk.now), "process": process}
        rows = ({"ticked": ticked, "id": call_id, **same} for call_id, ticked in served)
        _RENEW.run_each(desk.connection, rows)
    here = [call_id for call_id, _ in served]
    unserved = set(_OF_PROCESS.all(desk.connection, process=process)).difference(here)
    dead = [_LEASE_OF_CALL.one(desk.connection, id=call_id) for call_id in unserved & set(strays)]
    closed = _close_all(desk, dead)
    return closed_calls(desk, process, here), unserved.difference(closed)


def closed_calls(desk: Desk, process: str, served: Collection[int]) -> dict[int, str]:
    """Return which calls that a process serves are closed, each with its reason in the books."""
    still_open = set(_OF_PROCESS.all(desk.connection, process=process))
    return {call_id: why_ended(desk, call_id) for call_id in served if call_id not in still_open}


def close_call(
    desk: Desk,
    call_id: int,
    ticked: int,
    reason: str,
    agreed: AgreedDeposit | None = None,
) -> Receipt:
    """Post the last entry of a call and close it. Raises `CallClosed`.

    `ticked` is the number of seconds since log-on. A call that ends at once is charged one second
    if its caller has one. `reason` is for the sysop. For what becomes of the time left, see
    `_leave`.
    """
    posting = enter(desk, call_id, max(ticked, LEAST_SECONDS))
    _leave(posting, desk.now, agreed)
    receipt = posting.finish()
    _close(desk, call_id, reason, None)
    return receipt


def end_call(desk: Desk, call_id: int, why: str, prefix: str = ENDED_PREFIX) -> bool:
    """Close a call of any server for the sysop; return whether it was open.

    It is charged up to now, or up to its last renewal if it is dead. Its server notices that soon,
    and shows the caller `why`, as `prefix` says.
    """
    lease = _LEASE_OF_CALL.first(desk.connection, id=call_id)
    if lease is None:
        return False
    reason = f"{prefix}{why}"
    if _is_live(desk, lease):
        close_call(desk, call_id, _ticked(desk, lease), reason)
    else:
        _close_dead(desk, lease, reason)
    return True


def why_ended(desk: Desk, call_id: int) -> str:
    """Return the reason for which a call was closed; "" if the books do not have the call."""
    return _REASON.first(desk.connection, id=call_id) or ""


def open_calls(desk: Desk) -> list[OpenCall]:
    """Return the open calls, live or dead, in the order of their nodes."""
    names = dict(tuple(row) for row in _SERVERS(desk.connection))
    return [
        OpenCall(
            *(call.call_id, call.caller_id, call.name, call.node, call.process, call.address),
            since=instant(call.opened),
            live=_is_live(desk, call),
            server=names.get(call.process, ""),
        )
        for call in sorted(_LEASES.all(desk.connection), key=lambda call: call.node)
    ]


class CallsElsewhere(NamedTuple):
    """The open calls of other processes: names by call, and how many are on the board's nodes."""

    names: dict[int, str]
    on_nodes: int


def calls_elsewhere(desk: Desk, process: str) -> CallsElsewhere:
    """Return the open calls of all processes except this one."""
    rows = list(_ELSEWHERE(desk.connection, process=process))
    names = {call_id: name for call_id, name, _ in rows}
    return CallsElsewhere(names, sum(not away for _, _, away in rows))


def latest_addresses(desk: Desk, most: int) -> list[tuple[str, str]]:
    """Return each (name, address) of our own callers in the last `most` calls, the latest last."""
    return [(name, address) for name, address in _ADDRESSES(desk.connection, most=most)]


def close_dead_calls(desk: Desk) -> list[int]:
    """Close the calls whose lease ran out; return their numbers."""
    dead = [lease for lease in _LEASES.all(desk.connection) if not _is_live(desk, lease)]
    return _close_all(desk, dead)


def close_orphaned_calls(desk: Desk, is_gone: Callable[[str], bool]) -> list[int]:
    """Close the calls of ended processes before their leases run out; return their numbers.

    `is_gone` returns whether a process ended, by the name that it gave to `open_call`.
    """
    orphans = [lease for lease in _LEASES.all(desk.connection) if is_gone(lease.process)]
    return _close_all(desk, orphans)


def close_all_calls(desk: Desk, reason: str) -> list[int]:
    """Close every call in restored books, charged up to its last renewal; return their numbers."""
    return _close_all(desk, _LEASES.all(desk.connection), reason)


def _close_all(desk: Desk, leases: list[_Lease], reason: str = CUT_OFF) -> list[int]:
    in_order = sorted(leases, key=lambda lease: lease.call_id)
    for lease in in_order:
        _close_dead(desk, lease, reason)
    return [lease.call_id for lease in in_order]


def close_if_dead(desk: Desk, caller_id: int) -> bool:
    """Close the caller's call if it is dead; return whether the caller has no open call now."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    if lease is None:
        return True
    if _is_live(desk, lease):
        return False
    _close_dead(desk, lease)
    return True


def live_call(desk: Desk, caller_id: int) -> int | None:
    """Return the number of a caller's live call; None if there is none."""
    lease = _LEASE.first(desk.connection, caller_id=caller_id)
    return lease.call_id if lease is not None and _is_live(desk, lease) else None


def mend_leases(desk: Desk, now: int) -> None:
    """Set renewals in the future back to `now`, after the wall clock was set back."""
    _MEND(desk.connection, renewed=now)


def _leave(
    posting: Posting, at: datetime, agreed: AgreedDeposit | None = None, *, goes_on: bool = False
) -> None:
    """Make our own caller's deposit at log-off, or send a guest home with the host's time.

    No deposit is made again that `deposit_before_leaving` has made, and none for a caller who
    `goes_on` in another call with the time left. `at` is when this call ended.
    """
    if posting.visit is not None:
        end_visit(posting, posting.desk.settings.schedule.day_of(at).isoformat())
    elif not goes_on:
        deposit_at_log_off(posting, agreed)


def _ticked(desk: Desk, lease: _Lease) -> int:
    """Return the seconds of a live call up to now, but LEASE_SECONDS past its renewal at most."""
    age = stamp(desk.now) - lease.renewed if lease.ago is None else lease.ago
    return lease.ticked_at_renewal + min(max(0, age), LEASE_SECONDS)


def _take_over(desk: Desk, lease: _Lease, reason: str) -> None:
    """Close the live call of a caller who goes on in another one, with the time left.

    A new day begins in that one, which shows it.
    """
    posting = Posting.of_call(desk, lease.call_id)
    posting.apply(day.charge, max(_ticked(desk, lease), LEAST_SECONDS))
    _leave(posting, desk.now, goes_on=True)
    posting.finish()
    _close(desk, lease.call_id, reason, None)


def _close_dead(desk: Desk, lease: _Lease, reason: str = CUT_OFF, *, goes_on: bool = False) -> None:
    """Charge a dead call up to its last renewal, and close it; `goes_on` is as in `_leave`."""
    posting = Posting.of_call(desk, lease.call_id)
    posting.apply(day.charge, max(lease.ticked_at_renewal, LEAST_SECONDS))
    # The renewal is in the future if the wall clock was set back since.
    _leave(posting, min(instant(lease.renewed), desk.now), goes_on=goes_on)
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
