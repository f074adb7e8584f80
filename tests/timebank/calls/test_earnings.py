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
def test_the_grant_pays_for_deposits_and_what_was_earned_is_banked(books, ann, acts, banked):
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
def test_a_repayment_of_an_earlier_loan_takes_nothing_from_what_is_earned(books, ann, acts):
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


def test_no_more_is_banked_than_is_left_when_a_deposit_took_some_of_the_winnings(books, ann):
    limit(books, deposit=120)
    call = books.call(ann)
    win(call, 40)
    deposit(call, 90)
    call.next_day()
    assert saved(books, ann) == 90 * MINUTE + 10 * MINUTE - 1


# Whatever else is done on a day.

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
            call = call.next_day()
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
