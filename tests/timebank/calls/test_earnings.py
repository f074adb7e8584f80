"""Earnings at the end of a day: the grant pays for everything first."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import (
    MINUTE,
    borrow,
    deposit,
    give,
    limit,
    repay,
    saved,
    withdraw,
)
from timebank.callers import callers


def win(call, minutes):
    call.win(MINUTE, MINUTE * minutes)


def lose(call, minutes):
    call.lose(MINUTE * minutes)


ACTS = {"win": win, "deposit": deposit, "withdraw": withdraw, "lose": lose, "borrow": borrow}
ACTS["repay"] = repay


@pytest.mark.parametrize(
    ("acts", "banked"),
    [
        ([("deposit", 55), ("win", 40)], 95),
        ([("win", 40), ("deposit", 55)], 95),
        ([("win", 40), ("deposit", 55), ("lose", 15)], 80),
        ([("deposit", 55), ("withdraw", 60)], 55),
        ([("borrow", 30), ("deposit", 30)], 60),
        ([("borrow", 30), ("repay", 30)], 0),
        ([("borrow", 30), ("win", 40)], 50),  # of winnings the loan takes a half
    ],
)
def test_the_grant_pays_for_deposits_and_earnings_are_banked(books, ann, acts, banked):
    limit(books, known_days=0, loan_share=50)
    give(books, ann, 300)
    call = books.call(ann)
    for way, minutes in acts:
        ACTS[way](call, minutes)
    call.next_day()
    assert saved(books, ann) == (300 + banked) * MINUTE
    assert books.audit() == []


@pytest.mark.parametrize(
    "acts", [[("repay", 30), ("win", 20)], [("repay", 30), ("borrow", 30), ("repay", 10)]]
)
def test_a_repayment_of_an_earlier_loan_does_not_reduce_earnings(books, ann, acts):
    limit(books, known_days=0, loan_share=0)
    call = books.call(ann)
    borrow(call, 30)
    books.wait(90 * MINUTE)
    call = call.next_day()
    for way, minutes in acts:
        ACTS[way](call, minutes)
    call.next_day()
    assert saved(books, ann) == 20 * MINUTE


def test_winnings_are_banked_next_to_a_deposit_at_log_off(books, ann):
    books.do(callers.set_preferences, ann, {"auto_deposit": 1})
    limit(books, deposit=60)
    call = books.call(ann)
    win(call, 100)
    call.next_day()
    # The second that a call costs at least is of the grant, which is all deposited.
    assert saved(books, ann) == 160 * MINUTE - 1


def test_banking_is_limited_to_the_rest_after_a_deposit_from_winnings(books, ann):
    limit(books, deposit=120)
    call = books.call(ann)
    win(call, 40)
    deposit(call, 90)
    call.next_day()
    assert saved(books, ann) == 90 * MINUTE + 10 * MINUTE - 1
