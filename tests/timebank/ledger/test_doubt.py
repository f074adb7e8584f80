"""A failed COMMIT is resolved by its number, once another is on the disk."""

from __future__ import annotations

import pytest

from timebank.callers.notices import add_notice
from timebank.errors import StillInDoubt
from timebank.ledger.sqlite import doubt as doubts
from timebank.ledger.sqlite import high_water
from timebank.ledger.sqlite.doubt import SqliteDoubt

pytestmark = pytest.mark.of_a_file


@pytest.fixture
def next_number(books) -> int:
    books.caller("Ann")
    books.do(add_notice, 1, "before")
    return books.do(lambda desk: high_water.read_count(desk.connection)) + 1


@pytest.fixture
def doubt(books, next_number) -> SqliteDoubt:
    return SqliteDoubt(books.database.engine, books.database.path, next_number)


def revive(books) -> None:
    """Add a transaction to the books without its note."""
    with books.database.engine.begin() as connection:
        high_water.count_transaction(connection)


def test_an_uncounted_transaction_is_absent(doubt):
    assert doubt.settle() is False


def test_a_transaction_with_a_reused_number_is_absent(books, doubt):
    books.do(add_notice, 1, "another's")
    assert doubt.settle() is False


def test_a_counted_transaction_without_a_note_is_unknown(books, doubt):
    revive(books)
    assert doubt.settle() is None
    books.do(add_notice, 1, "after")
    assert doubt.settle() is None


def test_a_transaction_without_writes_is_absent(books):
    assert SqliteDoubt(books.database.engine, books.database.path, None).settle() is False


def test_a_log_that_cannot_be_carried_over_leaves_the_doubt(books, doubt, monkeypatch):
    revive(books)
    with monkeypatch.context() as others:
        others.setattr(doubts.sqlite, "checkpoint_all", lambda connection: False)
        for _ in range(2):
            with pytest.raises(StillInDoubt, match="others keep the log"):
                doubt.settle()
    assert doubt.settle() is None
