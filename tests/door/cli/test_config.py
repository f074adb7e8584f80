"""`door config`: effective settings, differences, and changes that keep the sysop's text."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from door.config import default_file
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


def test_show_prints_the_file_and_effective_prints_every_key(own: Path) -> None:
    written = tomllib.loads(OWN)
    written["boards"]["Xibalba"]["secret"] = ""
    assert tomllib.loads(config(own, "show").output) == written
    effective = config(own, "show", "--effective").output
    assert "nodes = 4  # default: 16\n" in effective
    assert "hush" not in effective
    shipped = tomllib.loads(default_file.text())
    shipped["board"]["name"], shipped["calls"]["nodes"] = "Rat Trap", 4
    parsed = tomllib.loads(effective)
    del parsed["boards"]
    assert parsed == shipped


def test_diff_prints_only_changed_defaults(own: Path, tmp_path: Path) -> None:
    changed = json.loads(config(own, "diff", "--format", "json").output)
    assert {each["key"]: (each["value"], each["default"]) for each in changed} == {
        "board.name": ("Rat Trap", "Black Jack For Time"),
        "calls.nodes": (4, 16),
        "boards.Xibalba.minutes": (90, 60),
        "boards.Xibalba.addresses": (["192.0.2.7"], []),
    }
    (tmp_path / "usual.toml").write_text(default_file.text())
    assert config(tmp_path / "usual.toml", "diff").output == "Nothing differs from the defaults.\n"


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
        ("events.1.days", "mon,thu", 'days = ["mon", "thu"]', '["mon", "thu"]'),
        ("listeners.1.port", "2424", "port = 2424", "2424"),
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
        "calls.nodes is 8 now, was 4.\n"
        f"A running server reads {own} again at SIGHUP, for new calls.\n"
    )
    assert config(own, "unset", "calls.nodes").output.startswith("calls.nodes is 16 now, was 8.")
    assert "nodes" not in own.read_text()
    assert config(own, "set", "board.data", "books").output.endswith(
        "A new data folder or new listeners count from the next start on.\n"
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
        (("unset", "events.1.name"), "events.1.name has no default: it must be there."),
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


def test_the_schema_accepts_the_same_values_as_the_reader(own: Path) -> None:
    schema = json.loads(door("config", "schema").output)
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema)
    assert not list(check.iter_errors(tomllib.loads(default_file.text())))
    assert not list(check.iter_errors(tomllib.loads(OWN)))
    assert schema["properties"]["calls"]["properties"]["nodes"] == {
        "description": "How many callers can be online at once, 1 to 9999.",
        "default": 16,
        "type": "integer",
        "minimum": 1,
        "maximum": 9999,
    }
    for wrong in (
        "[calls]\nnodes = 0",
        "[calls]\nnode = 3",
        "[games.vegas]\nnatural_pays = 2.2",
        '[[events]]\ntime = "03:00"',
        "[boards.Xibalba]\nshare = 101",
    ):
        assert list(check.iter_errors(tomllib.loads(wrong))), wrong
