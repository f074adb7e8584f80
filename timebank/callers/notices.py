"""Lines that wait for a caller until they can read them, and how a hand ended unseen.

The entry that ends a hand also notes that its caller was not told yet (`callers.untold_round`). The
note goes when the screen of a call has shown the end (`note_seen`), or when a notice tells it
instead. What is left of it at the next log-on becomes a notice (`tell_untold`). So a line that
dies, a process that is killed and a call that is taken over lose no word of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp
from timebank.words import amount_words, title


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


def waiting(desk: Desk, caller_id: int) -> tuple[str, ...]:
    """Give what waits for a caller who comes in, oldest first, with the hand that ended unseen.

    It goes on waiting until `notices` marks it: the line may be lost before it is read.
    """
    tell_untold(desk, caller_id)
    return unseen(desk, (caller_id,)).get(caller_id, ())


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


def keep_untold(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note which hand has just ended for a caller, in the entry that ends it."""
    desk.connection.exec_driver_sql(
        "UPDATE callers SET untold_round = ? WHERE id = ?", (round_id, caller_id)
    )


def note_seen(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note that a caller knows how this hand ended; one that ended later stays untold."""
    desk.connection.exec_driver_sql(
        "UPDATE callers SET untold_round = NULL WHERE id = ? AND untold_round <= ?",
        (caller_id, round_id),
    )


def tell_hand(desk: Desk, caller_id: int, round_id: int, text: str) -> None:
    """Leave a notice of how a hand ended, which is then told by nothing else."""
    add_notice(desk, caller_id, text)
    note_seen(desk, caller_id, round_id)


def tell_untold(desk: Desk, caller_id: int) -> None:
    """Leave a notice of the hand that ended without being seen to, if there is one."""
    round_id = desk.connection.exec_driver_sql(
        "SELECT untold_round FROM callers WHERE id = ?", (caller_id,)
    ).scalar()
    if round_id is not None:
        tell_hand(desk, caller_id, round_id, words_of_hand(desk, round_id, "is over"))


def words_of_hand(desk: Desk, round_id: int, what: str) -> str:
    """Say how a hand came out, and `what` became of it before: "was left open, ..."."""
    day, game, unit, net, outcome = desk.connection.exec_driver_sql(
        "SELECT day, game, unit, won - lost, outcome FROM rounds WHERE id = ?", (round_id,)
    ).one()
    result = "came out even"
    if net:
        result = f"{'won' if net > 0 else 'lost'} {amount_words(abs(net), unit)}"
    spoken = outcome.replace("-", " ")
    return f"Your hand of {day} at {title(game)} {what}: you {result} ({spoken})."
