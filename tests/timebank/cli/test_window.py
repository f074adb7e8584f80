"""The sysop's acts at the command line: amounts, reasons, refusals, and a running server."""

from __future__ import annotations

import csv
import io
import json
import os
import pwd
import re
import sqlite3
from functools import partial

import click
import pytest

from timebank.callers import notices, sysop_log
from timebank.cli.common import parse_minutes
from timebank.ledger import engines
from timebank.window import corrections

WHY = ("--why", "a prize")


@pytest.fixture
def ann(board):
    """Ann, with an hour in the bank, and Bob with nothing."""
    ann = board.caller("Ann")
    board.caller("Bob")
    board.do(give, ann, 3600)
    return ann


def give(desk, caller_id, seconds):
    corrections.adjust(desk, caller_id, seconds, "to begin with", "the test")


def banks(books) -> list[int]:
    rows = books.sql("SELECT balance FROM accounts WHERE kind = 'bank' ORDER BY id")
    return [bank for (bank,) in rows]


@pytest.mark.parametrize(
    ("words", "expected", "after"),
    [
        (
            ["deposit", "ann", "30"],
            "Transfer 2: 30 minutes deposited by the sysop: a prize.\n"
            "Ann's account holds 1:30:00.\n",
            [5400, 0],
        ),
        (
            ["withdraw", "Ann", "0:30:00"],
            "Transfer 2: 30 minutes withdrawn by the sysop: a prize.\n"
            "Ann's account holds 0:30:00.\n",
            [1800, 0],
        ),
        (
            ["transfer", "Ann", "Bob", "1h"],
            "Transfer 2: 60 minutes moved from Ann to Bob by the sysop: a prize.\n"
            "Ann's account holds 0:00:00.\nBob's account holds 1:00:00.\n",
            [0, 3600],
        ),
        (
            ["adjust", "Ann", "1h30m"],
            "Transfer 2: 90 minutes added by the sysop: a prize.\nAnn's account holds 2:30:00.\n",
            [9000, 0],
        ),
        (
            ["adjust", "Ann", "-15"],
            "Transfer 2: 15 minutes taken out by the sysop: a prize.\n"
            "Ann's account holds 0:45:00.\n",
            [2700, 0],
        ),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_minutes_are_moved_for_a_reason(board, ann, timebank, words, expected, after):
    assert timebank.says(*words, *WHY) == expected
    assert banks(board) == after
    assert timebank("audit")[0] == 0
    assert timebank("log")[1].splitlines()[1].endswith(": a prize")
    assert any("a prize" in str(text) for text in board.do(notices.notices, ann))


COMMANDS = [
    ["deposit", "Ann", "5"],
    ["withdraw", "Ann", "5"],
    ["transfer", "Ann", "Bob", "5"],
    ["adjust", "Ann", "5"],
    ["freeze", "Ann"],
    ["unfreeze", "Ann"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_without_a_reason_nothing_is_done(board, ann, timebank, words):
    assert "Missing option '--why'" in timebank.refuses(*words)
    assert timebank(*words, "--why", " ")[:2] == (2, "")
    assert banks(board) == [3600, 0]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["Zoe", "", "\udcff", "x" * 300])
def test_an_unknown_name_is_refused(board, ann, timebank, words, name):
    error = timebank.refuses(words[0], name, *words[2:], *WHY)
    assert error
    assert "Traceback" not in error
    assert banks(board) == [3600, 0]


NO_AMOUNTS = ["", "x", "h", "1:60", "-1:75", "1.5", "9" * 9, "٣", "--", "-x", "+-5"]


@pytest.mark.parametrize(
    ("typed", "minutes"),
    [("90", 90), ("15m", 15), ("2h", 120), ("1H30M", 90), ("15:00:00", 900), ("-1h5m", -65)],
)
def test_lengths_of_time_as_they_are_typed(typed, minutes):
    assert parse_minutes(typed) == minutes


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("15:00", "'15:00' is 15 hours or 15 minutes: write 15h, or 15m."),
        ("1:30", "is hours and minutes, or minutes and seconds: write 1h30m, or whole minutes"),
        ("0:01:30", "'0:01:30' is not in whole minutes."),
        *((typed, f"{typed!r} is not an amount") for typed in NO_AMOUNTS),
    ],
)
def test_an_invalid_or_ambiguous_amount_is_asked_back(typed, expected):
    with pytest.raises(click.BadParameter, match=re.escape(expected)):
        parse_minutes(typed)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["withdraw", "Ann", "61"], "Ann's account holds only 1:00:00; 1:01:00 were asked."),
        (["adjust", "Ann", "-61"], "Ann's account holds only 1:00:00; 1:01:00 were asked."),
        (["transfer", "Ann", "Bob", "61"], "Ann's account holds only 1:00:00; 1:01:00 were asked."),
        (["transfer", "Ann", "ANN", "1"], "Ann cannot send minutes to their own account."),
        (
            ["deposit", "Ann", "23h1m"],
            "An account holds 1440 minutes at most; Ann's has room for 1380 minutes.",
        ),
        (["unfreeze", "Ann"], "Ann's account is not frozen."),
    ],
)
def test_an_impossible_act_is_refused_in_a_sentence(board, ann, timebank, words, sentence):
    assert timebank.refuses(*words, *WHY) == f"{sentence}\n"
    assert banks(board) == [3600, 0]


