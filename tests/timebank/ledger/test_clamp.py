"""Nothing on line reaches past the next system event: what is won goes, the rest waits."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from tests.timebank.books import DAILY, won
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


def test_time_behind_the_event_cannot_be_staked(books, call):
    books.step(3000)
    with pytest.raises(NotEnough, match="You have 10 minutes"):
        call.bet(600)
    call.bet(540)
    assert call.purse.stake == 540
