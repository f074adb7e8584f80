"""Debts are paid: a debtor sends no minutes and takes no loan on an earlier day's.

Callers of other boards, who get no daily minutes of ours, pay at the end of their visit.
"""

from __future__ import annotations

import random
import re

import pytest

from tests.timebank.at_the_window import (
    MINUTE,
    allowed,
    borrow,
    deposit,
    give,
    limit,
    repay,
    saved,
    send,
)
from tests.timebank.books import DAILY, stand_alone, won
from tests.timebank.by_hand import ByHand
from tests.timebank.hosts import HOUR, HostCall, brought, last_visit
from tests.timebank.vandal import Vandal
from timebank.callers.history import history
from timebank.calls.arrival import host_caller
from timebank.errors import LimitReached
from timebank.ledger import transfers
from timebank.settings.schedule import Event
from timebank.wagers.rounds import Move
from timebank.window import corrections, teller
from timebank.window.corrections import freeze
from timebank.window.teller import withdraw

DAY = 86_400
OWES = r"^You owe {}: pay that back before you send any minutes\.$"


@pytest.fixture
def ann(books, bob):
    """Create a caller known for long enough, on line, with 40 minutes saved."""
    number = books.caller("Ann")
    books.wait(8 * DAY)
    give(books, number, 40)
    return books.call(number)


