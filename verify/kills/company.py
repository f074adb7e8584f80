"""What callers have in common: messages, deals and tournaments that were durable at the last look.

A row that was durable stays, and so does each of its values. Only a NULL may become a value (a
message is shown, a deal is over), and the decisions of a try may go on.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

from verify.simulate.tournaments import Tournaments

TRY = "try"
DURABLE_ROWS = {
    "message": "SELECT id, sender_id, caller_id, at, text, shown FROM messages",
    "deal": "SELECT seal, day, lower(hex(seed)), rules, opened, daily, closed FROM deals",
    TRY: "SELECT seal || ' ' || caller_id, begun, acts, finished, score, cost FROM deal_tries",
}


class Company:
    """The common part of the books, look after look."""

    def __init__(self) -> None:
        self.counted = Counter[str]()  # what was told of tournaments since the first look
        self.rows: dict[str, dict[Any, list[Any]]] = {what: {} for what in DURABLE_ROWS}
        self._tournaments = Tournaments(self.counted)

    @property
    def decisions(self) -> int:
        return sum(len(acts.split()) for _begun, acts, *_ in self.rows[TRY].values())

    def look(self, file: sqlite3.Connection) -> None:
        """Compare everything; raises AssertionError at what is gone or other than it was."""
        for what, query in DURABLE_ROWS.items():
            now = {key: row for key, *row in file.execute(query)}
            for key, was in self.rows[what].items():
                assert key in now, f"{what} {key} was durable and is gone"
                stays = all(
                    _stays(*pair, goes_on=what == TRY) for pair in zip(was, now[key], strict=True)
                )
                assert stays, f"{what} {key} was {was}, and is {now[key]}"
            self.rows[what] = now
        self._tournaments.step(file, None)


def _stays(was: object, now: object, *, goes_on: bool) -> bool:
    words = str(was).split()
    return was in (None, now) or (goes_on and str(now).split()[: len(words)] == words)
