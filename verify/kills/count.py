"""The books counted a second time, and seeds hashed to their seals and anchors, by nothing of the
program.

`Count` remembers what was durable at the last look; at the next one all of it must still be there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path

from verify.kills.company import Company

ALLOTMENT = "allotment"
NEVER_BELOW = ("online", "held", "bank", "stake", "bankroll", "elapsed", "forfeit", "prizes")


class Count:
    """What the books in a file came to, look after look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = (0, "")  # number and digest of the last transfer
        self.rows: dict[str, int] = {}
        self.hands = 0
        self.settled: set[int] = set()
        self.open: dict[int, int] = {}  # hands in play, and how many actions each has
        self.anchors: set[str] = set()  # of all chains
        self.links = 0  # shoes of them
        self.left_open = self.carried_on = 0  # over all looks
        self.company = Company()

    def look(self) -> None:
        """Count everything; raises AssertionError at what does not add up."""
        file = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        try:
            (whole,) = file.execute("PRAGMA integrity_check").fetchone()
            assert whole == "ok", whole
            file.execute("BEGIN")
            self._nothing_is_gone(file)
            self._everything_is_somewhere(file)
            self._hands_are_whole(file)
            self._seeds_are_links(file)
            self._calls_are_fair(file)
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

    @staticmethod
    def _everything_is_somewhere(file: sqlite3.Connection) -> None:
        added = Counter[int]()
        granted = 0
        grants = Counter[tuple[int, str]]()
        for kind, amount, source, target, facts in file.execute(
            "SELECT kind, amount, source, target, facts FROM transfers ORDER BY id"
        ):
            assert amount > 0
            added[source] -= amount
            added[target] += amount
            if kind == "grant":
                granted += amount
                grants[target, json.loads(facts)["day"]] += 1
        twice = [grant for grant, times in grants.items() if times > 1]
        assert not twice, f"granted twice: {twice}"
        units = Counter[str]()
        somewhere = 0
        for number, kind, unit, balance in file.execute(
            "SELECT id, kind, unit, balance FROM accounts"
        ):
            assert added[number] == balance, f"{kind} {number}: {balance}, added {added[number]}"
            assert balance >= 0 or kind not in NEVER_BELOW, f"{kind} {number} holds {balance}"
            assert balance <= 0 or kind != "loan", f"a loan of {balance}"
            units[unit] += balance
            somewhere += balance if unit == "second" and kind != ALLOTMENT else 0
        assert not any(units.values()), units
        assert somewhere == granted, f"{granted} s were granted, {somewhere} s are somewhere"

    def _seeds_are_links(self, file: sqlite3.Connection) -> None:
        """Follow every seed of every shoe to its seal, and to the anchor of its chain."""
        chains = {
            anchor: (length, used)
            for anchor, length, used in file.execute("SELECT anchor, length, used FROM chains")
        }
        links = Counter[str]()
        for number, seed, seal, anchor, link in file.execute(
            "SELECT id, seed, seal, anchor, link FROM shoes ORDER BY anchor, link"
        ):
            assert hashlib.sha256(seed).hexdigest() == seal, f"shoe {number} has another seal"
            if anchor is None:
                continue
            length, used = chains[anchor]
            assert 0 < link <= min(length, used), f"shoe {number} is link {link} of {used}"
            end = seed
            for _ in range(link):
                end = hashlib.sha256(end).digest()
            assert end.hex() == anchor, f"the seed of shoe {number} does not lead to its anchor"
            links[anchor] += 1
        self.links = links.total()
        gone = {anchor for anchor in self.anchors if anchor not in chains}
        assert not gone, f"chains were durable and are gone: {sorted(gone)}"
        self.anchors = set(chains)

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

    @staticmethod
    def _calls_are_fair(file: sqlite3.Connection) -> None:
        twice = file.execute(
            "SELECT caller_id FROM calls WHERE closed IS NULL GROUP BY 1 HAVING count(*) > 1"
        ).fetchall()
        assert not twice, f"callers on two calls: {twice}"
        odd = file.execute("SELECT id FROM calls WHERE ticked <> charged + waived").fetchall()
        assert not odd, f"calls that charge oddly: {odd}"
