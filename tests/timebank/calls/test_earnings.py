"""What counts as earned when a day ends: the grant pays for everything first."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tests.examples import EXAMPLES
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
from tests.timebank.books import Books
from timebank.callers import callers
from timebank.errors import Refused

DAY = 86400


@pytest.fixture
def ann(books):
    return books.caller("Ann")


def next_day(books, call):
    """End a call, and return the first one of the next day."""
    call.close()
    books.wait(DAY)
    return books.call(call.caller_id)


def win(call, minutes):
    call.win(MINUTE, MINUTE * minutes)


def lose(call, minutes):
    call.lose(MINUTE * minutes)


# Deposits.


@pytest.mark.parametrize("first", ["deposit", "win"])
def test_winnings_are_banked_next_to_a_deposit_in_either_order(books, ann, first):
    call = books.call(ann)
    for act in (deposit, win) if first == "deposit" else (win, deposit):
        act(call, 55 if act is deposit else 40)
    next_day(books, call)
    assert saved(books, ann) == (55 + 40) * MINUTE
    assert books.audit() == []


def test_savings_withdrawn_and_unused_are_banked_again_next_to_a_deposit(books, ann):
    give(books, ann, 300)
    call = books.call(ann)
    deposit(call, 55)
    withdraw(call, 60)
    next_day(books, call)
    assert saved(books, ann) == 355 * MINUTE


def test_a_loan_that_is_left_is_banked_next_to_a_deposit(books, ann):
    limit(books, known_days=0)
    call = books.call(ann)
    borrow(call, 30)
    deposit(call, 30)
    next_day(books, call)
    assert saved(books, ann) == 60 * MINUTE


def test_winnings_are_banked_next_to_a_deposit_at_log_off(books, ann):
    books.do(callers.set_preferences, ann, {"auto_deposit": 1})
    limit(books, deposit=60)
    call = books.call(ann)
    win(call, 100)
    next_day(books, call)
    # The second that a call costs at least is of the grant, which is all deposited.
    assert saved(books, ann) == 160 * MINUTE - 1


def test_no_more_is_banked_than_is_left_when_a_deposit_took_some_of_the_winnings(books, ann):
    limit(books, deposit=120)
    call = books.call(ann)
    win(call, 40)
    deposit(call, 90)
    next_day(books, call)
    assert saved(books, ann) == 90 * MINUTE + 10 * MINUTE - 1


def test_a_loss_costs_winnings_whatever_was_deposited(books, ann):
    call = books.call(ann)
    win(call, 40)
    deposit(call, 55)
    lose(call, 15)
    next_day(books, call)
    assert saved(books, ann) == (55 + 25) * MINUTE


# Loans.


def test_a_loan_that_is_paid_back_on_its_day_earns_nothing(books, ann):
    limit(books, known_days=0)
    call = books.call(ann)
    borrow(call, 30)
    repay(call, 30)
    next_day(books, call)
    assert saved(books, ann) == 0


def test_a_repayment_of_an_earlier_loan_takes_nothing_from_winnings(books, ann):
    limit(books, known_days=0, loan_share=0)
    call = books.call(ann)
    borrow(call, 30)
    books.wait(90 * MINUTE)
    call = next_day(books, call)
    repay(call, 30)
    win(call, 20)
    next_day(books, call)
    assert saved(books, ann) == 20 * MINUTE


def test_a_new_loan_is_no_less_after_a_repayment_of_an_earlier_one(books, ann):
    limit(books, known_days=0, loan_share=0)
    call = books.call(ann)
    borrow(call, 30)
    books.wait(90 * MINUTE)
    call = next_day(books, call)
    repay(call, 30)
    borrow(call, 30)
    repay(call, 10)
    next_day(books, call)
    assert saved(books, ann) == 20 * MINUTE


def test_the_share_of_winnings_that_a_loan_takes_is_not_banked(books, ann):
    limit(books, known_days=0, loan_share=50)
    call = books.call(ann)
    borrow(call, 30)
    win(call, 40)
    next_day(books, call)
    assert saved(books, ann) == (30 + 20) * MINUTE
    assert books.balances(ann)["loan"] == 0


# Whatever else is done on a day.

ACTS = {"win": win, "deposit": deposit, "withdraw": withdraw, "lose": lose, "borrow": borrow}
ACTS["repay"] = repay
an_act = st.tuples(st.sampled_from(list(ACTS)), st.integers(1, 60))
some_days = st.lists(st.lists(an_act, min_size=2, max_size=8), min_size=1, max_size=4)


@given(days=some_days, share=st.sampled_from((0, 50, 100)), used=st.integers(0, 3600))
@settings(max_examples=EXAMPLES * 10, deadline=None)
def test_no_less_is_banked_when_a_day_ends_for_having_deposited(days, share, used):
    """A deposit saves what the end of the day would have forfeited, and nothing else."""
    ends = play(days, share, used)
    # Callers who have deposited have less time, so they can do without a deposit what they did.
    without = play([[act for act in end.done if act[0] != "deposit"] for end in ends], share, used)
    saved_more = 0
    for end, other in zip(ends, without, strict=True):
        deposited = sum(MINUTE * minutes for way, minutes in end.done if way == "deposit")
        assert [act for act in end.done if act[0] != "deposit"] == other.done
        least, most = saved_more + min(deposited, other.forfeited), saved_more + deposited
        saved_more = end.banked - other.banked
        assert least <= saved_more <= most


class End(NamedTuple):
    """How a day ended: what was possible on it, and what is in the bank then."""

    done: list[tuple[str, int]]
    forfeited: int
    banked: int


def play(days, share: int, used: int) -> list[End]:
    """Play days that end with a call of so many seconds."""
    ends = []
    with TemporaryDirectory() as folder:
        books = Books(Path(folder), events=())
        limit(books, known_days=0, loan_share=share)
        ann = books.caller("Ann")
        give(books, ann, 400)
        call = books.call(ann)
        for day in days:
            done = [act for act in day if is_possible(call, *act)]
            books.wait(used)
            call = next_day(books, call)
            forfeited = sum(amount for kind, amount, *_ in call.moved if kind == "forfeit")
            ends.append(End(done, forfeited, saved(books, ann)))
        assert books.audit() == []
        books.close()
    return ends


def is_possible(call, way: str, minutes: int) -> bool:
    try:
        ACTS[way](call, minutes)
    except Refused:
        return False
    return True
