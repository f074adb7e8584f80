"""Passwords that were tried at the pages and were not right, counted in the books.

So the tries of all processes that show the pages are counted together, and a restart forgives none.
What stands for an address and a name is the board's affair (door/desk/pages/access.py).
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


def of(desk: Desk, address: str, name: str, since: int) -> list[PageTry]:
    """List the tries from an address, and those for a name, the earliest first."""
    return _OF.all(desk.connection, address=address, name=name, since=since)[::-1]


def add(desk: Desk, address: str, name: str, forget_before: int) -> str:
    """Count a try before it is known whether it is right; returns its number for `take_back`."""
    number = secrets.token_hex(16)
    _FORGET(desk.connection, before=forget_before)
    _ADD(desk.connection, number=number, at=stamp(desk.now), address=address, name=name)
    return number


def take_back(desk: Desk, number: str) -> None:
    """Uncount a try that was right, or that could not be checked."""
    _TAKE_BACK(desk.connection, number=number)


def forgive(desk: Desk, address: str, name: str) -> bool:
    """Forget what is counted against an address or a name; tell whether there was anything."""
    return _FORGIVE(desk.connection, address=address, name=name).rowcount > 0
