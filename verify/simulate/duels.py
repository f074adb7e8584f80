"""Duels, look after look: what the audit, which reads the books once, cannot see.

The terms of a duel stay, and it ends once. Each of the two stakes once, from their own bank. The
account of stakes holds those of open duels and no more. A stake that left it went home, or to the
caller with the better result, or after the end of the duel to the only one of two who has finished.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from typing import NamedTuple

from verify.simulate.wrong import must

HOME = ("even", "declined", "expired", "called off", "restored")


class Duel(NamedTuple):
    terms: tuple[object, ...]  # challenger, rival, game, hands, stake, ends
    outcome: str | None

    @property
    def two(self) -> tuple[object, ...]:
        return self.terms[:2]

    @property
    def stake(self) -> object:
        return self.terms[4]

    @property
    def ends(self) -> float:
        """The time at which it ends; earlier once a clock that was ahead is corrected."""
        return float(str(self.terms[5]))


class Duels:
    """The duels of a story's books, look after look."""

    def __init__(self, counted: Counter[str]) -> None:
        """Start without knowledge of the books."""
        self.counted = counted
        self._known: dict[str, Duel] | None = None
        self._entered: dict[str, dict[int, tuple[object, ...]]] = {}

    def step(self, file: sqlite3.Connection, now: float | None) -> None:
        """Check the changes; `now` is the latest possible time, if that is certain."""
        before, entered = self._known, self._entered
        self._known = {row[0]: Duel(row[1:7], row[7]) for row in file.execute(DUELS)}
        self._entered = defaultdict(dict)
        for seal, caller, *row in file.execute(ENTRIES):
            self._entered[seal][caller] = tuple(row)
        gone = set(before or ()) - set(self._known)
        must(not gone, "duels are gone: {}", gone)
        for seal, each in self._known.items():
            was = (before or {}).get(seal)
            entries = self._entered[seal]
            is_same = was is None or (was.terms[:5] == each.terms[:5] and was.ends >= each.ends)
            must(is_same, "duel {} was {}, is {}", seal, was, each)
            strangers = set(entries) - set(each.two)
            must(not strangers, "{} staked in duel {} of others", strangers, seal)
            for caller, row in entries.items():
                must(row[0] == each.stake, "{} staked {} in {}", caller, row, each)
                earlier = entered.get(seal, {}).get(caller)
                same = earlier is None or earlier[:2] == row[:2]
                must(same, "the stake of {} was {}, is {}", caller, earlier, row)
            if was is not None and was.outcome is not None:
                must(was == each, "duel {} was {}, is {}", seal, was, each)
                must(entered[seal] == entries, "stakes of {} moved after its end", seal)
            elif each.outcome is not None:
                begun, finished = file.execute(COUNTS, (seal,)).fetchone()
                is_left = begun == 2 and finished == 1
                late = each.outcome == "expired" or (each.outcome == "won" and is_left)
                early = late and was is not None and now is not None
                early = early and now < each.ends
                must(not early, "duel {} ended before its time", seal)
                must(each.outcome != "expired" or not is_left, "duel {} was won: {}", seal, each)
                self._has_ended(file, seal, each)
                how = "in time" if each.outcome == "won" and is_left else each.outcome
                self.counted[f"duels {how}"] += before is not None
        self._adds_up(file)

    def _has_ended(self, file: sqlite3.Connection, seal: str, duel: Duel) -> None:
        entries = self._entered[seal]
        if duel.outcome in HOME:
            for caller, (paid, _paid_id, back, prize, _prize_id) in entries.items():
                rows = file.execute(MOVED, (back,)).fetchall()
                must(rows == [(paid, caller)] and not prize, "{} of {} is not home", caller, seal)
            return
        results = file.execute(RESULTS, (seal,)).fetchall()
        must(len(results) == len(entries) == 2, "duel {} is won: {}", seal, results)
        (score, cost, winner), (other_score, other_cost, _loser) = results
        must(score is not None, "duel {} is won, and nobody has finished", seal)
        must((score, cost) != (other_score, other_cost), "duel {} is even, and won", seal)
        for caller, (paid, _paid_id, back, prize, prize_id) in entries.items():
            rows = file.execute(MOVED, (prize_id,)).fetchall()
            won = [(paid + paid, winner)] if caller == winner else []
            must(rows == won, "{} got {} of duel {}, not {}", caller, rows, seal, won)
            must(back is None and (prize > 0) == bool(won), "{} won {} of {}", caller, prize, seal)

    def _adds_up(self, file: sqlite3.Connection) -> None:
        assert self._known is not None  # read just now
        stakes = sum(
            int(str(row[0]))
            for seal, entries in self._entered.items()
            for row in entries.values()
            if self._known[seal].outcome is None
        )
        (holds,) = file.execute(HOLDS).fetchone()
        must(
            holds == stakes, "the stakes of open duels are {}, their account has {}", stakes, holds
        )


DUELS = "SELECT seal, challenger_id, rival_id, game, hands, stake, ends, outcome FROM duels"
ENTRIES = """
SELECT seal, caller_id, paid, paid_id, back_id, prize, prize_id FROM contest_entries
WHERE seal IN (SELECT seal FROM duels)
"""
COUNTS = "SELECT count(*), count(score) FROM deal_tries WHERE seal = ?"
# The cheaper of equal scores is the better one, and a finished try better than an unfinished one.
RESULTS = """
SELECT score, -coalesce(cost, 0), caller_id FROM deal_tries WHERE seal = ?
ORDER BY score IS NULL, score DESC, coalesce(cost, 0)
"""
MOVED = """
SELECT t.amount, a.caller_id FROM transfers t JOIN accounts a ON a.id = t.target
JOIN accounts d ON d.id = t.source WHERE t.id = ? AND a.kind = 'bank' AND d.kind = 'duels'
"""
HOLDS = "SELECT coalesce(sum(balance), 0) FROM accounts WHERE kind = 'duels'"
