"""Days in a row, counted by the days of the board, which only go forward."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from timebank.callers import days_called
from timebank.callers.days_called import DaysCalled
from timebank.calls import clock_mend

DAY = 86_400


def calls(books, caller_id: int) -> None:
    books.call(caller_id).close()


def counted(books, caller_id: int) -> DaysCalled:
    return books.do(days_called.days_called, caller_id)


def test_consecutive_days_count_and_a_gap_starts_again(books, ann):
    assert counted(books, ann) == DaysCalled()
    for wait in (DAY, DAY, 2 * DAY, DAY, 0):
        calls(books, ann)
        books.wait(wait)
    # Two calls on the last day are of one day.
    assert counted(books, ann) == DaysCalled(number=5, running=2, longest=3)


def test_a_run_continues_until_the_next_day_is_over(books, ann):
    calls(books, ann)
    books.wait(DAY)
    calls(books, ann)
    books.wait(DAY)
    assert counted(books, ann).running == 2
    books.wait(DAY)
    assert counted(books, ann) == DaysCalled(number=2, running=0, longest=2)
    assert books.do(days_called.running, ann) == 0


def test_days_beyond_one_chunk_are_counted(books, ann, monkeypatch):
    monkeypatch.setattr(days_called, "CHUNK", 2)
    for length in range(1, 6):
        calls(books, ann)
        assert books.do(days_called.running, ann) == counted(books, ann).running == length
        books.wait(DAY)


def test_a_call_over_midnight_counts_on_both_days_of_the_board(books, ann):
    books.change(zone=ZoneInfo("America/New_York"))
    books.wait_until(datetime(2026, 6, 2, 3, 50, tzinfo=ZoneInfo("UTC")))  # still the first there
    call = books.call(ann)
    books.wait(900)
    call.touch()
    assert counted(books, ann) == DaysCalled(number=2, running=2, longest=2)


def test_a_clock_that_goes_back_counts_no_day_twice(books, ann):
    calls(books, ann)
    books.wait(DAY)
    calls(books, ann)
    books.step(-DAY)
    calls(books, ann)
    assert counted(books, ann) == DaysCalled(number=2, running=2, longest=2)


def test_a_day_of_a_wrong_clock_is_uncounted_when_taken_back(books, ann):
    calls(books, ann)
    books.wait(DAY)
    books.step(30 * DAY)
    calls(books, ann)
    books.step(-30 * DAY)
    assert counted(books, ann) == DaysCalled(number=2, running=1, longest=1)
    books.do(clock_mend.mend, "test")
    assert counted(books, ann) == DaysCalled(number=1, running=1, longest=1)
    calls(books, ann)
    assert counted(books, ann) == DaysCalled(number=2, running=2, longest=2)
