"""Recovery codes in the books: a digest for each caller who has one.

`door.defence.recovery` makes them.

A code works until another code or a new password replaces it. So a log-on with a code changes
nothing yet. Each change names the secrets that allowed it (`Secrets`), and is made only if these
are unchanged: the same code can allow only one change.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from sqlalchemy import bindparam, select

from timebank.callers import callers
from timebank.callers.callers import CallerRecord
from timebank.language import N_
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.sql import Prepared, Reader, change, equal, value

_CALLERS = schema.callers
_REPLACE = Prepared(
    lambda: change(
        _CALLERS,
        "recovery_digest",
        *(equal(_CALLERS.c.id), _CALLERS.c.deleted.is_(None)),
        _CALLERS.c.password_hash == bindparam("hash_before"),
        _CALLERS.c.recovery_digest.is_not_distinct_from(bindparam("digest_before")),
    )
)
_VOID_ALL: Reader[int] = value(
    lambda: change(
        _CALLERS, "", _CALLERS.c.recovery_digest.is_not(None), recovery_digest=None
    ).returning(_CALLERS.c.id)
)
_DIGEST: Reader[str] = value(lambda: select(_CALLERS.c.recovery_digest).where(equal(_CALLERS.c.id)))

VOID = N_("Your recovery code is void. You can make another in your settings.")


@dataclass(frozen=True, slots=True)
class Secrets:
    """A caller's secrets in the books: the hash of a password, and the digest of a code."""

    password_hash: str = field(repr=False)
    # None without a code.
    digest: str | None = field(repr=False)


def secrets_of(desk: Desk, caller_id: int) -> Secrets:
    return Secrets(callers.get(desk, caller_id).password_hash, _digest(desk, caller_id))


def has_one(desk: Desk, caller_id: int) -> bool:
    return _digest(desk, caller_id) is not None


def owner(desk: Desk, name: str, digest: str) -> CallerRecord | None:
    """Return the caller of this name if the code is theirs, else None. The code stays valid."""
    record = callers.find(desk, name)
    stored = None if record is None else _digest(desk, record.id)
    return record if hmac.compare_digest(stored or "", digest) else None


def replace(desk: Desk, caller_id: int, before: Secrets, digest: str) -> bool:
    """Replace the code in `before`, which may be None, by a new one.

    Returns False, and changes nothing, if the caller's password or code was changed since, or the
    caller was deleted.
    """
    changed = _REPLACE(
        desk.connection,
        recovery_digest=digest,
        id=caller_id,
        hash_before=before.password_hash,
        digest_before=before.digest,
    )
    return changed.rowcount == 1


def set_password(
    desk: Desk, caller_id: int, before: Secrets, password_hash: str
) -> CallerRecord | None:
    """Store the hash of a password that a caller has chosen, and make the code in `before` void.

    Returns None if the caller's password or code was changed since. Raises `UnknownCaller`.
    """
    if secrets_of(desk, caller_id) != before:
        return None
    return callers.set_password_hash(desk, caller_id, password_hash)


def void_all(desk: Desk) -> list[int]:
    """Make every code void. Return the numbers of the callers who had one."""
    return sorted(_VOID_ALL.all(desk.connection))


def _digest(desk: Desk, caller_id: int) -> str | None:
    return _DIGEST.first(desk.connection, id=caller_id)
