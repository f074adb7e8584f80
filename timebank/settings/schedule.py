"""System events and the days of the board: when it is closed, and when a new day begins.

All functions take aware datetimes and return aware datetimes in UTC, by `zoneinfo`.

A local time in the settings ("03:00", or the midnight of a date) means the *first instant at which
the local clock shows that time or a later one*. So a time that occurs twice means the first of the
two. A time that daylight saving skips means the first instant after the gap. A date begins at its
first instant even if its midnight does not exist. Starts keep their order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from timebank.language import Phrase

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
WEEK_MINUTES = 7 * 24 * 60
DAY_MINUTES = 24 * 60

# A chain of touching events is cut at this length. Only a schedule that is `always_closed` has such
# a chain, which would never end.
LONGEST_CHAIN = timedelta(days=60)


@dataclass(frozen=True)
class Event:
    name: str
    start: time  # local
    days: frozenset[int]  # of the week, on which it starts; 0 is Monday
    minutes: int  # of real time, 1 to 10080


@dataclass(frozen=True)
class ClosedPeriod:
    """A time at which the board is closed, in UTC. Events that overlap or touch form one period."""

    start: datetime
    end: datetime  # not included
    name: str | Phrase  # of all the events, or of the end of a guest's call


@dataclass(frozen=True)
class EarlyEvent:
    """An event that the sysop has started early, in UTC.

    `instead_of` is the start of the scheduled event that it replaces; None if it replaces none.
    """

    name: str
    start: datetime
    end: datetime  # not included
    instead_of: datetime | None

    def is_over(self, at: datetime) -> bool:
        """Return whether it has ended. The start of the event it replaces may be still to come."""
        return self.end <= at


# Start, end and name of an event.
_Occurrence = tuple[datetime, datetime, str]


def first_instant(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the first UTC instant at which the clocks of `zone` show `moment` (naive) or later."""
    local = moment.replace(tzinfo=zone, fold=0)
    early = local.astimezone(UTC)
    late = local.replace(fold=1).astimezone(UTC)
    if early <= late:
        return early
    # In a gap the two readings are in the wrong order (PEP 495), and the gap is between them.
    before, after = late, early
    while after - before > SECOND:
        middle = before + (after - before) // 2 // SECOND * SECOND
        if middle.astimezone(zone).replace(tzinfo=None) < moment:
            before = middle
        else:
            after = middle
    return after


