"""Events that the sysop starts early: usable time ends there, and nothing is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.timebank.books import NOON, Books
from timebank.calls import clock_mend
from timebank.errors import EventRefused
from timebank.keeping import events
from timebank.keeping.events import EventAsked
from timebank.ledger import early_events

AT_ONCE = EventAsked(notice=0)
HALF_AN_HOUR = EventAsked(notice=30)


@pytest.fixture
def books(open_books):
    """Noon, fifteen hours before Mail hour."""
    return open_books(now=NOON)


@pytest.fixture
def call(books):
    return books.call(books.caller("Ann"))


def start(books: Books, asked: EventAsked = HALF_AN_HOUR) -> str:
    return books.do(events.start, asked, "Jane").words


def test_minutes_past_the_event_are_held_and_return_after_it(books, call):
    assert start(books) == (
        "Mail hour closes the board from 12:30 to 13:30, 60 minutes,"
        " in place of the one at 2026-06-02 03:00."
    )
    books.wait(60)
    call.touch()
    assert (call.purse.online, call.purse.held) == (29 * 60, 30 * 60)
    assert call.receipt.rows[-1].why == "30 minutes available after Mail hour at 12:30"
    books.wait(29 * 60)
    call.touch()
    assert call.purse.online == 0, "the board is closed"
    books.wait(60 * 60)
    call.touch()
    assert call.purse.held == 0
    assert call.purse.online == 30 * 60
    assert call.purse.closing.start == NOON + timedelta(days=1, hours=15), "tonight's is over"
    assert books.audit() == []


def test_a_process_without_the_news_obeys_the_event(books, call):
    other = books.settings.schedule
    start(books)
    assert other.early == (), "nobody told this process"
    call.touch()
    assert call.purse.online == 30 * 60


def test_a_cancelled_event_leaves_no_trace(books, call):
    start(books, EventAsked(minutes=1200, notice=30))
    books.wait(60)
    call.touch()
    assert call.purse.held == 30 * 60
    assert books.do(clock_mend.callers_ahead) == []
    assert books.do(events.take_back, "Jane") == (
        "Mail hour is taken back; Mail hour is from 2026-06-02 03:00 until 2026-06-02 04:00."
    )
    call.touch()
    assert (call.purse.online, call.purse.held) == (59 * 60, 0)
    assert books.audit() == []
    with pytest.raises(EventRefused, match="No event that was started early is on"):
        books.do(events.take_back, "Jane")
    assert [row[0] for row in books.sql("SELECT what FROM sysop_log ORDER BY id")] == [
        "Event started early: Mail hour closes the board from 12:30 to 2026-06-02 08:30,"
        " 1200 minutes, in place of the one at 2026-06-02 03:00",
        "Event taken back: Mail hour is taken back; Mail hour is from 2026-06-02 03:00 until"
        " 2026-06-02 04:00",
    ]


def test_minutes_held_earlier_wait_for_their_own_event_only(open_books):
    books = open_books(now=NOON + timedelta(hours=14, minutes=30))
    call = books.call(books.caller("Ann"))
    assert call.purse.held == 30 * 60
    start(books, EventAsked(minutes=10, notice=0))
    call.touch()
    assert (call.purse.online, call.purse.held) == (0, 60 * 60)
    assert books.do(clock_mend.callers_ahead) == []
    books.wait(600)
    call.touch()
    assert call.purse.held == 0
    assert books.audit() == []


def test_an_impossible_event_is_refused_with_the_reason(books):
    for asked, words in (
        (
            EventAsked("Repairs"),
            r"There is no event Repairs\. sysop.toml has: Mail hour\. For one of",
        ),
        (EventAsked("a|b", 5), "1 to 40 characters that can be shown"),
        (EventAsked("mail HOUR", notice=15 * 60), "Mail hour begins at 03:00 by itself"),
    ):
        with pytest.raises(EventRefused, match=words):
            start(books, asked)
    start(books, EventAsked("mail hour"))
    with pytest.raises(
        EventRefused, match="Mail hour was started early already, and begins at 12:01"
    ):
        start(books)
    books.wait(60)
    with pytest.raises(EventRefused, match="The board is closed for Mail hour until 13:01"):
        start(books)


def test_a_board_without_events_has_one_by_name(open_books):
    books = open_books(events=())
    with pytest.raises(
        EventRefused, match=r"There is no event to start early.*sysop.toml has none"
    ):
        start(books)
    start(books, EventAsked("Repairs", 5, 0))
    call = books.call(books.caller("Ann"))
    assert call.purse.online == 0
    books.wait(300)
    call.touch()
    assert call.purse.closing is None
    assert books.do(events.next_words) == "No system event is to come."


def test_each_takes_the_place_of_another_night(books):
    for night in (2, 3):
        start(books, AT_ONCE)
        (*_, event) = books.do(early_events.load)
        assert event.instead_of.day == night
        books.wait(3600)
    assert len(books.do(early_events.load)) == 2
    books.wait(4 * 86400)
    start(books, AT_ONCE)
    assert len(books.do(early_events.load)) == 1, "what is long over is forgotten"
