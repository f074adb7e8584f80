"""Wrong passwords typed at the sysop's pages, counted in the books.

So all processes that show the pages count together, and a restart forgets none. The board makes the
keys for addresses and names (door/desk/pages/access.py).
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from sqlalchemy import bindparam, delete, or_, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import page_tries as rows
from timebank.ledger.schema import stamp
from timebank.ledger.sql import Prepared, equal, insert_into, read

MOST_READ = 5000


class PageTry(NamedTuple):
    number: str
    at: int
    address: str
    name: str


_OF = read(
    PageTry,
    lambda: (
        select(rows.c.number, rows.c.at, rows.c.address, rows.c.name)
        .where(or_(equal(rows.c.address), equal(rows.c.name)))
        .where(rows.c.at >= bindparam("since"))
        .order_by(rows.c.at.desc(), rows.c.number.desc())
        .limit(MOST_READ)
    ),
)
_ADD = Prepared(lambda: insert_into(rows, "number at address name"))
_FORGET = Prepared(lambda: delete(rows).where(rows.c.at < bindparam("before")))
_TAKE_BACK = Prepared(lambda: delete(rows).where(equal(rows.c.number)))
_FORGIVE = Prepared(lambda: delete(rows).where(or_(equal(rows.c.address), equal(rows.c.name))))


def list_tries(desk: Desk, address: str, name: str, since: int) -> list[PageTry]:
    """Return the tries from an address or for a name since `since`, oldest first."""
    return _OF.all(desk.connection, address=address, name=name, since=since)[::-1]


def add(desk: Desk, address: str, name: str, forget_before: int) -> str:
    """Count a try before it is checked. Return its number for `take_back`."""
    number = secrets.token_hex(16)
    _FORGET(desk.connection, before=forget_before)
    _ADD(desk.connection, number=number, at=stamp(desk.now), address=address, name=name)
    return number


def take_back(desk: Desk, number: str) -> None:
    """Remove a try that was right, or could not be checked."""
    _TAKE_BACK(desk.connection, number=number)


def forgive(desk: Desk, address: str, name: str) -> bool:
    """Remove all tries from an address or for a name. Return whether there were any."""
    return _FORGIVE(desk.connection, address=address, name=name).rowcount > 0
