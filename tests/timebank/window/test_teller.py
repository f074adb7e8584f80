"""The rules of the bank's window at, below and above each limit, and their sentences."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.at_the_window import (
    MINUTE,
    WAYS,
    allowed,
    borrow,
    deposit,
    give,
    limit,
    repay,
    saved,
    send,
    withdraw,
)
from tests.timebank.books import NOON
from timebank.callers import callers
from timebank.errors import CallClosed, LimitReached, NoRoom, NotEnough, WindowClosed
from timebank.ledger.purse import WAITS
from timebank.settings.hours import OpeningHours
from timebank.window import teller
from timebank.window.corrections import adjust, freeze, sysop_transfer, unfreeze
from timebank.window.teller import transfer


def in_words(allowed) -> tuple[int, str]:
    return allowed.seconds, str(allowed.rule)


WEEK = 7 * 86400


class TestMoving:
    def test_a_deposit_goes_from_the_time_left_to_the_bank(self, call):
        deposit(call, 10)
        assert call.moved == [("deposit", 600, "online", "bank")]
        assert call.receipt.rows[-1].why == "10 minutes deposited"

    def test_a_withdrawal_comes_back(self, books, call):
        deposit(call, 10)
        withdraw(call, 4)
        assert call.moved == [("withdraw", 240, "bank", "online")]
        assert call.purse.bank == 360

    def test_a_transfer_goes_from_account_to_account(self, books, call, bob):
        deposit(call, 20)
        send(call, 15)
        assert call.moved == [("transfer", 900, "bank", "bank")]
        assert (call.purse.bank, saved(books, bob)) == (300, 900)
        assert books.audit() == []

    def test_a_loan_is_on_line_at_once_and_is_owed(self, call):
        borrow(call, 30)
        assert call.moved == [("loan", 1800, "loan", "online")]
        assert (call.purse.online, call.purse.loan) == (5400, -1800)

    def test_a_repayment_comes_out_of_the_time_left(self, call):
        borrow(call, 30)
        repay(call, 20)
        assert call.moved == [("repay", 1200, "online", "loan")]
        assert (call.purse.online, call.purse.loan) == (4200, -600)

    @pytest.mark.parametrize("seconds", [0, -60, 59, 61])
    @pytest.mark.parametrize("way", [teller.deposit, teller.withdraw, teller.borrow, teller.repay])
    def test_only_whole_minutes_are_moved(self, call, way, seconds):
        with pytest.raises(ValueError, match="not whole minutes"):
            call.post(way, seconds)

    @pytest.mark.parametrize("seconds", [0, -60, 59, 61])
    def test_only_whole_minutes_are_sent(self, call, bob, seconds):
        with pytest.raises(ValueError, match="not whole minutes"):
            call.post(transfer, bob, seconds, "")

    @pytest.mark.parametrize("way", WAYS)
    def test_nothing_is_moved_for_a_call_that_has_ended(self, call, way):
        call.close()
        with pytest.raises(CallClosed):
            WAYS[way](call, 1)


class TestTheDay:
    """The daily limits."""

    LEFT = (
        ("deposit", "deposit", 10),
        ("withdraw", "withdrawal", 10),
        ("transfer", "transfer", 10),
        ("borrow", "loan", 10),
    )

    @pytest.mark.parametrize(("way", "key", "most"), LEFT)
    def test_is_used_up_to_its_edge_and_no_further(self, books, call, way, key, most):
        give(books, call.caller_id, 120)
        limit(books, **{key: most})
        move = WAYS[way]
        verb = {"transfer": "send"}.get(way, way)
        with pytest.raises(
            LimitReached,
            match=rf"^You can {verb} 10 minutes a day; you have 10 minutes left today\.$",
        ):
            move(call, most + 1)
        move(call, most - 1)
        with pytest.raises(LimitReached, match=r"; you have 1 minute left today\.$"):
            move(call, 2)
        assert getattr(allowed(call), way).seconds == MINUTE
        move(call, 1)
        with pytest.raises(LimitReached, match=r"; you have nothing left today\.$"):
            move(call, 1)
        assert in_words(getattr(allowed(call), way)) == (
            0,
            f"You can {verb} 10 minutes a day; you have nothing left today.",
        )

    @pytest.mark.parametrize(("way", "key", "most"), LEFT)
    def test_a_limit_of_zero_has_its_own_sentence(self, books, call, way, key, most):
        give(books, call.caller_id, 120)
        limit(books, **{key: 0})
        with pytest.raises(LimitReached, match=r"^Nobody can .* minutes on this board"):
            WAYS[way](call, 1)

    @pytest.mark.parametrize(("way", "key", "most"), LEFT)
    def test_starts_again_with_the_callers_day(self, books, call, way, key, most):
        give(books, call.caller_id, 120)
        limit(books, **{key: most})
        WAYS[way](call, most)
        books.wait(86400)  # its minutes repay the loan
        WAYS[way](call, most)
        books.step(-86400)  # a clock set back grants nothing again
        with pytest.raises(LimitReached):
            WAYS[way](call, 1)

    def test_is_the_callers_whichever_call_they_are_on(self, books, call):
        deposit(call, 55)
        call.close()
        books.wait(60)
        again = books.call(call.caller_id)
        give(books, call.caller_id, 10)
        withdraw(again, 30)
        with pytest.raises(LimitReached, match="you have 5 minutes left today"):
            deposit(again, 6)

    def test_ignores_clamps_corrections_and_other_callers(self, books, ann, bob):
        books.wait(WEEK)
        limit(books, deposit=10, transfer=10)
        bobs = books.call(bob, node=2)
        give(books, bob, 10)
        send(bobs, 10, to=ann)
        hers = books.call(ann)
        books.do(adjust, ann, 1200, "a gift", "Tester")
        books.do(sysop_transfer, ann, bob, 600, "a gift", "Tester")
        hers.win(600, 20 * 3600)
        assert hers.moved[-1][0] == "clamp"
        assert allowed(hers).transfer.seconds == 600
        assert allowed(hers).deposit.seconds == 600

    def test_subtracts_minutes_sent_to_others_from_the_loan(self, books, call, bob):
        give(books, call.caller_id, 40)
        send(call, 25, bob)
        assert allowed(call).borrow.seconds == 5 * MINUTE
        with pytest.raises(
            LimitReached,
            match=r"^You can borrow 30 minutes a day, less what you send to others; you have 5 ",
        ):
            borrow(call, 6)
        borrow(call, 5)


class TestTheClock:
    def test_some_minutes_must_stay_on_it_after_a_deposit(self, books, call):
        limit(books, deposit=120, keep=5)
        with pytest.raises(
            NotEnough,
            match=r"^5 minutes must stay on your clock, and you have 60 minutes left\.$",
        ):
            deposit(call, 56)
        assert allowed(call).deposit.seconds == 55 * MINUTE
        deposit(call, 55)
        assert call.purse.online == 300

    def test_used_time_is_charged_before_the_rules_apply(self, books, call):
        books.wait(1)
        with pytest.raises(NotEnough, match="you have 59 minutes 59 seconds left"):
            deposit(call, 55)
        deposit(call, 54)

    def test_everything_may_be_deposited_if_nothing_must_stay(self, books, call):
        limit(books, keep=0, deposit=120)
        deposit(call, 60)
        assert call.purse.online == 0
        with pytest.raises(NotEnough, match=r"^You have 0 seconds left\.$"):
            deposit(call, 1)

    def test_a_withdrawal_is_limited_by_the_balance(self, books, call):
        with pytest.raises(NotEnough, match=r"^Your time bank is empty\.$"):
            withdraw(call, 1)
        give(books, call.caller_id, 3)
        with pytest.raises(NotEnough, match=r"^Your time bank holds 3 minutes\.$"):
            withdraw(call, 4)
        withdraw(call, 3)

    def test_a_transfer_is_limited_by_the_balance(self, books, call):
        give(books, call.caller_id, 3)
        with pytest.raises(NotEnough, match=r"^Your time bank holds 3 minutes\.$"):
            send(call, 4)
        send(call, 3)


class TestTheEvent:
    def test_neither_withdrawal_nor_loan_reaches_past_it(self, books, call):
        limit(books, loan=120, withdrawal=120)
        give(books, call.caller_id, 120)
        books.wait_until(books.now.replace(hour=23))
        books.wait(2 * 3600 + 1800)  # 01:30, ninety minutes before the Mail hour
        call = books.call(call.caller_id, take_over=True)
        assert call.purse.online == 3600
        with pytest.raises(
            NoRoom, match=r"^You could use only 30 minutes of it before Mail hour at 03:00\.$"
        ):
            withdraw(call, 31)
        with pytest.raises(
            NoRoom, match=r"^You could use only 30 minutes before Mail hour at 03:00\.$"
        ):
            borrow(call, 31)
        assert allowed(call).withdraw.seconds == allowed(call).borrow.seconds == 1800
        borrow(call, 29)
        withdraw(call, 1)
        for way in (borrow, withdraw):
            with pytest.raises(NoRoom, match=r"^You could use none of it before Mail hour"):
                way(call, 1)
        assert allowed(call).borrow.why_not.startswith("You could use none of it")
        assert call.purse.online == 5400


class TestTheBalance:
    def test_bounds_deposits(self, books, call):
        limit(books, balance=100)
        give(books, call.caller_id, 88)
        with pytest.raises(
            LimitReached,
            match=r"^An account holds 100 minutes at most; yours has room for 12 minutes\.$",
        ):
            deposit(call, 13)
        deposit(call, 12)
        with pytest.raises(LimitReached, match="yours has room for nothing"):
            deposit(call, 1)

    def test_limits_a_transfer_to_an_account(self, books, call, bob):
        limit(books, balance=100)
        give(books, call.caller_id, 50)
        give(books, bob, 88)
        with pytest.raises(LimitReached, match="Bob's has room for 12 minutes"):
            send(call, 13)
        send(call, 12)
        assert saved(books, bob) == 100 * MINUTE

    def test_does_not_limit_a_withdrawal(self, books, call):
        limit(books, balance=1)
        give(books, call.caller_id, 5)
        withdraw(call, 5)
        assert call.purse.bank == 0


class TestStrangers:
    @pytest.mark.parametrize(("way", "verb"), [("transfer", "send"), ("borrow", "borrow")])
    def test_must_have_been_known_for_some_days(self, books, ann, bob, way, verb):
        give(books, ann, 10)
        books.wait_until(NOON.replace(day=7, hour=23, minute=59))
        call = books.call(ann)
        with pytest.raises(LimitReached, match=rf"^New callers can {verb} minutes after 7 June"):
            WAYS[way](call, 1)
        assert getattr(allowed(call), way).why_not.startswith(
            f"New callers can {verb} minutes after"
        )
        books.wait(60)
        WAYS[way](call, 1)

    @pytest.mark.parametrize("way", ["transfer", "borrow"])
    def test_must_be_approved_where_the_sysop_approves(self, books, ann, bob, way):
        books.change(approval=True)
        cyd = books.caller("Cyd")
        give(books, cyd, 10)
        books.wait(WEEK)
        call = books.call(cyd)
        with pytest.raises(WindowClosed, match=f"^{WAITS}$"):
            WAYS[way](call, 1)
        assert getattr(allowed(call), way).why_not == WAITS
        books.do(callers.approve, cyd)
        WAYS[way](call, 1)

    def test_may_deposit_and_withdraw_from_the_first_day(self, books, ann):
        call = books.call(ann)
        deposit(call, 10)
        withdraw(call, 10)

    def test_a_setting_of_zero_days_allows_newcomers(self, books, ann, bob):
        limit(books, known_days=0)
        call = books.call(ann)
        borrow(call, 1)

    def test_days_are_dates_of_the_board(self, books, ann):
        books.change(zone=ZoneInfo("Pacific/Kiritimati"))  # registered on the 2nd there
        books.wait_until(datetime(2026, 6, 8, 10, tzinfo=UTC))  # the 9th begins there
        borrow(books.call(ann), 1)


class TestAClosedWindow:
    def test_hours_close_the_window_and_say_when_it_opens(self, books, call):
        give(books, call.caller_id, 10)
        # 1 June 2027 is a Tuesday.
        books.change(hours=OpeningHours.read(["mon-fri 13:00-14:00"]))
        for way in WAYS.values():
            with pytest.raises(
                WindowClosed, match=r"^The window is closed\. It opens on Tuesday at 13:00\.$"
            ):
                way(call, 1)
        books.step(3600)
        for way in WAYS.values():
            way(call, 1)

    def test_a_barred_caller_moves_nothing(self, books, call):
        give(books, call.caller_id, 10)
        books.change(barred=("ANN",))
        for way in WAYS.values():
            with pytest.raises(WindowClosed, match="The sysop has closed the bank to you"):
                way(call, 1)
        assert in_words(allowed(call).deposit) == (0, "The sysop has closed the bank to you.")

    def test_a_barred_caller_receives_nothing(self, books, call):
        give(books, call.caller_id, 10)
        books.change(barred=("Bob",))
        with pytest.raises(WindowClosed, match="Bob's account takes nothing in right now"):
            send(call, 1)

    @pytest.mark.parametrize(
        ("mode", "expected"), [("external", "has its own bank"), ("none", "has no time bank")]
    )
    def test_a_board_without_its_own_bank_says_so(self, books, call, mode, expected):
        give(books, call.caller_id, 10)
        books.change(mode=mode)
        for way in WAYS.values():
            with pytest.raises(WindowClosed, match=expected):
                way(call, 1)
        assert expected in allowed(call).withdraw.why_not

    def test_a_frozen_account_takes_nothing_in(self, books, call, bob):
        give(books, call.caller_id, 10)
        borrow(call, 10)
        books.do(freeze, call.caller_id, "a dispute", "Sysop")
        for way in WAYS.values():
            with pytest.raises(WindowClosed, match="The sysop has frozen your account; ask them"):
                way(call, 1)
        bobs = books.call(bob, node=2)
        give(books, bob, 10)
        with pytest.raises(WindowClosed, match="Ann's account takes nothing in right now"):
            send(bobs, 1, to=call.caller_id)
        before = saved(books, call.caller_id)
        call.win(600, 20 * 3600)
        assert saved(books, call.caller_id) == before
        books.do(unfreeze, call.caller_id, "settled", "Sysop")
        send(call, 1)
