"""The opening hours of the bank's window, by weekday, in the board's local time.

The hours are local, so daylight saving does not move them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, time

from timebank.errors import HoursRefused
from timebank.language import _
from timebank.settings.schedule import DAY_MINUTES, WEEK_MINUTES
from timebank.words import time_words, weekday_name

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
GROUPS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}

_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9])|(24):(00)"
_HOURS = re.compile(rf"([a-z]+)(?:-([a-z]+))? +({_TIME})-({_TIME})")


@dataclass(frozen=True)
class OpeningHours:
    """The hours as spans of minutes since Monday 00:00, merged and in order.

    Without a span the window is always open.
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def read(cls, texts: Iterable[str]) -> OpeningHours:
        """Read texts such as "mon-fri 08:00-22:00". An end before its start is on the next day.

        Raises `HoursRefused`.

        >>> OpeningHours.read(["sat 10:00-24:00"]).spans
        ((7800, 8640),)
        """
        return cls(tuple(_merged(span for text in texts for span in _spans(text))))

    def is_open(self, local: datetime) -> bool:
        minute = minute_of_week(local)
        return not self.spans or any(start <= minute < end for start, end in self.spans)

    def next_opening(self, local: datetime) -> str:
        """Return the words for the next opening after a local time, such as "Monday at 08:00"."""
        minute = minute_of_week(local)
        start = min(
            (start for start, _ in self.spans), key=lambda start: (start - minute) % WEEK_MINUTES
        )
        day, rest = divmod(start, DAY_MINUTES)
        start_time = time_words(time(*divmod(rest, 60)))
        return _("{day} at {time}").format(day=weekday_name(day), time=start_time)


ALWAYS = OpeningHours(())


def minute_of_week(local: datetime) -> int:
    return local.weekday() * DAY_MINUTES + local.hour * 60 + local.minute


def _spans(text: str) -> Iterator[tuple[int, int]]:
    match = _HOURS.fullmatch(text.strip().lower())
    if match is None:
        raise HoursRefused('must be like "mon-fri 08:00-22:00"')
    first, last, start_text, *_ = match.groups()
    end_text = match[8]
    start, end = _minutes(start_text), _minutes(end_text)
    if start in (DAY_MINUTES, end):
        raise HoursRefused("must begin on one minute of the day and end on another")
    if end < start:
        end += DAY_MINUTES
    for day in _days(first, last):
        begins = day * DAY_MINUTES + start
        ends = day * DAY_MINUTES + end
        yield begins, min(ends, WEEK_MINUTES)
        if ends > WEEK_MINUTES:  # Sunday night
            yield 0, ends - WEEK_MINUTES


def _days(first: str, last: str | None) -> Iterable[int]:
    if last is None and first in GROUPS:
        return GROUPS[first]
    for word in (first, last or first):
        if word not in WEEKDAYS:
            known = ", ".join((*GROUPS, *WEEKDAYS))
            raise HoursRefused(f'must name its days with {known}; "{word}" is not one of them')
    start, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
    return [(start + day) % 7 for day in range((end - start) % 7 + 1)]


def _minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = end = -1
    for begins, ends in sorted(spans):
        if begins <= end:
            end = max(end, ends)
            continue
        if end > 0:
            yield start, end
        start, end = begins, ends
    if end > 0:
        yield start, end
