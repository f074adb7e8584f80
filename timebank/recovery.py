"""Recovery codes in the books: a digest for each caller who has one. `door.recovery` makes them."""

from __future__ import annotations

import hmac

from timebank import callers
from timebank.callers import CallerRecord
from timebank.database import Desk


def keep(desk: Desk, caller_id: int, digest: str) -> None:
    """Store the digest of a caller's code in place of any earlier one."""
    desk.connection.exec_driver_sql(
        "UPDATE callers SET recovery_digest = ? WHERE id = ? AND deleted IS NULL",
        (digest, caller_id),
    )


def has_one(desk: Desk, caller_id: int) -> bool:
    """Tell whether a caller has a code that was not used."""
    return _digest(desk, caller_id) is not None


def use(desk: Desk, name: str, digest: str) -> CallerRecord | None:
    """Use up a code: return the caller of this name if it is theirs, else None.

    A caller whom the sysop has locked out keeps it.
    """
    record = callers.find(desk, name)
    kept = None if record is None else _digest(desk, record.id)
    if not hmac.compare_digest(kept or "", digest) or record is None:
        return None
    if not record.locked:
        desk.connection.exec_driver_sql(
            "UPDATE callers SET recovery_digest = NULL WHERE id = ?", (record.id,)
        )
    return record


def _digest(desk: Desk, caller_id: int) -> str | None:
    kept: str | None = desk.connection.exec_driver_sql(
        "SELECT recovery_digest FROM callers WHERE id = ?", (caller_id,)
    ).scalar()
    return kept
