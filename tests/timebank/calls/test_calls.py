"""Calls and their leases: one a caller, charged by the second, taken over, left behind."""

from __future__ import annotations

import pytest

from tests.timebank.books import in_english
from timebank import serving
from timebank.callers import callers
from timebank.callers.notices import add_notice, notices
from timebank.calls.calls import (
    ENDED_PREFIX,
    close_dead_calls,
    close_orphaned_calls,
    closed_calls,
    end_call,
    renew,
    touch,
)
from timebank.errors import AlreadyOnline, CallClosed, CallerLocked, UnknownCaller


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def stored(books, call):
    """The row of a call: ticked, charged, waived, note."""
    return books.sql("SELECT ticked, charged, waived, note FROM calls WHERE id = ?", call.id)[0]


def is_open(books, call) -> bool:
    return books.sql("SELECT closed IS NULL FROM calls WHERE id = ?", call.id) == [(1,)]


def test_the_seconds_since_the_last_entry_are_charged(books, call):
    books.wait(10)
    call.touch()
    books.wait(25)
    call.touch()
    assert call.moved == [("elapsed", 25, "online", "elapsed")]
    assert call.receipt.rows[0].why == "Time used on node 1"
    assert call.purse.online == 3565
    assert call.purse.ticked == 35
    assert stored(books, call) == (35, 35, 0, None)


def test_the_wall_clock_does_not_affect_the_charge(books, call):
    books.step(7200)
    call.touch()
    books.step(-14400)
    call.touch()
    assert call.moved == []
    assert stored(books, call)[:2] == (0, 0)


def test_ticks_that_go_back_charge_nothing(books, call):
    books.wait(60)
    call.touch()
    books.do(touch, call.id, 30)
    assert stored(books, call)[:2] == (60, 60)
    books.do(touch, call.id, 61)
    assert stored(books, call)[:2] == (61, 61)


def test_seconds_for_which_there_was_no_time_left_are_waived_for_good(books, call):
    books.wait(3600)
    call.touch()
    books.wait(120)
    call.touch()
    assert call.moved == []
    assert stored(books, call) == (3720, 3600, 120, None)


def test_the_purse_is_charged_before_the_rest_is_waived(books, call):
    books.wait(4000)
    call.touch()
    assert call.moved == [("elapsed", 3600, "online", "elapsed")]
    assert stored(books, call) == (4000, 3600, 400, None)


def test_a_closed_call_takes_no_more_entries(books, call):
    books.wait(10)
    call.close()
    assert call.moved == [("elapsed", 10, "online", "elapsed")]
    for operation in (call.touch, call.close, lambda: call.bet(60), lambda: call.withdraw(60)):
        with pytest.raises(CallClosed):
            operation()
    assert books.sql("SELECT closed - opened, reason FROM calls") == [(10, "hung up")]


def test_a_call_that_ends_at_once_is_charged_a_second(books, call):
    call.win(600, 900)
    call.close()
    assert call.moved == [("elapsed", 1, "online", "elapsed")]
    assert stored(books, call) == (1, 1, 0, None)


def test_a_second_is_charged_once_however_soon_the_end_follows_it(books, call):
    books.wait(1)
    call.touch()
    call.close()
    assert call.moved == []
    assert stored(books, call) == (1, 1, 0, None)


def test_a_caller_with_an_empty_purse_is_not_charged(books, ann):
    call = books.call(ann)
    books.wait(3600)
    call.close()
    again = books.call(ann)
    again.close()
    assert again.moved == []
    assert stored(books, again) == (1, 0, 1, None)


def test_a_call_that_is_taken_over_at_once_is_charged_a_second(books, ann, call):
    books.call(ann, take_over=True)
    assert stored(books, call) == (1, 1, 0, None)


def test_a_call_that_dies_before_its_first_renewal_is_charged_a_second(books, call):
    books.wait(60)
    books.server_dies()
    assert books.do(close_dead_calls) == [call.id]
    assert stored(books, call)[:3] == (1, 1, 0)


