"""Callers of other boards: their identity here, and the time they bring."""

from __future__ import annotations

from datetime import time, timedelta

import pytest

from tests.timebank.books import DAILY, MAIL_HOUR
from tests.timebank.hosts import BOARD, HOUR, comes, debt, known
from timebank.callers import callers, sysop_log
from timebank.calls.arrival import host_caller
from timebank.calls.calls import close_orphaned_calls
from timebank.errors import NameRefused, Refused
from timebank.keeping import caller_acts, deletion
from timebank.settings.schedule import Event
from timebank.settings.settings import BankLimits
from timebank.window.corrections import adjust
from timebank.window.teller import allowance, borrow, deposit, repay


@pytest.fixture
def ann(books):
    """Ann of Xibalba, user 7 there."""
    return known(books)


# Identity of a guest.


def test_a_caller_is_a_board_and_a_key_and_never_the_bare_name(books):
    names = {
        known(books, "Ann", "7"): "Ann@Xibalba",
        known(books, "Ann", "7", "Orcus"): "Ann@Orcus",
        known(books, "Ann", "8"): "Ann#8@Xibalba",
    }
    assert {number: books.do(callers.get, number).name for number in names} == names


def test_a_guest_is_looked_up_by_key_and_renamed_with_the_alias(books, ann):
    record = books.do(host_caller, BOARD, "7", "Anna")
    assert (record.id, record.name) == (ann, "Anna@Xibalba")
    assert (record.board, record.board_key) == (BOARD, "7")
    assert books.do(host_caller, BOARD, "7", "Anna") == record
    assert books.do(host_caller, BOARD, "7", "ANNA").name == "ANNA@Xibalba"


def test_a_name_that_another_user_of_that_board_has_gets_the_key(books, ann):
    second = known(books, "Ben", "8")
    assert books.do(host_caller, BOARD, "8", "Ann").name == "Ann#8@Xibalba"
    # It stays so when the other one is gone, and becomes free of it with the next alias.
    books.do(deletion.delete, ann)
    assert books.do(host_caller, BOARD, "8", "Ann").name == "Ann#8@Xibalba"
    assert books.do(host_caller, BOARD, "8", "Bea").id == second


@pytest.mark.parametrize("key", ["name:{} person", "key {}@house.example"])
def test_a_key_that_is_no_number_is_not_shown_to_others(books, key):
    for number, who in enumerate(("first", "second", "third"), 1):
        for _ in range(2):
            record = books.do(host_caller, BOARD, key.format(who), "Shadow")
            told_apart = "" if number == 1 else f"#{number}"
            assert record.name == f"Shadow{told_apart}@Xibalba"


def test_a_name_that_showed_a_key_is_changed_at_the_next_call(books):
    known(books, "Shadow", "name:first person")
    second = known(books, "Shadow", "name:second person")
    books.do(callers.rename_of_board, second, "Shadow#name:second pers@Xibalba")
    record = books.do(host_caller, BOARD, "name:second person", "Shadow")
    assert (record.id, record.name) == (second, "Shadow#2@Xibalba")


def test_keys_that_look_alike_are_still_two_callers(books):
    names = [books.do(host_caller, BOARD, key, "Ann").name for key in ("7", "1", "l", "I")]
    assert names == ["Ann@Xibalba", "Ann#1@Xibalba", "Ann#l#2@Xibalba", "Ann#I#3@Xibalba"]


# Accounts that were entered before the files of their board were understood.


def log_of(books) -> list[tuple[str | None, str]]:
    return [(line.caller, line.what) for line in books.do(sysop_log.entries, None, 99)]


