"""System events and days, against a model that knows nothing but a table of minutes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from timeit import timeit
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.examples import EXAMPLES
from timebank.settings.schedule import ClosedPeriod, EarlyEvent, Event, Schedule, first_instant

MINUTE = timedelta(minutes=1)
EVERY_DAY = frozenset(range(7))
MONDAY = frozenset({0})

# A zone and a day near which its clocks do something: daylight saving in both directions, at
# midnight too, by half an hour, over midnight at one minute past, and a date that never was.
CHANGES = [
    ("UTC", date(2024, 3, 31)),
    ("Asia/Kathmandu", date(2024, 3, 31)),
    ("Europe/Berlin", date(2024, 3, 31)),
    ("Europe/Berlin", date(2024, 10, 27)),
    ("America/New_York", date(2024, 3, 10)),
    ("America/New_York", date(2024, 11, 3)),
    ("America/Sao_Paulo", date(2018, 11, 4)),
    ("America/Sao_Paulo", date(2018, 2, 18)),
    ("Africa/Cairo", date(2023, 4, 28)),
    ("Africa/Cairo", date(2023, 10, 27)),
    ("Australia/Lord_Howe", date(2024, 4, 7)),
    ("Australia/Lord_Howe", date(2024, 10, 6)),
    ("America/St_Johns", date(2006, 10, 29)),
    ("Pacific/Apia", date(2011, 12, 30)),
]
WINDOW_DAYS = 49


def utc(*fields: int) -> datetime:
    return datetime(*fields, tzinfo=UTC)


def schedule(zone: str, *events: Event) -> Schedule:
    return Schedule(events, ZoneInfo(zone))


def event(start: str, minutes: int, days: frozenset[int] = EVERY_DAY, name: str = "Mail") -> Event:
    return Event(name, time.fromisoformat(start), days, minutes)


@cache
def clock(zone: str, centre: date) -> tuple[datetime, list[datetime]]:
    """Return every minute of seven weeks around `centre`: the first in UTC, and the wall times."""
    first = datetime.combine(centre, time(), UTC) - timedelta(days=WINDOW_DAYS // 2)
    info = ZoneInfo(zone)
    minutes = (first + n * MINUTE for n in range(WINDOW_DAYS * 1440))
    return first, [minute.astimezone(info).replace(tzinfo=None) for minute in minutes]


@cache
def arrivals(zone: str, centre: date) -> dict[datetime, int]:
    """For every local minute, skipped ones too, the index of the minute that first reaches it."""
    _, wall = clock(zone, centre)
    reached, times = wall[0], {}
    for index, shown in enumerate(wall):
        while reached <= shown:
            times[reached] = index
            reached += MINUTE
    return times


def starts_of(each: Event, zone: str, centre: date) -> list[int]:
    arrival = arrivals(zone, centre)
    days = [centre + timedelta(days=n) for n in range(-WINDOW_DAYS // 2, WINDOW_DAYS // 2 + 1)]
    moments = [datetime.combine(day, each.start) for day in days if day.weekday() in each.days]
    return [arrival[moment] for moment in moments if moment in arrival]


def model(events: list[Event], zone: str, centre: date, at: datetime) -> ClosedPeriod | None:
    """Paint every event onto the minutes, then read off the period; None if it meets an edge."""
    first, wall = clock(zone, centre)
    closed = bytearray(len(wall))
    starts = []
    for each in events:
        for start in starts_of(each, zone, centre):
            end = min(start + each.minutes, len(wall))
            closed[start:end] = b"\x01" * (end - start)
            starts.append((start, each.start, each.name))
    start = closed.find(b"\x01", (at - first) // MINUTE)
    assert start >= 0, "the window is long enough for every week's events"
    start = closed.rfind(b"\x00", 0, start) + 1
    end = closed.find(b"\x00", start)
    if start == 0 or end < 0:
        return None
    inside = sorted(entry for entry in starts if start <= entry[0] < end)
    names = list(dict.fromkeys(name for _, _, name in inside))
    return ClosedPeriod(first + start * MINUTE, first + end * MINUTE, " and ".join(names))


starts = st.one_of(
    st.times(),
    st.sampled_from([time(0), time(0, 1), time(1, 30), time(2), time(2, 30), time(23, 30)]),
).map(lambda start: start.replace(second=0, microsecond=0))
days_and_minutes = st.one_of(
    st.tuples(st.just(EVERY_DAY), st.integers(1, 720)),
    st.tuples(st.frozensets(st.integers(0, 6), min_size=1), st.integers(1, 1440)),
    st.tuples(st.frozensets(st.integers(0, 6), min_size=1, max_size=1), st.integers(1, 10080)),
)
events_of_one_board = st.lists(
    st.tuples(starts, days_and_minutes), min_size=1, max_size=4, unique=True
).map(lambda rows: [Event("ABCD"[i], start, *row) for i, (start, row) in enumerate(rows)])


class TestEvents:
    @settings(max_examples=EXAMPLES * 100, deadline=None)
    @given(
        change=st.sampled_from(CHANGES),
        events=events_of_one_board,
        asked=st.lists(st.integers(-10 * 86400, 10 * 86400), min_size=1, max_size=5),
    )
    def test_the_closed_period_is_the_one_a_table_of_minutes_shows(self, change, events, asked):
        board = schedule(change[0], *events)
        assume(not board.always_closed())
        for seconds in asked:
            at = datetime.combine(change[1], time(), UTC) + timedelta(seconds=seconds)
            expected = model(events, *change, at)
            assume(expected is not None)
            period = board.closed_at_or_after(at)
            assert period is not None
            assert (period.start, period.end) == (expected.start, expected.end)
            # Two that start at the same instant may be named in either order.
            assert sorted(period.name.split(" and ")) == sorted(expected.name.split(" and "))
            assert board.seconds_to_event(at) == max(0, int((period.start - at).total_seconds()))

    @settings(max_examples=EXAMPLES * 50, deadline=None)
    @given(
        change=st.sampled_from(CHANGES),
        events=events_of_one_board,
        asked=st.lists(st.integers(-10 * 86400, 10 * 86400), min_size=2, max_size=20),
    )
    def test_a_cached_answer_equals_a_computed_one(self, change, events, asked):
        board = schedule(change[0], *events)
        assume(not board.always_closed())
        for seconds in asked:
            at = datetime.combine(change[1], time(), UTC) + timedelta(seconds=seconds)
            fresh = schedule(change[0], *events)
            assert board.closed_at_or_after(at) == fresh.closed_at_or_after(at)
            assert board.day_of(at) == fresh.day_of(at)
            assert board.next_day(at) == fresh.next_day(at)

    def test_a_board_without_events_is_never_closed(self):
        board = schedule("UTC")
        assert board.closed_at_or_after(utc(2024, 1, 1)) is None
        assert board.seconds_to_event(utc(2024, 1, 1)) is None
        assert not board.always_closed()

    @pytest.mark.parametrize("hours", [1, 25, 49, 71])
    def test_an_event_of_three_days_is_on_until_its_last_hour(self, hours):
        board = schedule("UTC", event("00:00", 3 * 24 * 60, frozenset({0})))
        at = utc(2024, 1, 1) + timedelta(hours=hours)  # from a Monday on
        period = board.closed_at_or_after(at)
        assert period is not None
        assert (period.start, period.end) == (utc(2024, 1, 1), utc(2024, 1, 4))
        assert board.seconds_to_event(at) == 0

    def test_seconds_to_an_event_are_rounded_down_and_are_zero_inside_it(self):
        board = schedule("UTC", event("03:00", 60))
        just_before = utc(2024, 1, 1, 2, 59, 58) + timedelta(milliseconds=1)
        assert board.seconds_to_event(just_before) == 1
        assert board.seconds_to_event(utc(2024, 1, 1, 3)) == 0
        assert board.seconds_to_event(utc(2024, 1, 1, 3, 59, 59)) == 0
        assert board.seconds_to_event(utc(2024, 1, 1, 4)) == 23 * 3600

    def test_touching_events_are_one_period_named_after_both(self):
        board = schedule("UTC", event("04:00", 30, name="Backup"), event("03:00", 60, name="Mail"))
        assert board.closed_at_or_after(utc(2024, 1, 1)) == ClosedPeriod(
            utc(2024, 1, 1, 3), utc(2024, 1, 1, 4, 30), "Mail and Backup"
        )

    def test_a_start_skipped_by_daylight_saving_is_the_first_instant_after_it(self):
        board = schedule("Europe/Berlin", event("02:30", 60))
        assert board.closed_at_or_after(utc(2024, 3, 31)).start == utc(2024, 3, 31, 1)

    def test_asking_again_with_a_later_clock_costs_microseconds(self):
        board = schedule("Europe/Berlin", *(event(f"{h:02}:00", 5) for h in range(0, 24, 2)))
        at = utc(2024, 1, 1, 0, 30)
        board.seconds_to_event(at)
        assert min(timeit(lambda: board.seconds_to_event(at), number=1000) for _ in range(5)) < 0.02


class TestAlwaysClosed:
    @pytest.mark.parametrize(
        "events",
        [
            [event("00:00", 1440)],
            [event("17:23", 1440)],
            [event("12:00", 10080, MONDAY)],
            [event("00:00", 720, name="a"), event("12:00", 720, name="b")],
            [event("00:00", 4 * 1440, frozenset({0, 3}))],
            [event("22:00", 1380), event("20:59", 61)],
        ],
    )
    def test_events_that_fill_the_week_leave_no_opening(self, events):
        assert schedule("Europe/Berlin", *events).always_closed()

    @pytest.mark.parametrize(
        "events",
        [
            [event("00:00", 1439)],
            [event("12:00", 10079, MONDAY)],
            [event("00:00", 1440, EVERY_DAY - {2})],
            [event("22:00", 1380), event("21:01", 59)],
        ],
    )
    def test_one_minute_in_the_week_is_an_opening(self, events):
        assert not schedule("Europe/Berlin", *events).always_closed()

    @settings(max_examples=EXAMPLES * 80, deadline=None)
    @given(events=events_of_one_board)
    @example(events=[event("00:00", 1440)])
    def test_in_a_zone_without_changes_every_minute_of_the_week_is_closed(self, events):
        minutes = {
            (day * 1440 + each.start.hour * 60 + each.start.minute + n) % 10080
            for each in events
            for day in each.days
            for n in range(each.minutes)
        }
        assert schedule("UTC", *events).always_closed() == (len(minutes) == 10080)

    def test_a_board_that_is_always_closed_is_closed_now(self):
        board = schedule("Europe/Berlin", event("00:00", 1440))
        for at in (utc(2024, 2, 1), utc(2024, 3, 31, 1), utc(2024, 7, 1)):
            assert board.seconds_to_event(at) == 0

    def test_an_opening_skipped_by_daylight_saving_comes_a_week_later(self):
        # Open on Sundays from 03:30 to 04:00: over the change a week of it ends an hour late.
        board = schedule("Europe/Berlin", event("04:00", 10050, frozenset({6})))
        closed = board.closed_at_or_after(utc(2024, 3, 28))
        assert closed.start == utc(2024, 3, 24, 3)
        assert closed.end == utc(2024, 4, 7, 1, 30)


class TestDays:
    @settings(max_examples=EXAMPLES * 100, deadline=None)
    @given(change=st.sampled_from(CHANGES), minutes=st.integers(-20 * 1440, 20 * 1440))
    def test_a_day_is_the_last_date_with_its_midnight_reached(self, change, minutes):
        board, arrival = schedule(change[0]), arrivals(*change)
        first, _ = clock(*change)
        index = (datetime.combine(change[1], time(), UTC) - first) // MINUTE + minutes
        at = first + index * MINUTE
        begun = {
            moment.date(): first + n * MINUTE
            for moment, n in arrival.items()
            if moment.time() == time() and n <= index
        }
        today = max(begun)
        assert board.day_of(at) == today
        assert board.day_starts(today) == begun[today] <= at
        later = [
            n for moment, n in arrival.items() if moment.time() == time() and moment.date() > today
        ]
        assert board.next_day(at) == first + min(later) * MINUTE > at

    @settings(max_examples=EXAMPLES * 80, deadline=None)
    @given(change=st.sampled_from(CHANGES), seconds=st.integers(-20 * 86400, 20 * 86400))
    def test_days_only_go_forward(self, change, seconds):
        board = schedule(change[0])
        at = datetime.combine(change[1], time(), UTC) + timedelta(seconds=seconds)
        following = board.next_day(at)
        assert board.day_of(following) > board.day_of(at)
        assert board.day_of(following - timedelta(microseconds=1)) == board.day_of(at)

    @pytest.mark.parametrize(
        ("zone", "day", "starts"),
        [
            ("UTC", date(2024, 1, 1), utc(2024, 1, 1)),
            ("Europe/Berlin", date(2024, 3, 31), utc(2024, 3, 30, 23)),
            ("America/Sao_Paulo", date(2018, 11, 4), utc(2018, 11, 4, 3)),
            ("Africa/Cairo", date(2023, 4, 28), utc(2023, 4, 27, 22)),
            ("America/Toronto", date(1919, 3, 31), utc(1919, 3, 31, 4, 30)),
            ("America/St_Johns", date(2006, 10, 29), utc(2006, 10, 29, 2, 30)),
            ("Pacific/Apia", date(2011, 12, 30), utc(2011, 12, 30, 10)),
            ("Pacific/Apia", date(2011, 12, 31), utc(2011, 12, 30, 10)),
        ],
    )
    def test_a_day_starts_at_the_first_instant_of_its_date(self, zone, day, starts):
        assert schedule(zone).day_starts(day) == starts

    def test_an_offset_with_seconds_is_no_trouble(self):
        monrovia = ZoneInfo("Africa/Monrovia")  # 44:30 behind Greenwich until 1972
        assert first_instant(datetime(1971, 12, 31), monrovia) == utc(1971, 12, 31, 0, 44, 30)
        assert first_instant(datetime(1972, 1, 7), monrovia) == utc(1972, 1, 7, 0, 44, 30)


# Events that were started early.


def test_one_started_early_takes_the_place_of_the_next_of_its_name() -> None:
    nightly = schedule("UTC", event("03:00", 60), event("05:00", 30, name="Backup"))
    night = utc(2026, 6, 2, 3)
    early = EarlyEvent("Mail", utc(2026, 6, 1, 22), utc(2026, 6, 1, 23), night)
    evening = utc(2026, 6, 1, 20)
    assert nightly.closed_at_or_after(evening).start == night
    assert nightly.adopt_early([early])
    assert not nightly.adopt_early([early]), "that is no news"
    periods = []
    at = evening
    for _ in range(3):
        periods.append(nightly.closed_at_or_after(at))
        at = periods[-1].end
    assert periods == [
        ClosedPeriod(utc(2026, 6, 1, 22), utc(2026, 6, 1, 23), "Mail"),
        ClosedPeriod(utc(2026, 6, 2, 5), utc(2026, 6, 2, 5, 30), "Backup"),
        ClosedPeriod(utc(2026, 6, 3, 3), utc(2026, 6, 3, 4), "Mail"),
    ]
    usual = nightly.with_early(())
    assert usual.closed_at_or_after(evening).start == night
    assert nightly.with_early([early]) is nightly
    assert nightly.next_occurrence("Mail", evening)[0] == utc(2026, 6, 3, 3)
    assert nightly.next_occurrence(None, evening)[0] == utc(2026, 6, 2, 5)
    assert nightly.next_occurrence("Lunch", evening) is None


def test_an_event_started_early_merges_with_the_events_it_touches() -> None:
    hourly = schedule("UTC", event("03:00", 60))
    early = EarlyEvent("Repairs", utc(2026, 6, 1, 4), utc(2026, 6, 7, 12), None)
    hourly.adopt_early([early])
    for at in (utc(2026, 6, 1, 3, 30), utc(2026, 6, 7, 11)):
        closed = hourly.closed_at_or_after(at)
        assert closed == ClosedPeriod(utc(2026, 6, 1, 3), utc(2026, 6, 7, 12), "Mail and Repairs")
    never = schedule("UTC")
    assert never.next_occurrence(None, utc(2026, 6, 1)) is None
    never.adopt_early([early])
    assert never.closed_at_or_after(utc(2026, 6, 1)).end == early.end
    assert never.closed_at_or_after(early.end) is None
