"""Leases: the exclusive right of one server to a job or a table, for some seconds.

A lease ends at a time of the database's clock. Its holder takes it again before that. If the holder
is dead, the lease expires and another server takes it.

A holder that was only slow may not know that it lost its lease. So each new holder gets a higher
fencing number, and every write that the lease protects checks that number in its own transaction
(`require`). The number decides, not a clock.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam

from timebank.errors import LeaseLost
from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.servers import database_clock

# A lease that ends later than this was taken before the clock was set back. It counts as expired.
LONGEST_SECONDS = 60

# Added to the fencing numbers in restored books, so that they exceed all numbers given since.
FENCE_JUMP = 1_000_000_000

_TABLE = schema.leases


class Holder(NamedTuple):
    """The server that holds a lease, its fencing number, and whether the lease has not expired."""

    server_id: int
    fence: int
    live: bool


class _Lease(NamedTuple):
    server: int | None
    fence: int
    until: int

    def is_live(self, now: int) -> bool:
        return self.server is not None and not self.has_expired(now)

    def has_expired(self, now: int) -> bool:
        return not now < self.until <= now + LONGEST_SECONDS


def _by_name() -> sql.Query:
    return sql.fields_of(_Lease, _TABLE).where(sql.equal(_TABLE.c.name))


_READ = sql.read(_Lease, _by_name)
# A server that takes a lease waits for transactions that write under it, and these wait for it.
_LOCK = sql.read(_Lease, lambda: _by_name().with_for_update())
_SHARE = sql.read(_Lease, lambda: _by_name().with_for_update(read=True))
_ADD = sql.Prepared(
    lambda: sql.insert_or_change(
        _TABLE,
        {"name": bindparam("name"), "server": None, "fence": 0, "until": 0},
        fence=_TABLE.c.fence,
    )
)
_TAKE = sql.Prepared(lambda: sql.change(_TABLE, "server fence until", sql.equal(_TABLE.c.name)))
_RELEASE = sql.Prepared(
    lambda: sql.change(
        _TABLE, "", *(sql.equal(_TABLE.c.name), _TABLE.c.server == bindparam("holder")), server=None
    )
)
_RELEASE_ALL = sql.Prepared(
    lambda: sql.change(_TABLE, "", _TABLE.c.server == bindparam("holder"), server=None)
)
_REVOKE_ALL = sql.Prepared(
    lambda: sql.change(_TABLE, "", server=None, fence=_TABLE.c.fence + FENCE_JUMP)
)


def take(desk: Desk, name: str, server_id: int, seconds: int) -> int | None:
    """Take or renew a lease until `seconds` from now, and return its fencing number.

    A renewal keeps the number. Return None while another server holds the lease and it has not
    expired. Raises ValueError unless `seconds` are 1 to LONGEST_SECONDS.
    """
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"a lease is for 1 to {LONGEST_SECONDS} seconds, not {seconds}")
    lease = _lock(desk, name)
    now = database_clock.seconds(desk)  # read after the wait for the lock
    if lease.server != server_id and lease.is_live(now):
        return None
    fence = lease.fence if lease.server == server_id else lease.fence + 1
    _TAKE(desk.connection, name=name, server=server_id, fence=fence, until=now + seconds)
    return fence


def _lock(desk: Desk, name: str) -> _Lease:
    lease = _LOCK.first(desk.connection, name=name)
    if lease is None:
        _ADD(desk.connection, name=name)
        lease = _LOCK.one(desk.connection, name=name)
    return lease


def release(desk: Desk, name: str, server_id: int) -> None:
    """Release a lease if the server holds it, so that another can take it at once."""
    _RELEASE(desk.connection, name=name, holder=server_id)
    desk.nudge()


def end_expired(desk: Desk, name: str) -> bool:
    """Take an expired lease from its holder; return False while it has not expired.

    The holder can write nothing more under it. No server can take it until the open transaction
    ends.
    """
    lease = _lock(desk, name)
    if not lease.has_expired(database_clock.seconds(desk)):
        return False
    if lease.server is not None:
        _RELEASE(desk.connection, name=name, holder=lease.server)
    return True


def release_all(desk: Desk, server_id: int) -> None:
    """Release all leases that a server holds."""
    _RELEASE_ALL(desk.connection, holder=server_id)


def revoke_all(desk: Desk) -> None:
    """Take all leases in restored books from their holders, and raise all fencing numbers.

    A server that was cut off during the restore may still hold a number that was given after the
    copy was taken. The raised numbers exceed it.
    """
    _REVOKE_ALL(desk.connection)


def holder(desk: Desk, name: str) -> Holder | None:
    """Return the holder of a lease, even if it has expired; None if there is no holder."""
    lease = _READ.first(desk.connection, name=name)
    if lease is None or lease.server is None:
        return None
    return Holder(lease.server, lease.fence, lease.is_live(database_clock.seconds(desk)))


def has_expired(desk: Desk, name: str) -> bool:
    """Return whether the time has passed for which a lease was last taken.

    Until then its last holder may come back, even if it released the lease.
    """
    lease = _READ.first(desk.connection, name=name)
    return lease is None or lease.has_expired(database_clock.seconds(desk))


def require(desk: Desk, name: str, fence: int) -> None:
    """Check that a lease still has this fencing number, and lock it until the transaction ends.

    An expired lease that no other server took is valid. Raises `LeaseLost` otherwise; then nothing
    may be written.
    """
    lease = _SHARE.first(desk.connection, name=name)
    if lease is None or lease.server is None or lease.fence != fence:
        raise LeaseLost(f"the lease {name} with the number {fence} is lost")
