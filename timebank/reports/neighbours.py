"""Callers who share an address, and what they gave one another: for the sysop to look at.

An address is nobody's proof of anything: a family, a school and a telephone company share one.
The report tells and does nothing. It is of this board's own callers, for those of other boards come
from their board's address; and it reads the books in a few passes, each over an index or once over
a table, however many addresses there are.

Amounts are seconds. IPv6 addresses are taken together as the network of 64 bits that one subscriber
has, as the defence of the board counts them.
"""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func

from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, calls, days, instant, moved, source, transfers
from timebank.ledger.sql import NEVER, Query, fields_of, read
from timebank.reports.statements import NAME, SHORT, printable
from timebank.reports.tables import Column, Listing, Loud, Row
from timebank.settings.schedule import Schedule
from timebank.words import clock

SUBSCRIBER_BYTES = 8  # of an IPv6 address that are one subscriber's, who can change the others
MAPPED = bytes(10) + b"\xff\xff"  # before an IPv4 address that is written as one of IPv6


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A caller at an address; what is counted is of the days asked for, what is owed of now."""

    caller_id: int
    name: str
    # The caller is deleted, and what is told of them is history.
    deleted: bool
    # From this address.
    calls: int
    first: datetime
    last: datetime
    # Wherever the caller was: the days' minutes.
    grants: int
    granted: int
    # Sent to others at this address, and received from them.
    sent: int
    received: int
    # Sent to anybody else.
    sent_elsewhere: int
    owed: int


@dataclass(frozen=True, slots=True)
class Address:
    address: str
    callers: tuple[Neighbour, ...]

    @property
    def passed(self) -> int:
        return sum(caller.sent for caller in self.callers)


class _Called(NamedTuple):
    caller_id: int
    address: str
    times: int
    first: int
    last: int


class _Person(NamedTuple):
    id: int
    name: str
    deleted: bool
    owed: int


class _Granted(NamedTuple):
    caller_id: int
    times: int
    amount: int


class _Sent(NamedTuple):
    giver: int
    taker: int
    amount: int


def _within(at: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(at >= bindparam("since"), at < bindparam("until"))


def _called() -> Query:
    first, last = func.min(calls.c.opened), func.max(calls.c.opened)
    return (
        fields_of(_Called, calls, times=func.count(), first=first, last=last)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(_within(calls.c.opened), callers.c.board.is_(None), calls.c.address != "")
        .group_by(calls.c.caller_id, calls.c.address)
    )


def _sent() -> Query:
    """Choose what a caller or the sysop moved between two callers' accounts."""
    ends = {"giver": source.c.caller_id, "taker": schema.target.c.caller_id}
    return (
        fields_of(_Sent, moved, **ends, amount=func.sum(transfers.c.amount))
        .where(transfers.c.kind == "transfer", _within(transfers.c.at))
        .group_by(*ends.values())
    )


def _granted() -> Query:
    amount = func.sum(transfers.c.amount)
    return (
        fields_of(_Granted, days, times=func.count(), amount=amount)
        .join(transfers, transfers.c.id == days.c.grant_id)
        .where(_within(transfers.c.at))
        .group_by(days.c.caller_id)
    )


def _people() -> Query:
    own, deleted = accounts.c, callers.c.deleted.is_not(None)
    loan = and_(own.caller_id == callers.c.id, own.unit == "second", own.kind == "loan")
    chosen = fields_of(_Person, callers, deleted=deleted, owed=-own.balance)
    return chosen.join(accounts, loan).where(callers.c.board.is_(None))


CALLED = read(_Called, _called)
SENT = read(_Sent, _sent)
GRANTED = read(_Granted, _granted)
PEOPLE = read(_Person, _people)


def neighbours(desk: Desk, since: int | None, until: int | None) -> list[Address]:
    """Report on every address from which more than one caller called, most sent there first.

    Calls, grants and transfers count from `since` on and before `until`, whole seconds since 1970.
    """
    span = {
        "since": -NEVER if since is None else since,
        "until": NEVER if until is None else until,
    }
    shared = {
        written(key): callers
        for key, callers in _calls_by_address(CALLED.all(desk.connection, **span)).items()
        if len(callers) > 1
    }
    if not shared:
        return []
    books = _Books(
        {each.id: each for each in PEOPLE.all(desk.connection)},
        {each.caller_id: each for each in GRANTED.all(desk.connection, **span)},
        defaultdict(dict),
    )
    for each in SENT.all(desk.connection, **span):
        books.sent[each.giver][each.taker] = each.amount
    found = [_address(address, callers, books) for address, callers in shared.items()]
    return sorted(found, key=lambda each: (-each.passed, -len(each.callers), each.address))


def subscriber(address: str) -> bytes | None:
    """Return a key for the subscriber at an address; None for what is none, such as a board's node.

    >>> subscriber("2001:db8::1") == subscriber("2001:db8::ffff"), subscriber("::ffff:192.0.2.7")
    (True, b'\\xc0\\x00\\x02\\x07')
    """
    try:
        if ":" not in address:
            return socket.inet_pton(socket.AF_INET, address)
        packed = socket.inet_pton(socket.AF_INET6, address.partition("%")[0])
    except OSError:
        return None
    return packed[len(MAPPED) :] if packed.startswith(MAPPED) else packed[:SUBSCRIBER_BYTES]


