"""What changed a caller's balances: a sentence that adds up, with the words of each source."""

from __future__ import annotations

import pytest

from tests.timebank import adding_up
from tests.timebank.books import Books
from timebank.keeping import deletion
from timebank.ledger.transfers import balances
from timebank.reports import flows, ledger_pages
from timebank.reports.flows import GROUPS
from timebank.window import corrections, teller

MINUTE = 60


@pytest.fixture
def played(books: Books) -> Books:
    """Let Ann deposit, play for dollars and send time to Bob, who is deleted then."""
    books.ann, books.bob = books.caller("Ann"), books.caller("Bob")
    books.wait(10 * 86400)
    call = books.call(books.ann)
    call.post(teller.deposit, 20 * MINUTE)
    call.sit_down()
    call.coup(1000)
    call.post(teller.transfer, books.bob, 5 * MINUTE, "")
    call.post(teller.withdraw, MINUTE)
    books.do(corrections.adjust, books.ann, 2 * MINUTE, "a gift", "test")
    books.do(deletion.delete, books.bob)
    books.do(deletion.remove, books.bob)
    return books


def said(books: Books, caller_id: int, name: str) -> list[tuple[str, int]]:
    def look(desk):
        first, end = ledger_pages.numbers_between(desk, None, None)
        moved = flows.flows(desk, balances(desk, caller_id), caller_id, first, end)
        return [(term.words, term.amount) for term in moved.total(GROUPS[name]).terms]

    return books.do(look)


def test_each_account_is_said_by_its_own_sources(played: Books) -> None:
    assert said(played, played.ann, "together") == [
        ("granted", 3600),
        ("added in corrections", 120),
        ("sent", -300),
    ]
    assert said(played, played.ann, "bank") == [
        ("banked", 1200),
        ("added in corrections", 120),
        ("sent", -300),
        ("withdrawn", -60),
    ]
    assert said(played, played.ann, "dollars") == [("given to play", 10_000_000)]
    assert said(played, played.bob, "together") == [("received", 300), ("forfeited", -300)]


def test_days_add_up_in_sentences_statement_and_ledger(played: Books) -> None:
    assert played.do(adding_up.check) > 10
