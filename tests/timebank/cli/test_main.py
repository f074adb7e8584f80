"""The `timebank` command: its text, its exit codes, and its manners when something is missing."""

from __future__ import annotations

import json
import sqlite3

import pytest
from click.testing import CliRunner

from timebank.cli.main import main
from timebank.keeping import deletion
from timebank.ledger import transfers
from timebank.settings.settings import load


def test_accounts_of_a_new_board(board, timebank):
    assert timebank("accounts")[1].startswith("Nobody has registered yet.\n\nAccount ")


def test_the_environment_says_where_the_settings_are(board, config, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BJFT_CONFIG", str(config))
    result = CliRunner().invoke(main, ["accounts", "--format", "csv"])
    assert result.exit_code == 0, result.stderr
    monkeypatch.setenv("BJFT_CONFIG", str(tmp_path / "other.toml"))
    result = CliRunner().invoke(main, ["accounts"])
    assert f"{tmp_path / 'other.toml'}: there is no such file" in result.stderr


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
    assert timebank.says("audit") == (
        "The books are in order: 3 transfers, and every balance follows from them.\n"
        f"The last digest is {digest}. Note it down for `timebank audit --since-digest`.\n"
    )


def test_options_of_release_1_0_are_ignored_with_a_sentence(board, timebank):
    """Timers of release 1.0 give `--since-last`."""
    code, output, error = timebank("audit", "--since-last", "--jobs", "2")
    assert (code, output) == (0, timebank.says("audit"))
    assert error == (
        "--since-last is ignored: this release has no such option.\n"
        "--jobs is ignored: this release has no such option.\n"
    )


def last_digest(books) -> str:
    return books.sql("SELECT digest FROM transfers ORDER BY id DESC LIMIT 1")[0][0]


def test_an_audit_proves_that_the_books_continue_yesterdays(board, timebank):
    call = board.call(board.caller("Ann"))
    call.lose(60)
    digest = last_digest(board)
    call.lose(120)
    for noted in (digest, f" {digest.upper()} "):
        code, output, _ = timebank("audit", "--since-digest", noted)
        assert code == 0
        assert "They continue the books with your digest.\n" in output
        assert f"The last digest is {last_digest(board)}." in output


def test_an_audit_detects_foreign_books(board, timebank):
    board.call(board.caller("Ann")).lose(60)
    code, output, error = timebank("audit", "--since-digest", "12" * 32)
    assert (code, error) == (1, "1 thing is wrong in the books.\n")
    assert "these books do not continue the ones" in output


@pytest.mark.parametrize("typed", ["", "12", "g" * 64, "1" * 65])
def test_a_digest_that_is_none_is_refused(board, timebank, typed):
    assert "is not a digest, which is 64 hexadecimal digits." in timebank.refuses(
        "audit", "--since-digest", typed
    )


def test_an_audit_for_other_programs(board, timebank):
    none = "0" * 64
    code, output, error = timebank("audit", "--format", "json")
    report = json.loads(output)
    in_order = {"transfers": 0, "digest": none, "generation": 1, "findings": []}
    assert (code, report, error) == (0, in_order, "")
    assert timebank.says("audit", "--format", "csv") == f"where,sentence\ndigest,{none}\n"
    board.call(board.caller("Ann")).lose(60)
    board.sql("UPDATE rounds SET lost = 30")
    sentence = "30 was lost, its transfers add up to 60."
    ((transfers, digest),) = board.sql("SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1")
    code, output, error = timebank("audit", "--format", "json")
    assert (code, error) == (1, "")
    assert json.loads(output) == {
        "transfers": transfers,
        "digest": digest,
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
def test_missing_or_wrong_settings_are_reported(config, timebank, command):
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