def written(key: bytes) -> str:
    """Write the address, or the network, of a key of `subscriber`.

    >>> written(subscriber("2001:db8::1")), written(subscriber("::ffff:192.0.2.7"))
    ('2001:db8::/64', '192.0.2.7')
    """
    if len(key) < SUBSCRIBER_BYTES:
        return socket.inet_ntop(socket.AF_INET, key)
    first = socket.inet_ntop(socket.AF_INET6, key + bytes(16 - SUBSCRIBER_BYTES))
    return f"{first}/{8 * SUBSCRIBER_BYTES}"


@dataclass(frozen=True, slots=True)
class _Books:
    people: dict[int, _Person]
    grants: dict[int, _Granted]
    # By giver and taker.
    sent: defaultdict[int, dict[int, int]]


def _calls_by_address(rows: Iterable[_Called]) -> dict[bytes, dict[int, _Called]]:
    found: defaultdict[bytes, dict[int, _Called]] = defaultdict(dict)
    for row in rows:
        key = subscriber(row.address)
        if key is None:
            continue
        before = found[key].get(row.caller_id, row._replace(times=0))
        found[key][row.caller_id] = row._replace(
            times=before.times + row.times,
            first=min(before.first, row.first),
            last=max(before.last, row.last),
        )
    return found


def _address(address: str, calls: dict[int, _Called], books: _Books) -> Address:
    found = []
    received: defaultdict[int, int] = defaultdict(int)
    for caller_id in calls:
        for taker, amount in books.sent.get(caller_id, {}).items():
            if taker in calls:
                received[taker] += amount
    for caller_id, called in calls.items():
        person = books.people[caller_id]
        grants = books.grants.get(caller_id, _Granted(caller_id, 0, 0))
        sent = books.sent.get(caller_id, {})
        here = sum(amount for taker, amount in sent.items() if taker in calls)
        found.append(
            Neighbour(
                caller_id=caller_id,
                name=person.name,
                deleted=bool(person.deleted),
                calls=called.times,
                first=instant(called.first),
                last=instant(called.last),
                grants=grants.times,
                granted=grants.amount,
                sent=here,
                received=received[caller_id],
                sent_elsewhere=sum(sent.values()) - here,
                owed=person.owed,
            )
        )
    found.sort(key=lambda each: (-each.sent, -each.received, each.name, each.caller_id))
    return Address(address, tuple(found))


FIELDS = (
    *("address", "caller", "caller_number", "deleted", "calls", "first", "last", "grants"),
    *("granted", "sent", "received", "sent_elsewhere", "owed"),
)
HEADINGS = ("Granted", "Sent here", "Received", "Elsewhere", "Owed")


# What there is room for last.
_GOING = {"Granted": 3, "Elsewhere": 4}


def table(found: Iterable[Address], schedule: Schedule) -> Listing:
    columns = (
        *(
            Column("Caller", least=NAME),
            Column("Calls", right=True, goes=5),
            Column("Last", goes=2),
        ),
        Column("Grants", right=True, goes=1),
        *(Column(heading, right=True, goes=_GOING.get(heading, 0)) for heading in HEADINGS),
        Column("State", least=SHORT),
    )
    return Listing(columns, _rows(found, schedule), "No two callers share an address.")


def _rows(found: Iterable[Address], schedule: Schedule) -> Iterator[Row]:
    for address in found:
        yield ""
        count, passed = len(address.callers), clock(address.passed)
        yield f"{address.address}: {count} callers, {passed} sent here"
        for caller in address.callers:
            amounts = (
                *(caller.granted, caller.sent, caller.received),
                *(caller.sent_elsewhere, caller.owed),
            )
            yield (
                *(printable(caller.name), str(caller.calls)),
                *(f"{schedule.local(caller.last):%Y-%m-%d}", str(caller.grants)),
                *map(clock, amounts),
                Loud("deleted") if caller.deleted else "",
            )


def lines(found: Iterable[Address], schedule: Schedule) -> Iterator[dict[str, object]]:
    """Give a record for each caller at each address, by the names of FIELDS; amounts in seconds."""
    for address in found:
        for caller in address.callers:
            yield {"address": address.address, **_record(caller, schedule)}


def records(found: Iterable[Address], schedule: Schedule) -> Iterator[dict[str, object]]:
    for address in found:
        yield {
            "address": address.address,
            "sent": address.passed,
            "callers": [_record(caller, schedule) for caller in address.callers],
        }


def _record(caller: Neighbour, schedule: Schedule) -> dict[str, object]:
    told: dict[str, Any] = {"caller": caller.name, "caller_number": caller.caller_id}
    told |= {name: getattr(caller, name) for name in FIELDS if name not in ("address", *told)}
    when = {name: schedule.local(told[name]).isoformat() for name in ("first", "last")}
    return {**told, **when}
