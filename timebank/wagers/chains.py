"""Seeds that are sealed ahead: hash chains, one for each caller at a game, or for each table.

A chain begins as 32 random bytes, its root, which is the seed of its last link. Every seed hashes
to the seed of the link before, and the first one to the chain's anchor. So the anchor binds all of
them, the seal of a shoe is the seed of the shoe before, and no seed that was shown tells one to
come. A link is taken in the transaction that opens its shoe, and none is ever given back.

A chain ends with its day, so that a copy of the books of an earlier day tells no seed of today.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Integer, bindparam, case, insert, or_, select, update

from timebank.ledger.database import Desk
from timebank.ledger.schema import chains, stamp
from timebank.ledger.sql import Prepared, Reader, parameters, read, value


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The seed of a shoe, and where it stands: `number` counts from 1."""

    anchor: str
    number: int
    seed: bytes = field(repr=False)

    @property
    def seal(self) -> str:
        return sha256(self.seed).hexdigest()


class SealedChain(NamedTuple):
    """A chain that shoes come from today; `table` is 0 for one of a caller, who is not named."""

    anchor: str
    game: str
    table: int


def link_of(root: bytes, length: int, number: int) -> bytes:
    """Return the seed of link `number`, from 1, of a chain; number 0 is its anchor."""
    seed = root
    for _ in range(length - number):
        seed = sha256(seed).digest()
    return seed


def leads_back(seed: bytes, steps: int, to: bytes) -> bool:
    """Tell whether hashing `seed` so often gives `to`."""
    return link_of(seed, steps, 0) == to


_OF = (
    chains.c.caller_id.is_not_distinct_from(bindparam("owner", type_=Integer)),
    chains.c.game == bindparam("of_game"),
    chains.c.at_table == bindparam("of_table"),
    chains.c.closed.is_(None),
)
_GOOD = (chains.c.day == bindparam("today"), chains.c.used < chains.c.length)
_OPEN = Prepared(lambda: select(chains.c.anchor).where(*_OF, *_GOOD))
_TAKE = Prepared(
    lambda: (
        update(chains)
        .values(used=chains.c.used + 1)
        .where(*_OF, *_GOOD)
        .returning(chains.c.anchor, chains.c.root, chains.c.length, chains.c.used)
    )
)
_END = Prepared(lambda: update(chains).values(parameters("closed")).where(*_OF))
_BEGIN = Prepared(
    lambda: insert(chains).values(
        parameters(
            "anchor", "caller_id", "game", "at_table", "root", "length", "used", "day", "opened"
        )
    )
)
_ALL_OPEN: Reader[str] = value(
    lambda: (
        select(chains.c.anchor)
        .where(chains.c.closed.is_(None))
        .where(or_(chains.c.caller_id.is_(None), chains.c.caller_id == bindparam("caller_id")))
        .order_by(chains.c.anchor)
    )
)
_OF_TODAY = read(
    SealedChain,
    lambda: (
        select(
            chains.c.anchor,
            chains.c.game,
            case((chains.c.caller_id.is_(None), chains.c.at_table), else_=0),
        )
        .where(chains.c.closed.is_(None), chains.c.day == bindparam("today"))
        .order_by(chains.c.anchor)
    ),
)
_ROOT = Prepared(
    lambda: select(chains.c.caller_id, chains.c.game, chains.c.at_table, chains.c.length).where(
        chains.c.anchor == bindparam("of_anchor")
    )
)


def take_link(
    desk: Desk, owner: int | None, game: str, table: int, root: bytes, length: int
) -> ChainLink:
    """Take the next link of the chain of a caller at a game, or of a table without an `owner`.

    When there is none that serves today, one begins with `root`, of `length` links.
    """
    whose = {"owner": owner, "of_game": game, "of_table": table, "today": _today(desk)}
    row = _TAKE(desk.connection, **whose).first()
    if row is None:
        begin(desk, owner, game, table, root, length)
        row = _TAKE(desk.connection, **whose).one()
    return ChainLink(row.anchor, row.used, link_of(row.root, row.length, row.used))


def begin(desk: Desk, owner: int | None, game: str, table: int, root: bytes, length: int) -> str:
    """Seal a new chain, which ends the one before; return its anchor."""
    _END(desk.connection, closed=stamp(desk.now), owner=owner, of_game=game, of_table=table)
    anchor = link_of(root, length, 0).hex()
    _BEGIN(
        desk.connection,
        anchor=anchor,
        caller_id=owner,
        game=game,
        at_table=table,
        root=root,
        length=length,
        used=0,
        day=_today(desk),
        opened=stamp(desk.now),
    )
    return anchor


def sealed_ahead(
    desk: Desk, owner: int | None, game: str, table: int, root: bytes, length: int
) -> str:
    """Return the anchor of the chain that the next shoe comes from; begin one where it has to."""
    whose = {"owner": owner, "of_game": game, "of_table": table, "today": _today(desk)}
    anchor: str | None = _OPEN(desk.connection, **whose).scalar()
    return anchor or begin(desk, owner, game, table, root, length)


def open_anchors(desk: Desk, caller_id: int) -> list[str]:
    """List the anchors of the chains that a caller may be dealt from: theirs, and the tables'."""
    return _ALL_OPEN.all(desk.connection, caller_id=caller_id)


def sealed_today(desk: Desk) -> list[SealedChain]:
    """List the chains that shoes come from today, by their anchors."""
    return _OF_TODAY.all(desk.connection, today=_today(desk))


def length_of(desk: Desk, anchor: str, owner: int | None, game: str, table: int) -> int | None:
    """Return how many links a chain has, None unless it is the one of this caller or table."""
    row = _ROOT(desk.connection, of_anchor=anchor).first()
    if row is None or (row.caller_id, row.game, row.at_table) != (owner, game, table):
        return None
    length: int = row.length
    return length


def _today(desk: Desk) -> str:
    return desk.settings.schedule.day_of(desk.now).isoformat()
