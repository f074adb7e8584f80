"""A caller of another board leaves a shared table before the hand is over."""

from __future__ import annotations

import pytest

from tests.timebank.books import lost, pushed, won
from tests.timebank.hosts import HOUR, comes, debt, known
from tests.timebank.tables import Table


@pytest.fixture
def ann(books):
    """Ann of Xibalba."""
    return known(books)


@pytest.fixture
def table(books, ann):
    """Ann of Xibalba in seat 1, and Bob of ours in seat 2, with ten minutes bet by each."""
    table = Table(books, 2)
    table.calls[1].close()
    table.calls[1] = comes(books, ann)
    table.bet({1: 600, 2: 600})
    return table


@pytest.mark.parametrize(
    ("settlement", "in_the_bank", "owed"),
    [(won(600, 900), 900, 0), (pushed(600), 0, 0), (lost(600), 0, 600)],
)
def test_winnings_of_a_gone_guest_at_a_table_go_to_the_bank_only(
    books, ann, table, settlement, in_the_bank, owed
):
    table.calls[1].close()
    sitters = {1: table.gone(1), 2: table.sitter(2)}
    table.act(2, {1: settlement, 2: pushed(600)}, sitters=sitters)
    assert books.balances(ann) == {
        "online": 0,
        "held": 0,
        "bank": in_the_bank,
        "stake": 0,
        "loan": 0,
    }
    assert debt(books, ann) == owed
    assert books.audit() == []


def test_a_part_of_a_stake_lost_in_mid_hand_counts_at_the_end(books, ann, table):
    table.calls[1].close()
    sitters = {1: table.gone(1), 2: table.sitter(2)}
    table.act(2, {1: lost(120, final=False)}, sitters=sitters)
    assert debt(books, ann) == 0
    table.calls[1] = comes(books, ann)
    assert table.calls[1].purse.online == HOUR - 600
    table.act(1, {1: pushed(480), 2: pushed(600)})
    table.calls[1].close()
    assert debt(books, ann) == 120
    assert books.audit() == []


def test_while_she_is_there_it_comes_onto_her_clock(books, ann, table):
    table.act(2, {1: won(600, 900), 2: pushed(600)})
    assert table.receipts[1].purse.online == HOUR + 900
    assert books.audit() == []