def test_an_account_moves_to_its_callers_board_once_with_all_its_minutes(books):
    bob = known(books, "Bob", "number 2", "host")
    visit = comes(books, bob)
    visit.win(600, 600)
    visit.close()
    visit = comes(books, bob)
    visit.lose(900)
    visit.close()
    saved, owed = books.balances(bob)["bank"], debt(books, bob)
    assert saved
    assert owed
    record = books.do(host_caller, BOARD, "number 2", "Bob", "host")
    assert (record.id, record.name, record.board) == (bob, "Bob@Xibalba", BOARD)
    assert (books.balances(bob)["bank"], debt(books, bob)) == (saved, owed)
    ((caller, what),) = log_of(books)
    assert caller == "Bob@Xibalba"
    assert what.startswith("Bob@host is Bob@Xibalba from now on, with all that the account holds")
    assert books.do(host_caller, BOARD, "number 2", "Bob", "host").id == bob
    assert len(log_of(books)) == 1
    brought_next = comes(books, bob)
    assert brought_next.arrival.debt == owed
    brought_next.close()


def test_an_account_follows_while_its_caller_is_on_another_call(books):
    bob = known(books, "Bob", "number 2", "host")
    first = comes(books, bob)
    record = books.do(host_caller, BOARD, "number 2", "bob", "host")
    second = comes(books, record.id, take_over=True)
    assert second.opened.taken_over
    second.close()
    assert (record.id, record.name) == (bob, "bob@Xibalba")
    assert first.caller_id == bob


def test_two_accounts_with_one_key_stay_separate(books):
    here, there = known(books, "Bob", "number 2"), known(books, "Bob", "number 2", "host")
    for _ in range(2):
        assert books.do(host_caller, BOARD, "number 2", "Bob", "host").id == here
    assert books.do(callers.get, there).name == "Bob@host"
    ((caller, what),) = log_of(books)
    assert caller == "Bob@host"
    assert what.startswith("Bob@host stays an account of its own beside Bob@Xibalba, which has the")


def test_an_account_with_the_same_number_and_another_name_is_not_taken(books):
    carol = known(books, "Carol", "number 2", "host")
    for _ in range(2):
        record = books.do(host_caller, BOARD, "number 2", "Bob", "host")
        assert (record.id != carol, record.name) == (True, "Bob@Xibalba")
    assert books.do(callers.get, carol).board == "host"
    assert [caller for caller, _ in log_of(books)] == ["Carol@host"]


def test_without_an_older_account_the_log_stays_empty(books, ann):
    assert books.do(host_caller, BOARD, "7", "Ann", "host").id == ann
    assert books.do(host_caller, BOARD, "8", "Ben", "host").name == "Ben@Xibalba"
    assert log_of(books) == []


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("  Dr.   Who ", "Dr. Who@Xibalba"),
        ("sysop@here", "sysop here@Xibalba"),
        ("\x1b[2JAnn\r\n", "[2JAnn@Xibalba"),
        ("A#8", "A 8@Xibalba"),
        ("x" * 80, "x" * 24 + "@Xibalba"),
        ("Ж", "Ж@Xibalba"),
        ("", "Caller@Xibalba"),
        ("@\u200b", "Caller@Xibalba"),
    ],
)
def test_an_alias_is_made_fit_to_be_read(books, alias, name):
    assert books.do(host_caller, BOARD, "7", alias).name == name


def test_no_name_of_ours_looks_like_a_guests(books, ann):
    with pytest.raises(NameRefused):
        books.do(callers.register, "Ann@Xibalba", "hash")
    ours = books.caller("Ann")
    with pytest.raises(NameRefused):
        books.do(callers.rename, ours, "Ann@Xibalba")
    assert books.do(callers.find, "Ann").id == ours
    assert books.do(callers.find, "ann@xibalba").id == ann


def test_a_guest_has_no_password_and_gets_none(books, ann):
    assert books.do(callers.get, ann).password_hash == ""
    with pytest.raises(Refused, match="a caller of Xibalba"):
        books.do(callers.set_password_hash, ann, "hash")
    with pytest.raises(Refused, match="a caller of Xibalba"):
        books.do(callers.rename, ann, "Ann")


