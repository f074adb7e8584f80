"""A new generation of the books: the first free numbers."""

from __future__ import annotations

import pytest

from timebank.ledger import generations
from timebank.ledger.generations import NUMBERED, ClosedCounts, begin, last_numbers


@pytest.fixture
def played(open_books):
    """Create books in which a hand has used every kind of number."""
    books = open_books()
    books.call(books.caller("Ann")).lose(60)
    return books


def begin_with(books, firsts):
    """Start the second generation with these first numbers."""
    with books.database.transaction(books.settings, books.now) as desk:
        closed, now = ClosedCounts(0, 0, 0), books.now
        return begin(desk.connection, 2, firsts, closed, now, None, "the tests", "for the test")


def last_of(books):
    with books.database.transaction(books.settings, books.now) as desk:
        return last_numbers(desk.connection)


@pytest.mark.parametrize("table", NUMBERED)
def test_no_table_begins_with_the_last_number_that_it_gave(played, table):
    last = last_of(played)
    firsts = {name: number + 1 for name, number in last.items()}
    with pytest.raises(ValueError, match="given already"):
        begin_with(played, {**firsts, table: last[table]})
    assert played.sql("SELECT count(*) FROM generations") == [(0,)]


def test_the_next_numbers_are_far_enough(played):
    firsts = {name: number + 1 for name, number in last_of(played).items()}
    assert begin_with(played, firsts).first_numbers == firsts
    with played.database.transaction(played.settings, played.now) as desk:
        assert generations.current(desk.connection) == 2
    played.caller("Bob")
    assert played.sql("SELECT max(id) FROM callers") == [(firsts["callers"],)]
