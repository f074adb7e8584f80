"""What one server of several has for itself for a while: a job, or a table.

A lease has a holder and an end, by the database's clock. The holder takes it again before that, and
so keeps it; one that is dead does not, and another takes it. A holder that was only slow may not
know: so each new holder gets a fencing number, greater than all before, and whatever a lease
protects is written in a transaction that says this number (`hold`). That decides, and no clock.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam

from timebank.errors import LeaseLost
from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.servers import database_clock

# How long a lease may be, in seconds. One whose end is farther away was taken before the clock was
# set back: nobody knows when it should have run out, so it has.
LONGEST_SECONDS = 60

# How far numbers go on in books that were put back: more than are given between two copies.
FAR = 1_000_000_000

_TABLE = schema.leases


class Holder(NamedTuple):
    """Who holds a lease, and whether it has not run out yet; if it has, nobody has taken it."""

    server_id: int
    fence: int
    live: bool


class _Lease(NamedTuple):
    server: int | None
    fence: int
    until: int

    def is_live(self, now: int) -> bool:
        return self.server is not None and not self.has_run_out(now)

    def has_run_out(self, now: int) -> bool:
        return not now < self.until <= now + LONGEST_SECONDS


def _of_name() -> sql.Query:
    return sql.fields_of(_Lease, _TABLE).where(sql.equal(_TABLE.c.name))


_READ = sql.read(_Lease, _of_name)
# Who takes it waits for those who write under it, and they for who takes it.
_LOCK = sql.read(_Lease, lambda: _of_name().with_for_update())
_SHARE = sql.read(_Lease, lambda: _of_name().with_for_update(read=True))
_LAY = sql.Prepared(
    lambda: sql.insert_or_change(
        _TABLE,
        {"name": bindparam("name"), "server": None, "fence": 0, "until": 0},
        fence=_TABLE.c.fence,
    )
)
_TAKE = sql.Prepared(lambda: sql.change(_TABLE, "server fence until", sql.equal(_TABLE.c.name)))
_LET_GO = sql.Prepared(
    lambda: sql.change(
        _TABLE, "", *(sql.equal(_TABLE.c.name), _TABLE.c.server == bindparam("holder")), server=None
    )
)
_LET_ALL_GO = sql.Prepared(
    lambda: sql.change(_TABLE, "", _TABLE.c.server == bindparam("holder"), server=None)
)
_FREE = sql.Prepared(lambda: sql.change(_TABLE, "", server=None, fence=_TABLE.c.fence + FAR))


def take(desk: Desk, name: str, server_id: int, seconds: int) -> int | None:
    """Take a lease for some seconds, or keep it as long from now; give its fencing number.

    None while it is another's and has not run out. Whoever has it already keeps the number.
    ValueError for more than LONGEST_SECONDS.
    """
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"a lease is for 1 to {LONGEST_SECONDS} seconds, not {seconds}")
    lease = _lock(desk, name)
    now = database_clock.seconds(desk)  # not before the wait for others is over
    if lease.server != server_id and lease.is_live(now):
        return None
    fence = lease.fence if lease.server == server_id else lease.fence + 1
    _TAKE(desk.connection, name=name, server=server_id, fence=fence, until=now + seconds)
    return fence


def _lock(desk: Desk, name: str) -> _Lease:
    lease = _LOCK.first(desk.connection, name=name)
    if lease is None:
        _LAY(desk.connection, name=name)
        lease = _LOCK.one(desk.connection, name=name)
    return lease


def let_go(desk: Desk, name: str, server_id: int) -> None:
    """Let another take a lease at once; one that is not the server's stays as it is."""
    _LET_GO(desk.connection, name=name, holder=server_id)
    desk.nudge()


def end(desk: Desk, name: str) -> bool:
    """Take a lease from its holder, who writes nothing more under it, if its time is over.

    Until the open transaction ends nobody takes it. False while it has not run out.
    """
    lease = _lock(desk, name)
    if not lease.has_run_out(database_clock.seconds(desk)):
        return False
    if lease.server is not None:
        _LET_GO(desk.connection, name=name, holder=lease.server)
    return True


def let_all_go(desk: Desk, server_id: int) -> None:
    """Let go all that a server holds."""
    _LET_ALL_GO(desk.connection, holder=server_id)


def free_all(desk: Desk) -> None:
    """Take all leases from their holders: none of them serves from these books any more.

    One that does not know, because it was cut off while these were put back, has a number that was
    given after the copy was taken: numbers go on far beyond.
    """
    _FREE(desk.connection)


def holder(desk: Desk, name: str) -> Holder | None:
    """Tell who holds a lease; None where nobody does since it was let go, or ever."""
    lease = _READ.first(desk.connection, name=name)
    if lease is None or lease.server is None:
        return None
    return Holder(lease.server, lease.fence, lease.is_live(database_clock.seconds(desk)))


def has_run_out(desk: Desk, name: str) -> bool:
    """Return whether the time is over for which a lease was last taken. Until then its holder may
    come back, though the lease was let go."""
    lease = _READ.first(desk.connection, name=name)
    return lease is None or lease.has_run_out(database_clock.seconds(desk))


def hold(desk: Desk, name: str, fence: int) -> None:
    """Have the open transaction count only under a lease with this fencing number.

    Nobody else takes the lease before the transaction ends. It may have run out: as long as nobody
    has taken it, nothing is lost. Raises `LeaseLost`, after which nothing may be written.
    """
    lease = _SHARE.first(desk.connection, name=name)
    if lease is None or lease.server is None or lease.fence != fence:
        raise LeaseLost(f"the lease {name} with the number {fence} is held no more")
