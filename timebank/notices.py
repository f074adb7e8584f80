"""Lines that wait for a caller until he can read them."""

from __future__ import annotations

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
