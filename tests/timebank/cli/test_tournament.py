"""`timebank tournament`: the list, and cancelling the running one."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest

from timebank.wagers import contests, duels, tournaments
from timebank.window import teller


@pytest.fixture
def running(board):
    """Enter Ann, a known caller, into a Friday's tournament and finish it."""
    ann = board.caller("Ann")
    board.wait(int(timedelta(days=12, hours=7).total_seconds()))
    seal = f"{1:064x}"
    running = board.do(tournaments.current, bytes(32), seal, "black-jack-for-time", {}, 10)
    call = board.call(ann)
    call.post(lambda *values: tournaments.enter(*values, seal, 0).receipt)
    call.close()
    board.do(contests.act, running, ann, (), "stay", 10)
    board.do(contests.weigh, seal, ann, 0)
    return board


def test_without_any_it_says_so(board, timebank):
    assert timebank.says("tournament") == "There was no tournament yet.\n"
    assert timebank.says("tournament", "--format", "json") == "[]\n"


def test_one_is_shown_while_it_runs_and_when_it_is_settled(running, timebank):
    assert timebank("tournament")[1].splitlines()[1].split() == [
        *("2026-03-13", "2026-03-15", "18:00", "running", "1", "1", "0:00:00", "0:30:00", "0:00:00")
    ]
    (record,) = json.loads(timebank("tournament", "--format", "json")[1])
    assert (record["state"], record["put_in"], record["seed"]) == ("running", 1800, None)
    running.wait(3 * 86400)
    running.do(tournaments.settle)
    (row,) = csv.DictReader(io.StringIO(timebank("tournament", "--format", "csv")[1]))
    assert (row["state"], row["champion"], row["paid"]) == ("settled", "Ann", "900")
    assert row["seed"] == "00" * 32


def test_duels_are_shown_and_called_off(board, timebank):
    assert timebank.says("duels") == "There was no duel yet.\n"
    ann, bob = board.caller("Ann"), board.caller("Bob")
    board.wait(8 * 86400)
    call = board.call(ann)
    call.post(teller.deposit, 600)
    shoe = (bytes(32), "0" * 64, "black-jack-for-time", {}, 5)
    call.post(duels.challenge, bob, 600, shoe)
    call.close()
    row = timebank("duels")[1].splitlines()[1].split()
    assert row == ["2026-03-09", "Ann", "Bob", "0:10:00", "challenged"]
    (record,) = json.loads(timebank("duels", "--format", "json")[1])
    assert (record["stake"], record["seed"]) == (600, None)
    assert timebank("duels", "--call-off", " ")[0] == 2
    assert "called off" in timebank("duels", "--call-off", "the rules were wrong")[1]
    assert board.balances(ann)["bank"] == 600
    assert board.audit() == []


def test_one_is_called_off_with_a_reason(running, timebank):
    code, _, refused = timebank("tournament", "--call-off", " ")
    assert (code, refused) == (2, "Please give a reason: it goes into the books.\n")
    code, output, _ = timebank("tournament", "--call-off", "the rules were wrong", "--by", "Jane")
    assert (code, output.splitlines()[1].split()[3:5]) == (0, ["called", "off"])
    assert running.system()["prizes"] == 0
    code, _, refused = timebank("tournament", "--call-off", "again")
    assert (code, refused) == (2, "No tournament runs just now.\n")
    assert running.audit() == []
