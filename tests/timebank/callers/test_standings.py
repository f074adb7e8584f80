"""Results are read from running totals, which always equal the sums of the hands."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from bench import large
from tests.timebank.books import GAME, lost, pushed, won
from timebank.callers import callers, hand_totals, standings
from timebank.errors import RoundOver
from timebank.keeping import deletion
from timebank.ledger import schema
from timebank.ledger.sqlite.database import SqliteDatabase

TODAY = date(2026, 6, 1)


def stored_totals(books, table="results_ever"):
    return books.sql(f"SELECT caller_id, game, unit, hands, lost, won FROM {table} ORDER BY 1, 2")


def differing(books):
    return [str(total) for total in books.do(hand_totals.differing)]


@pytest.fixture
def ann(books):
    """Create a caller who has won 10 minutes and lost 5."""
    call = books.call(books.caller("Ann"))
    call.bet(600)
    call.act(won(600, 600))
    call.bet(300)
    call.act(lost(300))
    return call


def test_a_hand_counts_when_it_is_settled(books, ann):
    expected = [(ann.caller_id, GAME, "second", 2, 300, 600)]
    assert stored_totals(books) == stored_totals(books, "results") == expected
    ann.bet(600)
    assert stored_totals(books) == expected
    ann.act(pushed(600))
    assert stored_totals(books) == [(ann.caller_id, GAME, "second", 3, 300, 600)]
    assert differing(books) == []


def test_a_hand_that_ends_with_its_deal_counts_once(books):
    call = books.call(books.caller("Ann"))
    call.bet(600, settlement=won(600, 1200))
    assert stored_totals(books) == [(call.caller_id, GAME, "second", 1, 0, 1200)]


def test_losses_before_the_end_of_a_hand_count_too(books, ann):
    ann.bet(600)
    ann.act(lost(60, final=False))
    assert stored_totals(books) == [(ann.caller_id, GAME, "second", 2, 300, 600)]
    ann.act(won(540, 540))
    assert stored_totals(books) == [(ann.caller_id, GAME, "second", 3, 360, 1140)]
    assert differing(books) == []


def test_a_settlement_that_is_asked_for_twice_counts_once(books, ann):
    ann.bet(60)
    expected = [(ann.caller_id, GAME, "second", 3, 300, 660)]
    ann.act(won(60, 60))
    ann.sequence -= 1
    with pytest.raises(RoundOver):
        ann.act(won(60, 60))
    assert stored_totals(books) == stored_totals(books, "results") == expected
    assert differing(books) == []


def test_streaks_naturals_and_the_best_hand_match_a_recount(books):
    """A push neither extends nor ends a streak; outcomes of a split hand count separately."""
    call = books.call(books.caller("Ann"))
    endings = (
        *(won(60, 90), pushed(60), won(60, 180), lost(60), lost(60), lost(60)),
        *(won(60, 60), won(60, 60), won(60, 120)._replace(outcome="natural"), pushed(60)),
        *(won(60, 120)._replace(outcome="charlie"), lost(60)._replace(outcome="dealer-natural")),
        *(lost(60)._replace(outcome="bust dealer-charlie"), pushed(60)),
    )
    for ending in endings:
        call.bet(60, settlement=ending)
    columns = "hands, hands_won, hands_even, naturals, charlies, best"
    rows = books.sql(f"SELECT {columns}, streak, longest_won, longest_lost FROM results_ever")
    assert rows == [(14, 6, 3, 1, 1, 180, -2, 4, 3)]
    assert books.sql(f"SELECT {columns} FROM results") == [(14, 6, 3, 1, 1, 180)]
    assert differing(books) == []
    books.sql("UPDATE results_ever SET longest_won = 9")
    assert len(books.do(hand_totals.differing)) == 1
    books.do(hand_totals.mend)
    assert books.sql("SELECT longest_won, streak FROM results_ever") == [(4, -2)]
    for table in (schema.results, schema.results_ever):
        for column in (each.name for each in table.c if not each.primary_key):
            for change in ("+ 1", "- 1"):
                books.sql(f"UPDATE {table.name} SET {column} = {column} {change}")
                named = [each.table.name for each in books.do(hand_totals.differing)]
                assert named == ([table.name] if change == "+ 1" else []), column


def test_a_hand_that_becomes_void_does_not_count(books, ann):
    ann.bet(600)
    ann.close()
    books.do(deletion.delete, ann.caller_id)
    assert stored_totals(books) == [(ann.caller_id, GAME, "second", 2, 300, 600)]
    assert differing(books) == []


def test_every_seat_of_a_table_counts(books, playing):
    playing.act(1, {1: lost(60), 2: pushed(120), 3: won(180, 180)})
    assert [(hands, lost_, won_) for *_, hands, lost_, won_ in stored_totals(books)] == [
        (1, 60, 0),
        (1, 0, 0),
        (1, 0, 180),
    ]
    assert differing(books) == []


def test_each_day_has_its_own_totals_and_ever_sums_them(books, ann):
    ann.close()
    books.wait(86400)
    again = books.call(ann.caller_id)
    again.bet(60)
    again.act(lost(60))
    second = standings.DaySpan(date(2026, 6, 2), date(2026, 6, 2))
    periods = (standings.DaySpan(TODAY, TODAY), second, standings.DaySpan(TODAY, second.last), None)
    winners = [books.do(standings.winners, period, 5) for period in periods]
    assert [[each.seconds for each in places] for places in winners] == [*([300], [], [240], [240])]
    assert books.do(standings.losers, second, 5) == []
    books.do(callers.change_preferences, ann.caller_id, {standings.NAMED_AS_LOSER: True})
    assert [each.seconds for each in books.do(standings.losers, second, 5)] == [-60]
    assert [(day.hands, day.result) for day in books.do(standings.house_day, TODAY)] == [(2, -300)]


@pytest.mark.parametrize("table", ["results", "results_ever"])
def test_the_audit_finds_a_wrong_total_and_a_recount_corrects_it(books, ann, table):
    books.sql(f"UPDATE {table} SET won = won + 60")
    place = f"{TODAY}, {ann.caller_id}" if table == "results" else ann.caller_id
    finding = (
        f"{table} of {place}, {GAME}, second: It differs from the sum of its hands:"
        " `timebank maintain` recounts them."
    )
    assert books.audit() == [finding]
    books.do(hand_totals.mend, ann.caller_id)
    assert books.audit() == []


def test_a_total_without_hands_is_deleted(books, ann):
    books.sql(
        "INSERT INTO results_ever VALUES (?, 'faro', 'second', 1, 60, 0, 0, 0, 0, 0, 0, -1, 0, 1)",
        ann.caller_id,
    )
    books.do(hand_totals.mend, ann.caller_id)
    assert len(stored_totals(books)) == 1
    assert books.audit() == []


def test_the_books_of_the_benches_are_in_order(books, folder):
    path = folder / "large.sqlite3"
    assert abs(large.write(path, 2000) - 2000) < 600
    large_books = SqliteDatabase(path)
    large_books.open_existing()
    with large_books.reading(books.settings, books.now) as desk:
        assert hand_totals.differing(desk) == []
    large_books.close()


def test_a_day_shows_hands_net_best_and_shared_places(books):
    callers = [books.caller(name) for name in ("Ann", "Bob", "Cid", "Dan")]
    ann, bob, cid, dan = (books.call(number) for number in callers)
    ann.win(600, 900)
    ann.lose(300)
    bob.win(600, 600)
    cid.lose(60)
    dan.hand_of_bj()  # for play money, and not over
    today = books.now.date()
    found = [books.do(standings.of_day, number, today) for number in callers]
    assert found == [
        (2, 600, 900, 1, 3),
        (1, 600, 600, 1, 3),
        (1, -60, 0, 3, 3),
        (0, 0, 0, 0, 0),
    ]
    assert books.do(standings.of_day, callers[0], today - timedelta(days=1)).hands == 0


def test_a_hand_left_open_counts_in_the_call_that_ends_it(books):
    number, today = books.caller("Ann"), books.now.date()
    first = books.call(number)
    first.lose(60)
    left = first.bet(300)
    first.close()
    books.wait(10)
    second = books.call(number)
    second.round_id, second.sequence = left, 0
    books.wait(10)
    second.act(lost(300))
    second.lose(60)
    assert books.do(standings.of_call, number, second.id, today) == (2, -360, -60)
