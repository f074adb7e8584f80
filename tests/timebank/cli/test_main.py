"""The `timebank` command: its text, its exit codes, and its manners when something is missing."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest
from click.testing import CliRunner

from tests.timebank.books import lost
from tests.timebank.vandal import Vandal
from timebank.cli.main import main
from timebank.keeping import deletion, last_audit
from timebank.ledger import transfers
from timebank.settings.settings import load


def test_accounts_of_a_new_board(board, timebank):
    assert timebank("accounts")[1].startswith("Nobody has registered yet.\n\nAccount ")


def test_the_environment_says_where_the_settings_are(board, config, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BJFT_CONFIG", str(config))
    told = CliRunner().invoke(main, ["accounts", "--format", "csv"])
    assert told.exit_code == 0, told.stderr
    monkeypatch.setenv("BJFT_CONFIG", str(tmp_path / "other.toml"))
    told = CliRunner().invoke(main, ["accounts"])
    assert f"{tmp_path / 'other.toml'}: there is no such file" in told.stderr


def test_accounts_of_callers_and_system(board, timebank):
    board.caller("bob")
    call = board.call(board.caller("Ann"))
    board.wait(65)
    call.win(600, 900)
    call.bet(300)
    gone = board.caller("Gone")
    board.do(deletion.delete, gone)
    board.do(transfers.house, "vegas", "usd-cent")
    assert timebank.says("accounts") == (
        """\
Caller   Online     Held     Bank    Stake     Loan  State
Ann     1:08:55  0:00:00  0:00:00  0:05:00  0:00:00
bob     0:00:00  0:00:00  0:00:00  0:00:00  0:00:00

