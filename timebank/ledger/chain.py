"""The chain of digests through all transfers, which shows every changed row.

Each transfer has a SHA-256 digest over its fields and the previous digest. An edited, removed,
inserted or reordered row makes every later digest wrong. If the later digests are recomputed too,
the last one differs from the one that the sysop noted. docs/formats.md defines the digest for other
programs.

A restore begins a new generation of the books, whose row is a link of the chain: the first transfer
of the generation continues it. An invented generation cannot explain missing rows, because it also
changes every later digest.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from timebank.ledger.schema import generations, transfers
from timebank.ledger.sql import highest, last_number, read

# The digest before the first transfer.
GENESIS = "0" * 64


class Head(NamedTuple):
    """The end of the chain: the highest number given to a transfer, and the last digest."""

    number: int
    digest: str


def head_columns() -> tuple[ColumnElement[int], ColumnElement[str]]:
    """Return the number and digest of `Head` as columns for any query.

    The number is the last one given, also if its row was removed since.
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
    """Return the digest of a transfer: SHA-256 in hexadecimal over one line of UTF-8 text.

    The line is the previous digest, nine numbers, the length of `kind` in bytes, `kind` and
    `facts`, separated by single spaces. Different rows make different lines: no field before
    `kind` contains a space, its length tells where `kind` ends, and `facts` is the rest.
    """
    call = "-" if call_id is None else call_id
    hand = "-" if round_id is None else round_id
    return sha256(
        f"{previous} {number} {place} {size} {at} {amount} {source} {target} {call} {hand}"
        f" {len(kind.encode())} {kind} {facts}".encode()
    ).hexdigest()
