"""A failed COMMIT that somebody has revived counts only when it is on the disk."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from timebank.errors import StillInDoubt
from timebank.ledger.sqlite import doubt as doubts
from timebank.ledger.sqlite.doubt import SqliteDoubt

pytestmark = pytest.mark.of_a_file


@pytest.fixture
def revived(books, monkeypatch) -> SqliteDoubt:
    """A COMMIT that nobody could write over before others had recovered it."""
    doubt = SqliteDoubt(books.database.engine, books.database.path)
    monkeypatch.setattr(doubts.wal, "dead_commit", lambda path: "its frames")
    monkeypatch.setattr(doubts.wal, "counts", lambda path, dead: dead == "its frames")

    def fails(connection):
        raise OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))

    with monkeypatch.context() as disk:
        disk.setattr(doubts.sqlite, "rewrite_version", fails)
        with pytest.raises(StillInDoubt, match="disk I/O error"):
            doubt.settle()
    return doubt


def test_it_is_told_as_done_when_the_log_was_carried_over(revived):
    assert revived.settle()


def test_while_the_log_cannot_be_carried_over_nothing_is_told(revived, monkeypatch):
    with monkeypatch.context() as others:
        others.setattr(doubts.sqlite, "carried_over", lambda connection: False)
        for _ in range(2):
            with pytest.raises(StillInDoubt, match="others keep the log"):
                revived.settle()
    assert revived.settle()