def test_a_board_and_a_key_there_must_be(books):
    for board, key in (("", "7"), (BOARD, " ")):
        with pytest.raises(ValueError, match="a board and a key"):
            books.do(host_caller, board, key, "Ann")


def test_a_deleted_guest_is_no_new_caller_while_the_sysop_can_bring_them_back(books, ann):
    """A second account under their key would keep the first, and its time, from coming back."""
    books.do(caller_acts.delete, ann, "Wanda", "spam")
    for alias in ("Ann", "Anna"):
        gone = books.do(host_caller, BOARD, "7", alias)
        assert (gone.id, gone.name, gone.why_out) == (ann, "Ann@Xibalba", "spam")
        assert gone.deleted is not None
        assert books.do(host_caller, "Elsewhere", "7", alias, BOARD).board == (
            BOARD if alias == "Ann" else "Elsewhere"
        )
    books.do(caller_acts.bring_back, "#1", None, "Wanda")
    assert known(books) == ann
    assert books.audit() == []


def test_a_removed_guest_returns_as_a_new_one(books, ann):
    books.do(deletion.delete, ann)
    books.do(deletion.remove, ann)
    assert known(books) != ann


# Time of a guest.


def test_time_moves_from_the_host_to_the_clock_and_nothing_is_granted(books, ann):
    call = comes(books, ann, 1500)
    assert call.moved == [("brought", 1500, "external", "online")]
    assert (call.purse.online, call.opened.host_limit) == (1500, 1500)
    assert books.audit() == []


def test_ours_are_granted_their_time_and_bring_none(books, ann):
    bob = books.caller("Bob")
    assert books.call(bob).opened.host_limit is None
    with pytest.raises(ValueError, match="our own callers"):
        comes(books, bob)
    with pytest.raises(ValueError, match="open_host_call"):
        books.call(ann)


def test_unlimited_is_not_expired_and_brings_the_minutes_of_the_board(books, ann):
    call = comes(books, ann, None, allowance=2700)
    assert call.purse.online == 2700
    assert (call.arrival.shown, call.opened.host_limit) == (None, None)


def test_no_time_left_is_no_time_left(books, ann):
    call = comes(books, ann, 0)
    assert (call.purse.online, call.moved, call.opened.host_limit) == (0, [], 0)


def test_without_a_host_clock_the_time_used_today_reduces_the_allowance(books, ann):
    call = comes(books, ann, None)
    books.wait(1200)
    call.close()
    assert comes(books, ann, None).purse.online == 2400


def test_the_allowance_is_for_a_day(books, ann):
    call = comes(books, ann, None)
    books.wait(1200)
    call.lose(600)
    call.close()
    books.wait(12 * HOUR)
    assert comes(books, ann, None).purse.online == HOUR


def test_a_visit_over_midnight_uses_the_allowance_of_the_day_it_began(books, ann):
    books.wait(12 * HOUR - 600)
    call = comes(books, ann, None)
    books.wait(1200)
    call.close()
    assert comes(books, ann, None).purse.online == HOUR


def test_a_board_may_limit_its_callers_to_a_part_of_their_time(books, ann):
    call = comes(books, ann, HOUR, share=25)
    assert (call.purse.online, call.opened.host_limit) == (900, HOUR)


def test_the_hosts_event_limits_the_minutes_brought(books, ann):
    until = books.now + timedelta(minutes=20)
    call = comes(books, ann, HOUR, until=until)
    assert call.purse.online == 1200
    assert call.purse.closing.start == until
    assert str(call.purse.closing.name) == "the end of your call at Xibalba"


def test_our_event_clamps_it_too_and_the_earlier_one_counts(books, ann):
    books.wait(14 * HOUR + 1800)  # half past two; Mail hour is at three
    late = books.now + timedelta(minutes=50)
    call = comes(books, ann, HOUR, until=late)
    assert call.purse.online == 1800
    assert call.purse.closing.name == MAIL_HOUR.name


