"""The account that the simulation keeps of guests finds loans that are not paid first."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.timebank.at_the_window import MINUTE, borrow, deposit, limit
from tests.timebank.books import Books
from tests.timebank.hosts import comes, known
from timebank.window.sysop import freeze
from verify.simulate.second_account import SecondAccount
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

ROWS = """
SELECT t.kind, t.amount, s.kind, s.caller_id, g.kind, g.caller_id, t.call_id, t.round_id
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
ORDER BY t.id
"""


@pytest.fixture
def owing(tmp_path):
    """Books of a guest who borrows, loses a part, deposits one, and leaves."""
    books = Books(tmp_path)
    limit(books, known_days=0)
    call = comes(books, known(books), 600)
    borrow(call, 30)
    call.lose(10 * MINUTE)
    deposit(call, 15)
    call.close()
    yield books
    books.close()


def look(books: Books, *, left_out: str = "") -> None:
    """Go through the books, without transfers of a kind and source."""
    second = SecondAccount()
    with closing(sqlite3.connect(books.settings.database)) as file:
        second.learn(file)
        for kind, amount, source, giver, target, taker, *of in file.execute(ROWS):
            if f"{kind} {source}" != left_out:
                second.transfer(kind, amount, (source, giver), (target, taker), *of)
        second.look(file)


def test_an_account_that_does_not_pay_is_found(owing):
    with pytest.raises(Wrong, match="visit 1: 900 is left in the bank, and 1500 is owed"):
        look(owing, left_out="loan paid bank")


def test_an_account_that_is_frozen_need_not_pay(owing):
    owing.do(freeze, 1, "a dispute", "Sysop")
    look(owing, left_out="loan paid bank")


@pytest.mark.parametrize("kind", ["gain", "put back", "given back", "external"])
def test_what_leaves_while_a_loan_is_owed_is_found(owing, kind):
    second = SecondAccount()
    with closing(sqlite3.connect(owing.settings.database)) as file:
        second.learn(file)
    second.transfer("loan", 60, ("loan", 1), ("online", 1), 1, None)
    second.transfer("loan paid", 59, ("online", 1), ("loan", 1), 1, None)
    with pytest.raises(Wrong, match=f"{kind} 1, and 1 is owed"):
        second.transfer(kind, 1, ("online", 1), ("bank", 1), 1, None)
