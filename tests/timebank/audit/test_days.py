"""The audit finds manual changes to callers' days."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.timebank.books import won
from timebank.calls import clock_mend
from timebank.window.teller import borrow

DAY = 86_400


@pytest.fixture
def evenings(books, ann):
    """Play as Ann on two days; the second is 3 June."""
    call = books.call(ann)
    call.lose(300)
    call.close()
    books.wait(2 * DAY)
    call = books.call(ann)
    call.win(300, 450)
    return call


def test_nothing_is_wrong_with_two_evenings(books, evenings):
    assert books.audit() == []


def test_a_day_renamed_so_that_it_can_come_again_is_found(books, evenings, vandal):
    evenings.close()
    vandal(
        "UPDATE days SET day = '2026-06-02' WHERE day = '2026-06-03'",
        "UPDATE callers SET day = '2026-06-02'",
    )
    assert books.audit() == [
        "caller 1: The minutes of 2026-06-02 were granted for 2026-06-03.",
        "hand 2: For caller 1 it counts on 2026-06-03, but it began on 2026-06-02.",
    ]
    books.call(1)
    assert books.balances(1)["online"] == 3600


@pytest.mark.parametrize("change", ["after = after + 1", "after = after - 1"])
def test_a_day_with_a_wrong_first_transfer_is_found(books, evenings, vandal, change):
    vandal(f"UPDATE days SET {change} WHERE day = '2026-06-03'")
    assert "caller 1: The grant of 2026-06-03 should be transfer 6, but is not." in books.audit()


def test_a_day_falsely_marked_as_cancelled_is_found(books, evenings, vandal):
    evenings.close()
    vandal(
        "INSERT INTO mended_days (caller_id, day, grant_id, mended)"
        " SELECT caller_id, day, grant_id, 1780000000 FROM days WHERE day = '2026-06-03'",
        "DELETE FROM days WHERE day = '2026-06-03'",
        "UPDATE callers SET day = '2026-06-01'",
    )
    assert (
        "caller 1: 2026-06-03 was taken back, and the sysop's log does not say so."
    ) in books.audit()


def test_a_loan_removed_from_its_day_is_found(books, call, vandal):
    call.post(borrow, 600)
    call.next_day()
    assert books.audit() == []
    vandal("UPDATE days SET owed = NULL WHERE owed > 0")
    assert books.audit() == ["caller 1: Their debt when 2027-06-02 began was deleted."]


def test_a_hand_assigned_to_another_day_is_found(books, evenings, vandal):
    """Its turn and its loss would be none of the day's."""
    vandal("UPDATE rounds SET day = '2026-06-01' WHERE id = 2")
    assert (
        "hand 2: For caller 1 it counts on 2026-06-01, but it began on 2026-06-03."
    ) in books.audit()


def test_days_begun_by_a_wrong_clock_are_in_order_even_cancelled(books, ann):
    """Hands of these days, of the day behind them, and one that is open all the time."""
    call = books.call(ann)
    call.bet(300)
    for step in (30 * DAY, DAY):
        books.now += timedelta(seconds=step)
        call.touch()
        assert books.audit() == []
    call.act(won(300, 450))
    call.lose(60)
    call.close()
    books.now -= timedelta(seconds=31 * DAY)
    (mended,) = books.do(clock_mend.mend, "root (command line)")
    assert mended.days
    assert books.audit() == []
    books.wait(DAY)
    call = books.call(ann)
    call.lose(300)
    assert books.audit() == []


def test_a_first_day_of_a_wrong_clock_is_in_order_when_it_was_taken_back(books, ann):
    books.now += timedelta(days=30)
    call = books.call(ann)
    call.lose(300)
    call.close()
    books.now -= timedelta(days=30)
    books.do(clock_mend.mend, "root (command line)")
    assert books.audit() == []
    books.wait(DAY)
    books.call(ann)
    books.sql("DELETE FROM sysop_log")  # a year later
    assert books.audit() == []
