"""Hash chains that seal the seeds of shoes ahead, one for each caller at a game, or each table.

The root of a chain is 32 random bytes, the seed of its last link. Every seed hashes to the seed of
the link before. The first seed hashes to the anchor of the chain, so the anchor commits to all of
them. The seal of a shoe is the seed of the shoe before, and a seed that was shown does not reveal
later ones. A link is taken in the transaction that opens its shoe, and never put back.

A chain ends with its day, so that a copy of the books of an earlier day contains no seed of today.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

from sqlalchemy import Integer, bindparam, insert, or_, select, update

from timebank.ledger.database import Desk
from timebank.ledger.schema import chains, stamp
from timebank.ledger.sql import Prepared, Reader, parameters, value

LENGTH = 500  # links of a new chain; the books keep the length of each


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The seed of a shoe, and its `number` in its chain, counted from 1."""

    anchor: str
    number: int
    seed: bytes = field(repr=False)

    @property
    def seal(self) -> str:
        return sha256(self.seed).hexdigest()


def link_seed(root: bytes, length: int, number: int) -> bytes:
    """Return the seed of link `number` of a chain of `length` links; number 0 is its anchor."""
    seed = root
    for _ in range(length - number):
        seed = sha256(seed).digest()
    return seed


def hashes_to(seed: bytes, steps: int, to: bytes) -> bool:
    """Return whether `seed`, hashed `steps` times, is `to`."""
    return link_seed(seed, steps, 0) == to


_IS_OPEN = (
    chains.c.caller_id.is_not_distinct_from(bindparam("owner", type_=Integer)),
    chains.c.game == bindparam("of_game"),
    chains.c.at_table == bindparam("of_table"),
    chains.c.closed.is_(None),
)
_IS_USABLE = (chains.c.day == bindparam("today"), chains.c.used < chains.c.length)
_OPEN = Prepared(lambda: select(chains.c.anchor).where(*_IS_OPEN, *_IS_USABLE))
_TAKE = Prepared(
    lambda: (
        update(chains)
        .values(used=chains.c.used + 1)
        .where(*_IS_OPEN, *_IS_USABLE)
        .returning(chains.c.anchor, chains.c.root, chains.c.length, chains.c.used)
    )
)
_END = Prepared(lambda: update(chains).values(parameters("closed")).where(*_IS_OPEN))
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
_ROOT = Prepared(
    lambda: select(chains.c.caller_id, chains.c.game, chains.c.at_table, chains.c.length).where(
        chains.c.anchor == bindparam("of_anchor")
    )
)


def take_link(desk: Desk, owner: int | None, game: str, table: int, root: bytes) -> ChainLink:
    """Take the next link of the chain of a caller at a game; without an `owner`, of a table.

    If there is no chain of today with links left, a chain begins with `root`.
    """
    key = {"owner": owner, "of_game": game, "of_table": table, "today": _today(desk)}
    row = _TAKE(desk.connection, **key).first()
    if row is None:
        begin(desk, owner, game, table, root)
        row = _TAKE(desk.connection, **key).one()
    return ChainLink(row.anchor, row.used, link_seed(row.root, row.length, row.used))


def begin(desk: Desk, owner: int | None, game: str, table: int, root: bytes) -> str:
    """Begin a new chain, end the one before, and return the anchor."""
    _END(desk.connection, closed=stamp(desk.now), owner=owner, of_game=game, of_table=table)
    anchor = link_seed(root, LENGTH, 0).hex()
    _BEGIN(
        desk.connection,
        anchor=anchor,
        caller_id=owner,
        game=game,
        at_table=table,
        root=root,
        length=LENGTH,
        used=0,
        day=_today(desk),
        opened=stamp(desk.now),
    )
    return anchor


def current_anchor(desk: Desk, owner: int | None, game: str, table: int, root: bytes) -> str:
    """Return the anchor of the chain for the next shoe; begin a chain if there is none."""
    key = {"owner": owner, "of_game": game, "of_table": table, "today": _today(desk)}
    anchor: str | None = _OPEN(desk.connection, **key).scalar()
    return anchor or begin(desk, owner, game, table, root)


def open_anchors(desk: Desk, caller_id: int) -> list[str]:
    """Return the anchors of the chains for a caller's shoes: the caller's own and the tables'."""
    return _ALL_OPEN.all(desk.connection, caller_id=caller_id)


def chain_length(desk: Desk, anchor: str, owner: int | None, game: str, table: int) -> int | None:
    """Return the number of links of a chain; None unless it belongs to this caller or table."""
    row = _ROOT(desk.connection, of_anchor=anchor).first()
    if row is None or (row.caller_id, row.game, row.at_table) != (owner, game, table):
        return None
    length: int = row.length
    return length


def _today(desk: Desk) -> str:
    return desk.settings.schedule.day_of(desk.now).isoformat()
