"""The `timebank` commands that read the books: filters, formats and paging."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.timebank.books import as_written
from tests.timebank.by_hand import ByHand
from timebank.callers import callers, own_limits
from timebank.keeping import deletion
from timebank.ledger import transfers
from timebank.ledger.transfers import Account, Movement
from timebank.window import corrections
from timebank.window.teller import transfer

TITLE = "Black Jack For Time"


def by_json(timebank, *words):
    output = timebank.says(*words, "--format", "json")
    return json.loads(output)


def by_csv(timebank, *words):
    output = timebank.says(*words, "--format", "csv")
    return list(csv.DictReader(io.StringIO(output)))


def numbers(timebank, *words):
    return [record["number"] for record in by_json(timebank, "ledger", *words)]


def test_a_transfer_in_json(evening, timebank):
    digests = [digest for (digest,) in evening.sql("SELECT digest FROM transfers ORDER BY id")]
    assert by_json(timebank, "ledger", "--caller", "Ann")[4:5] == [
        {
            "number": 5,
            "entry": 4,
            "at": "2026-03-01T12:01:05+01:00",
            "kind": "won",
            "amount": 900,
            "unit": "second",
            "shown": "0:15:00",
            "from": "house",
            "from_caller": None,
            "to": "online",
            "to_caller": "Ann",
            "game": "black-jack-for-time",
            "call": 1,
            "hand": 1,
            "why": f"Won at {TITLE} (win)",
            "code": "won",
            "facts": {"game": "black-jack-for-time", "outcome": "win"},
            "digest": digests[4],
            "generation": 1,
        },
    ]


def test_the_same_transfers_in_csv(evening, timebank):
    _, output, _ = timebank("ledger", "--format", "csv", "--hand", "3")
    digests = [
        digest for (digest,) in evening.sql("SELECT digest FROM transfers WHERE id IN (9, 10)")
    ]
    assert output == (
        "number,entry,at,kind,amount,unit,shown,from,from_caller,to,to_caller,game,call,hand,why,"
        "digest,generation,code,facts\n"
        "9,8,2026-03-01T12:02:45+01:00,stake,1200,second,0:20:00,online,Bob,stake,Bob,"
        "black-jack-for-time,2,3,Bet 20 minutes at Black Jack For Time,"
        f"{digests[0]},1,"
        'bet,"{""game"": ""black-jack-for-time""}"\n'
        "10,10,2026-03-01T12:02:45+01:00,lost,1200,second,0:20:00,stake,Bob,house,,"
        "black-jack-for-time,2,3,Lost at Black Jack For Time (lose),"
        f"{digests[1]},1,"
        'lost,"{""game"": ""black-jack-for-time"", ""outcome"": ""lose""}"\n'
    )


def test_nothing_is_an_empty_array_or_a_header(board, timebank):
    assert timebank.says("ledger", "--format", "json") == "[]\n"
    assert by_csv(timebank, "ledger") == []
    assert timebank("ledger", "--format", "csv")[1].startswith("number,entry,at,")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--caller", "bob"], [7, 8, 9, 10]),
        (["--kind", "grant"], [1, 7]),
        (["--kind", "GRANT"], [1, 7]),
        (["--call", "2"], [7, 8, 9, 10]),
        (["--call", "9"], []),
        (["--hand", "1"], [3, 4, 5]),
        (["--game", "black-jack-for-time"], [3, 4, 5, 6, 9, 10]),
        (["--game", "Black Jack For Time"], [3, 4, 5, 6, 9, 10]),
        (["--game", "black-jack-for-time", "--caller", "Ann", "--kind", "stake"], [3, 6]),
        (["--newest-first", "--call", "2"], [10, 9, 8, 7]),
        (["--newest-first"], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
    ],
)
def test_filters_match_their_descriptions(evening, timebank, filters, expected):
    assert numbers(timebank, *filters) == expected


def test_since_and_until_include_their_days_by_the_clock_of_the_board(board, timebank):
    call = board.call(board.caller("Ann"))
    board.wait_until(datetime(2026, 3, 1, 22, 59, 59, tzinfo=UTC))
    call.touch()
    board.wait(1)  # midnight in Berlin
    call.touch()
    everything = numbers(timebank)
    assert numbers(timebank, "--until", "2026-03-02") == everything
    assert numbers(timebank, "--until", "2026-03-01") == everything[:-1]
    assert numbers(timebank, "--until", "2026-02-28") == []
    assert numbers(timebank, "--since", "2026-03-01") == everything
    assert numbers(timebank, "--since", "2026-03-02", "--until", "2026-03-02") == everything[-1:]
    assert numbers(timebank, "--since", "2026-03-03") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--since", "yesterday", "--until", "yesterday"], ["31 Oct"]),
        (["--since", "today"], ["1 Nov"]),
        (["--since", "TODAY", "--until", "0d"], ["1 Nov"]),
        (["--since", "2d", "--until", "1d"], ["31 Oct"]),
        (["--since", "2026-11"], ["1 Nov"]),
        (["--until", "2026-10"], ["2025", "31 Oct"]),
        (["--since", "2026"], ["31 Oct", "1 Nov"]),
        (["--until", "2025"], ["2025"]),
        (["--since", "2026-11-1", "--until", "2026-11-01"], ["1 Nov"]),
    ],
)
def test_a_day_can_be_named_as_people_say_it(board, timebank, monkeypatch, words, expected):
    """Today is the board's: it is 1 November in Berlin while it is 31 October in London."""
    ann = board.caller("Ann")
    days = {
        "2025": datetime(2025, 12, 31, 22, 59, tzinfo=UTC),
        "31 Oct": datetime(2026, 10, 31, 22, 59, tzinfo=UTC),
        "1 Nov": datetime(2026, 10, 31, 23, tzinfo=UTC),
    }
    named = {}
    for day, at in days.items():
        board.now = at
        (row,) = board.do(corrections.adjust, ann, 60, day, "Sysop")
        named[row.number] = day
    monkeypatch.setattr("timebank.ledger.machine.Machine.now", lambda _: days["1 Nov"])
    assert [named[number] for number in numbers(timebank, *words)] == expected


