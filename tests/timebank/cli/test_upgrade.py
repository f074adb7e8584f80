"""`timebank upgrade` moves older books forward; every other command refuses them in a sentence."""

from __future__ import annotations

import os
import re

import pytest
from click.testing import CliRunner

from door.cli.main import main as door
from tests.timebank import next_version
from tests.timebank.books import Books
from timebank.ledger import migrations
from timebank.ledger.sqlite.upgrade import copy_path
from timebank.settings.settings import load

pytestmark = pytest.mark.of_a_file

COMMANDS = [
    *(("accounts",), ("audit",), ("boards",), ("clock",), ("house",)),
    *(("ledger",), ("log",), ("maintain",), ("outbox",), ("summary",), ("tournament",)),
    *(("statement", "Ann"), ("backup", "new"), ("freeze", "Ann", "--why", "-")),
]
REFUSED = re.compile(
    rf"The books in \S+ are of version {next_version.BEFORE}, which an earlier release wrote; this"
    rf" one needs version {next_version.VERSION}\. .*`door upgrade` moves them forward, and so"
    r" does the next `door serve`\.\n?"
)


@pytest.fixture
def older(config, monkeypatch):
    path = load(config).database
    path.parent.mkdir(parents=True, exist_ok=True)
    books = Books(path.parent)
    books.caller("Ann")
    books.close()
    monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
    return path


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_refuses_older_books_and_changes_nothing(older, timebank, words):
    before = older.read_bytes()
    error = timebank.refuses(*words)
    assert REFUSED.fullmatch(error), error
    assert older.read_bytes() == before
    assert not list(older.parent.glob("*backup*"))


@pytest.mark.parametrize("words", [("audit",), ("callers", "list"), ("pages",)])
def test_a_command_of_the_board_does_so_too(older, config, words):
    before = older.read_bytes()
    result = CliRunner().invoke(door, [*words, "--config", str(config)])
    assert result.exit_code == 2, result.output
    assert REFUSED.fullmatch(result.stderr), result.stderr
    assert older.read_bytes() == before


def test_a_look_at_the_settings_says_so(older, config):
    result = CliRunner().invoke(door, ["check", "--config", str(config)])
    assert REFUSED.search(result.output)


def test_an_upgrade_reports_its_steps_and_the_place_of_the_copy(older, timebank):
    copy = copy_path(older, next_version.BEFORE)
    assert timebank.says("upgrade") == (
        f"Moved the books in {older} from version {next_version.BEFORE} to"
        f" {next_version.VERSION}.\n"
        f"A copy of them as they were is in {copy}.\n"
        f"To go back, install the earlier release and run `timebank restore {copy}`.\n"
    )
    assert timebank("accounts")[0] == 0
    code, output, _ = timebank("upgrade")
    assert (code, output) == (0, f"The books in {older} are of this version already.\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root makes files for another user.")
def test_the_copy_belongs_to_the_user_of_the_board(older, timebank):
    """Who could not put it back otherwise, where root has upgraded."""
    for each in (older.parent, older):
        os.chown(each, 65534, 65534)
    timebank.says("upgrade")
    assert copy_path(older, next_version.BEFORE).stat().st_uid == 65534


def test_without_books_there_is_nothing_to_upgrade(timebank):
    assert timebank.refuses("upgrade").startswith("There is no database at ")
