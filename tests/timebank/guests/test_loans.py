"""Loans: paid back out of winnings and the next days' minutes, in the sysop's share."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import MINUTE, borrow, deposit, give, limit
from tests.timebank.books import pushed, won
from timebank.window.corrections import freeze

DAY = 86400


def shares(call):
    return [amount for kind, amount, *_ in call.moved if kind == "loan share"]


@pytest.fixture
def owing(call):
    """Create Ann with a debt of thirty minutes and a balance of ninety."""
    borrow(call, 30)
    return call


class TestWinnings:
    def test_pay_back_their_share_behind_the_win(self, owing):
        owing.win(600, 1200)
        assert owing.moved == [
            ("returned", 600, "stake", "online"),
            ("won", 1200, "house", "online"),
            ("loan share", 600, "online", "loan"),
        ]
        assert owing.receipt.rows[-1].why == "10 minutes of the winnings paid back on the loan"
        assert owing.purse.loan == -1200

    @pytest.mark.parametrize(
        ("share", "winnings", "paid"),
        [(50, 61, 30), (1, 99, 0), (1, 100, 1), (100, 60, 60), (0, 60, 0)],
    )
    def test_pay_whole_seconds_and_never_more_than_the_share(
        self, books, owing, share, winnings, paid
    ):
        limit(books, loan_share=share)
        owing.win(60, winnings)
        assert sum(shares(owing)) == paid
        assert owing.purse.loan == -1800 + paid

    def test_pay_no_more_than_is_owed(self, owing):
        owing.win(600, 3600)
        assert shares(owing) == [1800]
        assert owing.purse.loan == 0
        owing.win(600, 600)
        assert shares(owing) == []

    def test_pay_before_an_event_cuts_them_off(self, books, owing):
        """The event takes the winnings that remain after the loan."""
        books.wait_until(books.now.replace(hour=23))
        books.wait(2 * 3600)  # 01:00; a new day, whose minutes have repaid the loan
        call = books.call(owing.caller_id, take_over=True)
        assert call.purse.loan == 0
        borrow(call, 30)
        call.win(600, 10800)  # of two hours to the event one is left
        assert call.moved[1:] == [
            ("won", 10800, "house", "online"),
            ("loan share", 1800, "online", "loan"),
            ("clamp", 5400, "online", "bank"),
        ]
        assert call.purse.online == 7200

    def test_are_the_rest_after_the_loan_when_a_stake_no_longer_fits(self, books, owing):
        """The returned stake waits behind the event; only the winnings are banked."""
        limit(books, loan=120)
        books.wait_until(books.now.replace(hour=23))
        books.wait(2 * 3600)  # 01:00, two hours before the Mail hour
        call = books.call(owing.caller_id, take_over=True)
        call.bet(600)
        borrow(call, 100)
        call.act(won(600, 1200))
        assert call.moved == [
            ("returned", 600, "stake", "online"),
            ("won", 1200, "house", "online"),
            ("loan share", 600, "online", "loan"),
            ("clamp", 600, "online", "bank"),
            ("held", 600, "online", "held"),
        ]

    def test_that_are_only_a_stake_come_back_whole(self, owing):
        owing.bet(600)
        owing.act(pushed(600))
        assert shares(owing) == []

    def test_pay_back_for_a_frozen_account_too(self, books, owing):
        books.do(freeze, owing.caller_id, "a dispute", "Sysop")
        owing.win(600, 600)
        assert shares(owing) == [300]


class TestDays:
    def test_of_the_next_day_the_minutes_pay_their_share(self, books, owing):
        owing.close()
        books.wait(DAY)
        call = books.call(owing.caller_id)
        assert ("grant", 3600, "allotment", "online") in call.moved
        assert shares(call) == [1800]
        assert (call.purse.online, call.purse.loan) == (1800, 0)
        assert books.audit() == []

    def test_earnings_are_carried_though_the_loan_took_from_the_grant(self, books, owing):
        """The share of the grant was never earned, so it does not reduce earnings."""
        owing.close()
        books.wait(DAY)
        call = books.call(owing.caller_id)
        call.win(600, 600)
        call.close()
        books.wait(DAY)
        assert ("carry", 600, "online", "bank") in books.call(owing.caller_id).moved

    def test_borrowed_unused_minutes_are_not_forfeited(self, books, owing):
        """It is still owed, so it must still be the caller's."""
        owing.close()
        books.wait(DAY)
        moved = books.call(owing.caller_id).moved
        assert ("forfeit", 3599, "online", "forfeit") in moved
        assert ("carry", 1800, "online", "bank") in moved

    def test_a_loan_stays_owed_in_every_mode(self, books, owing):
        books.change(mode="none")
        owing.close()
        books.wait(DAY)
        assert shares(books.call(owing.caller_id)) == [1800]


def test_a_caller_with_enough_paid_minutes_may_borrow_again_the_next_day(books, owing):
    books.wait(DAY)
    owing.touch()
    assert owing.purse.loan == 0
    borrow(owing, 30)
    assert owing.purse.loan == -1800


def test_a_loan_may_be_saved_and_is_owed_all_the_same(books, owing):
    deposit(owing, 30)
    give(books, owing.caller_id, 1)
    assert (owing.purse.loan, owing.purse.bank) == (-1800, 30 * MINUTE)