class Schedule:
    """The events of a board in its time zone, and its days.

    Answers are cached while they are valid. Threads can share a schedule, because each cached
    answer is replaced in one assignment.
    """

    def __init__(
        self, events: Sequence[Event], zone: ZoneInfo, early: Iterable[EarlyEvent] = ()
    ) -> None:
        self.zone = zone
        self.events = tuple(sorted(events, key=lambda event: (event.start, event.name)))
        self._early = tuple(sorted(early, key=lambda event: event.start))
        self._closed: tuple[tuple[EarlyEvent, ...], datetime, ClosedPeriod] | None = None
        self._day: tuple[datetime, datetime, date] | None = None
        self._other: Schedule | None = None

    def local(self, at: datetime) -> datetime:
        return at.astimezone(self.zone)

    # Events

    @property
    def early(self) -> tuple[EarlyEvent, ...]:
        """The events started early that this process knows. The books have the current ones."""
        return self._early

    def adopt_early(self, early: Iterable[EarlyEvent]) -> bool:
        """Use these early events from the books; return whether they changed."""
        ordered = tuple(sorted(early, key=lambda event: event.start))
        is_new = ordered != self._early
        if is_new:
            self._early = ordered
        return is_new

    def with_early(self, early: Iterable[EarlyEvent]) -> Schedule:
        """Return the same schedule with exactly these early events."""
        ordered = tuple(sorted(early, key=lambda event: event.start))
        if ordered == self._early:
            return self
        other = self._other
        if other is None or other.early != ordered:
            self._other = other = Schedule(self.events, self.zone, ordered)
        return other

    def closed_at_or_after(self, at: datetime) -> ClosedPeriod | None:
        """Return the closed period that contains `at`, or else the next; None without events."""
        known, early = self._closed, self._early
        if known is not None and known[0] is early and known[1] <= at < known[2].end:
            return known[2]
        period = self._find(at, early)
        if period is not None:
            # The answer is valid from the earlier of the two until the period ends.
            self._closed = (early, min(at, period.start), period)
        return period

    def next_occurrence(self, name: str | None, at: datetime) -> tuple[datetime, Event] | None:
        """Return the start of the next event after `at`, and the event; None if there is none.

        With a `name`, only events of that name count. Events that an early one replaces do not.
        """
        first = self.local(at).date() - DAY
        chosen = [event for event in self.events if name in (None, event.name)]
        if not chosen:
            return None
        replaced = _replaced(self._early)
        return next(
            (start, event)
            for start, event in self._scheduled(chosen, first)
            if start > at and (event.name, start) not in replaced
        )

    def seconds_to_event(self, at: datetime) -> int | None:
        """Return the whole seconds from `at` to the next event; 0 inside one, None without any."""
        closed = self.closed_at_or_after(at)
        if closed is None:
            return None
        return max(0, (closed.start - at) // SECOND)

    def openings(self) -> list[tuple[int, int]]:
        """Return the spans without an event in two weeks without a change of the clock, as minutes
        since Monday 00:00."""
        closed = [
            (day * DAY_MINUTES + event.start.hour * 60 + event.start.minute, event.minutes)
            for event in self.events
            for day in event.days
        ]
        weeks = [
            (start + n * WEEK_MINUTES, minutes) for start, minutes in closed for n in (-1, 0, 1)
        ]
        openings, reached = [], 0
        for start, length in sorted([*weeks, (2 * WEEK_MINUTES, 0)]):
            if start > reached:
                openings.append((reached, start))
            reached = max(reached, start + length)
        return openings

    def always_closed(self) -> bool:
        return not self.openings()

    def _find(self, at: datetime, early: tuple[EarlyEvent, ...]) -> ClosedPeriod | None:
        """Find the period at or after `at`. Look back as far as its start may depend on."""
        if not self.events and not early:
            return None
        at = at.astimezone(UTC)
        minutes = max((event.minutes for event in self.events), default=0)
        lengths = [each.end - each.start for each in early]
        longest = max(timedelta(minutes=minutes), *lengths, timedelta())
        # Two days more than the longest event: a local day can be 24 hours off (Apia, 2011).
        back = longest + 2 * DAY
        while True:
            first = self.local(at).date() - back
            # Nothing that starts before `first` reaches beyond this.
            settled = self.day_starts(first) + longest
            merged = self._merged(first, early)
            period = next((closed for closed in merged if closed.end > at), None)
            if period is None or period.start > settled or back >= LONGEST_CHAIN:
                return period
            back = min(2 * back, LONGEST_CHAIN)

    def _merged(self, first: date, early: tuple[EarlyEvent, ...]) -> Iterator[ClosedPeriod]:
        """Yield the closed periods from the local date `first` on.

        They never end, unless the board has early events only.
        """
        occurrences = self._occurrences(first, early)
        start, end, name = next(occurrences)
        names = [name]
        for next_start, next_end, name in occurrences:
            if next_start <= end and end - start < 2 * LONGEST_CHAIN:
                end = max(end, next_end)
                if name not in names:
                    names.append(name)
            else:
                yield ClosedPeriod(start, end, " and ".join(names))
                start, end, names = next_start, next_end, [name]
        yield ClosedPeriod(start, end, " and ".join(names))

    def _occurrences(self, first: date, early: tuple[EarlyEvent, ...]) -> Iterator[_Occurrence]:
        replaced = _replaced(early)
        scheduled = (
            (start, start + timedelta(minutes=event.minutes), event.name)
            for start, event in self._scheduled(self.events, first)
            if (event.name, start) not in replaced
        )
        if not early:
            return scheduled
        own = ((each.start, each.end, each.name) for each in early)
        return heapq.merge(own, scheduled, key=lambda occurrence: occurrence[0])

    def _scheduled(self, events: Sequence[Event], first: date) -> Iterator[tuple[datetime, Event]]:
        day = first
        while events:
            for event in events:
                if day.weekday() in event.days:
                    yield first_instant(datetime.combine(day, event.start), self.zone), event
            day += DAY

    # Days

    def day_starts(self, day: date) -> datetime:
        """Return the first instant of a local date; of the next date if this one was skipped."""
        return first_instant(datetime.combine(day, time()), self.zone)

    def day_of(self, at: datetime) -> date:
        """Return the day of an instant: the last date that has begun.

        A local clock that goes back over midnight does not go back to the day before.
        """
        return self._around(at)[2]

    def next_day(self, at: datetime) -> datetime:
        return self._around(at)[1]

    def _around(self, at: datetime) -> tuple[datetime, datetime, date]:
        known = self._day
        if known is not None and known[0] <= at < known[1]:
            return known
        day = self.local(at).date()
        end = self.day_starts(day + DAY)
        while end <= at:
            day += DAY
            end = self.day_starts(day + DAY)
        self._day = bounds = (self.day_starts(day), end, day)
        return bounds


def _replaced(early: Iterable[EarlyEvent]) -> set[tuple[str, datetime]]:
    """Return the names and starts of the scheduled events that early ones replace."""
    return {(each.name, each.instead_of) for each in early if each.instead_of is not None}