def test_an_account_is_frozen_and_opened_again(board, ann, timebank):
    assert timebank.says("freeze", "ann", *WHY) == "Ann's account is frozen.\n"
    refused = "Ann's account is frozen; adjust it, or unfreeze it.\n"
    assert timebank.refuses("deposit", "Ann", "5", *WHY) == refused
    assert timebank.says("unfreeze", "Ann", *WHY) == "Ann's account is open again.\n"


def test_the_log_in_text_csv_and_json(board, timebank):
    assert timebank.says("log") == "Nothing has been done by hand.\n"
    assert timebank.says("log", "--format", "json") == "[]\n"
    ann = board.caller("Ann")
    board.do(give, ann, 3600)
    board.wait(60)
    board.do(give, ann, 60)
    assert timebank.says("log") == (
        "When                 By        Caller  What\n"
        "2026-03-01 12:01:00  the test  Ann     1 minute added to Ann's account: to begin with\n"
        "2026-03-01 12:00:00  the test  Ann     60 minutes added to Ann's account: to begin with\n"
    )
    records = json.loads(timebank("log", "--format", "json")[1])
    assert records[0] == {
        "number": 2,
        "at": "2026-03-01T12:01:00+01:00",
        "by": "the test",
        "caller": "Ann",
        "what": "1 minute added to Ann's account: to begin with",
    }
    rows = list(csv.DictReader(io.StringIO(timebank("log", "--format", "csv")[1])))
    assert [row["number"] for row in rows] == ["2", "1"]


def test_a_long_log_is_read_to_its_end(board, timebank):
    def fill(desk):
        for number in range(1, 1201):
            sysop_log.note(desk, "Sysop", None, f"Line {number}")

    board.do(fill)
    records = json.loads(timebank("log", "--format", "json")[1])
    assert [record["number"] for record in records] == list(range(1200, 0, -1))


@pytest.mark.of_a_file
def test_a_command_waits_for_its_turn_and_not_for_ever(board, ann, timebank, monkeypatch):
    monkeypatch.setattr(engines, "books_of", partial(engines.books_of, busy_seconds=0.1))
    connection = sqlite3.connect(board.database.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert timebank.refuses("deposit", "Ann", "10", *WHY) == (
        "The books can't be written right now (another program has locked the database).\n"
    )
    connection.close()
    assert timebank("deposit", "Ann", "10", *WHY)[0] == 0


def test_the_log_names_the_shell_user_and_the_caller_reads_the_sysop(board, timebank, monkeypatch):
    ann = board.caller("Ann")
    assert timebank("freeze", "Ann", *WHY)[0] == 0
    texts = [str(text) for text in board.do(notices.notices, ann)]
    assert "The sysop froze your time bank: a prize." in texts
    assert timebank("unfreeze", "Ann", *WHY, "--by", "Max")[0] == 0
    monkeypatch.delenv("SUDO_USER")
    assert timebank("freeze", "Ann", *WHY)[0] == 0
    user = pwd.getpwuid(os.getuid()).pw_name
    assert [by for (by,) in board.sql('SELECT "by" FROM sysop_log ORDER BY id')] == [
        "jane (command line)",
        "Max (command line)",
        f"{user} (command line)",
    ]
