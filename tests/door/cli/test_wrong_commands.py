"""What a sysop reads of commands that will not do: what was wrong, and what to type instead."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from door.cli.main import main as door
from timebank.cli.main import main as timebank

WRONG = {
    "door srve": "No such command 'srve'. Did you mean 'serve'?",
    "door serve --port 23": "No such option '--port'.",
    "door serve extra": "Got unexpected extra argument (extra)",
    "door check nothing": "Got unexpected extra argument (nothing)",
    "door check --config nowhere.toml": "nowhere.toml: there is no such file.",
    "door config get": "Missing argument 'KEY'.",
    "door config get calls.node": "There is no key calls.node. Did you mean calls.nodes?",
    "door config set calls.nodes many": (
        'sysop.toml, line 22: [calls] nodes: must be a whole number from 1 to 9999, is "many".'
    ),
    "door config set calls.nodes": "Missing argument 'VALUE'.",
    "door config set nodes 5": "nodes needs its table before it: calls.nodes.",
    "door config set calls.nodes 0": (
        "sysop.toml, line 22: [calls] nodes: must be a whole number from 1 to 9999, is 0."
    ),
    "door config unset calls.nodez": "There is no key calls.nodez. Did you mean calls.nodes?",
    "door config list zebra": "No setting has zebra in its name or explanation.",
    "door nodes": "This board's server is not running: nothing listens in HERE/data.",
    "door kick 1": "This board's server is not running: nothing listens in HERE/data.",
    "door kick one": "NODE is a number that `door nodes` shows, and not 'one'.",
    "door say 1": "Missing argument 'TEXT'.",
    "door say all hello": "This board's server is not running: nothing listens in HERE/data.",
    "door drain": "This board's server is not running: nothing listens in HERE/data.",
    "door stop now": "Got unexpected extra argument (now)",
    "door reload": "This board's server is not running: nothing listens in HERE/data.",
    "door event start Nap": (
        "There is no event Nap. sysop.toml has: Mail hour. For one of its own say its minutes."
    ),
    "door event start --minutes 0": (
        "Invalid value for '--minutes': it is from 1 to 10080, and not 0."
    ),
    "door event end": "No event that was started early is on, or about to begin.",
    "door forgive": "Missing argument 'ADDRESS|NAME'.",
    "door odds poker": (
        "There is no table poker: it is black-jack-for-time, baccarat, unix-bj, vegas, red-dog."
    ),
    "door odds --rules natural=9": "Rules belong to a table: name it before --rules.",
    "door odds vegas --rules decks=9": "Vegas: decks: must be a whole number from 1 to 8, is 9.",
    "door odds --rules holiday": (
        "--rules takes KEY=VALUE or a set of rules (1991, casino), not holiday."
    ),
    "door hand": "Missing argument 'NUMBER'.",
    f"door verify --seed {'00' * 32} --decks 9": (
        "Invalid value for '--decks': it is from 1 to 8, and not 9."
    ),
    f"door verify --seed {'00' * 32} --shuffle 0": (
        "Invalid value for '--shuffle': it is 1 or more, and not 0."
    ),
    "door hand 0": "Invalid value for 'NUMBER': it is 1 or more, and not 0.",
    "door hand 99": "There is no hand 99 in the books.",
    "door hand x": "Invalid value for 'NUMBER': 'x' is not a number.",
    "door verify": "Missing option '--seed'.",
    "door verify zz": "Missing option '--seed'.",
    "door verify 1 2 3": "Missing option '--seed'.",
    "door bj 5": "Got unexpected extra argument (5)",
    "door audit --since-hand": "Option '--since-hand' requires an argument.",
    "door callers lock": "Missing argument 'NAME'.",
    "door callers lock Adda": "There is no caller named Adda. `timebank accounts` lists them all.",
    'door callers unlock "Ada" --why': "No such option '--why'. Did you mean '--by'?",
    'door callers rename Wanda ""': "A name has 2 to 24 characters.",
    "door callers delete Zed --yes": (
        "There is no caller named Zed. `timebank accounts` lists them all."
    ),
    'door callers notice Wanda ""': "The text has nothing that can be shown.",
    "door callers password Zed": (
        "There is no caller named Zed. `timebank accounts` lists them all."
    ),
    "door callers grant Zed": "There is no caller named Zed. `timebank accounts` lists them all.",
    "door callers revoke Wanda Zed": "Got unexpected extra argument (Zed)",
    "door callers restore Wanda": "No deleted caller is named Wanda. You can bring back nobody.",
    "door callers approve Zed": "There is no caller named Zed. `timebank accounts` lists them all.",
    "door doctor nothing": "Got unexpected extra argument (nothing)",
    "door docs nothing": 'There is no page "nothing": `door docs` lists them.',
    "door upgrade now": "Got unexpected extra argument (now)",
    "timebank acounts": "No such command 'acounts'. Did you mean 'accounts'?",
    "timebank accounts --caller Wnada": "There is no caller named Wnada. Do you mean Wanda?",
    "timebank ledger --since tomorow": (
        "'tomorow' is not a day: write 2026-11-05, a month or year (2026-11, 2026), today, "
        "yesterday, or 7d for seven days ago."
    ),
    "timebank ledger --since 2026-13-01": (
        "'2026-13-01' is not a day: write 2026-11-05, a month or year (2026-11, 2026), "
        "today, yesterday, or 7d for seven days ago."
    ),
    "timebank ledger --since 2026-00": (
        "'2026-00' is not a day: write 2026-11-05, a month or year (2026-11, 2026), today,"
        " yesterday, or 7d for seven days ago."
    ),
    "timebank ledger --until 2026-11-00": (
        "'2026-11-00' is not a day: write 2026-11-05, a month or year (2026-11, 2026), today,"
        " yesterday, or 7d for seven days ago."
    ),
    "timebank ledger --since 2026-12-01 --until 2026-11-01": "--since must not be after --until.",
    'timebank ledger --caller "#99"': (
        "There is no caller named #99. `timebank accounts` lists them all."
    ),
    "timebank ledger --call 99999999999999999999": (
        "Invalid value for '--call': it is from 1 to 9223372036854775807, and not"
        " 99999999999999999999."
    ),
    "door reload --data /dev/null": (
        "This board's server is not running: nothing listens in /dev/null."
    ),
    "timebank ledger --game poker": "The books know no game yet.",
    "timebank ledger --kind gift": "The books hold no transfer yet.",
    "timebank ledger --call x": "Invalid value for '--call': 'x' is not a number.",
    "timebank statement": "Missing argument 'NAME'.",
    "timebank statement Wand": "There is no caller named Wand. Do you mean Wanda?",
    "timebank summary --by fortnight": (
        "Invalid value for '--by': 'fortnight' is not one of 'day', 'week', 'month', 'year'."
    ),
    "timebank adjust Wanda": "Missing argument 'AMOUNT'.",
    "timebank adjust Wanda ten --why x": (
        "Invalid value for 'AMOUNT': 'ten' is not an amount: write minutes (90, 90m), or "
        "hours and minutes (2h, 1h30m)."
    ),
    "timebank adjust Wanda 10": "Missing option '--why'.",
    "timebank adjust Wanda 0 --why x": "Invalid value for 'AMOUNT': zero is not an amount.",
    'timebank adjust Wanda 10m --why ""': "Please give a reason: it goes into the books.",
    "timebank deposit Wanda -5 --why x": (
        "Invalid value for 'AMOUNT': '-5' is below zero. `timebank adjust` takes it."
    ),
    "timebank withdraw Wanda 500 --why x": (
        "Wanda's account holds only 0:00:00; 8:20:00 were asked."
    ),
    "timebank transfer Wanda Wanda 5 --why x": "Wanda cannot send minutes to their own account.",
    "timebank transfer Wanda Zed 5 --why x": (
        "There is no caller named Zed. `timebank accounts` lists them all."
    ),
    "timebank freeze Wanda": "Missing option '--why'.",
    "timebank unfreeze Wanda --why x": "Wanda's account is not frozen.",
    "timebank backup": "Missing argument 'FILE'.",
    "timebank backup sysop.toml": "sysop.toml exists already and is not overwritten.",
    "timebank restore": "Missing argument 'FILE'.",
    "timebank restore sysop.toml": "sysop.toml is not a backup of books.",
    "timebank restore nothing": "There is no file nothing.",
    "timebank export --format xml": "No such option '--format'.",
    "timebank import nothing.ext": "There is no file nothing.ext.",
    "timebank move here there": (
        "There is no database at here. The board makes one when it first serves."
    ),
    "timebank outbox sent 5": "Got unexpected extra arguments (sent 5)",
    "timebank boards --settle x": "No such option '--settle'.",
    "timebank tournament 99": "Got unexpected extra argument (99)",
    "timebank duels stop 99": "Got unexpected extra arguments (stop 99)",
    "timebank clock --mended": "No such option '--mended'. Did you mean '--mend'?",
    "timebank upgrade 13": "Got unexpected extra argument (13)",
    "timebank maintain --now": "No such option '--now'.",
    "timebank audit --since-digest x": (
        "Invalid value for '--since-digest': 'x' is not a digest, which is 64 hexadecimal digits."
    ),
    "timebank log --since never": "No such option '--since'. Did you mean '--wide'?",
    "timebank house --caller Zed": (
        "There is no caller named Zed. `timebank accounts` lists them all."
    ),
}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a board in an empty folder, with Wanda as its sysop."""
    folder = tmp_path_factory.mktemp("board")
    password = {"BJFT_SYSOP_PASSWORD": "secret99pass"}
    result = CliRunner().invoke(
        door, ["init", "--yes", "--sysop", "Wanda", str(folder)], env=password
    )
    assert result.exit_code == 0, result.output
    return folder


def test_a_caller_is_named_by_number_too(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(board)
    for words in (["ledger", "--caller", "#1"], ["statement", "#1"], ["log"]):
        result = CliRunner().invoke(timebank, words)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_explained(
    board: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(board)
    program, *words = shlex.split(command)
    result = CliRunner().invoke({"door": door, "timebank": timebank}[program], words)
    said = result.stderr.strip().replace(os.path.realpath(board), "HERE")
    assert (result.exit_code, said.rpartition("Error: ")[2]) == (2, WRONG[command])
    assert isinstance(result.exception, SystemExit)
