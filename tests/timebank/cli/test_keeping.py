"""The `timebank` commands that keep the books: records on their way out, and files that come in."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.timebank.outbox import put, states


@pytest.fixture
def doubtful(board):
    """Create a pending record, and one whose arrival only the sysop can confirm."""
    put(board, "Ann", 12)
    number = put(board, "Bob", 5)
    board.sql(
        "UPDATE outbox SET state = 'doubtful', mark = 'T.EXT has been taken away' WHERE number = ?",
        number,
    )
    return board


def test_an_outbox_in_which_nothing_waits(board, timebank):
    sentence = '[timebank] mode is "built-in": nothing goes to THEBANK.EXT.\n'
    assert timebank.says("outbox") == sentence
    assert timebank.says("outbox", "--format", "json") == "[]\n"


def test_waiting_minutes_are_listed_with_their_doubts(doubtful, timebank):
    assert timebank.says("outbox") == (
        "Record  When                 Caller  Minutes  State\n"
        "     1  2026-03-01 12:00:00  Ann          12  waiting\n"
        "     2  2026-03-01 12:00:00  Bob           5  doubtful: T.EXT has been taken away\n"
    )


def test_the_outbox_in_csv_and_json(doubtful, timebank):
    records = json.loads(timebank("outbox", "--format", "json")[1])
    assert records[1] == {
        "number": 2,
        "caller": "Bob",
        "minutes": 5,
        "source": "Black Jack For Time",
        "at": "2026-03-01T12:00:00+01:00",
        "state": "doubtful",
        "doubt": "T.EXT has been taken away",
    }
    rows = list(csv.DictReader(io.StringIO(timebank("outbox", "--format", "csv")[1])))
    assert [(row["number"], row["doubt"]) for row in rows] == [
        ("1", ""),
        ("2", "T.EXT has been taken away"),
    ]


@pytest.mark.parametrize(
    ("option", "state"), [("--repeat", "waiting"), ("--delivered", "appended")]
)
def test_the_sysop_settles_a_doubt(doubtful, timebank, option, state):
    code, output, _ = timebank("outbox", option, "2")
    assert code == 0
    assert "doubtful" not in output
    assert states(doubtful) == ["waiting", state]


@pytest.mark.parametrize("option", ["--repeat", "--delivered"])
@pytest.mark.parametrize("number", ["1", "9"])
def test_there_is_nothing_to_settle_where_there_is_no_doubt(doubtful, timebank, option, number):
    assert timebank.refuses("outbox", option, number) == f"Record {number} is not in doubt.\n"
    assert states(doubtful) == ["waiting", "doubtful"]


def test_a_file_is_taken_over(board, timebank, folder):
    ann = board.caller("Ann")
    path = folder / "THEBANK.EXT"
    path.write_bytes(b"Ann;12;RATS;2026-03-01 12:00\r\n")
    assert timebank.says("import", str(path)).startswith(
        f"{path}: 1 record applied; 12 minutes came in, 0 seconds went out.\n"
    )
    assert board.balances(ann)["bank"] == 720
    assert not path.exists()
    assert timebank("audit")[0] == 0


def test_an_inapplicable_record_is_reported_and_exits_with_1(board, timebank, folder):
    board.caller("Ann")
    path = folder / "THEBANK.EXT"
    path.write_bytes(b"Ann;12;RATS;2026-03-01 12:00\r\nZoe;3;RATS;2026-03-01 12:00\r\n")
    code, output, _ = timebank("import", str(path))
    assert code == 1
    assert "line 2" in output
    assert "What was refused is in `timebank log`.\n" in output


def test_a_file_that_is_not_there_is_refused(board, timebank, folder):
    assert str(folder / "no") in timebank.refuses("import", str(folder / "no"))


def test_a_board_that_has_no_bank_of_its_own_takes_over_nothing(board, timebank, config, folder):
    text = config.read_text()
    head = "" if "[timebank]" in text else "[timebank]\n"
    config.write_text(f'{text}{head}mode = "none"\n')
    path = folder / "THEBANK.EXT"
    path.write_bytes(b"Ann;12;RATS;2026-03-01 12:00\r\n")
    assert 'only a board of mode "built-in" has a bank for it' in timebank.refuses(
        "import", str(path)
    )
    assert path.exists()


def test_maintain_recounts_wrong_totals(board, timebank):
    ann = board.caller("Ann")
    board.sql(
        "INSERT INTO results_ever VALUES (?, 'faro', 'second', 1, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        ann,
    )
    sentence = "Recounted 1 running total of hands.\n"
    assert timebank.says("maintain") == sentence
    assert timebank.says("maintain") == "Nothing to do.\n"
    assert board.audit() == []


@pytest.mark.parametrize("left", [".old.7.part", ".old.7.part-wal", ".timebank-h4x2"])
def test_a_backup_names_what_a_killed_one_left(board, timebank, folder, left):
    (folder / left).touch()
    code, _, error = timebank("backup", str(folder / "new.sqlite3"))
    assert (code, error) == (
        0,
        f"{folder / left} is unfinished: a killed command left it, or a running one still writes"
        " it. Delete it if none runs.\n",
    )
    assert (folder / left).exists()


def test_a_backup_names_nothing_after_backups_that_ended(board, timebank, folder):
    for name in ("one", "two"):
        assert timebank("backup", str(folder / name))[2] == ""
