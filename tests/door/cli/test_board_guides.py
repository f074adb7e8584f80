"""The instructions of docs/boards and install-xtrn.ini match the program."""

from __future__ import annotations

import configparser
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import click
import pytest

from door.cli.main import main
from door.config.boards import board_of, unlisted
from door.games.registry import GAMES, game_named
from door.setup import host_boards
from tests import ROOT

GUIDES = sorted((ROOT / "docs" / "boards").glob("*.md"))
INSTALLER = ROOT / "door" / "setup" / "files" / "boards" / "install-xtrn.ini"
# The names that Synchronet 3.22a's scripts know. `jsexec install-xtrn` installs nothing at all when
# a file has another one.
SYNCHRONETS_NAMES = {
    *("XTRN_MULTIUSER", "XTRN_ANSI", "XTRN_IO_INTS", "XTRN_MODUSERDAT", "XTRN_STARTUPDIR"),
    *("XTRN_REALNAME", "XTRN_FREETIME", "XTRN_BIN", "XTRN_NATIVE", "XTRN_CHKTIME", "XTRN_LWRCASE"),
    *("XTRN_SH", "XTRN_PAUSE", "XTRN_NOECHO", "XTRN_UTF8", "XTRN_TEMP_DIR", "XTRN_NODISPLAY"),
    *("XTRN_NONE", "XTRN_TRIBBS", "XTRN_DOOR32"),
}
# XTRN_IO_INTS is the bit of standard input and output.
SETTINGS = {"XTRN_MULTIUSER", "XTRN_NATIVE", "XTRN_IO_INTS", "XTRN_NOECHO", "XTRN_MODUSERDAT"}
LONGEST_CODE, LONGEST_COMMAND, LONGEST_NAME = 8, 63, 40  # of older versions of Synchronet

# The placeholders that boards replace.
_MACROS = re.compile(r"%f|%E|%Pdoor32\.sys|\{dropFilePath\}|/(bbs/)?\w+/node\$1/door32\.sys", re.I)
STARTS_NO_DOOR = "gamesrv"  # on Linux: it leads its callers to the server


def read_as_the_shell_does(words: list[str]) -> dict[str, object]:
    """Read a command line of `door run`, or fail as the command would."""
    run = main.commands["run"]
    door = click.Context(main, info_name="door", **main.context_settings)
    arguments = [_MACROS.sub("/node/DOOR32.SYS", word) for word in words]
    with run.make_context("run", arguments, parent=door) as read:
        return dict(read.params)


def installed() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(default_section="", interpolation=None)
    parser.read_string("[root]\n" + INSTALLER.read_text(encoding="utf-8"))
    return parser