@pytest.mark.parametrize(
    "typed", ["gestern", "2026-13", "2026-02-30", "26-11-05", "-3d", "999999d", "", "\u0661d"]
)
@pytest.mark.parametrize("option", ["--since", "--until"])
def test_what_is_not_a_day_is_refused_with_the_ways_to_write_one(evening, timebank, option, typed):
    assert timebank.refuses("ledger", f"{option}={typed}") == (
        f"{typed!r} is not a day: write 2026-11-05, a month or year (2026-11, 2026), today,"
        " yesterday, or 7d for seven days ago.\n"
    )


def test_the_first_and_the_last_day_that_can_be_written(evening, timebank):
    assert timebank.refuses("ledger", "--since", "0001-01-01") == "0001-01-01 is out of range.\n"
    assert timebank("ledger", "--until", "9999-12-31")[0] == 0


def test_the_minutes_of_a_deleted_caller_are_shown_until_they_are_removed(board, timebank):
    ann = board.caller("Ann")
    board.do(corrections.adjust, ann, 600, "a gift", "Sysop")
    board.do(deletion.delete, ann)
    (line,) = [line for line in timebank.says("accounts").splitlines() if line.startswith("Ann")]
    assert line.split() == ["Ann", *["0:00:00"] * 2, "0:10:00", *["0:00:00"] * 2, "deleted"]
    board.do(deletion.remove, ann)
    assert "Ann" not in timebank.says("accounts")


def test_the_ledger_of_a_deleted_caller_can_be_shown(board, timebank):
    ann = board.caller("Ann")
    board.call(ann).close()
    board.do(deletion.delete, ann)
    board.do(deletion.remove, ann)
    assert numbers(timebank, "--caller", "Ann") == [1, 2, 3]


