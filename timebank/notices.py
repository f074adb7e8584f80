"""Lines that wait for a caller until he can read them."""

from __future__ import annotations

import json
from collections.abc import Collection

from timebank.database import Desk
from timebank.model import stamp


def add_notice(desk: Desk, caller_id: int, text: str) -> None:
    """Leave a sentence for a caller; he is shown it at the next log-on, or sooner."""
    desk.connection.exec_driver_sql(
        "INSERT INTO notices (caller_id, at, text) VALUES (?, ?, ?)",
        (caller_id, stamp(desk.now), text),
    )


def notices(desk: Desk, caller_id: int) -> tuple[str, ...]:
    """Give what waits for a caller, oldest first, and mark it as shown."""
    run = desk.connection.exec_driver_sql
    found = run(
        "SELECT text FROM notices WHERE caller_id = ? AND shown IS NULL ORDER BY id", (caller_id,)
    )
    texts = tuple(found.scalars())
    if texts:
        run(
            "UPDATE notices SET shown = ? WHERE caller_id = ? AND shown IS NULL",
            (stamp(desk.now), caller_id),
        )
    return texts


def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Give what waits for these callers, oldest first, and leave it waiting.

    Callers for whom nothing waits are left out. Whoever shows it marks it with `notices`.
    """
    found = desk.connection.exec_driver_sql(
        "SELECT caller_id, text FROM notices WHERE shown IS NULL"
        " AND caller_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(caller_ids)),),
    )
    waiting: dict[int, tuple[str, ...]] = {}
    for caller_id, text in found:
        waiting[caller_id] = (*waiting.get(caller_id, ()), text)
    return waiting
