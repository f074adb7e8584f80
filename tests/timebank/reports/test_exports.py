"""Exports: files for other programs, and bean-check as the judge of whether they balance."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.timebank.books import as_written, won
from tests.timebank.by_hand import ByHand
from timebank.keeping import deletion
from timebank.ledger import transfers
from timebank.ledger.reasons import SysopAdded
from timebank.ledger.transfers import Account, Movement

BEAN_CHECK = Path(sys.executable).with_name("bean-check")


def bean_check(path: Path) -> tuple[int, str]:
    run = subprocess.run(
        [BEAN_CHECK, "--no-cache", path], capture_output=True, text=True, check=False
    )
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def beancount(timebank, folder):
    def export() -> Path:
        path = folder / "books.beancount"
        timebank.says("export", "beancount", "--output", str(path))
        return path

    return export


@pytest.fixture
def week(board):
    """Wins and losses over days, a night's clamp, a deletion, and names that are hard to write."""
    for number, name in enumerate(("Ann", "Mr. O'Neil", "Zoë-3", "Жук", "x-9_x"), 1):
        call = board.call(board.caller(name), node=number)
        board.wait(61)
        call.win(600, 900)
        call.lose(660)
        board.wait(86400)
        call.touch()
        if number % 2:
            call.bet(60)
            call.act(won(60, 54_000))
            call.close()
    board.do(deletion.delete, 1)
    return board


@pytest.mark.long
def test_bean_check_accepts_the_books(week, beancount):
    path = beancount()
    assert bean_check(path) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert 'caller: "Mr. O\'Neil"' in text
    assert 'caller: "Жук"' in text
    assert " open Assets:Caller:2-Mr-O-Neil:Online SECOND" in text
    assert " open Assets:Caller:4:Online SECOND" in text


@pytest.mark.long
def test_bean_check_finds_a_posting_that_was_changed(week, beancount):
    path = beancount()
    text = path.read_text(encoding="utf-8")
    assert "Online 900 SECOND" in text
    path.write_text(text.replace("Online 900 SECOND", "Online 901 SECOND", 1), encoding="utf-8")
    code, output = bean_check(path)
    assert code == 1
    assert "Transaction does not balance" in output


def test_every_balance_is_asserted(week, beancount):
    path = beancount()
    used = [balance for balance in week.do(transfers.balances) if balance.amount]
    asserted = [line for line in path.read_text().splitlines() if " balance " in line]
    assert {line.split()[3] for line in asserted} >= {str(balance.amount) for balance in used}
    changed = asserted[0].replace(" balance ", " balance ")[: -len(" SECOND")] + "1 SECOND"
    path.write_text(path.read_text().replace(asserted[0], changed))
    code, output = bean_check(path)
    assert code == 1
    assert "Balance failed" in output


@pytest.mark.long
def test_bean_check_accepts_books_in_which_nothing_has_happened(board, beancount):
    assert bean_check(beancount()) == (0, "")


def test_words_that_would_end_a_string_do_not(board, beancount):
    board.call(board.caller("Ann"))
    message = 'say "hi" \\" \\\n2026-01-01 open Assets:Nothing'
    movement = Movement(
        transfers.EXTERNAL, transfers.ADJUSTMENT, 1, SysopAdded("Tester", message), None, None
    )
    board.do(transfers.transfer, [movement])
    path = beancount()
    assert bean_check(path) == (0, "")
    assert '\\"hi\\" \\\\\\" \\\\ 2026' in path.read_text()


def test_each_unit_is_a_commodity(board, beancount):
    board.call(board.caller("Ann"))

    def play(desk):
        for unit, game in (("usd-cent", "vegas"), ("frf-cent", "baccarat")):
            number = as_written(desk.connection)(
                "INSERT INTO accounts (kind, caller_id, unit, balance)"
                " VALUES ('online', 1, ?, 0) RETURNING id",
                (unit,),
            ).scalar_one()
            house = transfers.house(desk, game, unit)
            purse = Account(number, "online", unit)
            transfers.transfer(
                desk, [Movement(house, purse, 1250, ByHand("won", "Won"), None, None)]
            )

    board.do(play)
    path = beancount()
    assert bean_check(path) == (0, "")
    text = path.read_text()
    for commodity in ("SECOND", "USDCENT", "FRFCENT"):
        assert f" commodity {commodity}\n" in text
    assert "  Income:House:Vegas:USDCENT -1250 USDCENT\n" in text


@pytest.mark.long
def test_a_clock_that_was_set_back_does_not_disturb_bean_check(board, beancount):
    board.call(board.caller("Ann")).close()
    board.step(-3 * 86400)
    board.call(board.caller("Bob")).close()
    assert bean_check(beancount()) == (0, "")


def test_the_export_in_json_holds_the_books(week, timebank):
    code, output, _ = timebank("export", "json")
    books = json.loads(output)
    assert code == 0
    assert books["time_zone"] == "Europe/Berlin"
    balances = {account["account"]: account["amount"] for account in books["accounts"]}
    assert sum(balances.values()) == 0
    assert len(books["transfers"]) == week.do(transfers.count)
    used = sum(row["amount"] for row in books["transfers"] if row["to"] == "elapsed")
    assert used == balances[2]


def test_the_export_in_csv_is_the_ledger(week, timebank, folder):
    path = folder / "books.csv"
    assert timebank.says("export", "csv", "--output", str(path)) == f"The books are in {path}.\n"
    assert path.read_text(encoding="utf-8") == timebank("ledger", "--format", "csv")[1]
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == week.do(transfers.count) + 1
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.of_a_file
def test_an_export_overwrites_nothing(board, timebank, config):
    before = board.database.path.read_bytes()
    for path in (config, board.database.path):
        assert timebank.refuses("export", "csv", "--output", str(path)) == (
            f"{path} exists already and is not overwritten.\n"
        )
    assert board.database.path.read_bytes() == before


def test_an_export_into_a_folder_that_is_not_there_is_refused(board, timebank, folder):
    path = folder / "nowhere" / "books.csv"
    assert timebank.refuses("export", "csv", "--output", str(path)) == (
        f"{path} cannot be written: No such file or directory.\n"
    )


def test_an_export_that_fails_leaves_nothing(board, timebank, folder):
    board.call(board.caller("Ann"))
    board.sql("ALTER TABLE rounds RENAME TO rounds_gone")
    path = folder / "books.csv"
    before = sorted(folder.iterdir())
    error = timebank.refuses("export", "csv", "--output", str(path))
    assert "the tables are not as the board made them" in error
    assert sorted(folder.iterdir()) == before
