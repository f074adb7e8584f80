"""The audit finds minutes saved from a day without being earned, and earned ones lost."""

from __future__ import annotations

import pytest

from tests.timebank.at_the_window import deposit
from tests.timebank.books import lost, pushed, won
from tests.timebank.hosts import comes, known
from timebank.window import corrections

DAY = 86_400
MINUTE = 60


def test_minutes_falsely_earned_and_banked_overnight_are_found(books, ann, vandal):
    """The case of the issue: ten minutes, by `carried` alone."""
    call = books.call(ann)
    vandal("UPDATE days SET carried = 600")
    began = (
        "caller 1: When 2026-06-01 began for Ann, 600 counted as earned and 0 as left of an "
        "earlier day, but the purse held 0."
    )
    assert books.audit() == [began]
    call.next_day()
    assert books.balances(ann)["bank"] == 600
    assert books.audit() == [began]
    vandal("UPDATE days SET carried = 0")  # only the banked minutes still show it
    assert books.audit() == [
        "caller 1: When 2026-06-01 ended for Ann, 600 were kept as earned, but 0 were earned."
    ]


def test_minutes_earned_and_yet_forfeited_are_found(books, ann, vandal):
    """Ann leaves 300 on the table that she has won; `carried` is lowered before the next day."""
    call = books.call(ann)
    call.win(300, 900)
    call.bet(300)
    books.wait(DAY)
    call.touch()
    assert books.sql("SELECT carried FROM days ORDER BY day") == [(0,), (300,)]
    assert books.audit() == []
    vandal("UPDATE days SET carried = 0 WHERE carried = 300")
    call.act(pushed(300))
    call.next_day()
    assert books.audit() == [
        "caller 1: When 2026-06-02 began for Ann, 0 counted as earned and 0 as left of an "
        "earlier day, but the purse held 300."
    ]
    vandal("UPDATE days SET carried = 300 WHERE day = '2026-06-02'")
    assert books.audit() == [
        "caller 1: When 2026-06-02 ended for Ann, 0 were kept as earned, but 300 were earned."
    ]


@pytest.mark.parametrize(
    "stands",
    [
        lambda call: call.act(lost(600)),
        lambda call: call.act(won(600, 300)),
        lambda call: (call.act(lost(200, final=False)), call.act(pushed(400))),
    ],
)
def test_an_old_stake_passed_off_as_new_is_found(books, ann, vandal, stands):
    """All of 600 on the table is left of the first day; by hand a half of it is not."""
    call = books.call(ann)
    call.bet(600)
    books.wait(DAY)
    call.touch()
    assert books.sql("SELECT standing FROM days ORDER BY day") == [(0,), (600,)]
    assert books.audit() == []
    vandal("UPDATE days SET standing = 300, carried = 300 WHERE standing = 600")
    assert books.audit() == [
        "caller 1: On 2026-06-02 300 of the stake of Ann are left of an earlier day, and 0 were"
        " forfeited; it should be 600 and 0."
    ]
    stands(call)
    findings = books.audit()
    forfeited = books.sql("SELECT sum(amount) FROM transfers WHERE facts LIKE '%old-stake%'")[0][0]
    if forfeited is None:  # lost: nothing returned, so its origin makes no difference
        assert findings == []
    else:
        (finding,) = findings
        assert f"and {forfeited} were forfeited; it should be 0 and" in finding


def test_an_old_stake_in_a_hand_of_two_midnights_is_in_order(books, ann):
    call = books.call(ann)
    call.win(300, 900)
    call.bet(600)
    for _ in range(2):
        books.wait(DAY)
        call.touch()
        assert books.audit() == []
    call.act(lost(150, final=False), stake=300, kind="double")
    call.act(won(750, 750))
    call.next_day()
    assert books.audit() == []


def test_earnings_of_a_frozen_account_are_in_order_unless_raised(books, ann, vandal):
    call = books.call(ann)
    call.win(300, 900)
    books.do(corrections.freeze, ann, "a dispute", "root (command line)")
    call = call.next_day()
    assert books.sql("SELECT carried FROM days ORDER BY day") == [(0,), (900,)]
    assert books.audit() == []
    call.bet(300)
    call = call.next_day()
    assert books.audit() == []
    vandal("UPDATE days SET carried = carried + 600 WHERE day = '2026-06-03'")
    assert books.audit() == [
        "caller 1: When 2026-06-03 began for Ann, 1500 counted as earned and 0 as left of an "
        "earlier day, but the purse held 900."
    ]


def test_a_board_without_a_bank_forfeits_and_is_in_order(books, ann, vandal):
    books.change(mode="none")
    call = books.call(ann)
    call.win(300, 900)
    call.bet(600)
    call = call.next_day()
    assert books.audit() == []
    vandal("UPDATE days SET carried = 300, standing = 300 WHERE standing = 600")
    assert len(books.audit()) == 1


def test_a_guests_day_with_earnings_is_found(books, vandal):
    comes(books, known(books), way="moduser")
    assert books.audit() == []
    vandal("UPDATE days SET carried = 60")
    assert books.audit() == [
        "caller 1: Day 2026-06-01 has 60 earned before it and 0 left of an earlier day, but the"
        " caller's time belongs to another board."
    ]


def test_a_day_that_ended_by_the_rule_of_version_1_0_is_in_order(books, ann, vandal):
    """That version subtracted deposits from earnings: 600 of 900 were forfeited."""
    call = books.call(ann)
    deposit(call, 10)
    call.win(300, 900)
    call.next_day()
    left = dict(books.sql("SELECT kind, id FROM transfers WHERE kind IN ('carry', 'forfeit')"))
    vandal(
        f"UPDATE transfers SET amount = 300 WHERE id = {left['carry']}",
        f"UPDATE transfers SET amount = amount + 600 WHERE id = {left['forfeit']}",
    )
    assert not [line for line in books.audit() if "were kept as earned" in line]
    vandal(f"UPDATE transfers SET amount = 301 WHERE id = {left['carry']}")
    assert [line for line in books.audit() if "were kept as earned" in line]


@pytest.mark.parametrize("column", ["carried", "standing", "after"])
def test_a_day_with_invalid_amounts_is_found(books, ann, vandal, column):
    books.call(ann)
    vandal(f"UPDATE days SET {column} = 'x'")
    sentence = "caller 1: Some of the amounts of their days are not numbers."
    assert sentence in books.audit()
