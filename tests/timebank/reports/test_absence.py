"""What is new since a caller's last call, from totals of days and the hands of its last day."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import event

from tests.timebank.books import lost, won
from timebank.keeping import deletion
from timebank.reports.absence import since_last_call
from timebank.wagers import contests, deals

pytestmark = pytest.mark.both_engines

RULES = {"decks": 1}


def shoe_of(day):
    return day.isoformat().encode(), day.isoformat(), RULES


def play(books, name, net, number=None):
    """Have a caller play one hand, hang up a minute later, and return their number."""
    number = number or books.caller(name)
    call = books.call(number)
    call.bet(600)
    call.act(won(600, net) if net > 0 else lost(-net))
    if net < 0 and net > -600:
        raise ValueError("the stake is lost whole")
    books.wait(60)
    call.close()
    books.wait(60)
    return number


def news(books, caller_id):
    call = books.call(caller_id)
    found = books.do(since_last_call, caller_id, call.id)
    call.close()
    return found


def test_a_first_call_has_no_absence(books):
    assert news(books, books.caller("Ann")) is None


def test_wins_and_passes_after_the_last_call_are_told_once(books):
    play(books, "Cyd", 240)
    ann = play(books, "Ann", 120)
    bob = play(books, "Bob", 180)
    found = news(books, ann)
    assert (found.best, found.passed, found.place, found.ranked) == (("Bob", 180), ["Bob"], 3, 3)
    books.wait(60)
    found = news(books, ann)
    assert (found.best, found.passed, found.place) == (None, [], 3)
    books.wait(60)
    play(books, "Bob", 300, bob)
    assert news(books, ann).best == ("Bob", 300)
    assert news(books, ann).passed == []


def test_a_caller_who_lost_before_and_won_after_has_passed(books):
    bob = play(books, "Bob", -600)
    ann = play(books, "Ann", 120)
    play(books, "Bob", 780, bob)
    assert news(books, ann).passed == ["Bob"]


def test_later_days_count_whole_and_deleted_callers_not_at_all(books):
    ann = play(books, "Ann", 120)
    books.wait(2 * 24 * 60 * 60)
    bob, dan = play(books, "Bob", 180), play(books, "Dan", 600)
    books.do(deletion.delete, dan)
    found = news(books, ann)
    assert (found.best, found.passed, found.ranked) == (("Bob", 180), ["Bob"], 2)
    books.wait(40 * 24 * 60 * 60)
    assert news(books, bob).best is None


def test_how_the_deal_of_the_last_day_ended(books):
    ann, bob = play(books, "Ann", 120), books.caller("Bob")
    deal = books.do(deals.todays, shoe_of)
    assert news(books, ann).deal_players == 0
    for caller_id, cost in ((ann, 40), (bob, 0)):
        books.do(contests.begin, deal, caller_id)
        books.do(contests.act, deal, caller_id, (), "stay", 5)
        books.do(contests.weigh, deal.seal, caller_id, cost)
    found = news(books, ann)
    assert (found.deal, found.deal_players) == (None, None)
    assert news(books, books.caller("Cyd")) is None
    books.now += timedelta(days=1)
    books.do(deals.todays, shoe_of)
    found = news(books, ann)
    assert (found.deal.winners, found.deal.players, found.deal.place) == (["Bob"], 2, 2)
    assert found.deal_players == 0
    assert news(books, ann).deal is None, "it was told already"


def test_the_books_of_years_are_read_by_their_indexes(books):
    """No statement of the page reads all hands, calls or tries."""
    ann = play(books, "Ann", 120)
    call = books.call(ann)
    ran = []

    def plan(desk):
        if desk.connection.dialect.name != "sqlite":
            return

        def note(connection, cursor, statement, parameters, context, many):
            if statement.startswith("SELECT"):
                ran.append((statement, parameters))

        event.listen(desk.connection, "before_cursor_execute", note)
        since_last_call(desk, ann, call.id)
        event.remove(desk.connection, "before_cursor_execute", note)
        assert any("gained" in statement for statement, _ in ran)
        for statement, parameters in ran:
            rows = desk.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            for row in rows:
                words = row[-1]
                for table in ("rounds", "calls", "deal_tries", "results", "transfers"):
                    assert not words.startswith(f"SCAN {table} "), (words, statement)
                    assert words != f"SCAN {table}", (words, statement)

    books.do(plan)
