"""The audit of hands for money, and of rounds of several callers."""

from __future__ import annotations

import pytest

from tests.timebank.books import lost, pushed, won


@pytest.fixture
def over(playing):
    """A round of three seats that is over, hands 1 to 3, and one that is not, 4 to 6."""
    playing.act(1, {1: lost(60), 2: pushed(120), 3: won(180, 180)})
    playing.bet({1: 60, 2: 60, 3: 60}, start=9)
    return playing


@pytest.fixture
def coups(books):
    """Hand 1 at Baccarat, won; hand 2 at UNIX bj, in play; both Eve's."""
    call = books.call(books.caller("Eve"))
    call.sit_down()
    call.coup(500_00, won(500_00, 500_00))
    call.hand_of_bj()
    return call


def account(books, kind, unit):
    return books.sql("SELECT id FROM accounts WHERE kind = ? AND unit = ?", kind, unit)[0][0]


def test_tables_and_play_money_are_in_order_as_they_were_written(books, over, coups):
    assert books.audit() == []


def test_a_bank_below_zero_is_found(books, coups, vandal):
    casino = account(books, "casino", "usd-cent")
    vandal(f"UPDATE accounts SET balance = -1 WHERE id = {casino}")
    findings = books.audit()
    assert f"account {casino} (casino of Eve (caller 1)): It may not hold -1." in findings
    assert any(line.startswith("unit usd-cent: All balances add up to") for line in findings)


def test_a_hand_in_another_unit_than_its_transfers_is_found(books, coups, vandal):
    vandal("UPDATE rounds SET unit = 'frf-cent' WHERE id = 1")
    assert books.audit() == ["hand 1: Some of its transfers are in another unit."]


@pytest.mark.parametrize(
    ("kind", "unit", "other"),
    [("casino", "usd-cent", "second"), ("online", "second", "usd-cent")],
)
def test_an_account_in_the_wrong_unit_is_found(books, coups, vandal, kind, unit, other):
    number = account(books, kind, unit)
    vandal(f"UPDATE accounts SET unit = '{other}' WHERE id = {number}")
    assert (
        f"account {number} ({kind} of Eve (caller 1)): It may not hold an amount of the unit"
        f" {other}." in books.audit()
    )


def test_a_seat_settled_without_the_others_is_found(books, over, vandal):
    vandal("UPDATE rounds SET settled = settled + 1 WHERE id = 2")
    assert books.audit() == ["hand 1: It did not end at the same time for all its seats."]


def test_a_seat_finished_while_the_others_play_is_found(books, over, vandal):
    vandal("UPDATE rounds SET settled = dealt, outcome = 'win' WHERE id = 6")
    assert books.audit() == [
        "hand 6: It is settled, and 60 is still on the table.",
        "caller 3: The stake account holds 60, the hands in play have 0 on the table.",
        "hand 4: It did not end at the same time for all its seats.",
    ]


@pytest.mark.parametrize(
    "change",
    [
        "game = 'baccarat'",
        "coin = 120",
        "rules = '{}'",
        "dealt = dealt + 1",
        "start_position = 3",
        "shoe_id = NULL",
        "lead = 5",
    ],
)
def test_seats_of_different_tables_in_one_round_are_found(books, over, vandal, change):
    vandal(f"UPDATE rounds SET {change} WHERE id = 6")
    assert any(line.startswith("hand 6: It cannot be played together") for line in books.audit())


def test_a_seat_before_the_leads_is_found(books, over, vandal):
    vandal("UPDATE rounds SET seat = 5 WHERE id = 4")
    assert books.audit() == [
        "hand 5: Its seat is not after that of hand 4.",
        "hand 6: Its seat is not after that of hand 4.",
    ]


def test_a_seat_that_was_made_its_own_lead_has_no_journal(books, over, vandal):
    vandal("UPDATE rounds SET lead = NULL WHERE id = 6")
    assert books.audit() == ["hand 6: Its journal has 0 actions, the last is -1."]


def test_an_action_journaled_under_a_seat_is_found(books, over, vandal):
    vandal("UPDATE actions SET round_id = 2 WHERE round_id = 1 AND sequence = 1")
    assert books.audit() == ["hand 2: It has a journal, but should share that of hand 1."]


@pytest.mark.parametrize("change", ["game = 'baccarat'", "caller_id = 2"])
def test_a_shoe_of_another_game_or_caller_is_found(books, over, vandal, change):
    vandal(f"UPDATE shoes SET {change}")
    findings = books.audit()
    assert "hand 1: It was dealt from shoe 1, which is another caller's or game's." in findings
    assert all("dealt from shoe" in line for line in findings)
