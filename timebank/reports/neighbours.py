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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from timebank.ledger.database import Desk
from timebank.ledger.schema import instant
from timebank.reports.statements import AMOUNT, printable
from timebank.settings.schedule import Schedule
from timebank.words import clock

SUBSCRIBER_BYTES = 8  # of an IPv6 address that are one subscriber's, who can change the others
MAPPED = bytes(10) + b"\xff\xff"  # before an IPv4 address that is written as one of IPv6
FOREVER = 2**62


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
    """An address from which several callers called, and they, those who sent most first."""

    address: str
    callers: tuple[Neighbour, ...]

    @property
    def passed(self) -> int:
        """What these callers sent one another."""
        return sum(caller.sent for caller in self.callers)


CALLS = """
SELECT k.caller_id, k.address, count(*), min(k.opened), max(k.opened)
FROM calls k JOIN callers c ON c.id = k.caller_id
WHERE k.opened >= ? AND k.opened < ? AND c.board IS NULL AND k.address <> ''
GROUP BY k.caller_id, k.address
"""
# Every transfer that a caller or a sysop made between two callers' accounts.
SENT = """
SELECT s.caller_id, g.caller_id, sum(t.amount)
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
WHERE t.kind = 'transfer' AND t.at >= ? AND t.at < ?
GROUP BY s.caller_id, g.caller_id
"""
GRANTED = """
SELECT d.caller_id, count(*), sum(t.amount)
FROM days d JOIN transfers t ON t.id = d.grant_id
WHERE t.at >= ? AND t.at < ? GROUP BY d.caller_id
"""
PEOPLE = """
SELECT c.id, c.name, c.deleted IS NOT NULL, -a.balance FROM callers c
JOIN accounts a ON a.caller_id = c.id AND a.unit = 'second' AND a.kind = 'loan'
WHERE c.board IS NULL
"""


def neighbours(desk: Desk, since: int | None, until: int | None) -> list[Address]:
    """Report on every address from which more than one caller called, most sent there first.

    Calls, grants and transfers count from `since` on and before `until`, whole seconds since 1970.
    """
    run = desk.connection.exec_driver_sql
    span = (-FOREVER if since is None else since, FOREVER if until is None else until)
    calls = _calls_by_address(run(CALLS, span).fetchall())
    shared = {written(key): callers for key, callers in calls.items() if len(callers) > 1}
    if not shared:
        return []
    books = _Books(
        {row[0]: (row[1], bool(row[2]), row[3]) for row in run(PEOPLE)},
        {row[0]: (row[1], row[2]) for row in run(GRANTED, span)},
        defaultdict(dict),
    )
    for giver, taker, amount in run(SENT, span).fetchall():
        books.sent[giver][taker] = amount
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
    """What the books know of callers, by number."""

    # Name, deleted, owed.
    people: dict[int, tuple[str, bool, int]]
    # How many, how much.
    grants: dict[int, tuple[int, int]]
    # By giver and taker.
    sent: defaultdict[int, dict[int, int]]


_Calls = tuple[int, int, int]  # how many, the first, the last


def _calls_by_address(
    rows: Iterable[Sequence[Any]],
) -> dict[bytes, dict[int, _Calls]]:
    found: defaultdict[bytes, dict[int, _Calls]] = defaultdict(dict)
    for caller_id, address, count, first, last in rows:
        key = subscriber(address)
        if key is None:
            continue
        before = found[key].get(caller_id, (0, first, last))
        found[key][caller_id] = before[0] + count, min(before[1], first), max(before[2], last)
    return found


def _address(address: str, calls: dict[int, _Calls], books: _Books) -> Address:
    found = []
    received: defaultdict[int, int] = defaultdict(int)
    for caller_id in calls:
        for taker, amount in books.sent.get(caller_id, {}).items():
            if taker in calls:
                received[taker] += amount
    for caller_id, (count, first, last) in calls.items():
        name, deleted, owed = books.people[caller_id]
        grants, granted = books.grants.get(caller_id, (0, 0))
        sent = books.sent.get(caller_id, {})
        here = sum(amount for taker, amount in sent.items() if taker in calls)
        found.append(
            Neighbour(
                caller_id=caller_id,
                name=name,
                deleted=deleted,
                calls=count,
                first=instant(first),
                last=instant(last),
                grants=grants,
                granted=granted,
                sent=here,
                received=received[caller_id],
                sent_elsewhere=sum(sent.values()) - here,
                owed=owed,
            )
        )
    found.sort(key=lambda each: (-each.sent, -each.received, each.name, each.caller_id))
    return Address(address, tuple(found))


FIELDS = (
    *("address", "caller", "caller_number", "deleted", "calls", "first", "last", "grants"),
    *("granted", "sent", "received", "sent_elsewhere", "owed"),
)
HEADINGS = ("Granted", "Sent here", "Received", "Elsewhere", "Owed")


def table(found: Iterable[Address], schedule: Schedule) -> Iterator[str]:
    """Write an address, and under it a line a caller."""
    nobody = True
    for address in found:
        if nobody:
            yield f"{'Caller':<26}{'Calls':>6}  {'Last':<10}{'Grants':>8}" + "".join(
                f"{heading:>{AMOUNT}}" for heading in HEADINGS
            )
        nobody = False
        yield ""
        count, passed = len(address.callers), clock(address.passed)
        yield f"{address.address}: {count} callers, {passed} sent here"
        for caller in address.callers:
            amounts = (
                *(caller.granted, caller.sent, caller.received),
                *(caller.sent_elsewhere, caller.owed),
            )
            shown = "".join(f"{clock(amount):>{AMOUNT}}" for amount in amounts)
            yield (
                f"{printable(caller.name):<26}{caller.calls:>6}"
                f"  {schedule.local(caller.last):%Y-%m-%d}{caller.grants:>8}{shown}"
                f"{'  deleted' if caller.deleted else ''}"
            )
    if nobody:
        yield "No two callers have called from one address."


def lines(found: Iterable[Address], schedule: Schedule) -> Iterator[dict[str, object]]:
    """Give a record for each caller at each address, by the names of FIELDS; amounts in seconds."""
    for address in found:
        for caller in address.callers:
            yield {"address": address.address, **_record(caller, schedule)}


def records(found: Iterable[Address], schedule: Schedule) -> Iterator[dict[str, object]]:
    """Give a record for each address, with its callers in it."""
    for address in found:
        yield {
            "address": address.address,
            "sent": address.passed,
            "callers": [_record(caller, schedule) for caller in address.callers],
        }


def _record(caller: Neighbour, schedule: Schedule) -> dict[str, object]:
    return {
        "caller": caller.name,
        "caller_number": caller.caller_id,
        "deleted": caller.deleted,
        "calls": caller.calls,
        "first": schedule.local(caller.first).isoformat(),
        "last": schedule.local(caller.last).isoformat(),
        "grants": caller.grants,
        "granted": caller.granted,
        "sent": caller.sent,
        "received": caller.received,
        "sent_elsewhere": caller.sent_elsewhere,
        "owed": caller.owed,
    }
