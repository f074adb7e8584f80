"""System events and the days of the board: when it is closed, and when a new day begins.

Arithmetic over `zoneinfo`: aware instants come in, aware UTC instants go out.

A local time that a sysop writes down ("03:00", or the midnight at which a date begins) means the
*first instant at which the local clock shows that time or a later one*. So a time that comes twice
is its first coming, one that daylight saving skips is the first instant after the gap, and a date
begins at its first instant even where its midnight does not exist. Starts come in the order in
which they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
WEEK_MINUTES = 7 * 24 * 60
DAY_MINUTES = 24 * 60

# The length at which a chain of touching events is cut. A schedule with an opening in its week
# never comes near it; only one that `always_closed` would chain for ever.
LONGEST_CHAIN = timedelta(days=60)


@dataclass(frozen=True)
class Event:
    name: str
    start: time  # local
    days: frozenset[int]  # of the week, on which it starts; 0 is Monday
    minutes: int  # of real time, 1 to 10080


@dataclass(frozen=True)
class ClosedPeriod:
    """When the board is closed: events that overlap or touch are one period. In UTC."""

    start: datetime
    end: datetime  # not included
    name: str  # of all the events


def first_instant(moment: datetime, zone: ZoneInfo) -> datetime:
    """The first UTC instant at which the clocks of `zone` show `moment` (naive) or later."""
    local = moment.replace(tzinfo=zone, fold=0)
    early = local.astimezone(UTC)
    late = local.replace(fold=1).astimezone(UTC)
    if early <= late:
        return early
    # In a gap the two readings come out in the wrong order (PEP 495), with the gap between them.
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

    Answers are remembered while they hold. Safe to share between threads: what is remembered is
    replaced whole.
    """

    def __init__(self, events: Sequence[Event], zone: ZoneInfo) -> None:
        self.zone = zone
        self.events = tuple(sorted(events, key=lambda event: (event.start, event.name)))
        longest = max((event.minutes for event in events), default=0)
        self._longest = timedelta(minutes=longest)
        self._closed: tuple[datetime, ClosedPeriod] | None = None
        self._day: tuple[datetime, datetime, date] | None = None

    def local(self, at: datetime) -> datetime:
        return at.astimezone(self.zone)

    # Events

    def closed_at_or_after(self, at: datetime) -> ClosedPeriod | None:
        """The closed period that contains `at`, else the next one; None without events."""
        known = self._closed
        if known is not None and known[0] <= at < known[1].end:
            return known[1]
        if not self.events:
            return None
        found = self._find(at)
        # From the earlier of the two on there is no other answer until this period has ended.
        self._closed = (min(at, found.start), found)
        return found

    def seconds_to_event(self, at: datetime) -> int | None:
        """The whole seconds from `at` to the next event: 0 inside one, None without any."""
        closed = self.closed_at_or_after(at)
        if closed is None:
            return None
        return max(0, (closed.start - at) // SECOND)

    def always_closed(self) -> bool:
        """Whether the events leave no opening in a week of the local clock without a change."""
        spans = []
        for event in self.events:
            within = event.start.hour * 60 + event.start.minute
            for day in event.days:
                start = day * DAY_MINUTES + within
                spans.append((start, start + event.minutes))
                spans.append((start - WEEK_MINUTES, start - WEEK_MINUTES + event.minutes))
        reached = 0
        for start, end in sorted(spans):
            if start > reached:
                return False
            reached = max(reached, end)
        return reached >= WEEK_MINUTES

    def _find(self, at: datetime) -> ClosedPeriod:
        """The period at or after `at`: go back until its true start is in sight."""
        at = at.astimezone(UTC)
        # Two days more than the longest event: a local day can be 24 hours off (Apia, 2011).
        back = self._longest + 2 * DAY
        while True:
            first = self.local(at).date() - back
            # Nothing that starts before `first` reaches beyond this.
            settled = self.day_starts(first) + self._longest
            found = next(closed for closed in self._merged(first) if closed.end > at)
            if found.start > settled or back >= LONGEST_CHAIN:
                return found
            back = min(2 * back, LONGEST_CHAIN)

    def _merged(self, first: date) -> Iterator[ClosedPeriod]:
        """Endless, from the local date `first` on: what overlaps or touches is joined."""
        occurrences = self._occurrences(first)
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

    def _occurrences(self, first: date) -> Iterator[tuple[datetime, datetime, str]]:
        day = first
        while True:
            for event in self.events:
                if day.weekday() in event.days:
                    start = first_instant(datetime.combine(day, event.start), self.zone)
                    yield start, start + timedelta(minutes=event.minutes), event.name
            day += DAY

    # Days

    def day_starts(self, day: date) -> datetime:
        """The first instant of a local date; for a date that was skipped, of the one after."""
        return first_instant(datetime.combine(day, time()), self.zone)

    def day_of(self, at: datetime) -> date:
        """The date whose day `at` belongs to: the last one that has begun.

        A clock that goes back over midnight does not go back to the day before.
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
        self._day = found = (self.day_starts(day), end, day)
        return found
