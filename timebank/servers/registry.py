"""The servers that serve from the same books: each has a row, and renews it as long as it lives.

Books in a file have one server alone, and no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from sqlalchemy import bindparam, delete

from timebank.ledger import schema, sql
from timebank.ledger.database import Desk
from timebank.servers import database_clock, leases

# How long a server is believed alive without a renewal.
LIVING_SECONDS = 30
# After how long somebody else takes a dead one's row away.
FORGET_SECONDS = 2 * LIVING_SECONDS

_TABLE = schema.servers


class ServerRecord(NamedTuple):
    """A server as its row says. `started` and `renewed` are seconds by the database's clock."""

    id: int
    name: str
    process: str
    settings: str
    version: str
    started: int
    renewed: int
    draining: bool


class Newcomer(NamedTuple):
    """What a server says of itself when it enters; `schema.servers` says what each is."""

    name: str
    process: str
    settings: str
    version: str


_ALL = sql.read(ServerRecord, lambda: sql.fields_of(ServerRecord, _TABLE).order_by(_TABLE.c.id))
_ENTER = sql.Prepared(
    lambda: sql.insert_into(_TABLE, "name process settings version started renewed", draining=0)
)
_OF = sql.read(
    ServerRecord, lambda: sql.fields_of(ServerRecord, _TABLE).where(sql.equal(_TABLE.c.id))
)
_RENEW = sql.Prepared(lambda: sql.change(_TABLE, "renewed draining", sql.equal(_TABLE.c.id)))
_CHANGE = sql.Prepared(lambda: sql.change(_TABLE, "settings", sql.equal(_TABLE.c.id)))
_LEAVE = sql.Prepared(lambda: delete(_TABLE).where(_TABLE.c.id == bindparam("id")))
_LEAVE_ALL = sql.Prepared(lambda: delete(_TABLE))


def enter(
    desk: Desk, newcomer: Newcomer, is_gone: Callable[[str], bool] = lambda process: False
) -> ServerRecord:
    """Enter a server, and give its row: where its name is another's, a number follows it there.

    The rows of the dead go, with what they held. `is_gone` tells of a process whether it is known
    to have ended, so that nobody need wait until its row is old.
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
    number = _ENTER.number(desk.connection, **row, started=now, renewed=now)
    desk.nudge()
    return ServerRecord(id=number, started=now, renewed=now, draining=False, **row)


def _free(name: str, names: set[str]) -> str:
    if name not in names:
        return name
    return next(each for number in count(2) if (each := f"{name}-{number}") not in names)


def renew(desk: Desk, server_id: int, *, draining: bool = False) -> bool:
    """Say that a server lives; False where its row is gone: it was thought dead, and must enter.

    It takes the rows of others away that are dead for long, where it was not silent itself.
    """
    own = _OF.first(desk.connection, id=server_id)
    if own is None:
        return False
    now = database_clock.seconds(desk)
    _RENEW(desk.connection, id=server_id, renewed=now, draining=draining)
    if own.draining != draining:
        desk.nudge()
    if not _lives(own, now):
        return True  # the machine slept, say: the others may not have come to it either
    for other in _ALL.all(desk.connection):
        if not _lives(other, now) and abs(now - max(other.renewed, own.started)) > FORGET_SECONDS:
            leave(desk, other.id)
    return True


def change_settings(desk: Desk, server_id: int, settings: str) -> None:
    """Say with which settings a server goes on."""
    _CHANGE(desk.connection, id=server_id, settings=settings)


def leave(desk: Desk, server_id: int) -> None:
    """Take a server out, and let go all that it holds."""
    leases.let_all_go(desk, server_id)
    _LEAVE(desk.connection, id=server_id)
    desk.nudge()


def living(desk: Desk) -> list[ServerRecord]:
    """List the servers that are believed alive, the oldest first."""
    now = database_clock.seconds(desk)
    return [server for server in _ALL.all(desk.connection) if _lives(server, now)]


def lost(desk: Desk) -> list[tuple[ServerRecord, int]]:
    """List the servers that have gone silent, each with the seconds since it was heard of.

    Those that ended in order have no row.
    """
    now = database_clock.seconds(desk)
    rows = _ALL.all(desk.connection)
    return [(server, abs(now - server.renewed)) for server in rows if not _lives(server, now)]


def forget_all(desk: Desk) -> None:
    """Empty restored books of servers: none of them serves from these."""
    leases.free_all(desk)
    _LEAVE_ALL(desk.connection)


def _lives(server: ServerRecord, now: int) -> bool:
    """Tell whether it was renewed a short while ago; in the future, before the clock was set."""
    return abs(now - server.renewed) <= LIVING_SECONDS
