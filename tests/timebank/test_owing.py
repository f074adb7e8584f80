"""Nobody sends minutes to others who owes some; nor borrows in the place of what was sent."""

from __future__ import annotations

import pytest

from tests.timebank.hosts import HostCall, brought
from tests.timebank.window import MINUTE, allowed, borrow, deposit, give, limit, repay, saved, send
from timebank import bank, sysop_hand
from timebank.refusals import LimitReached, Refused

DAY = 86_400
OWES = r"^You owe {}: that must be paid back before you send any minutes\.$"


@pytest.fixture
def bob(books):
    return books.caller("Bob")


@pytest.fixture
def ann(books, bob):
    """Somebody who is known for long enough, on line, with 40 minutes saved."""
    number = books.caller("Ann")
    books.wait(8 * DAY)
    give(books, number, 40)
    return books.call(number)


def test_nothing_is_sent_while_anything_is_owed(books, ann, bob):
    borrow(ann, 30)
    refused = allowed(ann).transfer
    assert (refused.seconds, refused.why_not) == (
        0,
        "You owe 30 minutes: that must be paid back before you send any minutes.",
    )
    with pytest.raises(LimitReached, match=OWES.format("30 minutes")):
        send(ann, 1, bob)
    repay(ann, 29)
    with pytest.raises(LimitReached, match=OWES.format("1 minute")):
        send(ann, 1, bob)
    repay(ann, 1)
    assert allowed(ann).transfer.seconds == 40 * MINUTE
    send(ann, 1, bob)
    assert saved(books, bob) == MINUTE


def test_a_part_of_a_minute_is_owed_as_well(books, ann, bob):
    borrow(ann, 1)
    limit(books, loan_share=99)
    ann.win(60, 60)
    assert ann.purse.loan == -1
    with pytest.raises(LimitReached, match=OWES.format("1 second")):
        send(ann, 1, bob)


def test_savings_of_before_are_not_sent_either(books, ann, bob):
    """Nor is it a way round to put them on the clock and into the bank again."""
    borrow(ann, 30)
    ann.withdraw(20 * MINUTE)
    deposit(ann, 20)
    with pytest.raises(LimitReached, match=OWES.format("30 minutes")):
        send(ann, 20, bob)


def test_what_was_sent_is_not_lent_back_on_the_same_day(books, ann, bob):
    send(ann, 25, bob)
    assert allowed(ann).borrow.seconds == 5 * MINUTE
    with pytest.raises(
        LimitReached,
        match=r"^You may borrow 30 minutes a day, less what you send to others; 5 minutes of it",
    ):
        borrow(ann, 6)
    borrow(ann, 5)
    with pytest.raises(LimitReached, match="You owe 5 minutes"):
        send(ann, 1, bob)


def test_farming_is_worth_nothing(books, ann, bob):
    """A caller who sends and borrows all that is allowed sends no more than was granted,
    and never while owing anything."""
    ann.close()
    number = ann.caller_id
    granted = saved(books, number)
    for _ in range(12):
        books.wait(DAY)
        call = books.call(number)
        granted += 60 * MINUTE
        for _ in range(3):
            may = allowed(call)
            if may.deposit.seconds:
                call.post(bank.deposit, may.deposit.seconds)
            owed = -call.purse.loan
            if (most := allowed(call).transfer.seconds) > 0:
                assert owed == 0
                call.post(bank.transfer, bob, most, "")
            if (more := allowed(call).borrow.seconds) > 0:
                call.post(bank.borrow, more)
        assert saved(books, bob) <= granted
        call.close()
    assert saved(books, bob) + saved(books, number) <= granted


def test_a_guest_has_nothing_sent_by_who_owes(books, ann):
    guest = books.do(bank.host_caller, "Xibalba", "1", "Eve").id
    borrow(ann, 10)
    with pytest.raises(LimitReached, match="You owe 10 minutes"):
        send(ann, 10, guest)


def test_a_guest_who_borrows_sends_nothing_and_takes_nothing_of_it_home(books, bob):
    guest = books.do(bank.host_caller, "Xibalba", "1", "Eve").id
    books.wait(8 * DAY)
    call = HostCall(books, guest, brought(600))
    borrow(call, 30)
    give(books, guest, 10)
    with pytest.raises(LimitReached, match="You owe 30 minutes"):
        send(call, 10, bob)
    call.close()
    home = books.sql("SELECT sum(amount) FROM transfers WHERE kind IN ('taken home', 'given back')")
    assert home == [(600 - 1,)]  # less the second that the call had begun
    assert (saved(books, guest), books.balances(guest)["loan"]) == (40 * MINUTE, -30 * MINUTE)


class TestTheSysopsHand:
    def test_moves_nothing_from_who_owes(self, books, ann, bob):
        borrow(ann, 30)
        with pytest.raises(LimitReached, match=r"^Ann owes 30 minutes: .*`timebank adjust` works"):
            books.do(sysop_hand.sysop_transfer, ann.caller_id, bob, 600, "a gift", "Tester")
        assert saved(books, bob) == 0

    def test_moves_to_who_owes(self, books, ann, bob):
        borrow(ann, 30)
        give(books, bob, 10)
        books.do(sysop_hand.sysop_transfer, bob, ann.caller_id, 600, "a gift", "Tester")
        assert saved(books, ann.caller_id) == 50 * MINUTE

    def test_adjusts_in_any_case(self, books, ann):
        borrow(ann, 30)
        books.do(sysop_hand.adjust, ann.caller_id, -600, "as agreed", "Tester")
        assert saved(books, ann.caller_id) == 30 * MINUTE


def test_every_refusal_is_one_of_the_windows(books, ann, bob):
    borrow(ann, 30)
    with pytest.raises(Refused) as refused:
        send(ann, 1, bob)
    assert str(refused.value) == allowed(ann).transfer.why_not
