"""`timebank addresses`: who calls from the same address, and what they gave one another."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.timebank.at_the_window import MINUTE, borrow, limit, send
from tests.timebank.hosts import brought
from timebank.callers import callers
from timebank.calls.arrival import host_caller, open_host_call
from timebank.keeping import deletion
from timebank.reports import neighbours
from timebank.window.teller import deposit

DAY = 86_400


def calls(board, name, address, number=None):
    """A call from an address, by somebody who is entered with the first one."""
    if number is None:
        found = board.do(callers.find, name)
        number = board.caller(name) if found is None else found.id
    call = board.call(number)
    board.sql("UPDATE calls SET address = ? WHERE id = ?", address, call.id)
    return call


@pytest.fixture
def farm(board):
    """Ann and Bob behind one address; Bob sends minutes. Carl in the same IPv6 network as Ann."""
    limit(board, known_days=0, loan=30)
    ann = calls(board, "Ann", "192.0.2.7")
    bob = calls(board, "Bob", "::ffff:192.0.2.7")
    for other in ("Carl", "Dora"):
        calls(board, other, {"Carl": "2001:db8::1", "Dora": "198.51.100.1"}[other]).close()
    bob.post(deposit, 50 * MINUTE)
    send(bob, 30, ann.caller_id)
    send(bob, 10, board.do(callers.find, "Dora").id)
    bob.close()
    borrow(ann, 20)
    ann.close()
    board.wait(DAY)
    calls(board, "Ann", "2001:db8::ffff:1").close()
    return board


def report(timebank, *words):
    return timebank.says("addresses", *words)


def test_callers_are_put_together_by_subscriber(farm, timebank):
    found = json.loads(report(timebank, "--format", "json"))
    assert [(each["address"], [who["caller"] for who in each["callers"]]) for each in found] == [
        ("192.0.2.7", ["Bob", "Ann"]),
        ("2001:db8::/64", ["Ann", "Carl"]),
    ]


def test_what_they_were_granted_sent_and_owe_is_told(farm, timebank):
    rows = list(csv.DictReader(io.StringIO(report(timebank, "--format", "csv"))))
    bob, ann = rows[:2]
    assert {key: bob[key] for key in ("grants", "granted", "sent", "received", "owed")} == {
        "grants": "1",
        "granted": "3600",
        "sent": "1800",
        "received": "0",
        "owed": "0",
    }
    assert (bob["sent_elsewhere"], bob["calls"]) == ("600", "1")
    # The second day's minutes have paid the loan of the first.
    assert (ann["grants"], ann["received"], ann["owed"], ann["calls"]) == ("2", "1800", "0", "1")


def test_it_is_a_table_to_read(farm, timebank):
    told = report(timebank).splitlines()
    assert told[0].split() == [
        *("Caller", "Calls", "Last", "Grants", "Granted", "Sent", "here", "Received"),
        *("Elsewhere", "Owed", "State"),
    ]
    assert told[2] == "192.0.2.7: 2 callers, 0:30:00 sent here"
    assert told[3].split() == [
        *("Bob", "1", "2026-03-01", "1", "1:00:00", "0:30:00", "0:00:00", "0:10:00", "0:00:00")
    ]


def test_days_narrow_it(farm, timebank):
    assert report(timebank, "--since", "2026-03-02") == ("No two callers share an address.\n")
    assert "192.0.2.7: 2 callers" in report(timebank, "--until", "2026-03-01")
    assert "2001:db8" not in report(timebank, "--until", "2026-03-01")


def test_a_loan_that_is_owed_is_told(board, timebank):
    limit(board, known_days=0)
    borrow(calls(board, "Ann", "192.0.2.7"), 20)
    calls(board, "Bob", "192.0.2.7")
    (found,) = json.loads(report(timebank, "--format", "json"))
    assert {who["caller"]: who["owed"] for who in found["callers"]} == {"Ann": 1200, "Bob": 0}


def test_callers_of_other_boards_and_lines_without_an_address_share_none(board, timebank):
    for key in "12":
        guest = board.do(host_caller, "Xibalba", key, f"Guest {key}").id
        board.do(open_host_call, guest, int(key), "p", "192.0.2.9", brought(600), False)
    for name in ("Ann", "Bob"):
        calls(board, name, "").close()
        calls(board, name, "Xibalba, node 1").close()
    assert report(timebank) == "No two callers share an address.\n"
    assert report(timebank, "--format", "json") == "[]\n"


def test_a_deleted_caller_is_told_of_as_one(farm, timebank):
    farm.do(deletion.delete, farm.do(callers.find, "Bob").id)
    assert any(
        line.startswith("Bob ") and line.endswith("  deleted")
        for line in report(timebank).splitlines()
    )


@pytest.mark.of_a_file
def test_every_look_is_at_an_index_or_once_over_a_table(board):
    def plans(desk):
        asked = (neighbours.CALLED, neighbours.SENT, neighbours.GRANTED, neighbours.PEOPLE)
        given = {"since": 0, "until": 1}
        found = []
        for statement in asked:
            text = statement.text(desk.connection.dialect)
            plan = f"EXPLAIN QUERY PLAN {text.sql}"
            rows = desk.connection.exec_driver_sql(plan, text.pick(given))
            found.append([row[3] for row in rows])
        return found

    for plan in board.do(plans):
        assert len([step for step in plan if step.startswith("SCAN")]) <= 1
