"""What was durable when a board was killed: at the next look all of it must still be there.

Nothing of the program is used; what the books add up to is the audits' matter.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from verify.kills.company import Company


class Count:
    """What is in the books of a file, look after look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = (0, "")  # number and digest of the last transfer
        self.rows: dict[str, int] = {}
        self.hands = 0
        self.settled: set[int] = set()
        self.open: dict[int, int] = {}  # hands in play, and how many actions each has
        self.left_open = self.carried_on = 0  # over all looks
        self.company = Company()

    def look(self) -> None:
        """Compare everything; raises AssertionError at what is gone or goes back."""
        file = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        try:
            (whole,) = file.execute("PRAGMA integrity_check").fetchone()
            assert whole == "ok", whole
            file.execute("BEGIN")
            self._nothing_is_gone(file)
            self._hands_are_whole(file)
            self.company.look(file)
        finally:
            file.close()

    def _nothing_is_gone(self, file: sqlite3.Connection) -> None:
        number, digest = self.last
        if number:
            found = file.execute("SELECT digest FROM transfers WHERE id = ?", (number,)).fetchone()
            assert found == (digest,), f"transfer {number} was durable and is gone"
        self.last = file.execute(
            "SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1"
        ).fetchone() or (0, "")
        for table in ("callers", "calls", "rounds", "actions", "shoes", "transfers"):
            (count,) = file.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert count >= self.rows.get(table, 0), f"{table} had {self.rows[table]}, has {count}"
            self.rows[table] = count
        settled = {
            number for (number,) in file.execute("SELECT id FROM rounds WHERE settled IS NOT NULL")
        }
        assert settled >= self.settled, "hands that were over are open again"
        self.settled, self.hands = settled, len(settled)

    def _hands_are_whole(self, file: sqlite3.Connection) -> None:
        open_hands = file.execute(
            "SELECT r.id, r.caller_id, r.unit, count(a.sequence), max(a.sequence)"
            " FROM rounds r LEFT JOIN actions a ON a.round_id = coalesce(r.lead, r.id)"
            " WHERE r.settled IS NULL GROUP BY r.id"
        ).fetchall()
        for number, _, _, actions, last in open_hands:
            assert actions == (last or 0) + 1, f"hand {number} has a hole in its journal"
        now = {number: actions for number, _, _, actions, _ in open_hands}
        for number, actions in self.open.items():
            assert number in self.settled or now[number] >= actions, f"hand {number} went back"
            self.carried_on += number in self.settled or now[number] > actions
        self.open = now
        self.left_open += len(now)
        playing = Counter((caller, unit) for _, caller, unit, _, _ in open_hands)
        assert all(times == 1 for times in playing.values()), "two open hands of one caller"
        staked = set(
            file.execute(
                "SELECT caller_id, unit FROM accounts WHERE kind = 'stake' AND balance > 0"
            )
        )
        assert staked == set(playing), "stakes without a hand, or hands without a stake"
