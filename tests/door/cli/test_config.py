"""`door config`: effective settings, differences, and changes that keep the sysop's text."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from door.config.schema import checked_keys
from tests.door.shell import CommandResult, door

OWN = """\
# Our board.
[board]
name = "Rat Trap" # since 1991

[calls]
nodes = 4

[boards.Xibalba]
minutes = 90
addresses = ["192.0.2.7"]
secret = "hush"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "sysop.toml"
    path.write_text(OWN)
    return path


def config(path: Path, *words: str) -> CommandResult:
    return door("config", words[0], "--config", str(path), *words[1:])


def test_list_shows_every_key_with_value_default_and_meaning(own: Path) -> None:
    lines = config(own, "list").output.splitlines()
    where = lines.index("calls.nodes = 4  # default: 16")
    assert lines[where + 1] == "    How many callers can be online at once (1 to 9999)."
    shown = [line.partition(" = ")[0] for line in lines if not line.startswith(" ")]
    names = [key.name for key in checked_keys(OWN, own)]
    assert shown == names
    assert {"boards.Xibalba.minutes", "games.vegas.split_21", "events.1.name"} <= set(shown)
    assert shown.index("board.name") < shown.index("calls.nodes") < shown.index("timebank.mode")
    assert 'boards.Xibalba.secret = a secret  # default: ""' in lines
    assert "hush" not in "\n".join(lines)


def test_list_finds_a_word_in_names_and_meanings(own: Path) -> None:
    found = json.loads(config(own, "list", "soft", "--format", "json").output)
    assert found == [
        {
            "key": "games.vegas.dealer",
            "value": "stand 17",
            "default": "stand 17",
            "meaning": 'What the dealer does on 17: "hit 17 with an ace" counts the ace as one or'
            ' eleven ("stand 17", "hit soft 17", "hit 17 with an ace" or "hit 17").',
        }
    ]
    assert config(own, "list", "NODES").output.startswith("calls.nodes = 4")
    wrong = config(own, "list", "roulette")
    assert (wrong.status, wrong.error) == (
        2,
        "No setting has roulette in its name or explanation.\n",
    )
    rows = config(own, "list", "xibalba", "--format", "csv").output
    assert '"[""192.0.2.7""]"' in rows
    assert "hush" not in rows


def test_list_without_a_board_shows_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BJFT_CONFIG", raising=False)
    lines = door("config", "list").output.splitlines()
    assert "calls.nodes = 16" in lines
    assert "boards.NAME.minutes = 60" in lines


@pytest.mark.parametrize(
    ("key", "typed", "line", "got"),
    [
        ("calls.nodes", "32", "nodes = 32", "32"),
        ("board.name", "My Board", 'name = "My Board" # since 1991', "My Board"),
        ("games.vegas.double_after_split", "no", "double_after_split = false", "false"),
        ("games.vegas.natural_pays", "2", "natural_pays = 2", "2"),
        (
            "timebank.hours",
            "mon 08:00-09:00, sat 10:00-24:00",
            'hours = ["mon 08:00-09:00", "sat 10:00-24:00"]',
            '["mon 08:00-09:00", "sat 10:00-24:00"]',
        ),
        ("tournament.prize_minutes", "9,5", "prize_minutes = [9, 5]", "[9, 5]"),
        ("events.1.days", "mon,thu", 'days = ["mon", "thu"]', '["mon", "thu"]'),
        ("listeners.1.port", "2424", "port = 2424", "2424"),
        ("rules.friday.ties", "push", 'ties = "push"', "push"),
        ('boards."My.Board".minutes', "45", "minutes = 45", "45"),
    ],
)
def test_set_changes_one_key_and_keeps_all_else(
    own: Path, key: str, typed: str, line: str, got: str
) -> None:
    own.chmod(0o640)
    assert config(own, "set", key, typed).status == 0
    text = own.read_text()
    assert line in text.splitlines()
    assert "# Our board." in text
    assert stat.S_IMODE(own.stat().st_mode) == 0o640
    assert os.listdir(own.parent) == ["sysop.toml"]
    assert config(own, "get", key).output == f"{got}\n"


