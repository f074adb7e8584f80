"""Acts of other boards' callers in words and figures: history, statements, reports."""

from __future__ import annotations

import json

import pytest

from tests.timebank.hosts import HOUR, comes, known
from timebank.callers.history import history
from timebank.guests.claims import mark_not_written
from timebank.reports.boards import boards
from timebank.window.corrections import adjust


@pytest.fixture
def guests(board):
    """Play as Ann of Xibalba, who loses 10 minutes and wins 25, and Bob of Orcus, who is owed 5."""
    ann = known(board)
    call = comes(board, ann)
    call.lose(600)
    call.close()
    call = comes(board, ann)
    board.wait(60)
    call.win(600, 1500)
    call.close()
    bob = comes(board, known(board, "Bob", "3", "Orcus"), way="moduser")
    bob.win(600, 300)
    bob.close()
    bob.claim()
    return board


def words(books, caller_id):
    return [line.words for line in books.do(history, caller_id, None, 50)][::-1]


def test_the_history_has_words_for_visits(books):
    ann = known(books)
    books.do(adjust, ann, 600, "for the test", "Tester")
    call = comes(books, ann, HOUR, share=50, way="moduser")
    call.withdraw(600)
    call.win(1200, 1800)
    books.wait(2700)
    call.close()
    books.do(mark_not_written, call.claim(), "The file is gone.")
    assert words(books, ann)[1:] == [
        "Brought 30:00 from Xibalba",
        "Withdrew 10:00",
        "Bet 20:00 at Black Jack For Time",
        "Won 30:00 at Black Jack For Time",
        "15:00 more by the clock of Xibalba, gained 30:00 on the visit from Xibalba,"
        " gave 30:00 back to Xibalba, put 10:00 of your own back in the bank",
        "Kept 30:00 that could not be given back to Xibalba",
    ]


def test_the_history_has_words_for_the_bank(books):
    ann = known(books)
    call = comes(books, ann)
    call.win(600, 900)
    books.wait(60)
    call.close()
    assert words(books, ann)[-1] == (
        "Gained 15:00 on the visit from Xibalba, put in the bank, took 59:00 home to Xibalba"
    )


def test_the_history_has_words_without_a_bank(books):
    books.change(mode="none")
    ann = known(books)
    call = comes(books, ann)
    call.win(600, 900)
    call.close()
    assert words(books, ann)[-1].startswith("Gained 15:00 on the visit from Xibalba, forfeited, ")


def test_the_report_sums_each_board(guests):
    with guests.database.reading(guests.settings, guests.now) as desk:
        orcus, xibalba = boards(desk)
    assert (xibalba.callers, xibalba.visits) == (1, 2)
    assert (xibalba.brought, xibalba.elapsed, xibalba.taken_home) == (HOUR + 3000, 61, 6539)
    assert (xibalba.gained, xibalba.debt_paid, xibalba.debt, xibalba.given) == (900, 600, 0, {})
    assert (orcus.gained, orcus.debt, orcus.given) == (300, 0, {("moduser", "writing"): 5})


def test_a_debt_is_reported_on_its_day(board):
    call = comes(board, known(board))
    call.lose(600)
    call.close()
    for debt in (600, 0):
        with board.database.reading(board.settings, board.now) as desk:
            assert [report.debt for report in boards(desk)] == [debt]
        board.wait(24 * HOUR)


def test_the_command_shows_them(guests, timebank):
    code, output, _ = timebank("boards")
    lines = output.splitlines()
    assert code == 0
    assert lines[0].split() == [
        *("Board", "Callers", "Visits", "Brought", "Used", "Taken", "home", "Gained", "Paid"),
        *("Owed", "today"),
    ]
    assert (
        lines[1].split()
        == ["Orcus", "1", "1", "1:00:00", "0:00:01", "0:59:59", "0:05:00"] + ["0:00:00"] * 2
    )
    assert lines[2] == "  by moduser: 5 minutes writing"
    # The board's clock is that of years after the test's: the claim is old.
    assert lines[-1].endswith("moduser  doubtful: the program died while writing it")


def test_the_command_settles_doubts(guests, timebank):
    assert timebank("boards", "--again", "1")[0] == 0
    assert timebank("boards")[1].splitlines()[-1].endswith("waiting")
    assert timebank.refuses("boards", "--given", "1") == "Number 1 is not in doubt.\n"


def test_other_programs_read_it(guests, timebank):
    records = json.loads(timebank("boards", "--format", "json")[1])
    assert records[0] == {
        "board": "Orcus",
        "callers": 1,
        "visits": 1,
        "brought": 3600,
        "used": 1,
        "taken_home": 3599,
        "gained": 300,
        "debt_paid": 0,
        "debt_today": 0,
        "given_back": [{"way": "moduser", "state": "writing", "minutes": 5}],
    }
    assert timebank("boards", "--format", "csv")[1].splitlines()[1] == (
        "Orcus,1,1,3600,1,3599,300,0,0,by moduser: 5 minutes writing"
    )


def test_a_report_without_guests_says_so(board, timebank):
    assert timebank.says("boards") == "No caller from another board has been here yet.\n"


def test_statement_and_summary_know_it(guests, timebank):
    assert "Took 49:59 home to Xibalba" in timebank("statement", "Ann@Xibalba")[1]
    output = timebank("summary")[1]
    assert "2:50:00 brought, 2:48:58 taken home" in output
    assert "0:05:00 given back" in output
