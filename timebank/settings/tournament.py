"""`[tournament]` in sysop.toml, the time bank's part: when there is one, and what it is played for.

For how many hands it is played is the board's to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from timebank.settings.hours import WEEKDAYS
from timebank.settings.schedule import DAY_MINUTES, Schedule, first_instant
from timebank.settings.toml import TomlTable

MINUTE = 60
WEEK_HOURS = 168
MOST_PLACES = 10
MOST_MINUTES = 10_080  # that the house puts into a week, and of a prize
FRIDAY = 4


@dataclass(frozen=True)
class TournamentTerms:
    """Amounts are seconds, all of them whole minutes."""

    on: bool = True
    # When it opens, by the clock of the board, and for how many hours it stays open.
    weekday: int = FRIDAY
    hour: int = 18
    hours: int = 48
    # What a caller pays who can win something.
    entry: int = 0
    # By place, the first one first.
    prizes: tuple[int, ...] = (15 * MINUTE, 10 * MINUTE, 5 * MINUTE)
    # The most that the house puts into prizes in seven days.
    from_house: int = 30 * MINUTE

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
    usual = USUAL
    return TournamentTerms(
        on=table.flag("on", usual.on),
        weekday=WEEKDAYS.index(table.choice("day", WEEKDAYS[usual.weekday], WEEKDAYS)),
        hour=table.whole("hour", usual.hour, 0, 23),
        hours=table.whole("hours", usual.hours, 1, WEEK_HOURS),
        entry=MINUTE * table.whole("entry_minutes", usual.entry // MINUTE, 0, DAY_MINUTES),
        prizes=_prizes(table, usual),
        from_house=MINUTE
        * table.whole("house_minutes", usual.from_house // MINUTE, 0, MOST_MINUTES),
    )


def _prizes(table: TomlTable, usual: TournamentTerms) -> tuple[int, ...]:
    """Read the prizes by place: they fall from place to place, or stay as they are."""
    default = tuple(prize // MINUTE for prize in usual.prizes)
    prizes = table.wholes("prize_minutes", default, 0, MOST_MINUTES, MOST_PLACES)
    if list(prizes) != sorted(prizes, reverse=True):
        table.refuse("prize_minutes", "must not grow from one place to the next")
        return usual.prizes
    return tuple(prize * MINUTE for prize in prizes if prize)
