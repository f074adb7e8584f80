"""The queue of passwords that wait to be checked: which are due, and in what order.

Pure, as `door.defence.counts`, which says how long each waits. Nobody is refused. Passwords wait in
the order of their arrival, behind those whose address was wrong less often about the name. Of
several lines of one address, each counts as wrong for the lines behind it.

So a caller whose name is attacked is next when calling from an address that was not wrong. Behind
a shared address, the caller waits for one try for each other line there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import inf

from door.defence.counts import FIRST, Counts, Defence, Rank, give_back, use, wait_of


@dataclass(eq=False)
class Try:
    """A password that was typed, until it is known whether it is right."""

    address: str
    counts: Counts
    on_turn: Callable[[], None]
    is_due: bool  # whether it may be checked now
    rank: Rank = FIRST  # the order in which it is checked then


class Tries:
    def __init__(self, defence: Defence) -> None:
        self._defence = defence
        self._waiting: list[Try] = []  # the longest first
        self.next_look: float | None = None  # when to call `look`; None while nobody waits

    def present(self, address: str, name: str, now: float, on_turn: Callable[[], None]) -> Try:
        """Take in a password for a name; call `on_turn` later unless it is due at once."""
        counts = self._defence.counts(address, name)
        tried = Try(address, counts, on_turn, is_due=not counts)
        if not tried.is_due:
            self._waiting.append(tried)
            self.look(now, unasked=tried)
        return tried

    def leave(self, tried: Try, now: float) -> None:
        if tried in self._waiting:
            self._waiting.remove(tried)
            self.look(now)

    def right(self, tried: Try, now: float) -> None:
        """Give back the try of a password that was right or could not be checked."""
        give_back(tried.counts)
        tried.counts = ()
        self.look(now)

    def look(self, now: float, unasked: Try | None = None) -> None:
        """Start the check of all passwords that are due; each counts as wrong until it is known."""
        due, soonest = [], inf
        for tried in self._in_order(now):
            if wait := wait_of(tried.counts, now):
                soonest = min(soonest, now + wait)
                continue
            tried.rank = self._defence.rank(tried.address, now)
            use(tried.counts, now)
            tried.is_due = True
            due.append(tried)
        self._waiting = [tried for tried in self._waiting if not tried.is_due]
        self.next_look = soonest if self._waiting else None
        for tried in due:
            if tried is not unasked:
                tried.on_turn()

    def wait(self, tried: Try, now: float) -> float:
        """Return about how many seconds until a password is checked. The wait is shorter if
        passwords before it are right or leave, longer if callers with fewer failures come."""
        given_back: dict[Hashable, float] = {}
        for each in self._in_order(now):
            for allowance, key in each.counts:
                given_back.setdefault(key, max(now, allowance.get(key, now)))
            at = max(now, *(allowance.due(given_back[key]) for allowance, key in each.counts))
            if each is tried:
                return at - now
            for allowance, key in each.counts:
                given_back[key] = max(at, given_back[key]) + allowance.seconds
        return 0.0

    def _in_order(self, now: float) -> list[Try]:
        before: Counter[Hashable] = Counter()  # waiting lines of an address about a name
        places: list[tuple[int, int, Try]] = []
        for tried in self._waiting:
            wrong, key = tried.counts[0]
            places.append((wrong.used(key, now) + before[key], len(places), tried))
            before[key] += 1
        return [tried for _, _, tried in sorted(places)]
