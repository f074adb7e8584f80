"""A frozen account takes nothing in, yet its caller's earnings are not lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.timebank.at_the_window import give, saved
from tests.timebank.books import in_english
from tests.timebank.hosts import comes, known
from timebank.window.corrections import freeze, unfreeze

DAY = 86400


@pytest.fixture
def ann(books):
    number = books.caller("Ann")
    give(books, number, 10)
    return number


def set_frozen(books, caller_id, is_frozen=True):
    books.do(freeze if is_frozen else unfreeze, caller_id, "a dispute", "Sysop")


def test_it_is_banked_when_the_day_ends_on_which_the_account_is_opened(books, ann):
    call = books.call(ann)
    call.win(600, 900)
    call.close()
    set_frozen(books, ann)
    for day in range(3):
        books.wait(DAY)
        call = books.call(ann)
        assert call.purse.online == 3600 + 900, day
        assert in_english(call.receipt.remarks) == (
            "Your account is frozen: you keep what you earned in your pot, 15 minutes.",
        )
        assert ("grant", 3600, "allotment", "online") in call.moved
        call.close()
        assert saved(books, ann) == 600
    set_frozen(books, ann, False)
    books.wait(DAY)
    call = books.call(ann)
    assert ("carry", 900, "online", "bank") in call.moved
    assert call.receipt.remarks == ()
    assert books.audit() == []


def test_a_loss_of_the_next_day_costs_it_and_a_win_adds_to_it(books, ann):
    call = books.call(ann)
    call.win(600, 900)
    set_frozen(books, ann)
    call = call.next_day()
    call.lose(600)
    call.win(60, 120)
    assert call.next_day().purse.online == 3600 + 420


def test_winnings_that_an_event_cuts_off_wait_behind_it(open_books):
    books = open_books(now=datetime(2026, 6, 2, 2, tzinfo=UTC))
    ann = books.caller("Ann")
    set_frozen(books, ann)
    call = books.call(ann)
    call.win(600, 900)
    assert call.moved[-1] == ("held", 900, "online", "held")
    call.close()
    books.wait(2 * 3600)
    call = books.call(ann)
    assert call.purse.online == 3600 - 1 + 900
    assert call.next_day().purse.online == 3600 + 900
    assert saved(books, ann) == 0
    assert books.audit() == []


def test_winnings_of_a_frozen_guest_wait_and_stay_when_the_guest_leaves(open_books):
    """A guest's purse must be empty then, and nothing but the account is left for a gain."""
    books = open_books(now=datetime(2026, 6, 2, 2, tzinfo=UTC))
    guest = known(books)
    set_frozen(books, guest)
    call = comes(books, guest)
    call.win(600, 900)
    assert call.moved[-1] == ("held", 900, "online", "held")
    call.close()
    assert saved(books, guest) == 900
    assert books.audit() == []
