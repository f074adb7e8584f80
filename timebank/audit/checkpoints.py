"""Checkpoints: what an audit that found nothing wrong leaves for the next one to begin with.

A checkpoint says what all later rows are checked against: where the chain of transfers ended, what
each account was and held, and which hands, calls and visits were open. Its digest covers all of it.
So an audit that is given that digest need not trust the checkpoint, wherever it was kept. What was
changed in rows before it is out of its sight; docs/formats.md says what a checkpoint looks like.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Column, func, select

from timebank.audit.findings import Since
from timebank.errors import CheckpointRefused
from timebank.ledger import chain
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import accounts, calls, rounds, stamp, visits
from timebank.ledger.sql import Prepared, Reader, highest, value

FORM = 1


class CheckedAccount(NamedTuple):
    id: int
    kind: str
    caller_id: int | None
    game: str | None
    unit: str
    balance: int


class Checkpoint(NamedTuple):
    # When it was made, in whole seconds since 1970.
    at: int
    # The digest of the checkpoint with which its audit began; None where that read everything.
    since: str | None
    # The end of the chain: the last number that was given to a transfer, and the last digest.
    last: int
    digest: str
    # See `finding.Since`; `hand`, `call` and `visit` are the first that was open, or the next one.
    first_row: int
    hand: int
    call: int
    visit: int
    # Number and digest of each generation.
    generations: tuple[tuple[int, str], ...]
    # The last number of an account, and all accounts in order.
    last_account: int
    accounts: tuple[CheckedAccount, ...]

    @property
    def bounds(self) -> Since:
        return Since(self.last, self.first_row, self.hand, self.call, self.visit)

    def encoded(self) -> bytes:
        """Give what is kept, and what the digest is made of: JSON without spaces, in UTF-8."""
        said = {"form": FORM, **self._asdict()}
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()

    def balances(self) -> str:
        return digest_of_balances((each.id, each.balance) for each in self.accounts)


def digest_of(text: bytes) -> str:
    """Give the digest of a checkpoint as it is kept: SHA-256 in hexadecimal."""
    return sha256(text).hexdigest()


def decoded(text: bytes, digest: str) -> Checkpoint:
    """Read a checkpoint that has this digest; raises `CheckpointRefused` for any other."""
    if digest_of(text) != digest:
        raise CheckpointRefused(
            "The checkpoint that is kept under this digest was changed, so nothing can begin with"
            " it. Check the whole books: `timebank audit`."
        )
    try:
        said: dict[str, Any] = json.loads(text)
        if said.pop("form", None) != FORM:
            raise CheckpointRefused(
                "The checkpoint with this digest was made by another version of the program. Check"
                " the whole books: `timebank audit`."
            )
        known = tuple((number, made) for number, made in said.pop("generations"))
        checked = tuple(CheckedAccount(*each) for each in said.pop("accounts"))
        return Checkpoint(**said, generations=known, accounts=checked)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CheckpointRefused(
            "What is kept under this digest is not a checkpoint. Check the whole books: `timebank"
            " audit`."
        ) from None


def digest_of_balances(balances: Iterable[tuple[int, int]]) -> str:
    """Make one text of what accounts hold, by their numbers; those with nothing do not count."""
    made = sha256()
    for account, balance in sorted(balances):
        if balance:
            made.update(f"{account} {balance}\n".encode())
    return made.hexdigest()


def _first(number: Column[int], ended: Column[Any]) -> Reader[int]:
    """Find the first that is open, or else the next one."""
    # The sum keeps SQLite from going along the numbers, through all that are over.
    opened = select(func.min(number + 0)).where(ended.is_(None)).scalar_subquery()
    return value(lambda: select(func.coalesce(opened, highest(number) + 1)))


_FIRST_HAND = _first(rounds.c.id, rounds.c.settled)
_FIRST_CALL = _first(calls.c.id, calls.c.closed)
_FIRST_VISIT = _first(visits.c.id, visits.c.closed)


def first_open_hand(desk: Desk) -> int:
    """Find the first hand that is not over: the next one, where all are."""
    return _FIRST_HAND.one(desk.connection)


_ACCOUNTS = Prepared(
    lambda: select(*(accounts.c[name] for name in CheckedAccount._fields)).order_by(accounts.c.id)
)


def draft(desk: Desk, since: str | None) -> Checkpoint:
    """Write down how the books are now, before they are checked; `first_row` is known then.

    Raises what JSON raises for values that are none of ours.
    """
    books = desk.connection
    last, digest = chain.head(books)
    checked = tuple(CheckedAccount(*row) for row in _ACCOUNTS.long(books))
    return Checkpoint(
        stamp(desk.now),
        since,
        *(last, digest, last + 1),
        *(first_open_hand(desk), _FIRST_CALL.one(books), _FIRST_VISIT.one(books)),
        tuple((each.number, each.digest) for each in generations(books)),
        max((each.id for each in checked), default=0),
        checked,
    )