def test_a_kind_that_has_not_come_up_yet_is_no_mistake(evening, timebank) -> None:
    status, output, error = timebank("ledger", "--kind", "loan")
    assert (status, output, error) == (0, "No transfers.\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["ledger", "--game", "Canasta"],
            "The books know no game Canasta. They know: black-jack-for-time.\n",
        ),
        (
            ["ledger", "--kind", "gift"],
            "The books know no kind of transfer gift. They know: elapsed, grant, lost, returned,"
            " stake, won.\n",
        ),
        (
            ["ledger", "--since", "2026-03-02", "--until", "2026-03-01"],
            "--since must not be after --until.\n",
        ),
        (
            ["statement", "Zoe"],
            "There is no caller named Zoe. `timebank accounts` lists them all.\n",
        ),
        (["statement", "An"], "There is no caller named An. Do you mean Ann?\n"),
        (["ledger", "--caller", "Annn"], "There is no caller named Annn. Do you mean Ann?\n"),
        (["accounts", "--caller", "an"], "There is no caller named an. Do you mean Ann?\n"),
        (["house", "--caller", "nAnn"], "There is no caller named nAnn. Do you mean Ann?\n"),
        (
            ["freeze", "--why", "x", "An"],
            "There is no caller named An. Do you mean Ann?\n",
        ),
        (
            ["transfer", "--why", "x", "Ann", "Bo", "5"],
            "There is no caller named Bo. Do you mean Bob?\n",
        ),
        (["statement", "\udcff"], "'\\udcff' is not readable text.\n"),
        (["ledger", "--caller", "\udcff"], "'\\udcff' is not readable text.\n"),
    ],
)
def test_an_unknown_caller_is_refused(evening, timebank, words, sentence):
    assert timebank.refuses(*words) == sentence


@pytest.mark.parametrize(
    ("option", "value"),
    [("--hand", number) for number in ("0", "-1", "99999999999999999999", "x")],
)
def test_a_value_that_is_none_is_refused(evening, timebank, option, value):
    assert f"Invalid value for '{option}'" in timebank.refuses("ledger", option, value)


def test_a_transfer_between_callers_names_both(board, timebank):
    board.call(board.caller("Ann"))
    board.caller("Bob")
    send(board, "Ann", "Bob", 60, "Transfer")
    assert "  Ann > Bob  online     online  " in timebank("ledger")[1]
    assert numbers(timebank, "--caller", "Bob") == [2]
    assert numbers(timebank, "--caller", "Ann") == [1, 2]


def send(board, giver, taker, seconds, why):
    def move(desk):
        online = [
            as_written(desk.connection)(
                "SELECT a.id FROM accounts a JOIN callers c ON c.id = a.caller_id"
                " WHERE c.name = ? AND a.kind = 'online'",
                (name,),
            ).scalar_one()
            for name in (giver, taker)
        ]
        source, target = (Account(number, "online", "second") for number in online)
        transfers.transfer(
            desk, [Movement(source, target, seconds, ByHand("transfer", why), None, None)]
        )

    board.do(move)


def test_accounts_in_csv_and_json(evening, timebank):
    records = by_json(timebank, "accounts")
    assert records[0] == {
        "account": 6,
        "kind": "online",
        "caller": "Ann",
        "caller_number": 1,
        "deleted": False,
        "game": None,
        "amount": 4135,
        "unit": "second",
        "shown": "1:08:55",
        "frozen": False,
        "locked": False,
    }
    assert records[-1]["game"] == "black-jack-for-time"
    assert sum(record["amount"] for record in records) == 0
    rows = by_csv(timebank, "accounts")
    assert [row["account"] for row in rows] == [str(record["account"]) for record in records]
    assert (rows[0]["amount"], rows[0]["shown"], rows[0]["deleted"]) == ("4135", "1:08:55", "0")


