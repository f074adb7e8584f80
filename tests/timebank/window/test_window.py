"""Messages, repayments, deposits at log-off, allowances, and the list of accounts."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import (
    MINUTE,
    allowed,
    borrow,
    deposit,
    give,
    limit,
    repay,
    send,
)
from tests.timebank.books import NOON, in_english
from timebank.callers import callers
from timebank.callers.notices import notices, unseen
from timebank.calls.calls import close_dead_calls, end_call
from timebank.errors import CallClosed, NotEnough, Refused, UnknownCaller
from timebank.keeping import deletion
from timebank.settings.hours import OpeningHours
from timebank.settings.settings import BankLimits
from timebank.window.corrections import freeze
from timebank.window.teller import deposit_before_leaving


def in_words(allowed) -> tuple[int, str]:
    return allowed.seconds, str(allowed.rule)


def pending_texts(books, callers) -> dict[int, tuple[str, ...]]:
    return {caller: in_english(phrases) for caller, phrases in books.do(unseen, callers).items()}


class TestSending:
    def test_the_notice_has_amount_sender_and_message(self, books, call, bob):
        give(books, call.caller_id, 30)
        send(call, 15, message="thanks for the hint")
        send(call, 1)
        assert in_english(books.do(notices, bob)) == (
            'Ann sent you 15 minutes: "thanks for the hint"',
            "Ann sent you 1 minute.",
        )

    @pytest.mark.parametrize(
        ("typed", "expected"),
        [
            ("x" * 61, "x" * 60),
            ("x" * 60, "x" * 60),
            ("\x1b[31mred\x07\x9b\n\r\tend\u202e\u200b", "[31mred end"),
            ("  a   b  ", "a b"),
            ("e\u0301", "é"),
        ],
    )
    def test_a_message_is_made_one_harmless_line(self, books, call, bob, typed, expected):
        give(books, call.caller_id, 30)
        send(call, 1, message=typed)
        assert call.receipt.rows[0].why == f'1 minute sent by Ann to Bob: "{expected}"'
        assert in_english(books.do(notices, bob)) == (f'Ann sent you 1 minute: "{expected}"',)

    def test_unknown_receivers_and_oneself_are_refused(self, books, call):
        give(books, call.caller_id, 30)
        with pytest.raises(UnknownCaller):
            send(call, 1, to=99)
        with pytest.raises(Refused, match="yours already"):
            send(call, 1, to=call.caller_id)

    def test_deleted_receivers_are_refused(self, books, call, bob):
        give(books, call.caller_id, 30)
        books.do(deletion.delete, bob)
        with pytest.raises(UnknownCaller):
            send(call, 1)

    def test_a_refusal_leaves_no_notice(self, books, call, bob):
        with pytest.raises(NotEnough):
            send(call, 1)
        assert in_english(books.do(notices, bob)) == ()

    def test_reports_pending_notices_and_leaves_them_pending(self, books, call, bob):
        carol = books.caller("Carol")
        give(books, call.caller_id, 30)
        send(call, 1)
        send(call, 2)
        send(call, 3, to=carol)
        ask = (bob, carol, 99)
        waiting = {
            bob: ("Ann sent you 1 minute.", "Ann sent you 2 minutes."),
            carol: ("Ann sent you 3 minutes.",),
        }
        assert pending_texts(books, ask) == waiting
        assert pending_texts(books, (carol,)) == {carol: waiting[carol]}
        assert in_english(books.do(notices, bob)) == waiting[bob]
        assert pending_texts(books, ask) == {carol: waiting[carol]}


class TestRepaying:
    def test_is_limited_by_the_debt(self, call):
        with pytest.raises(NotEnough, match=r"^You owe nothing\.$"):
            repay(call, 1)
        borrow(call, 10)
        with pytest.raises(NotEnough, match=r"^You owe 10 minutes\.$"):
            repay(call, 11)
        repay(call, 10)
        assert call.purse.loan == 0

    def test_the_last_payment_takes_only_the_debt(self, books, call):
        borrow(call, 10)
        limit(books, loan_share=10)
        call.win(60, 75)  # seven seconds of it
        assert call.purse.loan == -593
        assert allowed(call).repay.seconds == 600
        repay(call, 10)
        assert call.moved == [("repay", 593, "online", "loan")]

    def test_is_limited_by_the_time_left(self, books, call):
        borrow(call, 30)
        call.lose(89 * MINUTE)
        with pytest.raises(NotEnough, match=r"^You have 1 minute left\.$"):
            repay(call, 2)
        assert allowed(call).repay.seconds == MINUTE
        repay(call, 1)


def used_and_deposited(books, call) -> list[tuple[int]]:
    """The amounts that a call moved since its grant."""
    return books.sql(
        "SELECT amount FROM transfers WHERE call_id = ? AND kind != 'grant' ORDER BY id", call.id
    )


FIRST_SECOND = ("elapsed", 1, "online", "elapsed")  # of a call that ends at once


class TestDepositAtLogOff:
    @pytest.fixture
    def wanting(self, books, call):
        books.do(callers.set_preferences, call.caller_id, {"auto_deposit": True})
        return call

    def test_deposits_the_rest_for_callers_who_want_it(self, books, wanting):
        books.wait(90)
        wanting.close()
        assert wanting.moved == [
            ("elapsed", 90, "online", "elapsed"),
            ("deposit", 53 * MINUTE, "online", "bank"),
        ]
        assert wanting.purse.online == 330

    def test_may_be_made_before_the_goodbye(self, books, wanting):
        books.wait(60)
        receipt = wanting.post(deposit_before_leaving)
        assert [row.why for row in receipt.rows] == [
            "Time used on node 1",
            "54 minutes deposited at log-off",
        ]
        books.wait(3)
        wanting.close()
        assert wanting.moved == [("elapsed", 3, "online", "elapsed")]

    @pytest.mark.parametrize("is_dead", [False, True])
    def test_is_made_for_a_call_that_the_sysop_ends(self, books, wanting, is_dead):
        books.wait_in_a_call(90)
        wanting.renew()
        if is_dead:
            books.server_dies()
        assert books.do(end_call, wanting.id, "")
        assert used_and_deposited(books, wanting) == [(90,), (53 * MINUTE,)]

    def test_is_made_for_a_call_whose_server_died(self, books, wanting):
        books.wait_in_a_call(90)
        wanting.renew()
        books.server_dies()
        books.do(close_dead_calls)
        assert used_and_deposited(books, wanting) == [(90,), (53 * MINUTE,)]
        assert books.audit() == []

    def test_is_made_on_the_day_of_the_call_if_that_is_noticed_later(self, books, wanting):
        books.wait_in_a_call(90)
        wanting.renew()
        books.server_dies()
        books.wait(2 * 86_400)
        books.do(close_dead_calls)
        assert used_and_deposited(books, wanting) == [(90,), (53 * MINUTE,)]
        assert books.call(wanting.caller_id).purse.bank == 53 * MINUTE
        assert books.audit() == []

    @pytest.mark.parametrize("is_dead", [False, True])
    def test_is_not_made_for_a_caller_who_goes_on_in_another_call(self, books, wanting, is_dead):
        books.wait_in_a_call(90)
        wanting.renew()
        if is_dead:
            books.server_dies()
        again = books.call(wanting.caller_id, node=2, take_over=not is_dead)
        assert used_and_deposited(books, wanting) == [(90,)]
        assert again.purse.bank == 0

    @pytest.mark.parametrize("preferences", [{}, {"auto_deposit": False}, {"auto_deposit": 2}])
    def test_is_not_made_for_other_callers(self, books, call, preferences):
        books.do(callers.set_preferences, call.caller_id, preferences)
        call.close()
        assert call.moved == [FIRST_SECOND]

    def test_keeps_the_daily_limit(self, books, wanting):
        deposit(wanting, 20)
        limit(books, deposit=30)
        wanting.close()
        assert wanting.moved == [FIRST_SECOND, ("deposit", 600, "online", "bank")]

    @pytest.mark.parametrize(
        "change",
        [
            {"barred": ("Ann",)},
            {"mode": "none"},
            {"hours": OpeningHours.read(["mon 08:00-09:00"])},
            {"limits": BankLimits(keep=3600)},
            {"limits": BankLimits(balance=0)},
        ],
    )
    def test_is_left_out_where_the_window_would_refuse_it(self, books, wanting, change):
        books.change(**change)
        wanting.close()
        assert wanting.moved == [FIRST_SECOND]

    def test_is_left_out_for_a_frozen_account(self, books, wanting):
        books.do(freeze, wanting.caller_id, "a dispute", "Sysop")
        wanting.close()
        assert wanting.moved == [FIRST_SECOND]


class TestAllowance:
    def test_has_the_amounts_that_may_be_moved_now(self, books, call):
        give(books, call.caller_id, 25)
        limits = allowed(call)
        assert (limits.deposit.seconds, limits.withdraw.seconds) == (3300, 1500)
        assert (limits.transfer.seconds, limits.borrow.seconds) == (1500, 1800)
        assert in_words(limits.repay) == (0, "You owe nothing.")

    def test_moves_nothing(self, books, call):
        before = books.sql("SELECT count(*) FROM transfers")
        books.wait(86400)
        allowed(call)
        assert books.sql("SELECT count(*) FROM transfers") == before

    def test_counts_a_day_that_has_begun_since(self, books, call):
        deposit(call, 55)
        assert allowed(call).deposit.seconds == 0
        books.wait(86400)
        assert allowed(call).deposit.seconds == 55 * MINUTE

    def test_counts_an_event_that_has_come_nearer(self, books, call):
        books.wait_until(NOON.replace(year=2027, month=6, day=2, hour=2, minute=50))
        assert allowed(call).deposit.seconds == 5 * MINUTE

    def test_is_none_for_a_call_that_has_ended(self, books, call):
        call.close()
        with pytest.raises(CallClosed):
            allowed(call)