def test_winnings_past_the_hosts_event_go_to_the_bank(books, ann):
    call = comes(books, ann, HOUR, until=books.now + timedelta(minutes=20))
    call.win(600, 600)
    assert call.purse.bank == 600
    assert call.purse.online == 1200
    row = call.receipt.rows[-1]
    assert row.why == (
        "10 minutes won past the end of your call at Xibalba at 12:20: put in the bank"
    )
    assert books.audit() == []


def test_after_a_kill_a_guest_is_known_once_to_have_been_cut_off(books, ann):
    first = comes(books, ann)
    assert not first.arrival.was_cut_off
    assert books.do(close_orphaned_calls, lambda process: True) == [first.id]
    second = comes(books, ann)
    assert second.arrival.was_cut_off
    second.close()
    assert not comes(books, ann).arrival.was_cut_off


def test_a_way_that_there_is_not_is_refused(books, ann):
    with pytest.raises(ValueError, match="'carrier pigeon'"):
        comes(books, ann, way="carrier pigeon")


# Limits on a guest's savings.


def test_the_hosts_minutes_cannot_be_banked(books, ann):
    call = comes(books, ann)
    with pytest.raises(
        Refused, match=r"You aren't up, and your time belongs to Xibalba: you can't bank"
    ):
        call.post(deposit, 60)
    call.win(600, 300)
    assert books.do(allowance, call.id)[deposit].seconds == 300
    call.post(deposit, 300)
    with pytest.raises(Refused, match="you can't bank it"):
        call.post(deposit, 60)
    call.close()
    assert books.balances(ann)["bank"] == 300
    assert debt(books, ann) == 0


def test_they_pay_no_loan_either(books, ann):
    books.change(limits=BankLimits(known_days=0, loan_share=0))
    call = comes(books, ann)
    call.post(borrow, 600)
    # Borrowed minutes are the guest's own, and may be repaid while they last.
    call.post(repay, 120)
    call.lose(1200)
    with pytest.raises(Refused, match="can't pay a loan with"):
        call.post(repay, 60)
    assert books.audit() == []


def test_a_debt_comes_before_the_bank_when_winnings_are_cut_off(books, ann):
    call = comes(books, ann)
    call.lose(600)
    call.close()
    call = comes(books, ann)
    books.change(events=(Event("Backup", time(12, 10), DAILY, 60),))
    call.win(540, 900)
    # Of the 15 minutes won 10 are owed; the event leaves 10 of the 65.
    assert (call.purse.bank, call.purse.online, call.purse.held) == (300, 600, 3000)
    call.close()
    assert call.moved == [
        ("elapsed", 1, "online", "elapsed"),
        ("taken home", 599, "online", "external"),
        ("taken home", 3000, "held", "external"),
    ]
    assert (books.balances(ann)["bank"], debt(books, ann)) == (300, 0)
    assert books.audit() == []


def test_withdrawn_minutes_are_lost_before_the_hosts(books, ann):
    books.do(adjust, ann, HOUR, "for the test", "Tester")
    call = comes(books, ann)
    call.withdraw(1200)
    call.lose(900)
    call.close()
    assert (books.balances(ann)["bank"], debt(books, ann)) == (HOUR - 900, 0)
    call = comes(books, ann)
    call.withdraw(600)
    call.lose(900)
    call.close()
    assert (books.balances(ann)["bank"], debt(books, ann)) == (HOUR - 1500, 300)
    assert books.audit() == []


def test_automatic_deposits_are_not_for_guests(books, ann):
    books.do(callers.set_preferences, ann, {"auto_deposit": True})
    call = comes(books, ann)
    books.wait(60)
    call.close()
    assert call.moved == [
        ("elapsed", 60, "online", "elapsed"),
        ("taken home", HOUR - 60, "online", "external"),
    ]
