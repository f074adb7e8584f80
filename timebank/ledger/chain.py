"""The chain of digests that runs through all transfers, so that no row can be changed unseen.

Where a restore has begun a new generation of the books, its row is a link of the chain too: the
first transfer of the generation continues it. So nobody can excuse missing rows with a generation
that never was without changing every digest after it.

Every transfer carries a SHA-256 digest over all its fields and the digest before it. Whoever edits,
removes, inserts or reorders rows must write every digest after them anew, and then the last one is
not the one that a sysop has noted down. docs/formats.md defines the digest for other programs.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from timebank.ledger.schema import generations, transfers
from timebank.ledger.sql import highest, last_number, read

# What stands in the place of a digest before the first transfer.
GENESIS = "0" * 64


class Head(NamedTuple):
    """The end of the chain: the last number that was given to a transfer, and the last digest."""

    number: int
    digest: str


def head_columns() -> tuple[ColumnElement[int], ColumnElement[str]]:
    """Give the end of the chain as columns of any query.

    What was removed leaves its number behind.
    """
    row, restored = transfers.c, generations.c
    is_current = row.id >= select(highest(restored.first)).scalar_subquery()
    last = select(row.digest).where(is_current).order_by(row.id.desc()).limit(1)
    before = select(restored.digest).order_by(restored.number.desc()).limit(1)
    digest = func.coalesce(last.scalar_subquery(), before.scalar_subquery(), GENESIS)
    return func.coalesce(last_number(transfers), 0), digest


_HEAD = read(Head, lambda: select(*head_columns()))


def head(connection: Connection) -> Head:
    return _HEAD.one(connection)


def digest(
    previous: str,
    number: int,
    place: int,
    size: int,
    at: int,
    amount: int,
    source: int,
    target: int,
    call_id: int | None,
    round_id: int | None,
    kind: str,
    facts: str,
) -> str:
    """Make the digest of a transfer: SHA-256 in hexadecimal over one line of UTF-8 text.

    The line is the digest before, nine numbers, the length of `kind` in bytes, `kind` and
    `facts`, one space between each two. No two rows make the same line: nothing before `kind`
    contains a space, its length says where it ends, and `facts` are all the rest.
    """
    call = "-" if call_id is None else call_id
    hand = "-" if round_id is None else round_id
    return sha256(
        f"{previous} {number} {place} {size} {at} {amount} {source} {target} {call} {hand}"
        f" {len(kind.encode())} {kind} {facts}".encode()
    ).hexdigest()
