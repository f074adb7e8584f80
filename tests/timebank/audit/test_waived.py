"""The audit finds uncharged calls of callers who had minutes left."""

from __future__ import annotations

from datetime import time

import pytest

from tests.timebank.at_the_window import borrow, give, limit, withdraw
from tests.timebank.books import DAILY, stand_alone, won
from timebank.settings.schedule import Event
from timebank.wagers.rounds import Move

DAY = 86_400


def wrong(call, waived) -> str:
    return f"call {call.id}: {waived} seconds were not charged, but Ann always had time left."


def test_seconds_falsely_waived_are_found(books, ann, vandal):
    """Its next ten minutes cost nothing: they are accounted for."""
    call = books.call(ann)
    books.wait(60)
    call.touch()
    vandal("UPDATE calls SET ticked = ticked + 600, waived = 600")
    books.wait(600)
    call.touch()
    assert books.balances(ann)["online"] == 3540
    assert books.audit() == [wrong(call, 600)]
    call.close()
    again = books.call(ann)
    vandal(f"UPDATE calls SET ticked = 900, waived = 900 WHERE id = {again.id}")
    assert books.audit() == [wrong(call, 600), wrong(again, 900)]


def test_seconds_waived_for_empty_purses_are_in_order(books, ann):
    """Used up, borrowed and used up again; a call without any; and one over midnight."""
    limit(books, known_days=0)
    call = books.call(ann)
    books.wait(3700)
    call.touch()
    assert books.audit() == []
    borrow(call, 1)
    books.wait(90)
    call.close()
    assert books.audit() == []
    call = books.call(ann)
    books.wait(60)
    assert books.audit() == []
    books.wait(DAY)
    call.touch()
    assert [waived > 0 for (waived,) in books.sql("SELECT waived FROM calls")] == [True, True]
    assert books.audit() == []


def test_a_hand_that_is_over_without_its_caller_ends_nothing(books, ann):
    call = books.call(ann)
    number = call.bet(600)
    books.wait(3700)
    call.close()
    call = books.call(ann)
    books.wait(60)
    call.close()
    books.wait(3600)
    books.do(stand_alone, [Move(number, 1, {"action": "stay"}, 4)], won(600, 60))
    assert books.balances(ann)["online"] == 660
    assert books.audit() == []
    books.call(ann).close()
    assert books.audit() == []


@pytest.mark.parametrize("asks", [borrow, withdraw])
def test_a_loan_in_the_waived_second_is_in_order(books, ann, asks):
    """The first second was waived, and the minutes came in the same one."""
    limit(books, known_days=0)
    give(books, ann, 60)
    call = books.call(ann)
    books.wait(3700)
    call.close()
    call = books.call(ann)
    books.uptime += 1  # a second that has begun counts whole
    call.touch()
    asks(call, 1)
    assert books.sql(f"SELECT waived FROM calls WHERE id = {call.id}") == [(1,)]
    assert books.audit() == []


def test_a_win_in_the_waived_second_is_in_order(books, ann):
    """The first second was waived, and a hand of an earlier call was won in the same one."""
    call = books.call(ann)
    hand = call.bet(600)
    books.wait(3700)
    call.close()
    call = books.call(ann)
    books.uptime += 1  # a second that has begun counts whole
    call.touch()
    call.round_id, call.sequence = hand, 0
    call.act(won(600, 60))
    assert books.sql(f"SELECT waived FROM calls WHERE id = {call.id}") == [(1,)]
    assert books.balances(ann)["online"] == 660
    assert books.audit() == []


def test_time_that_is_released_at_once_was_not_there_before(books, ann):
    """The first second was waived, and the event was called off in the same one."""
    books.change(events=(Event("Backup", time(12, 30), DAILY, 60),))
    call = books.call(ann)
    books.uptime += 1800  # the wall clock is unchanged, so the event is still to come
    call.close()
    assert books.balances(ann) | {"online": 0, "held": 1800} == books.balances(ann)
    call = books.call(ann)
    books.uptime += 1  # a second that has begun counts whole
    call.touch()
    books.change(events=())
    call.touch()
    assert books.sql(f"SELECT waived FROM calls WHERE id = {call.id}") == [(1,)]
    assert books.balances(ann)["online"] == 1800
    assert books.audit() == []
