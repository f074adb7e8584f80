"""What docs/boards and install-xtrn.ini tell sysops to write is what the door understands."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path

import click
import pytest

from door.cli import main
from door.tables.codes import game_named

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "boards").glob("*.md"))
INSTALLER = ROOT / "install-xtrn.ini"
SETTINGS = "XTRN_MULTIUSER|XTRN_NATIVE|XTRN_STDIO|XTRN_NOECHO|XTRN_MODUSERDAT"
LONGEST_CODE, LONGEST_COMMAND, LONGEST_NAME = 8, 63, 40  # of older versions of Synchronet

# What a board puts in place of its own words.
_MACROS = re.compile(r"%f|%E|%Pdoor32\.sys|\*DOOR32|\{dropFilePath\}")


def read_as_the_shell_does(words: list[str]) -> dict[str, object]:
    """Read a command line of `door run`, or fail as the command would."""
    run = main.commands["run"]
    with run.make_context("run", [_MACROS.sub("/node/DOOR32.SYS", word) for word in words]) as read:
        return dict(read.params)


def installed() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(default_section="", interpolation=None)
    parser.read_string("[root]\n" + INSTALLER.read_text(encoding="utf-8"))
    return parser


def test_there_is_a_guide_for_every_board() -> None:
    names = [guide.stem for guide in GUIDES]
    assert names == ["enigma", "gamesrv", "mystic", "synchronet", "wwiv"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_names_options_and_tables_that_there_are(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8").replace('", "', " ")
    known = {option for each in main.commands["run"].params for option in _options(each)}
    assert set(re.findall(r"(?<![\w-])--[a-z]+", text)) <= known
    for code in re.findall(r"(?:--door|xtrn=) ?([A-Z]\w+)", text):
        assert game_named(code) is not None


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guides_command_line_is_understood(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8").replace('", "', " ").replace('"', "")
    lines = re.findall(r"\brun((?: --?[\w-]+| \S*(?:%|\*|\{|/)\S*)+)", text)
    assert lines
    for line in lines:
        words = [word.strip("`],") for word in line.split()]
        assert read_as_the_shell_does(words)["dropfile"] == Path("/node/DOOR32.SYS")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guides_settings_are_accepted(guide: Path, tmp_path: Path) -> None:
    from door import config

    for number, toml in enumerate(re.findall(r"```toml\n(.*?)```", guide.read_text(), re.DOTALL)):
        file = tmp_path / f"{number}.toml"
        file.write_text(toml, encoding="utf-8")
        assert "boards" in tomllib.loads(toml)
        assert config.load(file).boards


def test_the_installer_has_the_whole_house_and_every_table() -> None:
    sections = [name for name in installed().sections() if name.startswith("prog:")]
    doors = []
    for section in sections:
        code = section.removeprefix("prog:")
        program = installed()[section]
        assert 1 <= len(code) <= LONGEST_CODE
        assert len(program["name"]) <= LONGEST_NAME
        assert len(program["cmd"]) <= LONGEST_COMMAND
        assert (program["type"], program["settings"]) == ("XTRN_DOOR32", SETTINGS)
        command, run, *words = program["cmd"].split()
        assert (command, run) == ("door", "run")
        asked = read_as_the_shell_does(words)["table"]
        assert asked is None or isinstance(asked, str)
        doors.append(None if asked is None else game_named(asked))
    assert doors == [None, "black-jack-for-time", "baccarat", "unix-bj", "vegas"]


def _options(parameter: click.Parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]
