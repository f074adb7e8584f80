"""The audit finds manual changes to callers and their accounts."""

from __future__ import annotations

from datetime import time

import pytest

from tests.timebank.books import DAILY
from timebank.callers import powers
from timebank.keeping import caller_acts, events
from timebank.keeping.events import EventAsked
from timebank.settings.schedule import Event
from timebank.window import corrections as bank
from timebank.window.teller import deposit, transfer

DAY = 86_400
YEAR = 365 * DAY
BY = "root (command line)"


@pytest.fixture
def evening(books, ann, bob):
    """A year after both have registered, Ann saves ten minutes, and Bob sends her five."""
    books.wait(YEAR)
    call, bobs = books.call(ann), books.call(bob, node=2)
    call.post(deposit, 600)
    bobs.post(deposit, 900)
    bobs.post(transfer, ann, 300, "")
    return call


def exchanged(column: str, one: int, other: int) -> tuple[str, str, str]:
    """Exchange the rows of two accounts, which must stay unique at every step."""
    spare, mine, theirs = {
        "kind": ("'spare'", "'online'", "'bank'"),
        "caller_id": ("NULL", "1", "2"),
    }[column]
    values = ((one, spare), (other, mine), (one, theirs))
    return tuple(f"UPDATE accounts SET {column} = {value} WHERE id = {id}" for id, value in values)


def test_nothing_is_wrong_with_an_evening(books, evening):
    assert books.audit() == []


def test_online_minutes_turned_into_savings_are_found(books, evening, vandal):
    """Accounts 6 and 8 are Ann's online and bank."""
    vandal(*exchanged("kind", 6, 8))
    assert (
        "transfer 1: No grant goes from allotment to bank of caller 1 on a call of caller 1."
    ) in books.audit()


def test_a_stake_and_a_correction_on_the_wrong_account_are_found(books, ann, vandal):
    """Accounts 6 and 8 are Ann's online and bank."""
    call = books.call(ann)
    call.bet(60)
    books.do(bank.adjust, ann, 300, "for the test", "Tester")
    assert books.audit() == []
    vandal(*exchanged("kind", 6, 8))
    findings = books.audit()
    stake = "No stake goes from bank of caller 1 to stake of caller 1 on a call of caller 1."
    assert f"transfer 2: {stake}" in findings
    assert "transfer 3: No adjust goes from adjustment to online of caller 1." in findings


def test_savings_moved_to_another_caller_are_found(books, evening, vandal):
    """Accounts 8 and 13 are the banks of Ann and Bob."""
    vandal(*exchanged("caller_id", 8, 13))
    assert (
        "transfer 3: No deposit goes from online of caller 1 to bank of caller 2 on a call of"
        " caller 1."
    ) in books.audit()


def test_accounts_reassigned_to_another_caller_are_found(books, evening, vandal):
    for one, other in zip(range(6, 11), range(11, 16), strict=True):
        vandal(*exchanged("caller_id", one, other))
    vandal("UPDATE days SET caller_id = caller_id + 2", "UPDATE days SET caller_id = 5 - caller_id")
    assert (
        "transfer 1: No grant goes from allotment to online of caller 2 on a call of caller 1."
    ) in books.audit()


def test_minutes_of_a_removed_caller_are_found(books, evening, vandal):
    evening.close()
    vandal("UPDATE callers SET deleted = 1 WHERE id = 1")
    assert books.audit() == []  # the sysop can bring her back
    vandal("UPDATE callers SET removed = 1 WHERE id = 1")
    assert "caller 1: Ann was removed, but has 900 in bank." in books.audit()


# Powers given and removed by the sysop.


def test_powers_without_a_grant_are_found(books, ann, vandal):
    vandal("UPDATE callers SET powers = 1 WHERE id = 1")
    assert books.audit() == [
        "caller 1: Ann has sysop powers (1), but the sysop's log says none (0)."
    ]


def test_granted_powers_are_in_order_and_removed_ones_are_found(books, ann, vandal):
    books.do(powers.grant, ann, BY)
    assert books.audit() == []
    vandal("UPDATE callers SET powers = 0 WHERE id = 1")
    assert books.audit() == [
        "caller 1: Ann has no sysop powers (0), but the sysop's log says they were given (1)."
    ]


def test_powers_from_registration_are_in_order(books):
    sysops = books.do(lambda desk: caller_acts.enter(desk, "Sysop", "hash", BY, with_powers=True))
    assert sysops.powers
    assert books.audit() == []


def test_powers_older_than_the_log_are_in_order(books, ann):
    books.do(powers.grant, ann, BY)
    books.wait(2 * YEAR)
    books.do(caller_acts.set_locked, books.caller("Bob"), True, BY)
    books.sql("DELETE FROM sysop_log WHERE id = 1")  # as `timebank maintain` does
    assert books.audit() == []


@pytest.mark.parametrize(
    "why",
    [
        "Ann's account was frozen: and she lost five minutes",
        "Ann, caller number 1, was locked out",
        "Ann, caller number 1, was given sysop powers",
    ],
)
def test_a_reason_that_reads_like_a_line_of_the_log_is_in_order(books, ann, why):
    books.do(bank.adjust, ann, 300, why, BY)
    assert books.audit() == []


