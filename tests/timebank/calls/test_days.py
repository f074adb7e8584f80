"""The days of callers in the books; tests/timebank/ledger/test_day.py has their rules."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.books import lost, pushed, stand_alone, won
from timebank.calls.calls import open_calls
from timebank.wagers.rounds import Move
from timebank.window.corrections import adjust

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_first_call_of_a_day_brings_the_days_minutes(books, ann):
    call = books.call(ann)
    assert call.moved == [("grant", 3600, "allotment", "online")]
    assert call.receipt.rows[0].why == "60 minutes for 1 June"
    assert call.purse.online == 3600
    assert call.purse.day.isoformat() == "2026-06-01"


def test_the_second_call_of_a_day_brings_nothing(books, ann):
    call = books.call(ann)
    books.wait(600)
    call.close()
    books.wait(3600)
    again = books.call(ann)
    assert again.moved == []
    assert again.purse.online == 3000


def test_registering_and_being_looked_at_grants_nothing(books, ann):
    books.wait(3 * 86400)
    assert books.balances(ann)["online"] == 0


def test_the_rest_of_a_grant_is_forfeited_at_the_next_days_first_call(books, ann):
    call = books.call(ann)
    books.wait(600)
    call.close()
    books.wait(86400)
    assert books.balances(ann)["online"] == 3000
    again = books.call(ann)
    assert again.moved == [
        ("forfeit", 3000, "online", "forfeit"),
        ("grant", 3600, "allotment", "online"),
    ]
    assert again.receipt.rows[0].why == "Minutes of 1 June that were not used"


def test_a_day_begins_in_the_middle_of_a_call_after_the_time_used(books, ann):
    books.wait_until(at("2026-06-01T23:50"))
    call = books.call(ann)
    books.wait(1200)
    call.touch()
    assert call.moved == [
        ("elapsed", 1200, "online", "elapsed"),
        ("forfeit", 2400, "online", "forfeit"),
        ("grant", 3600, "allotment", "online"),
    ]
    assert call.purse.day.isoformat() == "2026-06-02"


def test_a_hand_open_at_midnight_settles_into_the_day_it_ends(books, ann):
    books.wait_until(at("2026-06-01T23:50"))
    call = books.call(ann)
    hand = call.bet(600)
    books.wait(1200)
    call.act(won(600, 300))
    assert call.moved == [
        ("elapsed", 1200, "online", "elapsed"),
        ("forfeit", 1800, "online", "forfeit"),
        ("grant", 3600, "allotment", "online"),
        ("returned", 600, "stake", "online"),
        ("forfeit", 600, "online", "forfeit"),
        ("won", 300, "house", "online"),
    ]
    assert books.sql("SELECT day FROM rounds WHERE id = ?", hand) == [("2026-06-01",)]
    assert call.purse.turns == {}
    call.close()
    books.wait(86400)
    # The win was of the second day; the stake was of the first, and went with it.
    assert books.call(ann).moved[:2] == [
        ("forfeit", 3600, "online", "forfeit"),
        ("carry", 300, "online", "bank"),
    ]
    assert books.audit() == []


# A stake on the table over midnight.

LATE = at("2026-06-01T23:50")
TOO_LATE = at("2026-06-02T00:10")
ENDS = {"lost": lost(600), "pushed": pushed(600), "won": won(600, 900)}


def earn(books, ann, seconds: int) -> None:
    """Bank minutes for a later withdrawal."""
    books.do(adjust, ann, seconds, "for the test", "Tester")


def saved_in_the_end(books, ann) -> int:
    """Return what a caller has after two days without using the second.

    The charged seconds were the first day's minutes, which are forfeited anyway.
    """
    if books.do(open_calls):
        books.call(ann, take_over=True).close()
    books.wait_until(at("2026-06-03T12:00"))
    return books.call(ann).purse.bank


@pytest.mark.parametrize("earned", [0, 60, 420, 1500])
@pytest.mark.parametrize("end", ENDS)
def test_it_makes_no_difference_on_which_side_of_midnight_a_hand_is_over(
    open_books, folder, earned, end
):
    saved = {}
    for when in (LATE, TOO_LATE):
        (folder / when.strftime("%H")).mkdir()
        books = open_books(folder=folder / when.strftime("%H"), now=at("2026-06-01T23:40"))
        ann = books.caller("Ann")
        call = books.call(ann)
        if earned:
            call.win(600, earned)
        call.bet(600)
        books.wait_until(when)
        call.touch()
        call.act(ENDS[end])
        books.wait_until(TOO_LATE)
        call.touch()
        saved[when] = saved_in_the_end(books, ann)
        assert books.audit() == []
    assert saved[LATE] == saved[TOO_LATE]


def test_a_hand_stood_for_an_absent_caller_counts_on_the_day_of_leaving(books, ann):
    books.wait_until(LATE)
    call = books.call(ann)
    call.bet(600)
    call.close()
    books.wait(2 * 86400)
    move = Move(call.round_id, 1, {"action": "stay"}, 4)
    books.do(stand_alone, [move], won(600, 900))
    again = books.call(ann)
    assert again.moved[:2] == [
        ("forfeit", 3599, "online", "forfeit"),
        ("carry", 900, "online", "bank"),
    ]
    assert books.audit() == []


def test_a_hand_that_is_stood_after_a_visit_on_the_next_day_is_of_that_day(books, ann):
    books.wait_until(LATE)
    call = books.call(ann)
    call.bet(600)
    call.close()
    books.wait_until(TOO_LATE)
    books.call(ann).close()
    books.wait(2 * 86400)
    move = Move(call.round_id, 1, {"action": "stay"}, 4)
    receipt = books.do(stand_alone, [move], won(600, 900))
    assert [(row.kind, row.amount) for row in receipt.rows] == [
        ("returned", 600),
        ("forfeit", 600),
        ("won", 900),
    ]
    assert ("carry", 900, "online", "bank") in books.call(ann).moved
    assert books.audit() == []


@pytest.mark.parametrize(("used", "banked"), [(0, 300), (3600, 300), (3900, 0)])
def test_a_stake_over_two_days_keeps_the_first_days_earnings(books, ann, used, banked):
    books.wait_until(LATE)
    call = books.call(ann)
    call.win(600, 240)
    hand, _ = call.bet(600), call.close()
    books.wait_until(TOO_LATE)
    call = books.call(ann)
    earn(books, ann, 300)
    call.withdraw(300)
    books.wait(used)
    call.close()
    books.wait_until(at("2026-06-03T12:00"))
    call = books.call(ann)
    assert books.sql("SELECT standing, carried FROM days ORDER BY day DESC LIMIT 1") == [(360, 240)]
    assert call.purse.bank == banked
    call.round_id, call.sequence = hand, 0
    call.act(pushed(600))
    assert call.moved == [
        ("returned", 600, "stake", "online"),
        ("forfeit", 360, "online", "forfeit"),
    ]
    assert books.audit() == []


def test_a_carried_sum_larger_than_the_purse_is_found(books, ann):
    books.call(ann)
    books.sql("UPDATE days SET standing = 60")
    assert books.audit() == [
        "caller 1: When 2026-06-01 began for Ann, 0 counted as earned and 60 as left of an"
        " earlier day, but the purse held 0."
    ]


def test_winnings_under_a_clock_stepped_back_count_on_the_last_day(books, ann):
    books.wait_until(at("2026-06-02T00:10"))
    call = books.call(ann)
    books.step(-86400)
    call.win(600, 900)
    call.close()
    books.step(2 * 86400)
    assert books.call(ann).moved[:2] == [
        ("forfeit", 3599, "online", "forfeit"),
        ("carry", 900, "online", "bank"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2026-03-28T22:59:59", "2026-03-28T23:00:00"),  # the day before the clocks go forward
        ("2026-03-29T21:59:59", "2026-03-29T22:00:00"),  # that day, of 23 hours
        ("2026-10-25T22:59:59", "2026-10-25T23:00:00"),  # the day of 25 hours
    ],
)
def test_a_day_begins_at_local_midnight_despite_clock_changes(open_books, before, after):
    books = open_books(zone=BERLIN, now=at(before), events=())
    call = books.call(books.caller("Ann"))
    first = call.purse.day
    books.wait_until(at(after))
    call.touch()
    assert (call.purse.day - first).days == 1
    assert ("grant", 3600, "allotment", "online") in call.moved
