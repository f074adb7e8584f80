"""Tournaments, look after look: invariants over time, which the audit cannot check.

Every caller enters once, at the price of the terms. A tournament is settled once, after its end,
and never changes after that. The audit checks the prizes (`timebank.audit`), `deals` the shoe and
the tries.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import NamedTuple

from verify.simulate.wrong import must


class Tournament(NamedTuple):
    terms: tuple[object, ...]  # game, hands, starts, ends, entry
    ends: int
    entry: int
    prizes: str
    put_in: int
    put_in_id: int | None
    taken_back_id: int | None
    outcome: str | None


class Entry(NamedTuple):
    for_prize: int
    paid: int
    paid_id: int | None
    back_id: int | None
    place: int | None
    passed: int
    prize: int
    prize_id: int | None


class Tournaments:
    """The tournaments of a story's books, look after look."""

    def __init__(self, counted: Counter[str]) -> None:
        """Start without the books."""
        self.counted = counted
        self._known: dict[str, Tournament] | None = None
        self._entries: dict[tuple[str, int], Entry] = {}

    def step(self, file: sqlite3.Connection, now: float | None) -> None:
        """Check the changes; `now` is the latest possible time, if it is certain."""
        before, entered = self._known, self._entries
        self._known = {row[0]: Tournament(row[1:6], *row[4:]) for row in file.execute(TOURNAMENTS)}
        self._entries = {(row[0], row[1]): Entry(*row[2:]) for row in file.execute(ENTRIES)}
        if not self._known:
            must(not before, "tournaments are gone: {}", before)
            return
        self._nothing_is_gone(before, entered)
        for seal, each in self._known.items():
            was = (before or {}).get(seal)
            self._has_stayed(seal, was, each)
            if each.outcome is None or (was is not None and was.outcome is not None):
                continue
            if was is not None and each.outcome != "called off" and each.outcome != "restored":
                early = now is not None and now < each.ends
                must(not early, "tournament {} is {} before its end", seal, each.outcome)
            self.counted[f"tournaments {each.outcome}"] += 1

    def _nothing_is_gone(
        self, before: dict[str, Tournament] | None, entered: dict[tuple[str, int], Entry]
    ) -> None:
        assert self._known is not None  # read just now
        for key, now in self._entries.items():
            was = entered.get(key)
            outcome = None if before is None or key[0] not in before else before[key[0]].outcome
            must(was is not None or outcome is None, "{} entered after the end", key)
            if was is not None:
                must(now[:3] == was[:3], "entry {} was {}, is {}", key, was, now)
                must(outcome is None or now == was, "entry {} was {}, is {}", key, was, now)
            must(now.paid in (0, self._known[key[0]].entry), "{} has paid {}", key, now.paid)
            self.counted["entries"] += was is None and before is not None
        gone = set(entered) - set(self._entries)
        must(not gone, "entries are gone: {}", gone)
        gone_ones = set(before or ()) - set(self._known)
        must(not gone_ones, "tournaments are gone: {}", gone_ones)

    @staticmethod
    def _has_stayed(seal: str, was: Tournament | None, now: Tournament) -> None:
        if was is None:
            return
        must(was[:6] == now[:6], "tournament {} was {}, is {}", seal, was, now)
        stays = was.outcome in (None, now.outcome)
        stays &= was.outcome is None or was.taken_back_id == now.taken_back_id
        must(stays, "tournament {} was {}, is {}", seal, was, now)


TOURNAMENTS = """
SELECT seal, game, hands, starts, ends, entry, prizes, put_in, put_in_id, taken_back_id, outcome
FROM tournaments
"""
ENTRIES = """
SELECT seal, caller_id, for_prize, paid, paid_id, back_id, place, passed, prize, prize_id
FROM contest_entries WHERE seal IN (SELECT seal FROM tournaments)
"""
