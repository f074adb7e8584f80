"""Nothing on line reaches past the next system event: what is won goes, the rest waits."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from tests.timebank.books import DAILY, GAME, MAIL_HOUR, pushed, won
from timebank.errors import NotEnough
from timebank.settings.schedule import Event

pytestmark = pytest.mark.both_engines

EVENING = datetime(2026, 6, 2, 2, 0, tzinfo=UTC)  # an hour before Mail hour


@pytest.fixture
def books(open_books):
    """One o'clock at night, with the day's 60 minutes an hour before Mail hour."""
    return open_books(now=EVENING)


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def test_winnings_beyond_the_event_go_to_the_bank_in_the_same_entry(books, call):
    books.wait(600)
    call.bet(600)
    call.act(won(600, 900))
    assert call.moved == [
        ("returned", 600, "stake", "online"),
        ("won", 900, "house", "online"),
        ("clamp", 900, "online", "bank"),
    ]
    assert call.receipt.rows[2].why == ("15 minutes won past Mail hour at 03:00: put in the bank")
    assert call.purse.online == 3000
    assert call.purse.bank == 900


def test_only_what_does_not_fit_is_moved(books, call):
    call.lose(600)
    call.bet(600)
    call.act(won(600, 900))
    assert call.moved[-1] == ("clamp", 300, "online", "bank")
    assert call.purse.online == 3600


def test_a_stake_that_comes_back_too_late_is_held_not_banked(books, call):
    call.bet(600)
    books.step(300)
    call.act(pushed(600))
    assert call.moved == [
        ("returned", 600, "stake", "online"),
        ("held", 300, "online", "held"),
    ]
    assert call.receipt.rows[1].why == "5 minutes available after Mail hour at 03:00"


def test_winnings_go_before_anything_else_does(books, call):
    call.bet(600)
    books.step(900)
    call.act(won(600, 300))
    assert call.moved[2:] == [
        ("clamp", 300, "online", "bank"),
        ("held", 900, "online", "held"),
    ]


def test_without_a_bank_the_surplus_is_trimmed_and_the_row_says_so(books, call):
    books.change(mode="none")
    call.win(600, 900)
    assert call.moved[-1] == ("clamp", 900, "online", "forfeit")
    assert call.receipt.rows[-1].why == (
        "15 minutes won past Mail hour at 03:00: forfeited, this board keeps no time bank"
    )


def test_with_an_external_bank_the_surplus_is_written_to_the_outbox(books, call, folder):
    books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
    call.win(600, 930)
    assert call.moved[-2:] == [
        ("clamp", 930, "online", "bank"),
        ("external", 900, "bank", "external"),
    ]
    assert call.receipt.rows[-1].why == "15 minutes passed on through THEBANK.EXT"
    call.win(600, 30)
    assert call.moved[-2:] == [
        ("clamp", 30, "online", "bank"),
        ("external", 60, "bank", "external"),
    ]
    assert call.purse.bank == 0
    records = books.sql("SELECT minutes, source FROM outbox ORDER BY number")
    assert records == [(15, "Black Jack For Time"), (1, "Black Jack For Time")]


def test_seconds_that_make_no_minute_wait_and_are_not_written(books, call, folder):
    books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
    call.win(600, 59)
    assert call.moved[-1] == ("clamp", 59, "online", "bank")
    assert books.sql("SELECT * FROM outbox") == []


def test_what_the_bank_held_before_it_became_external_stays_in_it(books, call, folder):
    call.win(600, 640)
    books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
    call.win(600, 90)
    assert call.moved[-1] == ("external", 120, "bank", "external")
    assert call.purse.bank == 610


def test_the_bank_takes_a_clamp_of_any_size(books, call):
    call.win(600, 10**12)
    assert call.purse.bank == 10**12
    assert call.purse.online == 3600


def test_held_time_comes_back_at_the_first_touch_after_the_event(open_books):
    books = open_books(events=(Event("Backup", time(12, 30), DAILY, 30),))
    call = books.call(books.caller("Ann"))
    books.wait(1800)
    call.touch()
    assert (call.purse.online, call.purse.held) == (0, 1800)
    books.wait(1799)
    call.touch()
    assert call.purse.held == 1800
    books.wait(1)
    call.touch()
    assert call.moved == [("release", 1800, "held", "online")]
    assert call.receipt.rows[0].why == "30 minutes back after Backup at 12:30"
    assert (call.purse.online, call.purse.held) == (1800, 0)


def test_held_time_that_reaches_past_the_event_after_stays_held(open_books):
    books = open_books(
        events=(
            Event("Backup", time(12, 10), DAILY, 10),
            Event("Mail", time(12, 40), DAILY, 10),
        )
    )
    call = books.call(books.caller("Ann"))
    assert call.purse.held == 3000
    call.close()
    books.wait(1200)
    call = books.call(call.caller_id)
    # But for a second the ten minutes of the first opening were not used, so as much fits as well.
    assert call.moved == [("release", 601, "held", "online")]
    assert (call.purse.online, call.purse.held) == (1200, 2399)
    books.wait(1200)
    call.touch()
    assert (call.purse.online, call.purse.held) == (0, 2399)
    books.wait(600)
    call.touch()
    assert (call.purse.online, call.purse.held) == (2399, 0)


def test_what_stays_held_waits_for_the_event_after_by_its_name(open_books):
    books = open_books(
        events=(
            Event("Backup", time(12, 10), DAILY, 10),
            Event("Mail", time(12, 40), DAILY, 10),
            Event("Pack", time(14, 0), DAILY, 10),
        )
    )
    call = books.call(books.caller("Ann"))
    books.wait(1200)
    call.touch()
    assert (call.purse.online, call.purse.held) == (1200, 1800)
    # Nothing of what is left comes back before the next event, not even into room that losing made.
    call.lose(600)
    call.touch()
    assert call.purse.held == 1800
    books.wait(1800)
    call.touch()
    assert call.receipt.rows[1].why == "30 minutes back after Mail at 12:40"


def test_losing_does_not_make_room_for_held_time_before_the_event(open_books):
    books = open_books(events=(Event("Backup", time(12, 30), DAILY, 30),))
    call = books.call(books.caller("Ann"))
    call.lose(600)
    call.touch()
    assert (call.purse.online, call.purse.held) == (1200, 1800)


def test_in_an_event_everything_is_held(open_books):
    books = open_books(events=(Event("Backup", time(11, 30), DAILY, 60),))
    call = books.call(books.caller("Ann"))
    assert call.moved == [
        ("grant", 3600, "allotment", "online"),
        ("held", 3600, "online", "held"),
    ]
    assert call.receipt.rows[1].why == "60 minutes available after Backup at 11:30"


def test_an_event_that_comes_into_the_schedule_clamps_at_the_next_touch(books, call):
    books.change(events=(Event("Repair", time(2, 20), DAILY, 10), MAIL_HOUR))
    call.touch()
    assert call.moved == [("held", 2400, "online", "held")]
    assert call.receipt.rows[0].why == "40 minutes available after Repair at 02:20"


def test_an_event_that_leaves_the_schedule_gives_back_what_it_held(books, call):
    books.change(events=(Event("Repair", time(2, 20), DAILY, 10), MAIL_HOUR))
    call.touch()
    books.change(events=(MAIL_HOUR,))
    call.touch()
    assert call.moved == [("release", 2400, "held", "online")]
    assert call.receipt.rows[0].why == "40 minutes back after Repair at 02:20"


def test_a_clock_stepped_forward_clamps_and_one_stepped_back_releases_nothing(books, call):
    books.step(1800)
    call.touch()
    assert (call.purse.online, call.purse.held) == (1800, 1800)
    books.step(-1800)
    call.touch()
    assert call.moved == []
    assert (call.purse.online, call.purse.held) == (1800, 1800)


def test_time_behind_the_event_cannot_be_staked(books, call):
    books.step(3000)
    with pytest.raises(NotEnough, match="You have 10 minutes"):
        call.bet(600)
    call.bet(540)
    assert call.purse.stake == 540


def test_a_clamp_names_overlapping_events_together(open_books):
    books = open_books(now=EVENING, events=(MAIL_HOUR, Event("Backup", time(3, 30), DAILY, 60)))
    call = books.call(books.caller("Ann"))
    call.win(60, 60)
    assert call.receipt.rows[-1].why == (
        "1 minute won past Mail hour and Backup at 03:00: put in the bank"
    )
    assert books.sql("SELECT game FROM rounds") == [(GAME,)]


def test_a_second_of_rounding_is_in_the_books(books, call):
    books.step(1)
    call.touch()
    assert call.moved == [("held", 1, "online", "held")]