@pytest.mark.parametrize(
    ("done", "undone", "flag", "finding"),
    [
        (
            lambda desk: bank.freeze(desk, 1, "a dispute", BY),
            lambda desk: bank.unfreeze(desk, 1, "settled", BY),
            "frozen",
            "caller 1: The account of Ann is open (0), but the sysop's log says frozen (1).",
        ),
        (
            lambda desk: caller_acts.set_locked(desk, 1, True, BY),
            lambda desk: caller_acts.set_locked(desk, 1, False, BY),
            "locked",
            "caller 1: Ann may log on (0), but the sysop's log says locked out (1).",
        ),
    ],
)
def test_a_freeze_or_lock_undone_without_the_log_is_found(
    books, ann, vandal, done, undone, flag, finding
):
    books.do(done)
    assert books.audit() == []
    vandal(f"UPDATE callers SET {flag} = 0 WHERE id = 1")
    assert books.audit() == [finding]
    vandal(f"UPDATE callers SET {flag} = 1 WHERE id = 1")
    books.do(undone)
    assert books.audit() == []


def test_a_line_that_the_sysop_left_for_a_caller_gives_no_powers(books, ann):
    books.do(caller_acts.leave_notice, ann, "Ann, caller number 1, was given sysop powers", BY)
    assert books.audit() == []


# Since when callers are known.


def test_a_registration_date_before_a_lower_numbers_is_found(books, ann, vandal):
    books.wait(30 * DAY)
    bob = books.caller("Bob")
    books.call(bob)
    assert books.audit() == []
    vandal(f"UPDATE callers SET created = created - {YEAR} WHERE id = {bob}")
    assert books.audit() == [
        "caller 2: Bob registered on 2025-07-01 12:00:00, but an earlier caller"
        " on 2026-06-01 12:00:00."
    ]


@pytest.mark.parametrize(
    ("created", "date"), [(f"created + {YEAR}", "2027-06-01 12:00:00"), ("'x'", "'x'")]
)
def test_a_registration_date_after_the_first_call_is_found(books, ann, vandal, created, date):
    books.call(ann)
    vandal(f"UPDATE callers SET created = {created}")
    assert books.audit() == [
        f"caller 1: Ann registered on {date}, but first called on 2026-06-01 12:00:00."
    ]


def test_a_wrong_clock_explains_registration_dates_out_of_order(books, ann, bob):
    books.step(30 * DAY)
    books.call(books.caller("Cid"))
    books.step(-30 * DAY)
    books.call(books.caller("Dot"), node=2)
    assert books.audit() == []


def test_a_registration_by_a_fast_clock_before_a_later_call_is_in_order(books, ann):
    books.step(YEAR)
    bob = books.caller("Bob")
    books.call(ann).close()
    books.step(-YEAR)
    books.call(bob)
    assert books.audit() == []


def test_a_registration_by_the_sysop_with_a_fast_clock_is_in_order(books):
    books.step(YEAR)
    number = books.do(
        lambda desk: caller_acts.enter(desk, "Sysop", "hash", BY, with_powers=True)
    ).id
    books.step(-YEAR)
    books.caller("Ann")
    assert books.audit() == []
    books.call(number)
    assert books.audit() == []
    books.wait(3 * YEAR)
    books.do(caller_acts.set_locked, 2, True, BY)
    books.sql("DELETE FROM sysop_log WHERE id = 1")  # as `timebank maintain` does
    assert books.audit() == []


# Minutes held behind an event.


@pytest.fixture
def held(books, ann):
    """Ann has come at 2:30, and half of her hour is held behind Mail hour at 3:00."""
    books.wait(14 * 3600 + 1800)
    return books.call(ann)


def test_held_minutes_are_in_order_until_their_return(books, held):
    assert books.balances(1)["held"] == 1800
    assert books.audit() == []
    books.wait(5400)
    held.touch()
    assert books.audit() == []


@pytest.mark.parametrize("until", ["0", "NULL", "'x'"])
def test_minutes_held_until_another_instant_are_found(books, held, vandal, until):
    vandal(f"UPDATE callers SET held_until = {until} WHERE id = 1")
    waits = {"0": "1970-01-01 00:00:00", "NULL": "nothing"}.get(until, until)
    assert books.audit() == [
        f"caller 1: Time held for Ann since 2026-06-02 02:30:00 waits for {waits}."
    ]


def test_minutes_held_behind_another_event_are_found(books, held, vandal):
    behind = '{"event":"Supper","at":"03:00","host":false}'
    vandal(f"UPDATE callers SET held_behind = '{behind}' WHERE id = 1")
    assert books.audit() == [
        "caller 1: Time held for Ann waits behind Supper at 03:00, but was put behind Mail hour"
        " at 03:00."
    ]


def test_minutes_held_behind_a_renamed_event_are_in_order(books, held):
    books.change(events=(Event("Repairs", time(3), DAILY, 90),))
    held.touch()  # this half hour could not be used before the event anyway
    assert books.audit() == []
    books.wait(1800 + 90 * 60)
    held.touch()
    assert books.balances(1)["online"] == 1800
    assert books.audit() == []


def test_minutes_held_without_their_cancelled_event_are_in_order(books, ann):
    call = books.call(ann)
    books.do(events.start, EventAsked("Mail hour", None, 10), BY)
    call.touch()
    assert books.balances(ann)["held"]
    books.do(events.take_back, BY)
    assert books.sql("SELECT held_until FROM callers WHERE id = 1") == [(None,)]
    assert books.audit() == []