def test_there_is_a_guide_for_every_board() -> None:
    names = [guide.stem for guide in GUIDES]
    assert names == sorted(host_boards.KINDS)
    overview = (ROOT / "docs" / "door-mode.md").read_text(encoding="utf-8")
    assert all(f"(boards/{name}.md)" in overview for name in names)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_begins_with_whether_and_where_it_was_tested(guide: Path) -> None:
    _, notes, *_ = guide.read_text(encoding="utf-8").split("\n\n")
    notes = " ".join(notes.split())
    assert notes.startswith("*")
    assert notes.endswith("*")
    tried = re.search(r"on 2026-\d\d-\d\d with \w+ \d", notes)
    assert tried or "Nobody has followed it on a board yet" in notes


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_says_how_the_program_comes_to_be_where_it_starts_it(guide: Path) -> None:
    anchor = "](../door-mode.md#where-door-is)"
    assert (anchor in guide.read_text(encoding="utf-8")) == (guide.stem != STARTS_NO_DOOR)
    assert "## Where `door` is" in (ROOT / "docs" / "door-mode.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_names_options_and_tables_that_there_are(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8").replace('", "', " ")
    commands = [main.commands[name] for name in ("run", "setup")]
    known = {option for each in commands for one in each.params for option in _options(one)}
    assert set(re.findall(r"(?<![\w-])--[a-z]+", text)) <= known
    for code in re.findall(r"(?:--door|xtrn=) ?([A-Z]\w+)", text):
        assert game_named(code) is not None


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guides_command_line_is_understood(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8").replace('", "', " ").replace('"', "")
    if guide.stem == STARTS_NO_DOOR:
        assert "Action=Telnet\nParameters=127.0.0.1:2323\n" in text
        return
    lines = re.findall(r"\brun((?: --?[\w-]+| YourBoard| \S*(?:%|\*|\{|/)\S*)+)", text)
    assert lines
    for line in lines:
        words = [word.strip("`],") for word in line.split()]
        assert read_as_the_shell_does(words)["dropfile"] == Path("/node/DOOR32.SYS")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guides_settings_are_accepted(guide: Path, tmp_path: Path) -> None:
    from door.config import config

    for number, toml in enumerate(re.findall(r"```toml\n(.*?)```", guide.read_text(), re.DOTALL)):
        file = tmp_path / f"{number}.toml"
        file.write_text(toml, encoding="utf-8")
        assert "boards" in tomllib.loads(toml)
        assert config.load(file).boards


SNIPPETS = sorted(
    path
    for path in INSTALLER.parent.glob("*/*")
    if path.name not in (host_boards.DROP_FILE, host_boards.STEPS)
)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_guide_shows_the_output_of_door_setup(snippet: Path) -> None:
    text = (ROOT / "docs" / "boards" / f"{snippet.parent.name}.md").read_text(encoding="utf-8")
    shown = {dedent(block) for block in re.findall(r"```\w*\n(.*?)^ *```", text, re.DOTALL | re.M)}
    assert snippet.read_text(encoding="utf-8") in shown


def test_the_installer_has_the_whole_house_and_every_table() -> None:
    sections = [name for name in installed().sections() if name.startswith("prog:")]
    doors = []
    for section in sections:
        code = section.removeprefix("prog:")
        program = installed()[section]
        assert 1 <= len(code) <= LONGEST_CODE
        assert len(program["name"]) <= LONGEST_NAME
        assert len(program["cmd"]) <= LONGEST_COMMAND
        assert program["type"] == "XTRN_DOOR32"
        assert set(program["settings"].split("|")) == SETTINGS
        command, run, *words = program["cmd"].split()
        assert (command, run) == ("door", "run")
        asked = read_as_the_shell_does(words)["table"]
        assert asked is None or isinstance(asked, str)
        game = None if asked is None else game_named(asked)
        doors.append(game and game.name)
    assert doors == [None, *GAMES]


def test_the_installer_has_no_name_that_synchronets_scripts_do_not_know() -> None:
    notes = "\n".join(
        line for line in INSTALLER.read_text(encoding="utf-8").splitlines() if line[:1] != ";"
    )
    assert set(re.findall(r"XTRN_\w+", notes)) <= SYNCHRONETS_NAMES
    assert SETTINGS <= SYNCHRONETS_NAMES


def test_synchronets_alias_is_that_of_the_line_it_really_writes() -> None:
    guide = (ROOT / "docs" / "boards" / "synchronet.md").read_text(encoding="utf-8")
    (alias,) = re.findall(r'aliases = \["([^"]+)"\]', guide)
    real = ROOT / "tests/door/dropfiles/data" / "synchronet" / "DOOR32.SYS"
    line = real.read_text(encoding="ascii").splitlines()[3]
    assert line in guide
    board = board_of({"Xibalba": replace(unlisted("Xibalba"), aliases=(alias,))}, line)
    assert board is not None


def test_the_rlogin_line_of_synchronet_names_a_table_and_the_alias() -> None:
    guide = (ROOT / "docs" / "boards" / "synchronet.md").read_text(encoding="utf-8")
    assert '?rlogin HOST:2513 -c SECRET -s "%a" -t xtrn=BJFT\n' in guide


def _options(parameter: click.Parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]
