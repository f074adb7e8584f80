"""Passwords that wait to be checked: which may be, and in what order the others wait.

Pure, as `door.defence.counts` is, whose debts say when a name and an address may be tried again.
Nobody is refused; each waits for their turn:

- an address (an IPv6 /48) has one place in the queue for a name, however many lines it has there;
- whoever has been wrong about the name less often comes first, then whoever has waited longer;
- a wrong password puts its address behind all that have been wrong less often.

So a caller whose name is attacked from a few addresses is next when calling from any other, and
waits for one try to be given back; behind a shared address, for one try for each other line there.
What a caller is told of the wait depends only on what was wrong and from where: not on whether the
name exists, whether it is at home there, or whether the password is right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from door.defence.counts import FIRST, Charge, Defence, Rank, kin_of


@dataclass(eq=False)
class Try:
    """A password that was typed, until it is known whether it is right."""

    # As `Defence` has them.
    who: int | None
    name: int
    about: int

    number: int  # the higher, the later
    on_turn: Callable[[], None]
    is_due: bool  # whether it may be checked now
    rank: Rank = FIRST  # the order in which it is checked then
    charge: Charge = ()

    @property
    def place(self) -> int:
        """The place in the queue that it shares with others."""
        return 0 if self.who is None else kin_of(self.who)


class _Queue:
    def __init__(self) -> None:
        self.places: dict[int, deque[Try]] = {}
        self.look_at = 0.0  # when one of them may be due, unless somebody comes or goes
        self.foreseen: dict[Try, float] | None = None  # when each of them is due, if nobody does


class Tries:
    def __init__(self, defence: Defence) -> None:
        self._defence = defence
        self._queues: dict[int, _Queue] = {}
        self._numbers = count()

    def present(self, address: str, name: str, now: float, on_turn: Callable[[], None]) -> Try:
        """Take in a password for a folded name; `on_turn` is called unless it is due at once."""
        who, digest = self._defence.counted(address), self._defence.digest(name)
        about = 0 if who is None else self._defence.about(who, digest)
        tried = Try(who, digest, about, next(self._numbers), on_turn, is_due=who is None)
        if not tried.is_due:
            queue = self._queues.setdefault(digest, _Queue())
            queue.places.setdefault(tried.place, deque()).append(tried)
            self._look(digest, now, unasked=tried)
        return tried

    def leave(self, tried: Try, now: float) -> None:
        queue = self._queues.get(tried.name)
        if queue is None or tried not in queue.places.get(tried.place, ()):
            return
        queue.places[tried.place].remove(tried)
        if not queue.places[tried.place]:
            del queue.places[tried.place]
        self._look(tried.name, now)

    def right(self, tried: Try, now: float) -> None:
        """A password was right, or could not be checked: it had been counted as wrong."""
        self.leave(tried, now)
        self._defence.take_back(tried.charge)
        tried.charge = ()
        for name in [name for name, queue in self._queues.items() if tried.place in queue.places]:
            self._look(name, now)
        self._look(tried.name, now)

    def wrong(self, tried: Try) -> None:
        if tried.who is not None:
            self._defence.blame(tried.who, tried.name)

    def look(self, now: float) -> None:
        for name in [name for name, queue in self._queues.items() if queue.look_at <= now]:
            self._look(name, now)

    def look_everywhere(self, now: float) -> None:
        """Look at all, because the rules have changed or somebody was forgiven."""
        for name in tuple(self._queues):
            self._look(name, now)

    def next_look(self) -> float | None:
        """When `look` is to be called, None while nobody waits."""
        return min((queue.look_at for queue in self._queues.values()), default=None)

    def has_failed(self, address: str, now: float) -> bool:
        """Whether somebody waits there who was wrong about the same name before."""
        who = self._defence.counted(address)
        return who is not None and any(
            self._defence.failures(queue.places[place][0].about, now) > 0
            for queue in self._queues.values()
            if (place := kin_of(who)) in queue.places
        )

    def wait(self, tried: Try, now: float) -> float:
        """About how many seconds until a password is checked: less if any before it are right or
        leave, more if others come who were wrong less often."""
        if tried.is_due:
            return 0.0
        queue = self._queues[tried.name]
        if queue.foreseen is None:
            queue.foreseen = self._foresee(tried.name, queue, now)
        return max(0.0, queue.foreseen[tried] - now)

    def _look(self, name: int, now: float, unasked: Try | None = None) -> None:
        """Let all passwords for a name be checked that are due, and see when the next is."""
        queue = self._queues.get(name)
        if queue is None:
            return
        queue.foreseen, due = None, []
        while (tried := self._next_due(name, queue, now)) is not None:
            self._grant(queue, tried, now)
            due.append(tried)
        if not queue.places:
            del self._queues[name]
        for tried in due:
            if tried is not unasked:
                tried.on_turn()

    def _next_due(self, name: int, queue: _Queue, now: float) -> Try | None:
        defence, best, soonest = self._defence, None, float("inf")
        waits = [defence.wait_for_name(name, now, clean=clean) for clean in (False, True)]
        if waits[True] and queue.places:
            queue.look_at = now + waits[True]  # whoever it is then
            return None
        for lines in queue.places.values():
            first = lines[0]
            assert first.who is not None  # nobody else waits
            failures = defence.failures(first.about, now)
            clean = not failures
            wait = max(waits[clean], defence.wait_for_address(first.who, now, clean=clean))
            soonest = min(soonest, wait)
            order = (failures, first.number)
            if not wait and (best is None or order < best[0]):
                best = order, first
        queue.look_at = now + soonest
        return None if best is None else best[1]

    def _grant(self, queue: _Queue, tried: Try, now: float) -> None:
        assert tried.who is not None  # nobody else waits
        queue.places[tried.place].popleft()
        if not queue.places[tried.place]:
            del queue.places[tried.place]
        tried.rank = self._defence.rank(tried.who, tried.name, now)
        tried.charge = self._defence.begin(tried.who, tried.name, now)
        tried.is_due = True

    def _foresee(self, name: int, queue: _Queue, now: float) -> dict[Try, float]:
        """When each is due, if everybody in the queue is wrong and nobody comes."""
        defence, lines = self._defence, []
        for place in queue.places.values():
            for behind, tried in enumerate(place):
                assert tried.who is not None  # nobody else waits
                failures = defence.failures(tried.about, now) + behind
                lines.append((failures, tried.number, tried.who, tried))
        owed, passed = defence.owed_for(name, now), 0.0
        foreseen = {}
        for failures, _, who, tried in sorted(lines, key=lambda line: line[:2]):
            clean = not failures
            wait = max(0.0, owed - defence.free(clean=clean))
            passed, owed = passed + wait, owed - wait
            foreseen[tried] = now + max(passed, defence.wait_for_address(who, now, clean=clean))
            owed += defence.costs(owed)
        return foreseen
