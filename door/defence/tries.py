"""The queue of passwords that wait to be checked: which are due, and in what order.

Pure, as `door.defence.counts`, whose debts say when a name and an address may be tried again.
Nobody is refused; every caller waits for their turn:

- an address (an IPv6 /48) has one place in the queue for a name, however many lines it has there;
- addresses with fewer wrong passwords about the name come first, then those that waited longer;
- a wrong password puts its address behind all that have been wrong less often.

So a caller whose name is attacked from a few addresses is next when calling from any other address,
and waits for one try to be given back. Behind a shared address, the caller waits for one try for
each other line there. The wait that a caller is shown depends only on what was wrong and from
where. It does not depend on whether the name exists, whether it has logged on from there, or
whether the password is right.
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

    # The numbers of `Defence.counted`, `digest` and `about`.
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
        """The place in the queue, which lines of the same address share."""
        return 0 if self.who is None else kin_of(self.who)


class _Queue:
    def __init__(self) -> None:
        self.places: dict[int, deque[Try]] = {}
        self.look_at = 0.0  # when one of them may be due, unless a caller comes or leaves
        self.foreseen: dict[Try, float] | None = None  # when each is due, if no caller does


class Tries:
    def __init__(self, defence: Defence) -> None:
        self._defence = defence
        self._queues: dict[int, _Queue] = {}
        self._numbers = count()

    def present(self, address: str, name: str, now: float, on_turn: Callable[[], None]) -> Try:
        """Take in a password for a folded name; call `on_turn` later unless it is due at once."""
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
        """Reverse the charge for a password that was right or could not be checked."""
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
        """Look at all queues, because the rules have changed or the sysop forgave somebody."""
        for name in tuple(self._queues):
            self._look(name, now)

    def next_look(self) -> float | None:
        """Return when to call `look`, None while nobody waits."""
        return min((queue.look_at for queue in self._queues.values()), default=None)

    def has_failed(self, address: str, now: float) -> bool:
        """Return whether a caller waits at an address who was wrong about the same name before."""
        who = self._defence.counted(address)
        return who is not None and any(
            self._defence.failures(queue.places[place][0].about, now) > 0
            for queue in self._queues.values()
            if (place := kin_of(who)) in queue.places
        )

    def wait(self, tried: Try, now: float) -> float:
        """Return about how many seconds until a password is checked. The wait is shorter if
        passwords before it are right or leave, longer if callers with fewer failures come."""
        if tried.is_due:
            return 0.0
        queue = self._queues[tried.name]
        if queue.foreseen is None:
            queue.foreseen = self._foresee(tried.name, queue, now)
        return max(0.0, queue.foreseen[tried] - now)

    def _look(self, name: int, now: float, unasked: Try | None = None) -> None:
        """Start the check of all passwords for a name that are due, and note when the next is."""
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
            queue.look_at = now + waits[True]  # for any address
            return None
        for lines in queue.places.values():
            first = lines[0]
            assert first.who is not None  # only counted addresses wait
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
        assert tried.who is not None  # only counted addresses wait
        queue.places[tried.place].popleft()
        if not queue.places[tried.place]:
            del queue.places[tried.place]
        tried.rank = self._defence.rank(tried.who, tried.name, now)
        tried.charge = self._defence.begin(tried.who, tried.name, now)
        tried.is_due = True

    def _foresee(self, name: int, queue: _Queue, now: float) -> dict[Try, float]:
        """Return when each password is due, if all before it are wrong and no caller comes."""
        defence, lines = self._defence, []
        for place in queue.places.values():
            for behind, tried in enumerate(place):
                assert tried.who is not None  # only counted addresses wait
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
