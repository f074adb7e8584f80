"""A caller's statement in words, and its pages."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import borrow, deposit, repay, send, withdraw
from tests.timebank.books import MAIL_HOUR, lost, pushed
from timebank.callers.history import history
from timebank.settings.schedule import Event
from timebank.wagers.rounds import Settlement


def read(books, caller_id, before=None, limit=99):
    return books.do(history, caller_id, before, limit)


def words(books, caller_id, limit=99):
    return [line.words for line in read(books, caller_id, None, limit)]


class TestWords:
    def test_of_an_evening(self, books, call, bob):
        books.wait(75)
        call.win(600, 900)
        call.lose(300)
        call.bet(600, pushed(600))
        deposit(call, 30)
        send(call, 15, message="thanks: for the hint")
        withdraw(call, 5)
        borrow(call, 10)
        repay(call, 4)
        books.wait(60)
        call.close()
        assert words(books, call.caller_id)[::-1] == [
            "Granted 1:00:00 for 1 June",
            "Bet 10:00 at Black Jack For Time",
            "Won 15:00 at Black Jack For Time",
            "Bet 5:00 at Black Jack For Time",
            "Lost 5:00 at Black Jack For Time",
            "Bet 10:00, bet of 10:00 returned at Black Jack For Time",
            "Deposited 30:00",
            'Sent 15:00 to Bob: "thanks: for the hint"',
            "Withdrew 5:00",
            "Borrowed 10:00",
            "Repaid 4:00 of the loan",
            "Used 1:00 on node 1",
        ]
        assert words(books, bob) == ['Received 15:00 from Ann: "thanks: for the hint"']

    def test_of_winnings_that_an_event_cuts_off(self, books, ann):
        books.change(events=(Event("Mail: hour", MAIL_HOUR.start, MAIL_HOUR.days, 60),))
        call = books.call(ann)
        call.win(600, 15 * 3600)
        assert words(books, ann, 1) == [
            "Won 15:00:00 at Black Jack For Time, 1:00:00 of it banked because of"
            " Mail: hour at 03:00"
        ]

    def test_of_modes_without_a_bank(self, books, ann, folder):
        books.change(mode="none")
        call = books.call(ann)
        call.win(600, 15 * 3600)
        assert words(books, ann, 1) == [
            "Won 15:00:00 at Black Jack For Time, 1:00:00 of it forfeited because of"
            " Mail hour at 03:00"
        ]
        books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
        call.win(600, 600)
        assert words(books, ann, 1) == [
            "Won 10:00 at Black Jack For Time, 10:00 of it banked because of Mail hour at 03:00,"
            " 10:00 passed on through THEBANK.EXT"
        ]

    def test_of_time_before_and_after_an_event(self, books, ann):
        books.wait_until(books.now.replace(day=2, hour=2, minute=30))
        books.call(ann).close()
        books.wait(5400)
        books.call(ann)
        assert words(books, ann)[::-1] == [
            "Granted 1:00:00 for 2 June, 30:00 of it held until after Mail hour at 03:00",
            "Used 0:01 on node 1",
            "30:00 back after Mail hour at 03:00",
        ]

    def test_of_a_day_that_ended_and_a_loan(self, books, call):
        borrow(call, 30)
        call.win(600, 600)
        call.close()
        books.wait(86400)
        books.call(call.caller_id)
        assert words(books, call.caller_id)[:3] == [
            "59:59 forfeited: minutes of 1 June that were not used;"
            " 35:00 earned on 1 June: put in the bank;"
            " granted 1:00:00 for 2 June, 25:00 of it paid back on the loan",
            "Used 0:01 on node 1",
            "Won 10:00 at Black Jack For Time, 5:00 of it paid back on the loan",
        ]

    def test_of_doubles_insurance_and_half_lost(self, books, call):
        call.bet(600)
        call.act(stake=300, kind="insurance")
        call.act(lost(300, final=False))
        call.act(Settlement(300, 300, 0, "half", {}, True))
        assert words(books, call.caller_id)[:3] == [
            "Lost 5:00 at Black Jack For Time, bet of 5:00 returned at Black Jack For Time",
            "Lost 5:00 at Black Jack For Time",
            "Insurance 5:00 at Black Jack For Time",
        ]


class TestLines:
    def test_have_the_time_used_and_that_of_their_last_transfer(self, books, call):
        books.wait(30)
        deposit(call, 30)
        borrow(call, 10)
        withdraw(call, 5)
        lines = read(books, call.caller_id)
        assert [line.used for line in lines] == [0, 0, 30, 0]
        assert lines[0].at == books.now


class TestPages:
    @pytest.fixture
    def busy(self, books, call):
        for number in range(90):
            books.wait(1)
            if number % 3:
                call.touch()
            else:
                call.bet(60, pushed(60))
        return call

    @pytest.mark.parametrize("size", [1, 2, 7, 61])
    def test_of_any_size_show_the_same_lines(self, books, busy, size):
        whole = read(books, busy.caller_id)
        assert len(whole) == 61  # thirty bets, the time between them, and the grant
        pages, before = [], None
        while page := read(books, busy.caller_id, before, size):
            assert len(page) <= size
            pages += page
            before = page[-1].number
        assert pages == whole

    def test_time_used_is_one_line_between_two_others(self, books, busy):
        lines = read(books, busy.caller_id, None, 3)
        assert [(line.words, line.used) for line in lines] == [
            ("Used 0:02 on node 1", 2),
            ("Bet 1:00, bet of 1:00 returned at Black Jack For Time", 1),
            ("Used 0:02 on node 1", 2),
        ]

    def test_time_used_on_two_calls_is_two_lines(self, books, call):
        books.wait(60)
        call.close()
        again = books.call(call.caller_id, node=2)
        books.wait(45)
        again.close()
        assert words(books, call.caller_id, 2) == ["Used 0:45 on node 2", "Used 1:00 on node 1"]

    def test_of_a_caller_without_calls_are_empty(self, books, bob):
        assert read(books, bob) == []

    def test_merge_charges_across_a_long_gap(self, books, ann):
        call = books.call(ann)
        for _ in range(300):
            books.wait(1)
            call.touch()
        assert [line.used for line in read(books, ann)] == [300, 0]
