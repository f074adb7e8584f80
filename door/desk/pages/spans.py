"""A span of the board's days, which a page has in its address: `?day=`, or `?since=` and `?until=`.

A week, month or year is a span from its first day to its last, so every address stays valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from timebank.reports.summary import By, first_day
from timebank.words import date_words, whole_date

if TYPE_CHECKING:
    from door.desk.pages.forms import Parameters

A_DAY = timedelta(days=1)
# The days of the longest period of each kind.
PERIODS: Mapping[By, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
FIELDS = ("day", "since", "until")


@dataclass(frozen=True)
class Span:
    """The days from `since` to `until`, both included."""

    since: date
    until: date

    @classmethod
    def around(cls, day: date, by: By) -> Span:
        """Return the day, the week from Monday, the month or the year with `day` in it."""
        first = first_day(day, by)
        return cls(first, first_day(first + PERIODS[by] * A_DAY, by) - A_DAY)

    @property
    def by(self) -> By | None:
        """The period that this is, if it is one."""
        return next((by for by in PERIODS if self == Span.around(self.since, by)), None)

    def next(self, way: int) -> Span:
        """Return the period after this one, or with -1 before it; or as many days."""
        if self.by is not None:
            return Span.around((self.until if way > 0 else self.since) + way * A_DAY, self.by)
        length = self.until - self.since + A_DAY
        return Span(self.since + way * length, self.until + way * length)

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields of its address."""
        if self.since == self.until:
            return {"day": self.since.isoformat()}
        return {"since": self.since.isoformat(), "until": self.until.isoformat()}

    def __str__(self) -> str:
        if self.since == self.until:
            return whole_date(self.since)
        return f"{date_words(self.since)} to {date_words(self.until)}"


def span_in(asked: Parameters) -> tuple[date | None, date | None]:
    """Return the first and the last day that an address asks for, None for an open end.

    What cannot be is added to `asked.wrong`.
    """
    day, since, until = (asked.day(name) for name in FIELDS)
    if day is not None and (since is not None or until is not None):
        asked.wrong.append("Ask for a day, or for the days since one and until another.")
    if since is not None and until is not None and since > until:
        asked.wrong.append("The last day is before the first one: swap them.")
    return (since, until) if day is None else (day, day)
