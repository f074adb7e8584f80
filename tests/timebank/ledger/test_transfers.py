"""transfer(), its rows, and the schema's refusals."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from tests.timebank.books import GAME, NOON
from tests.timebank.by_hand import ByHand
from timebank.errors import NotEnough
from timebank.ledger import transfers
from timebank.ledger.transfers import ADJUSTMENT, ALLOTMENT, ELAPSED, Account, Movement
from timebank.reports import extracts
from timebank.reports.ledger_pages import Sought

pytestmark = pytest.mark.both_engines


def movement(source, target, amount, kind="adjustment", why="because") -> Movement:
    return Movement(source, target, amount, ByHand(kind, why), None, None)


@pytest.fixture
def ann(books):
    """A caller with an account of each kind."""
    caller_id = books.caller("Ann")
    rows = books.sql("SELECT kind, id FROM accounts WHERE caller_id = ?", caller_id)
    return {kind: Account(number, kind, "second") for kind, number in rows}


def test_a_transfer_moves_an_amount_and_the_balances_follow(books, ann):
    rows = books.do(transfers.transfer, [movement(ADJUSTMENT, ann["online"], 90)])
    assert rows == ((1, ByHand("adjustment", "because"), 90, "second", "adjustment", "online"),)
    assert (rows[0].kind, rows[0].why) == ("adjustment", "because")
    assert books.system()["adjustment"] == -90
    assert books.sql("SELECT balance FROM accounts WHERE id = ?", ann["online"].id) == [(90,)]


def test_the_movements_of_an_entry_follow_one_another_and_know_their_place(books, ann):
    books.do(transfers.transfer, [movement(ADJUSTMENT, ann["bank"], 5)])
    rows = books.do(
        transfers.transfer,
        [
            movement(ADJUSTMENT, ann["online"], 90),
            movement(ann["online"], ann["bank"], 60),
            movement(ann["online"], ELAPSED, 30),
        ],
    )
    assert [row.number for row in rows] == [2, 3, 4]
    stored = books.sql("SELECT id, entry, place, size, amount FROM transfers ORDER BY id")
    assert stored == [(1, 1, 1, 1, 5), (2, 2, 1, 3, 90), (3, 2, 2, 3, 60), (4, 2, 3, 3, 30)]


def test_an_entry_without_movements_is_no_entry(books):
    assert books.do(transfers.transfer, []) == ()
    assert books.sql("SELECT count(*) FROM transfers") == [(0,)]


def test_an_entry_that_takes_more_than_there_is_moves_nothing_at_all(books, ann):
    with pytest.raises(NotEnough):
        books.do(
            transfers.transfer,
            [
                movement(ADJUSTMENT, ann["online"], 10),
                movement(ann["online"], ann["bank"], 11),
            ],
        )
    assert books.sql("SELECT count(*) FROM transfers") == [(0,)]
    assert books.system()["adjustment"] == 0


def test_an_account_may_not_be_below_zero_between_two_movements_either(books, ann):
    with pytest.raises(NotEnough):
        books.do(
            transfers.transfer,
            [
                movement(ann["online"], ann["bank"], 10),
                movement(ADJUSTMENT, ann["online"], 10),
            ],
        )
    assert books.sql("SELECT count(*) FROM transfers") == [(0,)]


@pytest.mark.parametrize("amount", [0, -1])
def test_an_amount_is_above_zero(books, ann, amount):
    with pytest.raises(ValueError, match="not a transfer"):
        books.do(transfers.transfer, [movement(ADJUSTMENT, ann["online"], amount)])


@pytest.mark.parametrize("kind", ["online", "held", "bank", "stake"])
def test_a_balance_is_never_below_zero(books, ann, kind):
    with pytest.raises(NotEnough):
        books.do(transfers.transfer, [movement(ann[kind], ELAPSED, 1)])


def test_a_loan_is_never_above_zero(books, ann):
    books.do(transfers.transfer, [movement(ann["loan"], ann["online"], 60)])
    books.do(transfers.transfer, [movement(ann["online"], ann["loan"], 60)])
    with pytest.raises(NotEnough):
        books.do(transfers.transfer, [movement(ADJUSTMENT, ann["loan"], 1)])


def test_the_house_and_the_allotment_may_go_below_zero(books, ann):
    house = books.do(transfers.house, GAME, "second")
    books.do(
        transfers.transfer,
        [movement(house, ann["online"], 60), movement(ALLOTMENT, ann["online"], 60)],
    )
    assert books.system()["house"] == -60
    assert books.system()["allotment"] == -60


def test_units_never_mix(books, ann):
    dollars = books.do(transfers.house, "vegas", "usd-cent")
    with pytest.raises(ValueError, match="not a transfer"):
        books.do(transfers.transfer, [movement(dollars, ann["online"], 60)])
    disguised = dollars._replace(unit="second")
    with pytest.raises(IntegrityError, match="units never mix"):
        books.do(transfers.transfer, [movement(disguised, ann["online"], 60)])


def test_a_house_is_opened_once_a_game_and_unit(books):
    first = books.do(transfers.house, GAME, "second")
    assert books.do(transfers.house, GAME, "second") == first
    assert books.do(transfers.house, GAME, "usd-cent") != first
    assert books.do(transfers.house, "baccarat", "second") != first


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE transfers SET amount = 1",
        "UPDATE transfers SET facts = '{}'",
        "DELETE FROM transfers",
        "DELETE FROM transfers WHERE id = 1",
    ],
)
def test_the_database_refuses_to_change_or_delete_a_transfer(books, ann, statement):
    books.do(transfers.transfer, [movement(ADJUSTMENT, ann["online"], 90)])
    before = books.sql("SELECT * FROM transfers")
    with pytest.raises(IntegrityError, match="only ever added"):
        books.sql(statement)
    assert books.sql("SELECT * FROM transfers") == before


def test_lines_can_be_chosen_by_caller_call_hand_and_day(books, ann):
    books.do(transfers.transfer, [movement(ADJUSTMENT, ann["bank"], 60)])
    books.wait_until(NOON + timedelta(days=1))
    bob = books.call(books.caller("Bob"))
    books.wait(100)
    bob.lose(60)

    def chosen(**filters):
        sought = Sought(**filters)
        return [(row.kind, row.caller, row.game) for row in books.do(extracts.chosen, sought)]

    bets = [("stake", "Bob", GAME), ("lost", "Bob", GAME)]
    today = [("grant", "Bob", None), ("elapsed", "Bob", None), *bets]
    assert chosen(hand=bob.round_id) == bets
    assert chosen(hand=bob.round_id, until=NOON.date()) == chosen(hand=99) == []
    assert chosen(call=bob.id) == chosen(since=NOON.date() + timedelta(days=1)) == today
    assert chosen(callers=(1,)) == chosen(until=NOON.date()) == [("adjustment", "Ann", None)]
    assert len(chosen()) == 5