def test_a_call_that_never_was_takes_no_entries(books):
    with pytest.raises(CallClosed):
        books.do(touch, 99, 0)


def test_a_second_call_of_a_caller_is_refused_with_the_place_of_the_first(books, ann):
    first = books.call(ann, node=3)
    opened = books.now
    books.wait(20)
    with pytest.raises(AlreadyOnline, match="already online on node 3") as refused:
        books.call(ann, node=4)
    assert (refused.value.node, refused.value.since) == (3, opened)
    assert refused.value.call_id == first.id
    assert is_open(books, first)


def test_taking_over_closes_the_old_call_and_charges_it_to_this_moment(books, ann):
    old = books.call(ann, node=1)
    books.wait_in_a_call(10)
    old.renew()
    books.wait_in_a_call(7)
    new = books.call(ann, node=2, take_over=True)
    assert new.opened.taken_over
    assert stored(books, old) == (17, 17, 0, None)
    assert books.sql("SELECT reason FROM calls WHERE id = ?", old.id) == [
        ("taken over from node 2",)
    ]
    assert new.purse.online == 3583
    with pytest.raises(CallClosed):
        old.touch()
    books.wait_in_a_call(3)
    new.touch()
    assert new.purse.online == 3580


def test_a_call_posted_after_its_renewal_is_not_charged_twice(books, ann):
    old = books.call(ann)
    books.wait(10)
    old.renew()
    books.wait(8)
    old.touch()
    new = books.call(ann, take_over=True)
    assert stored(books, old) == (18, 18, 0, None)
    assert new.purse.online == 3582


def test_a_clock_stepped_back_charges_a_call_that_is_taken_over_no_further(books, ann):
    old = books.call(ann)
    books.wait(10)
    old.renew()
    books.step(-3600)
    books.call(ann, take_over=True)
    assert stored(books, old) == (10, 10, 0, None)


def test_a_dead_call_is_charged_to_its_last_renewal_and_says_so(books, ann):
    old = books.call(ann)
    books.wait(10)
    old.renew()
    books.wait(60)
    books.server_dies()
    new = books.call(ann, take_over=True)
    assert not new.opened.taken_over
    assert stored(books, old) == (
        10,
        10,
        0,
        "The lease was last renewed 10 seconds after log-on;"
        " the seconds after that were not charged.",
    )
    assert new.purse.online == 3590


def test_a_dead_call_gives_way_without_a_question(books, ann):
    books.call(ann)
    books.server_dies()
    assert books.call(ann).purse.online == 3599


@pytest.mark.of_a_file
def test_a_call_in_a_file_lives_as_long_as_its_server_has_the_lock(books, ann):
    """However long it says nothing: it may be stopped, and go on."""
    call = books.call(ann)
    with serving.take(books.settings.lock, serving.SERVING):
        books.wait(86_400)
        assert books.do(close_dead_calls) == []
        with pytest.raises(AlreadyOnline):
            books.call(ann)
    assert books.do(close_dead_calls) == [call.id]


def test_renewing_moves_no_time(books, call):
    books.wait(10)
    assert not call.renew()
    assert books.sql("SELECT renewed - opened, ticked_at_renewal, ticked FROM calls") == [
        (10, 10, 0)
    ]


def test_renewing_tells_which_calls_are_gone(books, ann):
    old = books.call(ann)
    bob = books.call(books.caller("Bob"), node=2)
    new = books.call(ann, node=3, process="another", take_over=True)
    lost, strays = books.do(renew, "p", [(old.id, 5), (bob.id, 5), (new.id, 5)])
    assert lost == {old.id: "taken over from node 3", new.id: ""}
    assert strays == set()


