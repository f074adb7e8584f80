"""The uncharged minutes of a day: counted before use, and limited."""

from __future__ import annotations

from datetime import time, timedelta
from functools import partial

import pytest

from tests.timebank.books import DAILY, Call
from tests.timebank.hosts import comes, known
from timebank.calls import clock_mend, grace
from timebank.calls.calls import close_dead_calls
from timebank.calls.grace import PIECE_SECONDS, GracePiece
from timebank.errors import CallClosed
from timebank.settings.schedule import Event
from timebank.settings.settings import LAST_SECONDS, BankLimits
from timebank.window.teller import borrow

MINUTE = 60


@pytest.fixture
def call(books, ann):
    """Open a call of Ann's without minutes left."""
    books.change(grace_minutes=1)
    call = books.call(ann)
    books.wait(60 * MINUTE)
    call.touch()
    return call


def take(call: Call, *, to_look_around: bool = True) -> GracePiece:
    given = call.books.do(
        partial(grace.take_piece, to_look_around=to_look_around), call.id, call.ticked
    )
    call.receipt = given.receipt
    return given


def counted(books) -> list[int]:
    return [seconds for (seconds,) in books.sql("SELECT grace FROM days ORDER BY caller_id, day")]


def test_the_minutes_of_a_day_are_given_in_pieces_and_nothing_is_charged(books, call):
    first, second, third = (take(call) for _ in range(3))
    assert [(each.seconds, each.left) for each in (first, second, third)] == [
        (PIECE_SECONDS, MINUTE - PIECE_SECONDS),
        (PIECE_SECONDS, 0),
        (0, 0),
    ]
    assert counted(books) == [MINUTE]
    books.wait(MINUTE)
    call.touch()
    assert call.moved == []
    assert books.sql("SELECT charged, waived FROM calls") == [(60 * MINUTE, MINUTE)]
    assert books.audit() == []


def test_a_caller_with_time_left_gets_none(books, ann):
    call = books.call(ann)
    assert take(call).seconds == 0
    assert counted(books) == [0]


def test_two_extra_minutes_serve_actions_other_than_looking_around(books, ann, call):
    given = [take(call, to_look_around=False).seconds for _ in range(8)]
    assert given == [*[PIECE_SECONDS] * 6, 0, 0]
    assert take(call).seconds == 0
    assert counted(books) == [MINUTE + LAST_SECONDS]
    again = books.call(ann, take_over=True)
    assert take(again, to_look_around=False).seconds == 0
    assert books.audit() == []


def test_a_caller_of_another_board_has_the_two_minutes_alone(books):
    books.change(grace_minutes=5)
    guest = known(books)
    for given in ([PIECE_SECONDS] * 4, [0]):
        call = comes(books, guest, MINUTE)
        books.wait(MINUTE)
        assert take(call).seconds == 0
        assert [take(call, to_look_around=False).seconds for _ in given] == given
        call.close()
    assert counted(books) == [LAST_SECONDS]
    assert books.audit() == []


def test_looking_around_leaves_the_two_extra_minutes(books, call):
    assert (take(call).seconds, take(call).seconds, take(call).seconds) == (
        PIECE_SECONDS,
        PIECE_SECONDS,
        0,
    )
    assert take(call, to_look_around=False).left == LAST_SECONDS - PIECE_SECONDS


def test_none_is_given_where_the_sysop_wants_none(books, call):
    books.change(grace_minutes=0)
    assert take(call).seconds == 0


def test_the_unused_rest_of_a_piece_is_returned_and_granted_again(books, ann, call):
    given = take(call)
    books.wait(10)
    books.do(grace.give_back, ann, given.day, PIECE_SECONDS - 10)
    assert counted(books) == [10]
    given = take(call)
    assert (given.seconds, given.left) == (PIECE_SECONDS, MINUTE - 10 - PIECE_SECONDS)
    books.do(grace.give_back, ann, given.day, 2 * PIECE_SECONDS)  # more than was ever given
    assert counted(books) == [10 + PIECE_SECONDS]


def test_all_calls_of_a_day_share_one_grace(books, ann, call):
    take(call)
    books.server_dies()
    books.do(close_dead_calls)  # as after a crash: the piece stays counted
    again = books.call(ann)
    assert (take(again).seconds, take(again).seconds) == (PIECE_SECONDS, 0)


def test_a_call_that_is_not_open_gets_none(books, ann, call):
    books.call(ann, take_over=True)
    with pytest.raises(CallClosed):
        take(call)
    assert counted(books) == [0]


def test_a_day_begins_with_all_of_them_and_with_minutes_that_come_first(books, ann, call):
    take(call)
    books.wait_until(books.now.replace(hour=0) + timedelta(days=1))
    assert take(call).seconds == 0  # a new day has brought sixty
    books.wait(60 * MINUTE)
    assert take(call).left == MINUTE - PIECE_SECONDS
    assert counted(books) == [PIECE_SECONDS, PIECE_SECONDS]


def test_a_day_with_its_grant_taken_by_a_loan_has_the_full_grace(books, ann, call):
    books.change(limits=BankLimits(loan=60 * MINUTE, loan_share=100, known_days=0))
    call.post(borrow, 60 * MINUTE)
    books.wait(60 * MINUTE)
    call.touch()
    books.wait_until(books.now.replace(hour=0) + timedelta(days=1))
    given = take(call)
    assert (given.seconds, given.left) == (PIECE_SECONDS, MINUTE - PIECE_SECONDS)
    assert counted(books) == [0, PIECE_SECONDS]
    assert books.audit() == []


def test_none_reaches_past_the_next_event(books, call):
    books.change(events=(Event("Backup", time(13, 1), DAILY, 60),), grace_minutes=5)
    books.wait(20)
    given = take(call)
    assert (given.seconds, given.left) == (PIECE_SECONDS, 10)
    books.wait(25)
    assert take(call).seconds == 15
    books.wait(15)
    assert take(call).seconds == 0
    assert counted(books) == [45]


def test_days_that_a_wrong_clock_began_give_no_second_minutes(books, ann, call):
    take(call)
    take(call)
    for ahead in (400, 1):
        books.step(ahead * 86_400)
        call.touch()
        books.wait(60 * MINUTE)
        take(call)
    assert counted(books) == [MINUTE, PIECE_SECONDS, PIECE_SECONDS]
    books.step(-401 * 86_400)
    books.do(clock_mend.mend, "Sysop")
    assert counted(books) == [MINUTE + 2 * PIECE_SECONDS]
    assert take(call).seconds == 0
    assert books.audit() == []