Account                      Balance
allotment                   -1:00:00
elapsed                      0:01:05
forfeit                      0:00:00
external                     0:00:00
adjustment                   0:00:00
house, Black Jack For Time  -0:15:00
house, Vegas                      $0
all accounts together        0:00:00
all accounts together             $0
"""
    )


def test_the_ledger_in_the_time_of_the_board(board, timebank):
    call = board.call(board.caller("Ann"))
    board.wait(65)
    call.lose(600)
    code, output, _ = timebank("ledger")
    assert code == 0
    assert output == (
        "Number  Entry  When                 Caller  From       To        Amount"
        "  Call  Hand  Why\n"
        "     1      1  2026-03-01 12:00:00  Ann     allotment  online   1:00:00"
        "     1     -  60 minutes for 1 March\n"
        "     2      2  2026-03-01 12:01:05  Ann     online     elapsed  0:01:05"
        "     1     -  Time used on node 1\n"
        "     3      2  2026-03-01 12:01:05  Ann     online     stake    0:10:00"
        "     1     1  Bet 10 minutes at Black Jack For Time\n"
        "     4      4  2026-03-01 12:01:05  Ann     stake      house    0:10:00"
        "     1     1  Lost at Black Jack For Time (lose)\n"
    )


def test_an_audit_that_finds_nothing_says_so(board, timebank):
    board.call(board.caller("Ann")).lose(60)
    digest = last_digest(board)
    output = timebank.says("audit")
    assert output == (
        "The books are in order: 3 transfers, and every balance follows from them.\n"
        f"The last digest is {digest}. Note it down for `timebank audit --since-digest`.\n"
    ) + (
        ""  # books on a server have no folder here
        if board.is_on_a_server
        else f"The checkpoint of this audit is {left(output)}. Given to --since-digest, it lets the"
        " next one check only what comes after it.\n"
    )


def left(output) -> str:
    return re.search("checkpoint of this audit is ([0-9a-f]{64})", output)[1]


@pytest.mark.of_a_file
def test_an_audit_goes_on_from_the_last_one_or_from_the_one_that_was_noted_down(
    board, timebank, config
):
    call = board.call(board.caller("Ann"))
    call.lose(60)
    code, output, error = timebank("audit", "--since-last")
    assert (code, error) == (
        0,
        "No audit has left a checkpoint yet, so everything is checked.\n",
    )
    first = left(output)
    call.lose(120)
    output = timebank.says("audit", "--since-last")
    assert re.search(
        "in order since the checkpoint of .*: 2 transfers, and every balance follows from it and"
        " them. What came before it was not read.",
        output,
    )
    assert f"Its digest is {first}." in output
    code, output, _ = timebank("audit", "--since-digest", first, "--format", "json")
    told = json.loads(output)
    assert (code, told["transfers"], told["digest"]) == (0, 2, last_digest(board))
    board.sql("UPDATE rounds SET lost = 30 WHERE id = 2")
    assert timebank("audit", "--since-digest", first)[:2] == (
        1,
        "hand 2: 30 was lost, its transfers add up to 120.\n",
    )
    code, output, error = timebank("audit", "--since-digest", told["checkpoint"])
    assert (code, output) == (1, "hand 2: 30 was lost, its transfers add up to 120.\n")
    assert "was found by an earlier audit" in error
    assert "Choose one: --since-digest or --since-last." in timebank.refuses(
        "audit", "--since-last", "--since-digest", first
    )
    for file in load(config).database.parent.glob("*.checkpoint-*"):
        file.write_bytes(b"")
    assert "The checkpoint that is kept under this digest was changed" in timebank.refuses(
        "audit", "--since-digest", first
    )


@pytest.mark.of_a_file
def test_what_is_known_to_be_wrong_is_told_until_an_audit_of_everything_finds_nothing(
    board, config, timebank
):
    ann = board.call(board.caller("Ann"))
    ann.lose(300)
    ann.bet(60)
    assert timebank("audit")[0] == 0
    ann.act(lost(60))
    vandal = Vandal(board)
    vandal("UPDATE rounds SET won = 7 WHERE id = 1")
    of_hand_1 = "hand 1: 7 was won, its transfers add up to 0."
    assert timebank("audit", "--since-last")[0] == 0  # it is before the checkpoint
    code, output, _ = timebank("audit")
    assert (code, of_hand_1 in output) == (1, True)
    for _ in range(2):
        code, output, error = timebank("audit", "--since-last")
        assert (code, output) == (1, f"{of_hand_1}\n")
        assert error == (
            "1 thing is wrong in the books.\n1 thing was found by an earlier audit, and may be"
            " before the checkpoint: it is told until an audit of everything finds nothing"
            " (`timebank audit`).\n"
        )
    told = json.loads(timebank("audit", "--since-last", "--format", "json")[1])
    assert told["findings"] == [
        {"where": "hand 1", "sentence": "7 was won, its transfers add up to 0."}
    ]
    ann.bet(60)
    vandal("UPDATE rounds SET won = 8 WHERE id = 3")
    of_hand_3 = "hand 3: 8 was won, its transfers add up to 0."
    for _ in range(2):  # what was found yesterday is told once
        code, output, _ = timebank("audit", "--since-last")
        assert (code, output.splitlines()) == (1, [of_hand_3, of_hand_1])
    assert last_audit.last_audit(load(config), last_audit.BOOKS).wrong == 2
    vandal("UPDATE rounds SET won = 0")
    assert timebank("audit", "--since-last")[0] == 1
    assert timebank("audit")[0] == 0
    assert timebank("audit", "--since-last")[0] == 0


def last_digest(books) -> str:
    return books.sql("SELECT digest FROM transfers ORDER BY id DESC LIMIT 1")[0][0]


def test_an_audit_proves_that_the_books_continue_those_of_yesterday(board, timebank):
    call = board.call(board.caller("Ann"))
    call.lose(60)
    digest = last_digest(board)
    call.lose(120)
    for noted in (digest, f" {digest.upper()} "):
        code, output, _ = timebank("audit", "--since-digest", noted)
        assert code == 0
        assert "They continue the books with your digest.\n" in output
        assert f"The last digest is {last_digest(board)}." in output


def test_books_that_are_others_are_found_out(board, timebank):
    board.call(board.caller("Ann")).lose(60)
    code, output, error = timebank("audit", "--since-digest", "12" * 32)
    assert (code, error) == (1, "1 thing is wrong in the books.\n")
    assert "these books do not continue those" in output


@pytest.mark.parametrize("typed", ["", "12", "g" * 64, "1" * 65])
def test_a_digest_that_is_none_is_refused(board, timebank, typed):
    assert "is not a digest, which is 64 hexadecimal digits." in timebank.refuses(
        "audit", "--since-digest", typed
    )


def test_an_audit_for_other_programs(board, timebank):
    none = "0" * 64
    code, output, error = timebank("audit", "--format", "json")
    told = json.loads(output)
    kept = told.pop("checkpoint")
    in_order = {"transfers": 0, "digest": none, "generation": 1, "findings": []}
    assert (code, told, error) == (0, in_order, "")
    # Of a file it keeps a checkpoint, of the second that it was made in.
    checkpoint = "checkpoint,[0-9a-f]{64}\n" if kept else ""
    assert re.fullmatch(
        f"where,sentence\n{checkpoint}digest,{none}\n", timebank.says("audit", "--format", "csv")
    )
    board.call(board.caller("Ann")).lose(60)
    board.sql("UPDATE rounds SET lost = 30")
    sentence = "30 was lost, its transfers add up to 60."
    ((transfers, digest),) = board.sql("SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1")
    code, output, error = timebank("audit", "--format", "json")
    assert (code, error) == (1, "")
    assert json.loads(output) == {
        "transfers": transfers,
        "digest": digest,
        "checkpoint": None,
        "generation": 1,
        "findings": [{"where": "hand 1", "sentence": sentence}],
    }
    assert timebank("audit", "--format", "csv") == (
        1,
        f'where,sentence\nhand 1,"{sentence}"\ndigest,{digest}\n',
        "",
    )


def test_an_audit_that_finds_something_names_it_and_exits_with_1(board, timebank):
    board.call(board.caller("Ann")).lose(60)
    board.sql("UPDATE rounds SET lost = 30")
    assert timebank("audit") == (
        1,
        "hand 1: 30 was lost, its transfers add up to 60.\n",
        "1 thing is wrong in the books.\n",
    )
    board.sql("UPDATE accounts SET balance = balance + 1 WHERE id = 1")
    code, output, error = timebank("audit")
    assert (code, len(output.splitlines())) == (1, 3)
    assert error == "3 things are wrong in the books.\n"


def test_nothing_that_is_in_the_books_takes_a_finding_off_the_terminal(board, timebank):
    board.caller("Ann")
    board.sql("UPDATE callers SET name = 'Ann\x1b[2K\x9b1A'")
    board.sql("UPDATE accounts SET balance = 1 WHERE kind = 'online'")
    for form in ("text", "csv", "json"):
        code, output, _ = timebank("audit", "--format", form)
        assert (code, "[2K" in output) == (1, True)
        assert output.replace("\n", "").isprintable()


@pytest.mark.of_a_file
@pytest.mark.parametrize("command", ["accounts", "ledger", "audit"])
def test_a_board_that_never_served_has_no_database_and_gets_none(config, timebank, command):
    error = timebank.refuses(command)
    database = load(config).database
    assert error == (
        f"There is no database at {database}. The board makes one when it first serves.\n"
    )
    assert not database.exists()


@pytest.mark.parametrize("command", ["accounts", "ledger", "audit"])
def test_settings_that_are_missing_or_wrong_are_told(config, timebank, command):
    code, _, error = timebank(command, at=config.parent / "nowhere.toml")
    assert code == 2
    assert "nowhere.toml" in error
    config.write_text('[board]\ntime_zone = "Atlantis"\n')
    code, _, error = timebank(command)
    assert code == 2
    assert "Atlantis" in error


def test_settings_of_the_board_that_are_not_the_banks_are_not_its_business(config, board, timebank):
    config.write_text(config.read_text() + "[no_such_table]\nkey = 1\n")
    assert timebank("audit")[0] == 0


@pytest.mark.of_a_file
def test_a_locked_database_can_be_read(board, timebank):
    connection = sqlite3.connect(board.database.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert timebank("accounts")[0] == 0
    connection.close()
