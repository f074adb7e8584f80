"""Tickets that let a caller return after a lost line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from door.call import tickets
from door.call.tickets import GOOD_SECONDS, Ticket, Tickets
from timebank.callers.callers import CallerRecord

PAGE = "https://board.example"
ADA = CallerRecord(
    7, "Ada", "hash", False, datetime(2026, 11, 20, tzinfo=UTC), None, {}, False, None, None, False
)


class Seconds:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def test_a_ticket_works_once(seconds: Seconds) -> None:
    desk = Tickets(seconds)
    text = desk.issue(ADA, 3, PAGE)
    assert desk.redeem(text + "x", PAGE) is None
    assert desk.redeem(text, PAGE) == Ticket(7, 3, "hash", PAGE)
    assert desk.redeem(text, PAGE) is None
    assert len(desk) == 0


def test_no_two_are_alike_and_only_the_last_of_a_caller_is_good(seconds: Seconds) -> None:
    desk = Tickets(seconds)
    first, second = desk.issue(ADA, 3, PAGE), desk.issue(ADA, 4, PAGE)
    assert first != second
    assert len(second) <= 64
    assert desk.redeem(first, PAGE) is None
    assert desk.redeem(second, PAGE) is not None


def test_after_a_lost_line_it_is_good_for_some_minutes(seconds: Seconds) -> None:
    desk = Tickets(seconds)
    early = desk.issue(ADA, 3, PAGE)
    desk.call_ended(7, 3, line_lost=True)
    seconds.now += GOOD_SECONDS - 1
    assert desk.redeem(early, PAGE) is not None
    late = desk.issue(ADA, 4, PAGE)
    desk.call_ended(7, 4, line_lost=True)
    seconds.now += GOOD_SECONDS
    assert desk.redeem(late, PAGE) is None


def test_however_else_a_call_ends_it_is_void(seconds: Seconds) -> None:
    desk = Tickets(seconds)
    text = desk.issue(ADA, 3, PAGE)
    desk.call_ended(7, 3, line_lost=False)
    assert desk.redeem(text, PAGE) is None


def test_the_end_of_an_older_call_leaves_that_of_the_new_one_alone(seconds: Seconds) -> None:
    desk = Tickets(seconds)
    text = desk.issue(ADA, 4, PAGE)
    desk.call_ended(7, 3, line_lost=False)
    assert desk.redeem(text, PAGE) is not None


def test_expired_tickets_and_the_oldest_beyond_the_limit_are_dropped(
    seconds: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tickets, "MOST_TICKETS", 2)
    desk = Tickets(seconds)
    desk.issue(ADA, 3, PAGE)
    desk.call_ended(7, 3, line_lost=True)
    seconds.now += GOOD_SECONDS
    others = []
    for number in (8, 9, 10):
        others.append(desk.issue(replace(ADA, id=number), number, PAGE))
    assert len(desk) == 2
    assert [desk.redeem(text, PAGE) is not None for text in others] == [False, True, True]


@pytest.mark.parametrize("page", ["", "http://board.example", "https://evil.example"])
def test_a_page_of_another_origin_voids_it(seconds: Seconds, page: str) -> None:
    desk = Tickets(seconds)
    text = desk.issue(ADA, 3, PAGE)
    assert [desk.redeem(text, page), desk.redeem(text, PAGE)] == [None, None]


def test_a_new_password_a_lock_and_powers_void_it() -> None:
    ticket = Ticket(7, 3, "hash", PAGE)
    assert ticket.lets_in(ADA)
    assert not replace(ticket, password_hash="another").lets_in(ADA)
    assert not replace(ticket, caller_id=8).lets_in(ADA)
    assert not ticket.lets_in(replace(ADA, locked=True))
    assert not ticket.lets_in(replace(ADA, powers=True))