def test_a_call_left_open_by_its_server_is_closed_at_the_second_renewal(books, ann):
    """Its caller has gone while nothing could be written."""
    left, bob = books.call(ann), books.call(books.caller("Bob"), node=2)
    books.wait(10)
    left.renew()
    books.wait(10)
    assert books.do(renew, "p", [(bob.id, 20)]) == ({}, {left.id})
    books.wait(10)
    begun = books.call(books.caller("Cora"), node=3)
    assert books.do(renew, "p", [(bob.id, 30)], {left.id}) == ({}, {begun.id})
    assert not is_open(books, left)
    assert stored(books, left)[:2] == (10, 10)
    assert is_open(books, begun)
    assert books.audit() == []


@pytest.mark.parametrize("why", ["", "Go to bed"])
def test_a_call_ended_by_the_sysop_is_charged_to_that_moment(books, ann, why):
    call = books.call(ann)
    books.wait_in_a_call(10)
    call.renew()
    books.wait_in_a_call(7)
    assert books.do(end_call, call.id, why)
    assert not is_open(books, call)
    assert stored(books, call)[0] == 17
    assert books.do(renew, "p", [(call.id, 20)])[0] == {call.id: f"{ENDED_PREFIX}{why}"}
    assert books.do(closed_calls, "p", [call.id]) == {call.id: f"{ENDED_PREFIX}{why}"}
    assert not books.do(end_call, call.id, why)
    assert books.audit() == []


def test_any_arriving_call_closes_dead_ones(books, ann):
    dead = books.call(ann)
    books.wait(10)
    dead.renew()
    books.wait(25)
    assert books.do(close_dead_calls) == []
    books.server_dies()
    assert books.do(close_dead_calls) == [dead.id]
    assert stored(books, dead)[:2] == (10, 10)
    assert books.do(close_dead_calls) == []


def test_the_ticks_of_a_renewal_never_go_back(books, call):
    books.do(renew, "p", [(call.id, 50)])
    books.do(renew, "p", [(call.id, 40)])
    assert books.sql("SELECT ticked_at_renewal FROM calls") == [(50,)]


def test_a_locked_or_missing_caller_cannot_call(books, ann):
    books.do(callers.set_locked, ann, True)
    with pytest.raises(CallerLocked):
        books.call(ann)
    with pytest.raises(UnknownCaller):
        books.call(99)
    books.do(callers.set_locked, ann, False)
    assert books.call(ann).purse.online == 3600


def test_notices_are_given_at_the_log_on_until_they_were_read(books, ann):
    books.do(add_notice, ann, "Bob sent you 5 minutes.")
    books.do(add_notice, ann, "Welcome.")
    call = books.call(ann)
    assert call.notices == ("Bob sent you 5 minutes.", "Welcome.")
    books.do(add_notice, ann, "Another.")
    call.close()
    again = books.call(ann)
    assert again.notices == ("Bob sent you 5 minutes.", "Welcome.", "Another.")
    assert in_english(books.do(notices, ann)) == again.notices
    again.close()
    assert books.call(ann).notices == ()


def test_an_entry_of_a_dead_call_leaves_nothing_past_the_event(books, ann):
    call = books.call(ann)
    books.wait(5)
    call.renew()
    books.wait(14 * 3600 + 1800)
    books.server_dies()
    books.do(close_dead_calls)
    assert books.balances(ann)["online"] == 1795
    assert books.balances(ann)["held"] == 1800


def test_the_call_of_a_process_that_is_known_to_be_gone_is_closed_at_once(books, ann):
    call = books.call(ann)
    books.wait(10)
    books.do(renew, "p", [(call.id, 10)])
    assert books.do(close_orphaned_calls, lambda process: False) == []
    assert is_open(books, call)
    assert books.do(close_orphaned_calls, lambda process: process == "p") == [call.id]
    assert not is_open(books, call)
    assert stored(books, call)[0] in (0, 10)
    assert stored(books, call)[:2] == (10, 10)
