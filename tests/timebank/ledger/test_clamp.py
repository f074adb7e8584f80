"""No online time reaches past the next system event: winnings go, the rest waits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.timebank.books import won
from timebank.errors import NotEnough

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


def test_time_behind_the_event_cannot_be_staked(books, call):
    books.step(3000)
    with pytest.raises(NotEnough, match="You have 10 minutes"):
        call.bet(600)
    call.bet(540)
    assert call.purse.stake == 540