def test_nothing_is_sent_while_anything_is_owed(books, ann, bob):
    borrow(ann, 30)
    refused = allowed(ann).transfer
    assert (refused.seconds, refused.why_not) == (
        0,
        "You owe 30 minutes: pay that back before you send any minutes.",
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


class TestTheSysopsHand:
    def test_moves_nothing_from_a_debtor(self, books, ann, bob):
        borrow(ann, 30)
        with pytest.raises(LimitReached, match=r"^Ann owes 30 minutes, .*`timebank adjust` works"):
            books.do(corrections.sysop_transfer, ann.caller_id, bob, 600, "a gift", "Tester")
        assert saved(books, bob) == 0

    def test_moves_minutes_to_a_debtor(self, books, ann, bob):
        borrow(ann, 30)
        give(books, bob, 10)
        books.do(corrections.sysop_transfer, bob, ann.caller_id, 600, "a gift", "Tester")
        assert saved(books, ann.caller_id) == 50 * MINUTE


EARLIER = r"^You owe {} from an earlier day\. Repay that before you borrow more\.$"


class TestALoanOfAnEarlierDay:
    def test_is_paid_before_anything_more_is_lent(self, books, ann):
        limit(books, loan_share=0)
        borrow(ann, 20)
        books.wait(DAY)
        ann.touch()
        may_borrow = allowed(ann).borrow
        assert may_borrow.seconds == 0
        assert re.match(EARLIER.format("20 minutes"), str(may_borrow.rule))
        with pytest.raises(LimitReached, match=EARLIER.format("20 minutes")):
            borrow(ann, 1)
        repay(ann, 19)
        with pytest.raises(LimitReached, match=EARLIER.format("1 minute")):
            borrow(ann, 1)
        repay(ann, 1)
        borrow(ann, 30)
        assert ann.purse.loan == -30 * MINUTE
        assert books.audit() == []

    def test_no_loan_of_today_is(self, books, ann):
        borrow(ann, 10)
        repay(ann, 5)
        borrow(ann, 20)
        with pytest.raises(LimitReached, match="30 minutes a day; you have nothing left"):
            borrow(ann, 1)
        assert ann.purse.loan == -25 * MINUTE

    def test_need_not_be_repaid_when_loans_are_off(self, books, ann):
        limit(books, loan_share=0)
        borrow(ann, 10)
        limit(books, loan=0)
        books.wait(DAY)
        with pytest.raises(LimitReached, match=r"^Nobody can borrow minutes on this board\.$"):
            borrow(ann, 1)

    def test_is_paid_before_todays_loan(self, books, ann):
        """A payment reduces the oldest loan and restores nothing of the day's limit."""
        limit(books, loan_share=0)
        borrow(ann, 10)
        books.wait(DAY)
        repay(ann, 10)
        borrow(ann, 10)
        repay(ann, 5)
        assert allowed(ann).borrow.seconds == 20 * MINUTE


@pytest.fixture
def eve(books):
    """A caller of another board, known for long enough."""
    number = books.do(host_caller, "Xibalba", "1", "Eve").id
    books.wait(8 * DAY)
    return number


def owed(books, caller_id) -> int:
    return -books.balances(caller_id)["loan"]


def sums(books) -> dict[str, int]:
    """Return the moved sums by kind."""
    return dict(books.sql("SELECT kind, sum(amount) FROM transfers GROUP BY kind"))


class TestAGuestPays:
    def test_out_of_withdrawn_minutes(self, books, eve):
        give(books, eve, 10)
        call = HostCall(books, eve, brought(600))
        borrow(call, 30)
        call.withdraw(10 * MINUTE)
        call.lose(5 * MINUTE)
        books.wait(60)
        call.close()
        assert call.moved == [
            ("elapsed", 60, "online", "elapsed"),
            ("loan paid", 30 * MINUTE, "online", "loan"),
            ("put back", 5 * MINUTE, "online", "bank"),
            ("taken home", 540, "online", "external"),
        ]
        assert (owed(books, eve), saved(books, eve)) == (0, 5 * MINUTE)
        assert books.audit() == []

    def test_and_then_out_of_the_gain(self, books, eve):
        limit(books, loan_share=0)
        call = HostCall(books, eve, brought(3600, way="moduser"))
        borrow(call, 30)
        call.lose(20 * MINUTE)
        call.win(20 * MINUTE, 30 * MINUTE)
        books.wait(60)
        # Ten minutes more than were borrowed: they alone go home.
        assert call.close_and_give() == 10
        assert [kind for kind, *_ in call.moved] == [
            *("elapsed", "loan paid", "gain", "given back", "taken home")
        ]
        assert (owed(books, eve), saved(books, eve)) == (0, 0)
        visit = last_visit(books, eve)
        assert [visit[name] for name in ("loan", "loan_paid", "gain", "put_back")] == [
            *(1800, 1800, 600, 0)
        ]
        assert books.audit() == []

    def test_the_debt_to_the_host_first(self, books, eve):
        call = HostCall(books, eve, brought(3600, way="moduser"))
        borrow(call, 10)
        call.lose(30 * MINUTE)
        call.close()
        assert (owed(books, eve), last_visit(books, eve)["debt_added"]) == (600, 1200)
        call = HostCall(books, eve, brought(3600, way="moduser"))
        call.win(35 * MINUTE, 35 * MINUTE)
        assert call.close_and_give() == 5
        visit = last_visit(books, eve)
        assert (visit["debt_paid"], owed(books, eve)) == (1200, 0)
        assert books.audit() == []

    def test_out_of_deposited_borrowed_minutes(self, books, eve):
        call = HostCall(books, eve, brought(600))
        borrow(call, 30)
        deposit(call, 30)
        books.wait(60)
        call.close()
        assert ("loan paid", 30 * MINUTE, "bank", "loan") in call.moved
        assert (owed(books, eve), saved(books, eve)) == (0, 0)
        assert books.audit() == []

    def test_not_out_of_an_account_that_is_frozen(self, books, eve):
        call = HostCall(books, eve, brought(600))
        borrow(call, 30)
        deposit(call, 20)
        books.do(freeze, eve, "a dispute", "Sysop")
        call.close()
        assert (owed(books, eve), saved(books, eve)) == (20 * MINUTE, 20 * MINUTE)
        assert books.audit() == []

    def test_with_winnings_cut_by_an_event(self, books, eve, folder):
        """This also holds for winnings that would bypass our bank."""
        limit(books, loan_share=0)
        call = HostCall(books, eve, brought(3000))
        borrow(call, 30)
        call.lose(30 * MINUTE)
        books.change(
            mode="external",
            thebank_ext=folder / "THEBANK.EXT",
            events=(Event("Backup", books.now.replace(minute=10).time(), DAILY, 60),),
        )
        call.win(5 * MINUTE, 20 * MINUTE)
        assert ("loan paid", 20 * MINUTE, "bank", "loan") in call.moved
        assert books.sql("SELECT * FROM outbox") == []
        call.close()
        assert owed(books, eve) == 10 * MINUTE
        assert books.audit() == []

    def test_with_a_hand_settled_in_their_absence(self, books, eve):
        call = HostCall(books, eve, brought(60))
        borrow(call, 30)
        number = call.bet(30 * MINUTE)
        books.wait(60)
        call.close()
        assert owed(books, eve) == 30 * MINUTE
        books.wait(3 * DAY)
        move = Move(number, 1, {"action": "stay"}, 4)
        books.do(stand_alone, [move], won(1800, 1800))
        assert (owed(books, eve), saved(books, eve)) == (0, 30 * MINUTE)
        assert books.audit() == []


def test_a_guest_reads_which_minutes_can_repay(books, eve):
    call = HostCall(books, eve, brought(3600))
    borrow(call, 30)
    call.lose(30 * MINUTE)
    call.close()
    books.wait(DAY)
    call = HostCall(books, eve, brought(3600))
    assert allowed(call).borrow.why_not == (
        "You owe 30 minutes from an earlier day. Repay that, from what you win or withdraw, before"
        " you borrow more."
    )


def test_a_loan_paid_after_midnight_is_of_an_earlier_day(books, eve):
    books.wait(11 * HOUR)
    call = HostCall(books, eve, brought(7200))
    borrow(call, 30)
    books.wait(2 * HOUR - 60)
    with pytest.raises(LimitReached, match="from an earlier day"):
        borrow(call, 1)


class TestADailyGuest:
    """An attacker's behaviour over many days gains at most the loan of one day."""

    @pytest.mark.parametrize("seed", range(2))
    @pytest.mark.parametrize("way", ["moduser", "thebank.ext", None])
    def test_and_stakes_borrowed_or_withdrawn_minutes(self, books, eve, folder, way, seed):
        """A win returns to the host only when the loan is repaid."""
        books.change(thebank_ext=folder / "THEBANK.EXT")
        chance = random.Random(seed)
        won_here = 0
        days = 12 if books.is_on_a_server else 30
        for _ in range(days):
            books.wait(DAY)
            call = HostCall(books, eve, brought(3600, way=way))
            may = allowed(call)
            call.post(teller.borrow, may.borrow.seconds) if may.borrow.seconds else None
            call.post(withdraw, may.withdraw.seconds) if may.withdraw.seconds else None
            stake = call.purse.online - HOUR or 30 * MINUTE
            if chance.random() < 0.45:
                call.win(stake, stake)
                won_here += stake
            else:
                call.lose(stake)
                won_here -= stake
            books.wait(30)
            call.close_and_give()
            moved = {kind for kind, *_ in call.moved}
            assert not (owed(books, eve) and moved & {"given back", "gain", "put back", "external"})
            assert owed(books, eve) <= 30 * MINUTE
            assert not (owed(books, eve) and saved(books, eve))
        assert books.audit() == []
        home = sum(sums(books).get(kind, 0) for kind in ("given back", "external"))
        lost_of_the_hosts = sums(books)["brought"] - sums(books)["taken home"] - days * 30
        assert home + saved(books, eve) - owed(books, eve) - lost_of_the_hosts == won_here


class TestPutBack:
    """Withdrawn minutes return to the account up to its maximum."""

    def comes_and_fills_up(self, books, eve, *, way):
        limit(books, balance=60)
        give(books, eve, 60)
        call = HostCall(books, eve, brought(3600, way=way))
        call.withdraw(40 * MINUTE)
        give(books, eve, 30)  # there is room for 10 of the 40
        books.wait(60)
        return call

    def test_the_rest_is_given_back_to_a_host_that_can_take_it(self, books, eve):
        call = self.comes_and_fills_up(books, eve, way="moduser")
        assert call.close_and_give() == 30
        assert call.moved[1:] == [
            ("put back", 40 * MINUTE, "online", "bank"),
            ("given back", 30 * MINUTE, "bank", "external"),
            ("taken home", 3540, "online", "external"),
        ]
        assert saved(books, eve) == HOUR
        assert books.audit() == []

    def test_else_it_stays_in_the_account_and_the_entry_says_so(self, books, eve):
        call = self.comes_and_fills_up(books, eve, way=None)
        call.close()
        assert saved(books, eve) == 90 * MINUTE
        (why,) = [row.why for row in call.receipt.rows if row.kind == "put back"]
        assert why == (
            "40 minutes of your own put back in the bank, 30 minutes of it beyond the 60 minutes"
            " that an account holds: Xibalba takes none"
        )
        (line, *_) = books.do(history, eve, None, 9)
        assert (
            "put 40:00 of your own back in the bank, 30 minutes of it beyond the 60 minutes that"
            " an account holds: Xibalba takes none"
        ) in line.words.lower().replace("xibalba", "Xibalba")
        assert books.audit() == []

    def test_of_a_frozen_account_nothing_goes_to_the_host(self, books, eve):
        call = self.comes_and_fills_up(books, eve, way="moduser")
        books.do(freeze, eve, "a dispute", "Sysop")
        assert call.close_and_give() == 0
        assert saved(books, eve) == 90 * MINUTE
        (why,) = [row.why for row in call.receipt.rows if row.kind == "put back"]
        assert why.endswith(" that an account holds: the account is frozen")
        assert books.audit() == []


def test_a_repayment_is_described_to_the_guest(books, eve):
    call = HostCall(books, eve, brought(600))
    borrow(call, 30)
    call.close()
    assert "30 minutes of your own paid back on the loan" in [row.why for row in call.receipt.rows]
    (line, *_) = books.do(history, eve, None, 9)
    assert line.words.startswith("Paid back 30:00 on the loan, took 9:59 home to Xibalba")


class TestTheAudit:
    @pytest.fixture
    def books(self, books, ann, eve):
        """Ann owes for days; Eve, of another board, has paid her first loan, and owes another."""
        limit(books, loan_share=0)
        borrow(ann, 10)
        for lent, net in ((30, -10), (0, 10), (30, -30)):
            call = HostCall(books, eve, brought(3600))
            call.post(teller.borrow, lent * MINUTE) if lent else None
            call.lose(-net * MINUTE) if net < 0 else call.win(net * MINUTE, net * MINUTE)
            call.close()
            books.wait(DAY)
            ann.touch()
        return books

    def test_finds_nothing_wrong_with_them(self, books):
        assert books.audit() == []

    def test_names_a_loan_on_top_of_one_of_an_earlier_day(self, books, ann):
        number = self.posts(books, ann.caller_id, ("loan", "online", "loan"))
        assert owed(books, ann.caller_id) == 660
        assert f"transfer {number}: It lends 60 while 600 is owed since before." in books.audit()

    @pytest.mark.parametrize("kind", ["gain", "put back"])
    def test_names_minutes_left_to_a_guest_in_debt(self, books, eve, kind):
        HostCall(books, eve, brought(3600))
        number = self.posts(books, eve, ("online", "bank", kind))
        assert f"transfer {number}: It leaves 60 to a guest who owes 1800." in books.audit()

    def posts(self, books, caller_id, movement) -> int:
        """Write a transfer of a minute that the bank would not; returns its number."""
        source, target, kind = movement
        accounts = {
            name: transfers.Account(number, name, "second")
            for number, name in books.sql(
                "SELECT id, kind FROM accounts WHERE caller_id = ?", caller_id
            )
        }
        row = transfers.Movement(
            accounts[source], accounts[target], 60, ByHand(kind, "By hand"), None, None
        )
        return books.do(transfers.transfer, [row])[0].number

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            (
                "days SET after = 'x' WHERE day = '2026-06-09'",
                "2026-06-09 follows no transfer",
            ),
            (
                "days SET owed = 599 WHERE caller_id = 2 AND day = '2026-06-18'",
                "When 2026-06-18 began 600 was",
            ),
            ("days SET owed = 1 WHERE day = '2026-06-09'", "When 2026-06-09 began 0 was"),
            (
                "visits SET loan = 1799 WHERE id = 1",
                "At its end 1800 was owed on a loan, not 1799.",
            ),
            (
                "visits SET loan_paid = 1199 WHERE id = 1",
                "It says 1199 paid on the loan; its transfers",
            ),
            ("visits SET loan = 'x' WHERE id = 1", "visit 1: Some of its amounts are not numbers."),
            ("days SET owed = NULL", "Their debt when 2026-06-09 began was deleted"),
            (
                "visits SET loan = NULL, loan_paid = NULL",
                "visit 2: Some of its amounts are not numbers.",
            ),
        ],
    )
    def test_names_the_changed_row(self, books, change, expected):
        Vandal(books)(f"UPDATE {change}")
        assert [line for line in books.audit() if expected in line], books.audit()