def test_set_prints_the_old_value_and_when_the_new_one_applies(own: Path) -> None:
    assert config(own, "set", "calls.nodes", "8").output == (
        "calls.nodes is 8 now, was 4.\n`door reload` makes a running board use it for new calls.\n"
    )
    assert config(own, "unset", "calls.nodes").output.startswith("calls.nodes is 16 now, was 8.")
    assert "nodes" not in own.read_text()
    assert config(own, "set", "board.data", "books").output.endswith(
        "A running board uses it from its next start on.\n"
    )
    assert config(own, "set", "board.data", "books").output == 'board.data is "books", as it was.\n'


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("set", "calls.node", "3"), "There is no key calls.node. Did you mean calls.nodes?"),
        (("set", "nodes", "3"), "nodes needs its table before it: calls.nodes."),
        (("get", "fairness"), "fairness is a table. Name one of its keys: fairness."),
        (("set", "calls.nodes", "many"), 'must be a whole number from 1 to 9999, is "many".'),
        (("set", "events.1.days", "Monday"), '"Monday" is not; did you mean "mon"?'),
        (("set", "listeners.2.port", "3"), "[[listeners]] has 1 in this file, counted from 1."),
        (("get", "[calls"), "[calls is not a key. Write the table and the key with a dot between"),
        (("set", "boards.a|b.minutes", "3"), "is not a key."),
    ],
)
def test_an_impossible_value_is_a_sentence_and_the_file_stays(
    own: Path, words: tuple[str, ...], expected: str
) -> None:
    result = config(own, *words)
    assert result.status == 2
    assert expected in result.error
    assert own.read_text() == OWN


def test_a_wrong_value_is_listed_and_can_be_set_right(own: Path) -> None:
    own.write_text('[calls]\nnodes = "four"\n')
    assert config(own, "list", "calls.nodes").output.startswith('calls.nodes = "four"  # default')
    still = config(own, "set", "calls.grace_minutes", "3")
    assert (still.status, "[calls] nodes: must be a whole number" in still.error) == (2, True)
    assert config(own, "set", "calls.nodes", "4").output.startswith(
        'calls.nodes is 4 now, was "four".'
    )
    assert own.read_text() == "[calls]\nnodes = 4\n"
    own.write_text("[calls]\nnodes = [1979-05-27]\n")
    (listed,) = json.loads(config(own, "list", "calls.nodes", "--format", "json").output)
    assert listed["value"] == ["1979-05-27"]
    for wrong in ("calls = 3\n", "games = 3\n", "listeners = 3\n"):
        own.write_text(wrong)
        name = {"c": "calls.nodes", "g": "games.vegas.decks", "l": "listeners.1.port"}[wrong[0]]
        for words in (("set", name, "2"), ("unset", name)):
            result = config(own, *words)
            assert (result.status, result.output, own.read_text()) == (2, "", wrong)
            assert "Traceback" not in result.error


def test_a_key_that_must_be_there_is_not_taken_out(own: Path) -> None:
    event = '[[events]]\nname = "Night"\ntime = "04:00"\nminutes = 5\n'
    own.write_text(event)
    result = config(own, "unset", "events.1.name")
    assert (result.status, "[[events]] 1, name: is missing." in result.error) == (2, True)
    assert own.read_text() == event


def test_a_disk_that_is_full_leaves_the_file_as_it_was(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("timebank.files.write_all", full)
    result = config(own, "set", "calls.nodes", "8")
    assert result == CommandResult(
        2, "", f"Can't write {own}: No space left on device. It is as it was.\n"
    )
    assert own.read_text() == OWN
    assert os.listdir(own.parent) == ["sysop.toml"]
