"""Tournaments, held against what their rules say of minutes.

Everybody enters once and is paid once; a tournament is settled once, after its end, by whoever
comes first; what is paid is what the rules say, worked out here a second time from places and
entries; and every transfer of the account of prizes is told of by one row. The shoe and the tries
are looked at in `deals`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from verify.simulate.wrong import must

KINDS = ("put up", "entry", "entry back", "prize")
GIVEN_BACK = ("empty", "called off", "restored")


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
    is_away: int  # deleted, locked or frozen now
    is_deleted: int


class Finished(NamedTuple):
    """A try that is over, as it counts."""

    caller: int
    cost: int
    score: int

    @property
    def rank(self) -> tuple[int, int]:
        return self.cost, -self.score


class Tournaments:
    """The tournaments of a story's books, look after look."""

    def __init__(self, counted: Counter[str]) -> None:
        """Know nothing of the books yet."""
        self.counted = counted
        self._known: dict[str, Tournament] | None = None
        self._entries: dict[tuple[str, int], Entry] = {}

    def step(self, file: sqlite3.Connection, now: float | None) -> None:
        """Look at what has changed; `now` is what time it is at the latest, if that is certain."""
        before, entered = self._known, self._entries
        self._known = {row[0]: Tournament(row[1:6], *row[4:]) for row in file.execute(TOURNAMENTS)}
        self._entries = {(row[0], row[1]): Entry(*row[2:]) for row in file.execute(ENTRIES)}
        if not self._known:
            must(not before, "tournaments are gone: {}", before)
            return
        self._nothing_is_gone(before, entered)
        self._everything_is_told_of(file)
        for seal, each in self._known.items():
            was = (before or {}).get(seal)
            self._has_stayed(seal, was, each)
            if each.outcome is None or (was is not None and was.outcome is not None):
                continue
            if was is not None and each.outcome != "called off" and each.outcome != "restored":
                early = now is not None and now < each.ends
                must(not early, "tournament {} is {} before its end", seal, each.outcome)
            self._has_ended(file, seal, each)

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
                must(outcome is None or now[:8] == was[:8], "entry {} was {}, is {}", key, was, now)
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

    # The money.

    def _everything_is_told_of(self, file: sqlite3.Connection) -> None:
        """Each transfer of the account is that of one row, in its amount and of its caller."""
        assert self._known is not None  # read just now
        said: list[tuple[int | None, str, int, int | None]] = []
        for each in self._known.values():
            said.append((each.put_in_id, "put up", each.put_in, None))
            said.append((each.taken_back_id, "put up", each.put_in, None))
        for (_, caller), entry in self._entries.items():
            said.append((entry.paid_id, "entry", entry.paid, caller))
            said.append((entry.back_id, "entry back", entry.paid, caller))
            said.append((entry.prize_id, "prize", entry.prize, caller))
        told = {number: (kind, *rest) for number, kind, *rest in said if number is not None}
        found = {number: tuple(row) for number, *row in file.execute(MOVED)}
        must(told == found, "rows tell of {}, and moved was {}", *_differences(told, found))
        holds = file.execute(HOLDS).fetchone()
        added = sum(each.put_in * (each.taken_back_id is None) for each in self._known.values())
        for entry in self._entries.values():
            added += entry.paid * (entry.back_id is None) - entry.prize
        must(holds in (None, (added,)), "the account of prizes holds {}, not {}", holds, added)

    def _has_ended(self, file: sqlite3.Connection, seal: str, each: Tournament) -> None:
        entries = {caller: now for (of, caller), now in self._entries.items() if of == seal}
        self.counted[f"tournaments {each.outcome}"] += 1
        if each.outcome in GIVEN_BACK:
            kept = [caller for caller, entry in entries.items() if _is_kept(entry)]
            must(not kept, "tournament {} is {}, and keeps {}", seal, each.outcome, kept)
            back = each.put_in == 0 or each.taken_back_id is not None
            must(back, "tournament {} is {}, and keeps its prizes", seal, each.outcome)
            must(not any(entry.prize for entry in entries.values()), "{} has paid prizes", seal)
            return
        finished = [Finished(*row) for row in file.execute(FINISHED, (seal,))]
        must(all(each.cost is not None for each in finished), "{} was never weighed", finished)
        must(finished, "tournament {} is settled, and nobody has finished it", seal)
        here = [each for each in finished if not entries[each.caller].passed]
        away = {each.caller for each in finished if entries[each.caller].is_away}
        passed = {each.caller for each in finished if entries[each.caller].passed}
        must(passed == away, "{} were passed over, and {} are away", passed, away)
        places = {one.caller: _place(one, here) for one in here}
        given = {caller: entry.place for caller, entry in entries.items() if entry.place}
        must(given == places, "the places are {}, not {}", given, places)
        can_win = [each for each in here if entries[each.caller].for_prize]
        paid = sum(entry.paid for entry in entries.values())
        due = _due(can_win, json.loads(each.prizes), paid)
        won = {caller: entry.prize for caller, entry in entries.items() if entry.prize}
        must(won == due, "tournament {} pays {}, and the rules {}", seal, won, due)
        self.counted["prizes paid"] += len(won)


def _is_kept(entry: Entry) -> bool:
    return bool(entry.paid and entry.back_id is None and not entry.is_deleted)


def _place(one: Finished, every: Sequence[Finished]) -> int:
    return 1 + sum(other.rank < one.rank for other in every)


def _due(can_win: Sequence[Finished], prizes: Sequence[int], paid: int) -> dict[int, int]:
    """Work out what each winner is to get, in seconds, as docs/tournaments.md has it."""
    put_up = [prize for place, prize in enumerate(prizes, 1) if place <= len(can_win)]
    weights = put_up or [1]
    of_place = {
        place: (prize if put_up else 0) + paid * prize // sum(weights)
        for place, prize in enumerate(weights, 1)
    }
    due = {}
    for one in can_win:
        first = _place(one, can_win)
        alike = sum(other.rank == one.rank for other in can_win)
        due[one.caller] = sum(of_place.get(first + n, 0) for n in range(alike)) // alike
    return {caller: amount for caller, amount in due.items() if amount}


def _differences(told: dict[int, object], found: dict[int, object]) -> tuple[object, object]:
    every = [n for n in told.keys() | found.keys() if told.get(n) != found.get(n)]
    return {n: told.get(n) for n in every}, {n: found.get(n) for n in every}


TOURNAMENTS = """
SELECT seal, game, hands, starts, ends, entry, prizes, put_in, put_in_id, taken_back_id, outcome
FROM tournaments
"""
ENTRIES = """
SELECT e.seal, e.caller_id, e.for_prize, e.paid, e.paid_id, e.back_id, e.place, e.passed, e.prize,
    e.prize_id, c.deleted IS NOT NULL OR c.locked OR c.frozen, c.deleted IS NOT NULL
FROM tournament_entries e JOIN callers c ON c.id = e.caller_id
"""
MOVED = f"""
SELECT t.id, t.kind, t.amount, coalesce(s.caller_id, g.caller_id) FROM transfers t
JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target WHERE t.kind IN {KINDS}
"""
HOLDS = "SELECT balance FROM accounts WHERE kind = 'prizes'"
FINISHED = """
SELECT caller_id, cost, score FROM deal_tries WHERE seal = ? AND finished IS NOT NULL
"""
