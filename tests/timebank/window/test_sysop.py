"""The sysop's corrections: transfers, refusals, and records."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import MINUTE, give, limit, saved
from tests.timebank.books import in_english
from timebank.callers import callers, sysop_log
from timebank.callers.notices import notices
from timebank.errors import LimitReached, NotEnough, Refused, UnknownCaller, WindowClosed
from timebank.keeping import deletion
from timebank.window.corrections import adjust, freeze, sysop_transfer, unfreeze

BY = "Co-Sysop"


def deposit(desk, caller_id, seconds, why, by):
    return adjust(desk, caller_id, seconds, why, by, at_window=True)


def withdraw(desk, caller_id, seconds, why, by):
    return adjust(desk, caller_id, -seconds, why, by, at_window=True)


def log(books):
    return [(entry.by, entry.caller, entry.what) for entry in books.do(sysop_log.entries, None, 99)]


def moved(rows):
    return [(row.kind, row.amount, row.source, row.target) for row in rows]


def test_an_adjustment_moves_any_amount_either_way(books, ann):
    rows = books.do(adjust, ann, 90, "the clock was wrong", BY)
    assert moved(rows) == [("adjust", 90, "adjustment", "bank")]
    assert rows[0].why == "1 minute 30 seconds added by Co-Sysop: the clock was wrong"
    rows = books.do(adjust, ann, -89, "too much", BY)
    assert moved(rows) == [("adjust", 89, "bank", "adjustment")]
    assert saved(books, ann) == 1
    assert books.audit() == []


def test_the_caller_gets_a_notice_and_the_log_a_line(books, ann):
    books.do(adjust, ann, 60, "a prize.", BY)
    books.do(adjust, ann, -60, "it was not", BY)
    assert in_english(books.do(notices, ann)) == (
        "In your time bank: 1 minute added by Co-Sysop: a prize.",
        "In your time bank: 1 minute taken out by Co-Sysop: it was not.",
    )
    assert log(books) == [
        (BY, "Ann", "1 minute taken out of Ann's account: it was not"),
        (BY, "Ann", "1 minute added to Ann's account: a prize"),
    ]


def test_deposit_and_withdrawal_are_whole_minutes(books, ann):
    rows = books.do(deposit, ann, 600, "a prize", BY)
    assert moved(rows) == [("adjust", 600, "adjustment", "bank")]
    assert rows[0].why == "10 minutes deposited by Co-Sysop: a prize"
    rows = books.do(withdraw, ann, 540, "not a prize", BY)
    assert moved(rows) == [("adjust", 540, "bank", "adjustment")]
    for operation in (deposit, withdraw):
        with pytest.raises(ValueError, match="not whole minutes"):
            books.do(operation, ann, 90, "why not", BY)


def test_a_transfer_leaves_both_a_notice(books, ann, bob):
    give(books, ann, 10)
    books.do(notices, ann)
    rows = books.do(sysop_transfer, ann, bob, 600, "a bet outside", BY)
    why = "10 minutes moved from Ann to Bob by Co-Sysop: a bet outside"
    assert moved(rows) == [("transfer", 600, "bank", "bank")]
    assert rows[0].why == why
    assert in_english(books.do(notices, ann)) == in_english(books.do(notices, bob)) == (f"{why}.",)
    assert log(books)[:2] == [(BY, "Bob", why), (BY, "Ann", why)]


def test_a_withdrawal_beyond_the_balance_is_refused(books, ann, bob):
    give(books, ann, 1)
    for take in (
        lambda: books.do(adjust, ann, -61, "x", BY),
        lambda: books.do(withdraw, ann, 120, "x", BY),
        lambda: books.do(sysop_transfer, ann, bob, 120, "x", BY),
    ):
        with pytest.raises(NotEnough, match=r"^Ann's account holds only 0:01:00; "):
            take()
    assert len(log(books)) == 1


def test_no_account_is_filled_beyond_the_largest_balance(books, ann, bob):
    limit(books, balance=10)
    give(books, bob, 5)
    books.do(deposit, ann, 600, "up to the edge", BY)
    with pytest.raises(LimitReached, match=r"at most; Ann's has room for nothing\.$"):
        books.do(deposit, ann, 60, "over it", BY)
    with pytest.raises(LimitReached, match=r"at most; Bob's has room for 5 minutes\.$"):
        books.do(sysop_transfer, ann, bob, 360, "over it", BY)
    books.do(adjust, ann, 60, "this may", BY)
    books.do(withdraw, ann, 30 * 2, "back to the edge", BY)


def test_every_correction_needs_a_reason(books, ann, bob):
    give(books, ann, 9)
    for operation, *values in (
        (adjust, ann, 60),
        (deposit, ann, 60),
        (withdraw, ann, 60),
        (sysop_transfer, ann, bob, 60),
        (freeze, ann),
    ):
        with pytest.raises(Refused, match="Please give a reason"):
            books.do(operation, *values, " \x1b\x07 ", BY)
    assert saved(books, ann) == 540


def test_a_reason_is_one_harmless_line(books, ann):
    (row,) = books.do(adjust, ann, 60, "one\x1b[2J\ntwo" + "x" * 300, BY)
    assert row.why.startswith("1 minute added by Co-Sysop: one[2J twoxx")
    assert len(row.why) == len("1 minute added by Co-Sysop: ") + 200


def test_an_adjustment_of_zero_is_refused(books, ann):
    with pytest.raises(ValueError, match="adjustment of 0 seconds"):
        books.do(adjust, ann, 0, "why", BY)


def test_unknown_and_deleted_callers_are_refused(books, ann, bob):
    books.do(deletion.delete, bob)
    for number in (bob, 99):
        for operation in (adjust, deposit, withdraw):
            with pytest.raises(UnknownCaller):
                books.do(operation, number, 60, "why", BY)
        with pytest.raises(UnknownCaller):
            books.do(sysop_transfer, ann, number, 60, "why", BY)
        with pytest.raises(UnknownCaller):
            books.do(freeze, number, "why", BY)


def test_a_transfer_to_the_same_account_is_refused(books, ann):
    give(books, ann, 5)
    with pytest.raises(Refused, match="Ann cannot send minutes to their own account"):
        books.do(sysop_transfer, ann, ann, 60, "why", BY)


def test_a_frozen_account_can_only_be_adjusted(books, ann, bob):
    give(books, ann, 5)
    give(books, bob, 5)
    books.do(freeze, ann, "a dispute", BY)
    for operation, *values in (
        (deposit, ann, 60),
        (withdraw, ann, 60),
        (sysop_transfer, ann, bob, 60),
        (sysop_transfer, bob, ann, 60),
    ):
        with pytest.raises(WindowClosed, match="Ann's account is frozen; adjust it"):
            books.do(operation, *values, "why", BY)
    books.do(adjust, ann, -300, "it was not his", BY)
    assert saved(books, ann) == 0


def test_freezing_leaves_notice_and_log_line_once(books, ann):
    books.do(freeze, ann, "a dispute", BY)
    assert books.do(callers.get, ann).frozen
    with pytest.raises(Refused, match="Ann's account is already frozen"):
        books.do(freeze, ann, "again", BY)
    books.do(unfreeze, ann, "settled", BY)
    assert not books.do(callers.get, ann).frozen
    with pytest.raises(Refused, match="Ann's account is not frozen"):
        books.do(unfreeze, ann, "again", BY)
    assert in_english(books.do(notices, ann)) == (
        "Co-Sysop froze your time bank: a dispute.",
        "Co-Sysop opened your time bank again: settled.",
    )
    assert log(books) == [
        (BY, "Ann", "Ann's account was opened again: settled"),
        (BY, "Ann", "Ann's account was frozen: a dispute"),
    ]


def test_without_a_bank_of_its_own_a_board_has_only_adjustments(books, ann, bob):
    books.change(mode="none")
    for operation in (deposit, withdraw):
        with pytest.raises(WindowClosed, match='In mode "none" this board keeps no accounts'):
            books.do(operation, ann, 60, "why", BY)
    with pytest.raises(WindowClosed):
        books.do(sysop_transfer, ann, bob, 60, "why", BY)
    books.do(adjust, ann, 60, "an old balance", BY)


def test_the_log_is_read_newest_first_and_page_by_page(books, ann):
    for number in range(5):
        books.do(sysop_log.note, "import", None, f"line {number}")
    first = books.do(sysop_log.entries, None, 2)
    assert [entry.what for entry in first] == ["line 4", "line 3"]
    rest = books.do(sysop_log.entries, first[-1].number, 99)
    assert [entry.what for entry in rest] == ["line 2", "line 1", "line 0"]
    assert (rest[0].at, rest[0].caller) == (books.now, None)


def test_an_adjustment_works_while_the_caller_is_online(books, call):
    give(books, call.caller_id, 10)
    call.withdraw(600)
    assert call.purse.bank == 0
    assert call.purse.online == 70 * MINUTE
    assert books.audit() == []