def test_accounts_are_marked_and_can_be_narrowed_to_a_caller(board, timebank):
    def names(*words):
        output = timebank("accounts", *words)[1].split("\n\n")[0]
        return [line.split()[0] for line in output.splitlines()[1:]]

    for name, seconds in (("Ann", 60), ("Bob", 180), ("Eve", 0)):
        who = board.caller(name)
        if seconds:
            board.do(corrections.adjust, who, seconds, "to begin with", "Sysop")
    assert timebank("freeze", "Bob", "--why", "odd")[0] == 0
    board.do(callers.set_locked, 1, True)
    shown = [line.split()[-1] for line in timebank("accounts")[1].splitlines()[1:4]]
    assert shown == ["locked", "frozen", "0:00:00"]
    assert names("--caller", "ann") == ["Ann"]
    (eve, *_) = by_csv(timebank, "accounts", "--caller", "Eve")
    assert (eve["frozen"], eve["locked"]) == ("0", "0")


def test_limits_of_their_own_are_shown_with_accounts_and_statements(board, timebank):
    ann, bob = board.caller("Ann"), board.caller("Bob")
    assert "of their own" not in timebank.says("accounts") + timebank.says("statement", "Ann")
    board.do(own_limits.limit_loss, ann, 30)
    board.do(own_limits.set_hourly_summary, bob, True)
    shown = timebank.says("accounts").split("Limits of their own")[1].splitlines()
    assert [line.split("  ")[0] for line in shown[1:3]] == ["Ann", "Bob"]
    for words in (("statement", "Ann"), ("accounts", "--caller", "Ann")):
        assert "loses 30 minutes a day at most" in timebank.says(*words)


def test_a_statement_in_text(evening, timebank):
    assert timebank.says("statement", "ann") == (
        "Statement of Ann\n"
        "Entry  When                   Change   Online     Held     Bank    Stake     Loan"
        "  Together  What\n"
        "    1  2026-03-01 12:00:00   1:00:00  1:00:00  0:00:00  0:00:00  0:00:00  0:00:00"
        "   1:00:00  Granted 1:00:00 for 1 March\n"
        "    2  2026-03-01 12:01:05  -0:01:05  0:48:55  0:00:00  0:00:00  0:10:00  0:00:00"
        "   0:58:55  Bet 10:00 at Black Jack For Time; 1:05 used\n"
        "    4  2026-03-01 12:01:05   0:15:00  1:13:55  0:00:00  0:00:00  0:00:00  0:00:00"
        "   1:13:55  Won 15:00 at Black Jack For Time\n"
        "    6  2026-03-01 12:01:05   0:00:00  1:08:55  0:00:00  0:00:00  0:05:00  0:00:00"
        "   1:13:55  Bet 5:00 at Black Jack For Time\n"
    )


def test_a_statement_names_senders_and_receivers(board, timebank):
    for name in ("Ann", "Bob"):
        board.caller(name)
    board.do(corrections.adjust, 1, 600, "to begin with", "Sysop")
    call = board.call(1)
    board.change(limits=replace(board.settings.limits, known_days=0))
    call.post(transfer, 2, 300, "for the hint")
    (*_, sent) = by_json(timebank, "statement", "Ann")
    (got,) = by_json(timebank, "statement", "Bob")
    assert (sent["what"], sent["change"]) == ('Sent 5:00 to Bob: "for the hint"', -300)
    assert (got["what"], got["change"]) == ('Received 5:00 from Ann: "for the hint"', 300)


def test_a_statement_ends_with_the_balances(evening, timebank):
    last = by_json(timebank, "statement", "Bob")[-1]
    kinds = ("online", "held", "bank", "stake", "loan")
    assert {kind: last[kind] for kind in kinds} == evening.balances(2)
    assert last["together"] == sum(evening.balances(2).values())
    assert by_csv(timebank, "statement", "Bob")[-1]["together"] == str(last["together"])


