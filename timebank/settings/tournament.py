"""`[tournament]` in sysop.toml, the time bank's part: when there is one, and what it is played for.

For how many hands it is played is the board's to read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from timebank.settings.forms import (
    Form,
    Number,
    Numbers,
    OneOf,
    Schema,
    TrueOrFalse,
    setting,
)
from timebank.settings.hours import WEEKDAYS
from timebank.settings.schedule import DAY_MINUTES, Schedule, first_instant
from timebank.settings.toml import TomlTable

MINUTE = 60
WEEK_HOURS = 168
MOST_PLACES = 10
MOST_MINUTES = 10_080  # that the house puts into a week, and of a prize


@dataclass(frozen=True)
class Weekday(Form[int]):
    """A day of the week by its short name, kept as a number from Monday."""

    def read(self, value: object) -> int:
        return WEEKDAYS.index(OneOf(WEEKDAYS).read(value))

    @property
    def schema(self) -> Schema:
        return OneOf(WEEKDAYS).schema


@dataclass(frozen=True)
class TournamentTerms:
    """Amounts are seconds, all of them whole minutes."""

    on: bool = setting(TrueOrFalse(), True)
    # When it opens, by the clock of the board, and for how many hours it stays open.
    weekday: int = setting(Weekday(), "fri", "day")
    hour: int = setting(Number(0, 23), 18)
    hours: int = setting(Number(1, WEEK_HOURS), 48)
    # What a caller pays who can win something.
    entry: int = setting(Number(0, DAY_MINUTES, MINUTE), 0, "entry_minutes")
    # By place, the first one first.
    prizes: tuple[int, ...] = setting(
        Numbers(Number(0, MOST_MINUTES, MINUTE), MOST_PLACES),
        [15, 10, 5],
        "prize_minutes",
    )
    # The most that the house puts into prizes in seven days.
    from_house: int = setting(Number(0, MOST_MINUTES, MINUTE), 30, "house_minutes")

    def latest(self, schedule: Schedule, now: datetime) -> tuple[datetime, datetime]:
        """Say when the last one opened, which may be at this instant, and when it is over."""
        day = schedule.local(now).date()
        day -= timedelta(days=(day.weekday() - self.weekday) % 7)
        starts = self._start(schedule, day)
        if starts > now:
            starts = self._start(schedule, day - timedelta(days=7))
        return starts, starts + timedelta(hours=self.hours)

    def next_start(self, schedule: Schedule, now: datetime) -> datetime:
        """Say when the next one opens after this instant."""
        last = schedule.local(self.latest(schedule, now)[0]).date()
        return self._start(schedule, last + timedelta(days=7))

    def _start(self, schedule: Schedule, day: date) -> datetime:
        return first_instant(datetime.combine(day, time(self.hour)), schedule.zone)


USUAL = TournamentTerms()


def read_tournament(table: TomlTable) -> TournamentTerms:
    """Read the terms: prizes fall from place to place, or stay as they are."""
    terms = table.fill(TournamentTerms)
    if list(terms.prizes) != sorted(terms.prizes, reverse=True):
        table.refuse("prize_minutes", "must not grow from one place to the next")
    return replace(terms, prizes=tuple(filter(None, terms.prizes)))
