"""Play money for readers of the books: in words, tables, sums and exports."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.timebank.books import lost, won
from timebank.callers.history import history
from timebank.ledger.reasons import Deleted
from timebank.ledger.sentences import Part, describe
from timebank.reports import summary
from timebank.reports.tables import written
from timebank.words import money


@pytest.fixture
def salon(board):
    """Ann breaks even at UNIX bj and wins at Baccarat; Bob bets francs and minutes."""
    ann = board.call(board.caller("Ann"))
    ann.sit_down()
    board.wait(30)
    ann.coup(250_50, won(250_50, 250_50))
    ann.hand_of_bj()
    ann.act(stake=100, kind="insurance", coin=100)
    ann.act(lost(100, final=False))
    ann.act(lost(200))
    bob = board.call(board.caller("Bob"), node=2)
    bob.lose(600)
    bob.sit_down("frf-cent")
    bob.coup(100_000_00, unit="frf-cent")
    return board


def by_json(timebank, *words):
    return json.loads(timebank(*words, "--format", "json")[1])


@pytest.mark.parametrize(
    ("amount", "unit", "written"),
    [
        (0, "usd-cent", "$0"),
        (200, "usd-cent", "$2"),
        (205, "usd-cent", "$2.05"),
        (-1250, "usd-cent", "-$12.50"),
        (100_000_00, "frf-cent", "FR 100,000"),
        (-1_000_000_01, "frf-cent", "-FR 1,000,000.01"),
    ],
)
def test_money_is_written_as_briefly_as_it_can_be(amount, unit, written):
    assert money(amount, unit) == written


def test_a_callers_history_is_worded_in_each_unit(salon):
    lines = salon.do(history, 1, None, 99)[::-1]
    assert [line.words for line in lines] == [
        "Granted 1:00:00 for 1 March",
        "Bankroll of $100,000 for a new player, the bank is back at $1,000,000",
        "Bet $250.50, won $250.50 at Baccarat",
        "Bet $2 at UNIX bj",
        "Insurance $1 at UNIX bj",
        "Lost $1 at UNIX bj",
        "Lost $2 at UNIX bj",
    ]
    assert [line.used for line in lines[2:4]] == [30, 0]


def test_play_money_of_a_deleted_caller_is_shown():
    part = Part(Deleted("Ann", False), 100_00, unit="usd-cent")
    assert describe([part]) == "$100: ann was deleted"


def test_accounts_list_play_money_behind_the_minutes(salon, timebank):
    _, text, _ = timebank("accounts")
    lines = text.splitlines()
    assert "Play money     Bankroll       Stake        Casino   Tab" in lines
    assert "Ann         $100,250.50          $0   $999,749.50   -$3" in lines
    assert "Bob                FR 0  FR 100,000  FR 1,000,000  FR 0" in lines
    assert [line.split() for line in lines if line.startswith("mint")] == [
        ["mint", "-$1,100,000"],
        ["mint", "-FR", "1,100,000"],
    ]
    assert ["house,", "UNIX", "bj", "$3"] in [line.split() for line in lines]
    together = [line.split()[3:] for line in lines if line.startswith("all accounts together")]
    assert together == [["0:00:00"], ["$0"], ["FR", "0"]]


def test_a_statement_has_a_table_for_each_unit(salon, timebank):
    _, text, _ = timebank("statement", "ann")
    minutes, dollars = text.split("\nIn dollars\n")
    assert "$" not in minutes
    rows = [line.split("  2026-03-01 12:00:30")[-1] for line in dollars.splitlines()]
    assert rows[2:4] == [
        "   $250.50  $100,250.50     $0   $0  $100,250.50  Bet $250.50, won $250.50 at Baccarat",
        "        $0  $100,250.50     $2  -$2  $100,250.50  Bet $2 at UNIX bj",
    ]


def test_a_statement_for_programs_includes_balances(salon, timebank):
    last = by_json(timebank, "statement", "Ann")[-1]
    assert (last["unit"], last["change"], last["shown"]) == ("usd-cent", -200, "$100,247.50")
    assert (last["bankroll"], last["tab"], last["stake"], last["online"]) == (
        10_025_050,
        -300,
        0,
        0,
    )
    rows = csv.DictReader(io.StringIO(timebank("statement", "Ann", "--format", "csv")[1]))
    assert [row["together"] for row in rows][-1] == "10024750"


def test_the_ledger_lists_each_amount_in_its_unit(salon, timebank):
    rows = by_json(timebank, "ledger", "--game", "baccarat", "--caller", "Bob")
    assert [(row["kind"], row["shown"], row["unit"]) for row in rows] == [
        ("stake", "FR 100,000", "frf-cent")
    ]
    _, text, _ = timebank("ledger", "--kind", "casino")
    assert "mint  casino    $1,000,000" in text
    assert "mint  casino  FR 1,000,000" in text


def test_a_summary_counts_each_game_in_its_own_money_and_minutes_in_theirs(salon):
    (period,) = salon.do(summary.summary, "day", None, None)
    assert {key: (each.won, each.lost) for key, each in period.games.items()} == {
        ("baccarat", "usd-cent"): (250_50, 0),
        ("unix-bj", "usd-cent"): (0, 300),
        ("black-jack-for-time", "second"): (0, 600),
    }
    assert period.tables.house == 600
    assert {name: amount for name, amount in period.flows.items() if amount} == {
        "granted": 7200,
        "used": 30,
    }
    lines = list(written([summary.summary_table([period], "")]))
    assert "  Baccarat: callers won $250.50 and lost $0, the house made -$250.50." in lines
    assert lines[1].split()[-3:] == ["0:00:00", "0:10:00", "0:10:00"]
