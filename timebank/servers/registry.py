"""The servers of the same books: each has a row, and renews it as long as it lives.

Books in a file have one server and no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from sqlalchemy import bindparam, delete

from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.servers import database_clock, leases

# A server counts as alive for this time after a renewal.
LIVING_SECONDS = 30
# Another server removes its row after this time without one.
FORGET_SECONDS = 2 * LIVING_SECONDS

_TABLE = schema.servers


class ServerRecord(NamedTuple):
    """The row of a server. `started` and `renewed` are seconds since 1970, the database's clock."""

    id: int
    name: str
    process: str
    settings: str
    version: str
    started: int
    renewed: int
    draining: bool


class Newcomer(NamedTuple):
    """What a server enters about itself; `schema.servers` describes the fields."""

    name: str
    process: str
    settings: str
    version: str


_ALL = sql.read(ServerRecord, lambda: sql.fields_of(ServerRecord, _TABLE).order_by(_TABLE.c.id))
_ENTER = sql.Prepared(
    lambda: sql.insert_into(_TABLE, "name process settings version started renewed", draining=0)
)
_BY_ID = sql.read(
    ServerRecord, lambda: sql.fields_of(ServerRecord, _TABLE).where(sql.equal(_TABLE.c.id))
)
_RENEW = sql.Prepared(lambda: sql.change(_TABLE, "renewed draining", sql.equal(_TABLE.c.id)))
_SET_SETTINGS = sql.Prepared(lambda: sql.change(_TABLE, "settings", sql.equal(_TABLE.c.id)))
_LEAVE = sql.Prepared(lambda: delete(_TABLE).where(_TABLE.c.id == bindparam("id")))
_REMOVE_ALL = sql.Prepared(lambda: delete(_TABLE))


def enter(
    desk: Desk, newcomer: Newcomer, is_gone: Callable[[str], bool] = lambda process: False
) -> ServerRecord:
    """Enter a server and return its row. A name that another server has gets a number.

    Rows of dead servers are removed, with their leases. `is_gone` returns whether a process is
    known to have ended, so that its row need not grow old first.
    """
    now = database_clock.seconds(desk)
    names = set()
    for server in _ALL.all(desk.connection):
        is_before = server.process == newcomer.process or is_gone(server.process)
        if not is_before and _lives(server, now):
            names.add(server.name)
        else:
            leave(desk, server.id)
    row = {**newcomer._asdict(), "name": _free(newcomer.name, names)}
    number = _ENTER.insert(desk.connection, **row, started=now, renewed=now)
    desk.nudge()
    return ServerRecord(id=number, started=now, renewed=now, draining=False, **row)


def _free(name: str, names: set[str]) -> str:
    if name not in names:
        return name
    return next(each for number in count(2) if (each := f"{name}-{number}") not in names)


def renew(desk: Desk, server_id: int, *, draining: bool = False) -> bool:
    """Renew a server's row; return False if the row was removed and the server must enter again.

    Rows that are older than FORGET_SECONDS are removed, unless this server was silent itself.
    """
    own = _BY_ID.first(desk.connection, id=server_id)
    if own is None:
        return False
    now = database_clock.seconds(desk)
    _RENEW(desk.connection, id=server_id, renewed=now, draining=draining)
    if own.draining != draining:
        desk.nudge()
    if not _lives(own, now):
        return True  # the machine may have slept, and all its servers with it
    for other in _ALL.all(desk.connection):
        if not _lives(other, now) and abs(now - max(other.renewed, own.started)) > FORGET_SECONDS:
            leave(desk, other.id)
    return True


def change_settings(desk: Desk, server_id: int, settings: str) -> None:
    """Change the settings in a server's row."""
    _SET_SETTINGS(desk.connection, id=server_id, settings=settings)


def leave(desk: Desk, server_id: int) -> None:
    """Remove a server's row and release its leases."""
    leases.release_all(desk, server_id)
    _LEAVE(desk.connection, id=server_id)
    desk.nudge()


def living_servers(desk: Desk) -> list[ServerRecord]:
    """Return the servers that count as alive, the oldest first."""
    now = database_clock.seconds(desk)
    return [server for server in _ALL.all(desk.connection) if _lives(server, now)]


def silent_servers(desk: Desk) -> list[tuple[ServerRecord, int]]:
    """Return the servers whose renewals have stopped, each with the seconds since the last one.

    A server that ended in order has no row.
    """
    now = database_clock.seconds(desk)
    rows = _ALL.all(desk.connection)
    return [(server, abs(now - server.renewed)) for server in rows if not _lives(server, now)]


def remove_all(desk: Desk) -> None:
    """Remove all servers from restored books, because none serves from them."""
    leases.revoke_all(desk)
    _REMOVE_ALL(desk.connection)


def _lives(server: ServerRecord, now: int) -> bool:
    """Return whether a server was renewed lately; `renewed` may lie ahead of a clock set back."""
    return abs(now - server.renewed) <= LIVING_SECONDS
