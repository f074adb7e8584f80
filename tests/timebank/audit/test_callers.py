"""The audit finds manual changes to callers and their accounts."""

from __future__ import annotations

from datetime import time

import pytest

from tests.timebank.books import DAILY
from timebank.keeping import events
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