def test_a_summary_in_text(evening, timebank):
    assert timebank.says("summary") == (
        "Period      Granted     Used   Banked  Withdrawn     Lent   Repaid  Forfeited"
        "      Won     Lost    House\n"
        "2026-03-01  2:00:00  0:02:45  0:00:00    0:00:00  0:00:00  0:00:00    0:00:00"
        "  0:15:00  0:20:00  0:05:00\n"
        "  Black Jack For Time: callers won 0:15:00 and lost 0:20:00, the house made 0:05:00.\n"
    )


def test_a_summary_in_csv_and_json(evening, timebank):
    (period,) = by_json(timebank, "summary", "--by", "week")
    assert (period["period"], period["first_day"]) == ("2026-W09", "2026-02-23")
    assert (period["granted"], period["used"], period["house"]) == (7200, 165, 300)
    assert period["games"] == [
        {
            "game": "black-jack-for-time",
            "unit": "second",
            "won": 900,
            "lost": 1200,
            "house": 300,
        }
    ]
    rows = {row["what"]: row for row in by_csv(timebank, "summary", "--by", "month")}
    assert rows["house"] == {
        "period": "2026-03",
        "first_day": "2026-03-01",
        "what": "house",
        "game": "black-jack-for-time",
        "unit": "second",
        "amount": "300",
        "shown": "0:05:00",
    }
    assert rows["used"]["shown"] == "0:02:45"


COMMANDS = [
    ["accounts"],
    ["ledger"],
    ["statement", "Ann"],
    ["summary"],
    ["export", "json"],
    ["audit"],
    ["outbox"],
    ["backup", "copy.sqlite3"],
]


@pytest.mark.of_a_file
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_books_that_cannot_be_opened_are_refused_in_a_sentence(board, timebank, words):
    path = board.database.path
    board.sql("PRAGMA user_version = 999")
    code, output, error = timebank(*words)
    assert (code, output) == (2, "")
    assert "was written by a newer program" in error
    board.close()
    for garbage, reason in (
        (b"garbage " * 500, "is damaged."),
        (b"", "There is no database at"),
    ):
        path.write_bytes(garbage)
        assert reason in timebank.refuses(*words)


@pytest.mark.parametrize("words", COMMANDS[:5], ids=" ".join)
def test_books_without_their_tables_are_refused_in_a_sentence(board, timebank, words):
    for table in ("transfers", "accounts", "callers"):
        board.sql(f"ALTER TABLE {table} RENAME TO {table}_gone")
    assert re.search(": the tables are not as the board made them", timebank.refuses(*words))


def test_the_house_compares_its_winnings_with_the_odds(evening, timebank, monkeypatch):
    monkeypatch.setattr(
        "timebank.reports.house.installed_odds",
        lambda: lambda hand: (-0.1 * hand.bet, float(hand.bet)),
    )
    output = timebank.says("house")
    heading, *tables = output.splitlines()
    assert heading.split() == [
        "Table",
        "Hands",
        "Staked",
        "House",
        "won",
        "By",
        "odds",
        "Luck",
        "SD",
    ]
    ((won, lost),) = evening.sql("SELECT SUM(won), SUM(lost) FROM rounds WHERE unit = 'second'")
    records = by_json(timebank, "house")
    time = [record for record in records if record["unit"] == "second"]
    assert sum(record["house"] for record in time) == lost - won
    assert len(tables) == len(records)
    assert [record["game"] for record in by_csv(timebank, "house")] == [
        record["game"] for record in records
    ]
    code, _output, error = timebank("house", "--caller", "Nobody")
    assert code == 2
    assert "There is no caller named Nobody" in error


def test_luck_beyond_belief_is_an_alarm(evening, timebank, monkeypatch):
    monkeypatch.setattr("timebank.reports.house.FEWEST", 0)
    monkeypatch.setattr("timebank.reports.house.BEYOND_BELIEF", 0.0)
    monkeypatch.setattr("timebank.reports.house.installed_odds", lambda: lambda _hand: (0.0, 1.0))
    code, output, _error = timebank("house")
    assert code == 1
    assert "than luck explains" in output
